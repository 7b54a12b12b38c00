#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Tracing with only the capabilities that a mode needs; they are dropped once attached; CMD has the caller's.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/lib.sh"
. "$E2E/served.sh"
needs root uprobes cmd:setpriv cmd:unshare
two_capabilities_do || skip_all 'needs uprobe_multi, and kernel.perf_event_paranoid below 3; see tests/vm/t_privileges.sh'

chmod 755 "$T"
program fib -O1
build_served
mkdir -m 777 "$T/out.d" && install -m 755 "$BBTRACE" "$T/bbtrace" # where a user reaches it
ROOTS=$BBTRACE BBTRACE=$T/bbtrace
SELF='grep -E "^(Cap|NoNewPrivs|Uid|Gid|Groups)" /proc/self/status'

before=() # a command that runs the rest
# as CAPS COMMAND...: nobody, with these capabilities alone; become: the shell itself.
as() { (become "$@"); }
become() {
	local caps=-all${1:+,$1}
	shift
	exec "${before[@]}" setpriv --reuid nobody --regid nogroup --clear-groups --inh-caps "$caps" --ambient-caps "$caps" "$@"
}
# bb_as CAPS ARG...: bb by him; the trace is $T/json.
bb_as() {
	rm -f "$T/out.d/json"
	as "$1" timeout -k 10 "$BB_TIMEOUT" "$BBTRACE" "${@:2}" >"$T/out" 2>"$T/err" </dev/null
	status=$?
	rm -f "$T/json"
	[[ -e $T/out.d/json ]] && cp "$T/out.d/json" "$T/json"
}
TRACE='+bpf,+perfmon'

# ---- user mode ----
run_fib=(user "$T/fib" fib -F json -o "$T/out.d/json")
bb_as $TRACE "${run_fib[@]}" -- "$T/fib"
exits 3 'CAP_BPF and CAP_PERFMON are enough for user mode'
is "$(entries fib) $(returns fib) $(cat "$T/out")" '177 177 55' 'with CAP_BPF and CAP_PERFMON each call and return is shown'
is "$(stat -c '%U %a' "$T/out.d/json")" 'nobody 600' "a user's trace file is the user's own, mode 0600"
for row in "|CAP_BPF and CAP_PERFMON" "+bpf|CAP_PERFMON" "+perfmon|CAP_BPF"; do
	bb_as "${row%%|*}" "${run_fib[@]}" -- "$T/fib"
	exits 1 "user mode with '${row%%|*}' alone is refused"
	like "$T/err" "^bbtrace: cannot trace: bbtrace user needs ${row#*|}; run with sudo" 'with one capability alone the message names the mode and what is missing'
	is "$(cat "$T/out")" '' 'with one capability alone nothing runs'
done
bb_as +bpf kernel vfs_read
like "$T/err" '^bbtrace: cannot trace: bbtrace kernel needs CAP_PERFMON;' 'without CAP_PERFMON the message names kernel mode'

bb_as "$TRACE,+sys_admin,+dac_override" "${run_fib[@]}" --attach uprobe_event -- "$T/fib"
exits 3 'uprobe_event works with CAP_SYS_ADMIN and CAP_DAC_OVERRIDE besides'
is "$(entries fib)" 177 'uprobe_event with capabilities shows each call'
for row in "|CAP_SYS_ADMIN" "+sys_admin|CAP_DAC_OVERRIDE"; do
	# shellcheck disable=SC2016 # for the other shell
	[[ $row == "|"* ]] && before=(unshare -m sh -c 'umount -l /sys/kernel/tracing /sys/kernel/debug 2>/dev/null; exec "$@"' sh)
	caps=${row%%|*}
	bb_as "$TRACE${caps:+,$caps}" "${run_fib[@]}" --attach uprobe_event -- "$T/fib"
	exits 1 "uprobe_event without ${row#*|} is refused"
	like "$T/err" "^bbtrace: cannot probe programs: tracefs.* needs .*${row#*|}" "uprobe_event without ${row#*|}: the message names it"
	before=()
done

install -m 711 "$T/fib" "$T/closed"
bb_as $TRACE user "$T/closed" fib -F json -o "$T/out.d/json" -- "$T/closed"
exits 1 'a program that only others may read is refused'
like "$T/err" 'CAP_DAC_READ_SEARCH' 'for a program that only others may read CAP_DAC_READ_SEARCH is named'
bb_as $TRACE,+dac_read_search user "$T/closed" fib -F json -o "$T/out.d/json" -- "$T/closed"
is "$status $(entries fib)" '3 177' 'a program that only others may read is traced with CAP_DAC_READ_SEARCH'

serve other "$T/served"
bb_as $TRACE user "$T/served" work -p "$pid_other"
exits 1 "-p with another user's process is refused"
like "$T/err" 'CAP_SYS_PTRACE' "for another user's process CAP_SYS_PTRACE is named"

# watch_as CAPS ARG...: served's functions, in the background.
watch_as() {
	set -- "$1" -F json -o "$T/out.d/watch.json" "${@:2}"
	rm -f "$T/out.d/watch.json" "$T/watch.json"
	ln -s "$T/out.d/watch.json" "$T/watch.json"
	become "$1" "$BBTRACE" user "$T/served" tick work "${@:2}" >"$T/out" 2>"$T/err" <"${input:-/dev/null}" &
	watching=$!
	at_end "kill -9 $watching 2>/dev/null; wait $watching 2>/dev/null"
	wait_for $PATIENCE is_live
}
# caps PID SET...: in hexadecimal, without leading zeros.
caps() {
	local pid=$1 set
	shift
	for set; do echo $((16#$(sed -n "s/^Cap$set:\t//p" "/proc/$pid/status"))); done | xargs printf '%x '
}
# bits NUMBER...: the set of these.
bits() {
	local n sum=0
	for n; do ((sum |= 1 << n)); done
	printf '%x' $sum
}
ptrace=19 read_search=2 restore=40 kill=5
watch_as $TRACE,+sys_ptrace -p "$pid_other"
want=$(bits $ptrace)
is "$(caps $watching Inh Prm Eff Amb)" "0 $want $want 0 " 'while it traces, bbtrace keeps the capability that names processes and gives up the rest'
is "$(sed -n 's/^NoNewPrivs:\t//p' "/proc/$watching/status")" 1 "while it traces, no exec of bbtrace's can gain a capability"
tell other 'work 5'
stop_watching INT
is "$status $(calls)" '0 5' "another user's process is traced with CAP_SYS_PTRACE"

# ---- root of another user namespace ----
if unshare --user --map-root-user true 2>/dev/null; then
	unshare --user --map-root-user "$BBTRACE" user "$T/fib" fib -- "$T/fib" >"$T/out" 2>"$T/err"
	status=$?
	exits 1 'root in a user namespace only is refused'
	like "$T/err" 'bbtrace user needs CAP_BPF and CAP_PERFMON of the initial user namespace' "root in a user namespace is told which namespace's capabilities are needed"
	unshare --user --map-root-user "$BBTRACE" doctor >"$T/out" 2>"$T/err"
	is "$(grep -cE '^(capabilities|cap_kernel) +no' "$T/out") $(wc -c <"$T/err")" '2 0' 'doctor tells root in a user namespace what is missing'
else
	skip 'another user namespace' 'unshare --user does not work here'
fi

# ---- root ----
rm -f "$T/watch.json"
has_events=$("$BBTRACE" doctor | grep '^uprobe_event  *yes')
watch -p "$pid_other"
# what opens a process once more that becomes another user's is kept by another process: t_keeper.sh
want=$(bits $ptrace $read_search $restore)
bound=$(caps $$ Bnd)
is "$(caps $watching Inh Prm Eff Bnd Amb)" "0 $want $want $want 0 " "root's bbtrace gives up its capabilities, and their bound"
# of PID: user, filter, no_new_privs
confined() { sed -nE 's/^(Uid|NoNewPrivs|Seccomp):\t([0-9]*).*/\2/p' "/proc/$1/status" | xargs; }
is "$(confined $watching)" "$((0x7b000000 + watching)) 1 2" "root's bbtrace becomes a user that no other process has, with a filter of system calls"
files=$(pgrep -P $watching -x bbtrace-files)
is "$(confined "$files") $(caps "$files" Prm)" '0 1 2 0 ' "the process that removes root's control socket has no capability"
tell other 'work 5'
stop_watching INT
is "$status $(calls)" '0 5' "root's bbtrace shows each call after it gave up its capabilities"
is "$(find /run/bbtrace -name "$watching.sock")" '' "root's control socket is removed at the end"
# with copies, and a file that is rotated
BBTRACE_ENGINE=inline watch -p "$pid_other" --record "$T/parts" --max-size 64K
for row in "bbtrace-inline $((0x7b000000)) $(bits $ptrace $read_search $restore $kill)" "bbtrace-files - $(bits 1 $read_search 3)"; do
	read -r name user kept <<<"$row"
	pid=$(pgrep -P $watching -x "$name")
	[[ $user == - ]] && user=0 || ((user += pid))
	is "$(confined "$pid") $(caps "$pid" Prm Eff)" "$user 1 2 $kept $kept " "$name has a filter and the capabilities that it needs"
done
stop_watching INT

# What only reads files has nothing while it does.
bb user "$T/fib" fib -o "$T/fib.bbt" -- "$T/fib"
mkfifo "$T/slow.bbt"
"$BBTRACE" report - <"$T/slow.bbt" >"$T/out" 2>"$T/err" &
reads=$!
exec {slow}>"$T/slow.bbt"
head -c 400 "$T/fib.bbt" >&$slow
has_none() { [[ $(confined $reads) == "$((0x7b000000 + reads)) 1 2" && $(caps $reads Inh Prm Eff Amb) == '0 0 0 0 ' ]]; }
wait_for $PATIENCE has_none
ok $? "root's report has no capability, and a user that no other process has, while it decodes"
tail -c +401 "$T/fib.bbt" >&$slow
exec {slow}>&-
wait $reads
is "$? $(grep -c ' fib(' "$T/out")" '0 177' "root's report shows all of the trace without any capability"
if [[ $has_events ]]; then
	watch --attach uprobe_event -p "$pid_other"
	is "$(caps $watching Prm)" "$want " "with uprobe_event root's bbtrace gives up its capabilities"
	name=bbtrace_$watching
	stop_watching INT
	mkdir "$T/tracefs" && mount -t tracefs none "$T/tracefs"
	is "$status $(grep -c "$name" "$T/tracefs/uprobe_events")" '0 0' 'with uprobe_event the definitions are deleted at the end, capabilities given up or not'
	umount "$T/tracefs"
fi

# A later attach: a thread's exec takes the process over.
source_program taken c -pthread <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((noinline)) int step(int n) { __asm__ volatile("" : "+r"(n)); return n > 3 ? n - 1 : n; }
static void *again(void *name) { execl(name, name, "again", (char *)0); return 0; }
int main(int argc, char **argv)
{
	pthread_t t;
	int sum = step(argc);
	if (argc == 1) {
		pthread_create(&t, 0, again, argv[0]);
		pthread_join(t, 0);
		return 1;
	}
	/* what is attached anew is not there at once */
	for (int i = 0; access(getenv("ENOUGH"), F_OK); i++)
		sum += step(i % 100), usleep(1000);
	return sum > 100 ? 7 : 1;
}
END
enough() { [[ -s $T/out.d/json ]] && (($(grep -c '"event":"entry"' "$T/out.d/json") >= 100)); }
{ wait_for $PATIENCE enough; touch "$T/enough"; } &
ENOUGH=$T/enough bb_as $TRACE user "$T/taken" step -v -F json -o "$T/out.d/json" -- "$T/taken"
exits 7 'a program is attached to anew after all capabilities were given up'
like "$T/err" 'capabilities kept: none' 'bbtrace says that it kept no capability'
like "$T/err" 'was lost by an exec: attaching to it again' "bbtrace says that it attaches again when a thread's exec replaced the process"
is "$(($(entries step) >= 100))" 1 "calls are seen after a thread's exec replaced the process"

# ---- CMD ----
# cmd_like NAME CALLER...: what CMD has is what the caller's children have.
cmd_like() {
	"${@:2}" sh -c "$SELF" >"$T/expected"
	"${@:2}" "$BBTRACE" user "$T/fib" fib -- sh -c "$SELF" >"$T/out" 2>"$T/err"
	grep -E '^(Cap|NoNew|Uid|Gid|Groups)' "$T/out" >"$T/got"
	same "$T/got" "$T/expected" "CMD has the privileges of $1"
}
cmd_like root env
cmd_like 'root with less' setpriv --bounding-set -net_raw,-sys_time --inh-caps -all,+kill
cmd_like 'root that can gain none' setpriv --no-new-privs
cmd_like 'a user with ambient capabilities' as $TRACE,+net_raw
cmd_like "a user's groups" setpriv --reuid nobody --regid daemon --groups adm,daemon --inh-caps +bpf,+perfmon --ambient-caps +bpf,+perfmon
is "$(wc -l <"$T/expected")" 9 "all nine lines of CMD's privileges were compared"

if command -v setcap >/dev/null && install -m 755 "$T/bbtrace" "$T/capable" && setcap cap_bpf,cap_perfmon+ep "$T/capable" 2>/dev/null &&
	setpriv --reuid nobody --clear-groups "$T/capable" user "$T/fib" fib -l 1 -- true 2>"$T/err"; then
	BBTRACE=$T/capable
	bb_as '' "${run_fib[@]}" -- sh -c "$SELF; exec $T/fib"
	is "$(entries fib)" 177 "bbtrace traces with the file's own capabilities (setcap)"
	is "$(sed -n 's/^CapPrm:\t0*//p' "$T/out")" '' "CMD has none of the capabilities that bbtrace's file has"
	BBTRACE=$T/bbtrace
else
	skip "a file's capabilities" 'setcap(8) is missing or without effect here'
fi

# What a user names is opened as by any program of theirs, whatever the file of bbtrace may do.
if command -v setcap >/dev/null && install -m 755 "$T/bbtrace" "$T/strong" &&
	setcap cap_bpf,cap_perfmon,cap_dac_read_search,cap_dac_override+ep "$T/strong" 2>/dev/null &&
	setpriv --reuid nobody --clear-groups "$T/strong" list "$T/closed" fib >"$T/out" 2>&1; then
	ok 0 'a capability of the file opens a program'
	mkdir -m 755 "$T/roots" && printf '#!secret\nsecret\n' >"$T/roots/file" && chmod 600 "$T/roots/file"
	BBTRACE=$T/strong
	for named in "list $T/fib @$T/roots/file" "user @$T/roots/file" "report $T/roots/file" \
		"user $T/fib fib --profile $T/roots/file" "user $T/fib fib -b $T/roots/file" "user $T/fib fib -o $T/roots/file" \
		"user $T/fib fib --record $T/roots/file" "user $T/fib fib -o $T/roots/new" "list $T/roots/file"; do
		# shellcheck disable=SC2086 # words
		bb_as '' $named
		exits 1 "${named//$T\//} is refused"
		unlike "$T/err" 'secret' "${named//$T\//}: nothing of the file is shown"
		[[ $named == list*/file && $named != *@* ]] || like "$T/err" 'Permission denied' "${named//$T\//}: the message says that permission is denied"
	done
	is "$(ls "$T/roots") $(wc -l <"$T/roots/file")" 'file 2' "${named//$T\//}: nothing was written"
	BBTRACE=$T/bbtrace
	install -m 600 -o nobody /dev/null "$T/out.d/points"
	printf '# objname=%s\nsecret\n' "$T/fib" >"$T/out.d/points"
	bb_as '' list "$T/fib" "@$T/out.d/points"
	like "$T/err" 'points, line 2 is not 0xADDR' 'what is wrong in a points file is told by its line'
	unlike "$T/err" 'secret' 'what is wrong in a points file is not told by its words'
else
	skip "a file's capabilities, and files of others" 'setcap(8) is missing or without effect here'
fi

for mode in 4755 2755; do
	install -m "$mode" "$T/bbtrace" "$T/set-id"
	setpriv --reuid nobody --regid nogroup --clear-groups "$T/set-id" user "$T/fib" fib -o "$T/set-id.trace" -- id >"$T/out" 2>"$T/err"
	is "$? $(cat "$T/out")$(ls "$T"/set-id.*  2>/dev/null)" '1 ' "a set-ID bbtrace of mode $mode is refused"
	like "$T/err" 'set-user-ID or set-group-ID' "a set-ID bbtrace of mode $mode says why it refuses"
done

# What only a capability opens is not shown as source, whatever the program names.
mkdir -m 755 "$T/src"
echo '__attribute__((noinline)) int f(int n) { return n > 1 ? 4 : 5; } int main(int c, char **v) { return f(c); } // secret' >"$T/src/s.c"
"${CC:-cc}" -g -O1 -o "$T/secret" "$T/src/s.c"
for mode in 600 644; do
	chmod $mode "$T/src/s.c"
	bb_as $TRACE,+dac_read_search user "$T/secret" f -F annotate -- "$T/secret"
	is "$(($(grep -c secret$ "$T/out") > 0))" $((mode == 644)) "a source file of mode $mode is shown only if everybody may read it"
done

# A capability of bbtrace's file opens no source and no debug file for its user, wherever it lies.
if [[ -x $T/strong ]]; then
	mkdir -m 755 "$T/hidden"
	chmod 644 "$T/src/s.c" && cp "$T/src/s.c" "$T/hidden/s.c"
	"${CC:-cc}" -g -O1 -o "$T/hides" "$T/hidden/s.c"
	objcopy --only-keep-debug "$T/hides" "$T/hidden/hides.debug" && cp "$T/hides" "$T/stripped" &&
		objcopy --strip-all --add-gnu-debuglink="$T/hidden/hides.debug" "$T/stripped"
	mkdir "$T/.debug" && cp "$T/hidden/hides.debug" "$T/.debug"
	BBTRACE=$T/strong
	for mode in 700 755; do
		chmod $mode "$T/hidden" "$T/.debug"
		for format in annotate html; do
			bb_as '' user "$T/hides" f -F $format -- "$T/hides"
			is "$(($(grep -c '// secret' "$T/out") > 0))" $((mode == 755)) "-F $format: a source in a folder of mode $mode is shown only if the user may enter the folder"
		done
		bb_as '' list "$T/hides" f -F annotate
		is "$(($(grep -c '// secret' "$T/out") > 0))" $((mode == 755)) "list -F annotate: a source in a folder of mode $mode is shown only if the user may enter the folder"
		bb_as '' list "$T/stripped" f
		is "$status" $((mode != 755)) "a debug file in a folder of mode $mode is read only if the user may enter the folder"
	done
	BBTRACE=$T/bbtrace
	install -m 755 "$T/bbtrace" "$T/changes" && setcap cap_bpf,cap_perfmon,cap_setuid,cap_setgid+ep "$T/changes"
	BBTRACE=$T/changes
	for name in root daemon; do
		bb_as '' user "$T/fib" fib -u $name -- id -u
		is "$status $(cat "$T/out")" '1 ' "a capability of bbtrace's file makes nobody $name by -u"
	done
	BBTRACE=$T/bbtrace
else
	skip "sources, debug files and -u with a file's capabilities" 'setcap(8) is missing or without effect here'
fi

# -u: that user's, and nothing of the caller's.
for caller in root nobody; do
	run=(env)
	[[ $caller == root ]] || run=(as "$TRACE,+setuid,+setgid")
	setpriv --reuid daemon --regid daemon --init-groups sh -c 'id; echo none' >"$T/expected"
	getent passwd daemon | awk -F: '{ print $6, $1, $1, $7 }' >>"$T/expected"
	"${run[@]}" setpriv --inh-caps +bpf,+perfmon "$BBTRACE" user "$T/fib" fib -u daemon -- sh -c \
		'id; awk "/^Cap(Inh|Prm|Eff|Amb)/ && \$2 !~ /^0*\$/ { some = 1 } END { print some ? \"some\" : \"none\" }" /proc/self/status
		echo $HOME $USER $LOGNAME $SHELL' >"$T/out" 2>"$T/err"
	same "$T/out" "$T/expected" "-u by $caller sets the user, the groups, no capability, HOME, USER, LOGNAME and SHELL"
done
bb_as $TRACE user "$T/fib" fib -u daemon -- "$T/fib"
exits 1 '-u without the right to change users is refused'
like "$T/err" '^bbtrace: cannot run .* as daemon: -u NAME needs CAP_SETUID and CAP_SETGID' '-u without the right to change users: the message says which capabilities are missing'
input=$T/cmd.in
mkfifo "$input" && exec {writer}<>"$input"
watch_as "$TRACE,+setuid,+setgid,+kill" -u daemon -- "$T/served"
want=$(bits $kill)
is "$(caps $watching Prm Eff)" "$want $want " 'CAP_KILL is kept to pass signals on to CMD'
wait_for $PATIENCE grep -q '^ready' "$T/out"
stop_watching TERM
exits 143 'a signal to bbtrace reaches CMD that runs as another user'

# ---- doctor ----
bb_as '' doctor
like "$T/out" '^capabilities +no .*user, kernel' 'doctor says what all modes need'
for row in 'cap_kernel CAP_S' 'cap_pid CAP_SYS_PTRACE' 'cap_files CAP_DAC_READ_SEARCH' 'cap_user CAP_SETUID and CAP_SETGID' \
	'copies CAP_SYS_PTRACE and CAP_CHECKPOINT_RESTORE'; do
	bb_as $TRACE doctor
	grep -A1 -E "^${row%% *} +no" "$T/out" >"$T/row"
	like "$T/row" "why: .*${row#* }" "doctor says what ${row%% *} needs"
done
BBTRACE=$ROOTS
bb doctor
is "$(grep -cE '^(capabilities|cap_pid|cap_files|cap_user|copies) +yes' "$T/out")" 5 'doctor tells root that all capabilities are there'
bb doctor -v
is "$(grep -c '^process .* user: ' "$T/out") $(grep -c '^ *capabilities: ' "$T/out")" '9 9' 'doctor -v shows what each process of bbtrace keeps'
done_testing

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest_privileges.sh [all]: runs in the guest of t_privileges.sh.
# shellcheck disable=SC2154,SC2034 # guest_lib.sh sets and uses them
. "$(dirname "$0")/guest_lib.sh"

[[ ! ${1:-} ]] || export MATRIX=whole
chmod 755 "$T"
mkdir -m 777 "$T/dir"
echo hello >"$T/dir/file"

# bb_as CAPS ARG...: by nobody, with these capabilities alone
bb_as() {
	timeout -k 10 1800 setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps "-all,$1" --ambient-caps "-all,$1" \
		"$BBTRACE" "${@:2}" >"$T/out.txt" 2>"$T/err" </dev/null
	# shellcheck disable=SC2034 # exits uses it
	status=$?
}
choose reading traceable 'what read(2) runs through' vfs_read ksys_read
others=$(listed traceable ksys_read rw_verify_area __fget_light fdget)
trace=(kernel "$reading" -v -F json -o "$T/dir/json" -- cat "$T/dir/file")
entries() { count "$T/dir/json" '.event == "entry" and .symbol == "'"$reading"'"'; }

ALL='+bpf,+perfmon,+syslog,+sys_admin,+dac_override'
bb_as $ALL "${trace[@]}"
exits 0 "kernel mode works with $ALL"
is "$(($(entries) > 0)) $(<"$T/out.txt")" '1 hello' "with kernel mode's capabilities calls are shown"
like "$T/err" 'capabilities kept: CAP_DAC_OVERRIDE$' 'kernel mode keeps the capability that deletes the definitions'
setpriv --reuid 65534 --inh-caps "-all,$ALL" --ambient-caps "-all,$ALL" "$BBTRACE" doctor >"$T/doctor"
like "$T/doctor" '^cap_kernel +yes' "doctor says that kernel mode's capabilities are there"
unmount /sys/kernel/tracing # where it stayed
ok $? "tracefs stays mounted in its place behind a user's trace"
n=0
for row in 'bpf bbtrace kernel needs CAP_BPF;' 'perfmon bbtrace kernel needs CAP_PERFMON' \
	'syslog kernel addresses are hidden.*CAP_SYSLOG' 'sys_admin kernel functions: tracefs needs CAP_SYS_ADMIN' \
	'dac_override kernel functions: tracefs.*CAP_DAC_OVERRIDE'; do
	in_part $((n++)) 1 2 || continue
	caps=${ALL/+${row%% *}/-${row%% *}}
	[[ $row == bpf* || $row == perfmon* ]] && caps=${caps/+sys_admin/-sys_admin}
	bb_as "$caps" "${trace[@]}"
	exits 1 "kernel mode without CAP_${row%% *} is refused"
	like "$T/err" "${row#* }" "kernel mode without CAP_${row%% *}: the message names it"
done
setpriv --reuid 65534 --inh-caps "-all,+bpf,+perfmon" --ambient-caps "-all,+bpf,+perfmon" "$BBTRACE" doctor >"$T/doctor"
like "$T/doctor" 'kernel mode needs CAP_SYSLOG, CAP_SYS_ADMIN and CAP_DAC_OVERRIDE' 'doctor names all capabilities that kernel mode misses'

# Debian's kernels
mount -t tracefs none /sys/kernel/tracing
if [[ $(</proc/sys/kernel/perf_event_paranoid) == 3 ]]; then
	bb_as "${ALL/+sys_admin/-sys_admin}" "${trace[@]}"
	exits 1 'perf_event_paranoid=3: kernel mode is refused without CAP_SYS_ADMIN'
	like "$T/err" 'wants CAP_SYS_ADMIN for it; .*perf_event_paranoid=2' 'perf_event_paranoid=3: the message has both ways out'
	echo 2 >/proc/sys/kernel/perf_event_paranoid
fi
bb_as "${ALL/+sys_admin/-sys_admin}" "${trace[@]}"
exits 0 'kernel mode works without CAP_SYS_ADMIN where tracefs is mounted'
is "$(($(entries) > 0))" 1 'without CAP_SYS_ADMIN calls are shown'
wait_for 1200 bash -c '! grep -q bbtrace /sys/kernel/tracing/kprobe_events'
is "$(grep -c bbtrace /sys/kernel/tracing/kprobe_events)" 0 'without CAP_SYS_ADMIN no definition is left'
unmount /sys/kernel/tracing

# ---- user mode ----
cp build/progs/fib "$T/fib"
user=(user "$T/fib" fib -v -F json -o "$T/dir/user" -- "$T/fib")
fibs() { count "$T/dir/user" '.event == "entry" and .symbol == "fib"'; }
if $BBTRACE doctor | grep -q '^uprobe_multi *yes'; then
	bb_as '+bpf,+perfmon' "${user[@]}"
	exits 3 'user mode by uprobe_multi works with CAP_BPF and CAP_PERFMON'
	like "$T/err" 'capabilities kept: none$' 'user mode by uprobe_multi gives up CAP_BPF and CAP_PERFMON'
else
	bb_as '+bpf,+perfmon,+sys_admin,+dac_override' "${user[@]}"
	exits 3 'user mode by uprobe_event works with CAP_SYS_ADMIN and CAP_DAC_OVERRIDE besides'
	like "$T/err" 'capabilities kept: CAP_DAC_OVERRIDE$' 'user mode by uprobe_event keeps only what deletes the definitions'
fi
is "$(fibs)" 177 'user mode with capabilities shows each call'

rm "$T/dir/json" # his
bb "${trace[@]}"
exits 0 'kernel mode works for root'
is "$(($(entries) > 0))" 1 'kernel mode shows root calls'
like "$T/err" 'capabilities kept: CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH and CAP_KILL$' "root's trace keeps what names processes and ends CMD"

# ---- addresses ----
# at_risk FILE...: how many numbers could be addresses; above them are small negative ones
at_risk() { cat "$@" | grep -oE '0xff[0-9a-f]{14}' | grep -vc '^0xffffffffff[89a-f]'; }
is "$(($(at_risk "$T/dir/json") > 0))" 1 'JSON shows root addresses'
rm "$T/dir/json"
bb_as $ALL "${trace[@]}"
is "$(at_risk "$T/dir/json") $(($(grep -c '(hidden)' "$T/dir/json") > 0))" '0 1' 'JSON hides addresses from a user'
bb_as $ALL kernel "$reading" --addresses -F json -o "$T/dir/json" -- cat "$T/dir/file"
is "$(($(at_risk "$T/dir/json") > 0))" 1 'JSON shows a user addresses with --addresses'
n=0
for args in '' '-k -r all -e entry' '-c' '--last 5'; do
	in_part $((n++)) 1 2 || continue
	# shellcheck disable=SC2086 # options
	bb_as $ALL kernel "$reading" $args -F text -- cat "$T/dir/file"
	is "$status $(at_risk "$T/out.txt" "$T/err")" '0 0' "text hides addresses from a user, ${args:-without options}"
done
bb_as $ALL list kernel "$reading"
is "$status $(at_risk "$T/out.txt") $(grep -c '^          (hidden)' "$T/out.txt")" '0 0 1' 'list hides addresses from a user'
bb_as $ALL list kernel --sites "$reading"
is "$status $(at_risk "$T/out.txt")" '0 0' 'list --sites hides addresses from a user'
bb_as $ALL list kernel "$reading" --addresses
is "$(at_risk "$T/out.txt")" 1 'list shows a user addresses with --addresses'
# shellcheck disable=SC2086 # names
$BBTRACE kernel "$reading" $others -k -o "$OUT/trace" -- cat "$T/dir/file" >"$T/out.txt" 2>"$T/err"
bring_back
done_testing

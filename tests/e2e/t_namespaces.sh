#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Processes in other namespaces, traced from outside; and bbtrace in a namespace of its own.
# served.sh sets serving_NAME and pid_NAME
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$E2E/served.sh"
needs root uprobes cmd:unshare cmd:pivot_root cmd:chroot namespaces
mechanisms

chmod 755 "$T"
build_served -ldl

# A root with a copy of the program and its libraries.
box=$T/box
mkdir -p "$box/old" "$box/proc"
cp "$T/served" "$box/served"
while read -r file; do
	mkdir -p "$box${file%/*}"
	cp -L "$file" "$box$file"
done < <(ldd "$T/served" | grep -o '/[^ ]*')
libc=$(ldd "$T/served" | sed -n 's/.*=> \([^ ]*libc\.so[^ ]*\).*/\1/p')
[[ -e $box$libc ]] || exit 2

# Entering it: a mount namespace, a PID namespace, another root.
cat >"$T/enter" <<EOF
mount --bind "$box" "$box" && mount -t proc proc "$box/proc" && cd "$box" && pivot_root . old && exec /served
EOF
serve boxed unshare --mount --pid --fork --propagation private bash "$T/enter"
outer=$(<"/proc/$serving_boxed/task/$serving_boxed/children")
outer=${outer%% *}
at_end "kill -9 $outer 2>/dev/null"
is "$pid_boxed" 1 'a process that is number 1 in its own namespace'

entered() { json "$T/watch.json" "\$e->{event} eq 'entry' && \$e->{symbol} eq '$1' && (${2:-1})"; }
machine_libc() { armed $$ "$(realpath "$libc")" rand@@GLIBC_2.2.5; }

for attach in "${MECHANISMS[@]}"; do
	watch_object /served:tick libc.so.6:rand -p "$outer" --attach "$attach" -v
	is "$(machine_libc)" no "$attach: tracing a boxed process leaves this machine's own libc alone"
	tell boxed 'work 6'
	stop_watching INT
	exits 0 "$attach: the library of the process's own mount namespace is traced"
	is "$(entered rand)" 3 "$attach: each call of a boxed process is shown"
	is "$(entered rand "\$e->{object} ne '$libc'")" 0 "$attach: a boxed process's library is shown under the path that the process has for it"
	is "$(entered rand "\$e->{pid} == $outer && \$e->{tid} == $outer && \$e->{ns_pid} == 1")" 3 \
		"$attach: a boxed process has our number, and its inner one beside it"
	is "$(json "$T/watch.json" '$e->{event} eq "branch" && $e->{symbol} eq "rand" && $e->{kind} eq "ret" &&
		$e->{to}{object} eq "/served" && length $e->{to}{symbol}')" 3 "$attach: the caller in a boxed process is shown by its name"
	like "$T/err" "^bbtrace: process $outer \(served\) is 1 in its own PID namespace" "$attach: -v says which number a boxed process has in its own PID namespace"
done
watch_object "/proc/$outer/root/served" tick work -p "$outer"
tell boxed 'work 3'
stop_watching INT
is "$status $(entered work)" '0 3' "a boxed process's program is traced through /proc/PID/root"
watch_object "/proc/$outer/exe" tick work -p "$outer" -f
tell boxed 'work 1'
tell boxed 'fork 4'
child=$(sed -n 's/^child //p' "$T/boxed.out" | tail -1)
stop_watching INT
is "$status $(entered work "\$e->{ns_pid} == $child && \$e->{pid} != $outer")" '0 4' 'a child in a PID namespace is shown with its inner number'
is "$(entered work "\$e->{ns_pid} == 1 && \$e->{pid} == $outer")" 1 'the parent in a PID namespace is shown with its own inner number'

# By a user with the capabilities for it, and no more.
if two_capabilities_do; then
	install -m 755 "$BBTRACE" "$T/bbtrace"
	cat >"$T/by-nobody" <<EOF
#!/bin/bash
exec setpriv --reuid nobody --regid nogroup --clear-groups --inh-caps -all,+bpf,+perfmon,+sys_ptrace \
	--ambient-caps -all,+bpf,+perfmon,+sys_ptrace "$T/bbtrace" "\$@"
EOF
	chmod 755 "$T/by-nobody"
	chmod 777 "$T"
	BBTRACE=$T/by-nobody watch_object /served:tick libc.so.6:rand -p "$outer"
	tell boxed 'work 6'
	stop_watching INT
	chmod 755 "$T"
	exits 0 'a user with CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE traces a boxed process'
	is "$(entered rand "\$e->{pid} == $outer && \$e->{ns_pid} == 1 && \$e->{object} eq '$libc'")" 3 "a user's trace of a boxed process has its own library and its inner number"
	is "$(json "$T/watch.json" '$e->{event} eq "branch" && $e->{symbol} eq "rand" && $e->{kind} eq "ret" &&
		$e->{to}{object} eq "/served" && length $e->{to}{symbol}')" 3 "a user's trace of a boxed process has the names of the callers"
else
	skip 'by a user' 'CAP_BPF and CAP_PERFMON are not enough on this kernel'
fi

# ---- another root, and nothing else ----
serve jailed chroot "$box" /served
watch_object /served:tick libc.so.6:rand -p "$pid_jailed"
is "$(machine_libc)" no 'in a chroot: this machine'\''s own libc is not touched'
tell jailed 'work 4'
stop_watching INT
is "$status $(entered rand) $(entered rand 'exists $e->{ns_pid}')" '0 2 0' 'a process in a chroot: its own library is traced; it has one number only'
is "$(json "$T/watch.json" '$e->{event} eq "branch" && $e->{symbol} eq "rand" && $e->{kind} eq "ret" && length $e->{to}{symbol}')" \
	2 'what called it has its name'

# ---- bbtrace inside ----
# inside COMMAND...: in a PID namespace of its own
inside() { unshare --pid --fork --mount-proc "$@"; }
program fib -O1
inside "$BBTRACE" user "$T/fib" fib -e entry -F json -o "$T/json" -- bash -c "echo \$\$ >$T/number; exec $T/fib" >"$T/out" 2>"$T/err"
status=$?
exits 3 'bbtrace in a PID namespace traces a command'
is "$(json_lines "$T/json" '$e->{event} eq "entry" && "$e->{pid} $e->{tid} $e->{comm}"' | sort -u)" "$(<"$T/number") $(<"$T/number") fib" \
	'numbered as the namespace has it'
is "$(json "$T/json" 'exists $e->{ns_pid}')" 0 'bbtrace in a PID namespace numbers the command as the command does itself'
unshare --pid --fork unshare --pid --fork --mount-proc "$BBTRACE" user "$T/fib" fib -e entry -F json -o "$T/json" -- \
	bash -c "echo \$\$ >$T/number; exec $T/fib" >"$T/out" 2>"$T/err"
status=$?
exits 3 'bbtrace in a namespace within a namespace traces a command'
is "$(json_lines "$T/json" '$e->{event} eq "entry" && $e->{pid}' | sort -u)" "$(<"$T/number")" 'bbtrace in a namespace within a namespace numbers as the inner one does'

ok $(($(<"$T/number") > 20)) 'which begins with 1'
# A process of the same number in another namespace is another process.
serve stranger unshare --pid --fork --mount-proc bash -c "$T/served; exit \$?"
is "$pid_stranger" 2 'a stranger has number 2 in its own namespace'
cat >"$T/filters" <<EOF
"$T/served" <"$T/same.fifo" >"$T/same.out" & # number 2 here
"$BBTRACE" user "$T/served" tick work -e entry -F json -o "$T/watch.json" "\$@" 2>"$T/err" &
read -r line <"$T/stop.fifo"
kill -INT \$!
wait \$!
EOF
mkfifo "$T/stop.fifo"
for filter in '-p 2' '--tid 2' ''; do
	rm -f "$T/watch.json" "$T/same.fifo"
	mkfifo "$T/same.fifo"
	# shellcheck disable=SC2086 # options
	inside bash "$T/filters" $filter </dev/null &
	watching=$!
	exec {same}>"$T/same.fifo"
	wait_for $PATIENCE is_live
	tell stranger 'work 5'
	echo 'work 3' >&$same
	wait_for $PATIENCE grep -q '^did work' "$T/same.out"
	echo stop >"$T/stop.fifo"
	exec {same}>&-
	wait $watching
	is "$? $(entered work) $(entered work '$e->{pid} == 2')" '0 3 3' "bbtrace in a namespace, ${filter:-without a filter}: the process of that number in its own namespace is traced"
done
unshare --pid --fork "$BBTRACE" user "$T/fib" fib -- "$T/fib" >"$T/out" 2>"$T/err"
status=$?
exits 1 'bbtrace with the /proc of another namespace is refused'
like "$T/err" '^bbtrace: /proc shows another PID namespace.*mount -t proc' 'the message about the /proc of another namespace says what to do'
done_testing

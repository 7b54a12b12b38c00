#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest_loads.sh LOADED CLANG=BBTRACE...: in the guest of tests/long/t_loads.sh, each bbtrace in each mode (MODES: whose
# name matches): does the kernel load its BPF programs? strace shows which ones: $OUT/CLANG names those that were loaded.

. "$(dirname "$0")/guest_lib.sh"
P=$1
shift

cgroup=/sys/fs/cgroup
opens=
choose opens traceable 'what opens files' do_sys_openat2 __x64_sys_openat
# Each mode: what it adds to the programs, or to the ways through one that the verifier follows | the arguments | the
# oldest Linux for a mode that needs uprobe_multi: an older one refuses it for that reason.
modes="
branches            | user $P work leaf -- $P
system-wide         | user $P work -t 1
copies              | user $P work leaf --engine inline -f -- $P
copies of a user    | user $P work leaf --engine inline --uid 0 -- $P
copies in a cgroup  | user $P work leaf --engine inline --cgroup $cgroup -- $P
all filters         | user $P work leaf -f --uid 0 --comm loaded --cgroup $cgroup -t 1
a process           | user $P work -p $$ -t 1
frame pointers      | user $P work leaf -k --stack-size 0 -- $P
copied stacks       | user $P work leaf -k --stack-size 4K -- $P
counts              | user $P work leaf handle -c -f -- $P
sides seen once     | user $P work leaf -c --once -- $P | 6.6
probes that retire  | user $P work leaf -c --retire 2 -- $P | 6.6
the last branches   | user $P work leaf --last 50 -- $P
dumps               | user $P work fails --last 50 --dump-on fails=<0 --dump-on-failure -- $P | 6.6
arguments           | user $P work leaf --args -f -- $P
conditions          | user $P work leaf --args --if n>3 -- $P
what is compared    | user $P work leaf --why -k -- $P
why calls fail      | user $P fails --explain -- $P
return probes       | user $P work leaf --returns probe -- $P | 6.6
few probes          | user $P work leaf --placement witness -- $P
switches            | user $P work leaf -e entry,return,sched -k -- $P
tracepoints         | user $P work leaf --with sched:sched_process_fork -k -- $P
static probes       | event usdt:$P:* -- $P
signals             | user $P work handle main -f -- $P
markers             | user $P work leaf --control app -- $P | 6.6
from a function on  | user $P work leaf --start-on fails --stop-on leaf -- $P | 6.6
a watchpoint        | watch counter -k -- $P
the kernel's memory | watch kernel:panic_timeout:4 -- $P
samples             | profile -t 1
samples and calls   | user $P work -k --freq 99 -- $P
a PID namespace     | user $P work -f -- $P
kernel              | kernel $opens -- $P
kernel, entries     | kernel $opens -e entry -- $P
kernel, stacks      | kernel $opens -k -f -- $P
kernel, counts      | kernel $opens -c -- $P
kernel, once        | kernel $opens -c --once -- $P
kernel, last        | kernel $opens --last 50 -- $P
kernel, arguments   | kernel $opens --args -- $P
kernel, conditions  | kernel $opens --if ret<0 -- $P
kernel, compared    | kernel $opens --why -- $P
kernel, no returns  | kernel $opens --returns none -- $P
kernel, switches    | kernel $opens -e entry,return,sched -k -- $P
kernel, tail calls  | kernel dput -e entry,return -- $P
both                | trace user:$P:work kernel:$opens -k -- $P
both, counts        | trace user:$P:work kernel:$opens -c -- $P
doctor              | doctor
"

# run NAME ARG...: strace follows no child: copies have a ptracer of their own.
run() {
	local how=(strace -qq -s 64 -e trace=bpf -o "$T/calls")

	: >"$T/calls"
	[[ $1 != 'a PID namespace' ]] || how=(unshare --fork --pid --mount-proc "${how[@]}")
	timeout -k 10 600 "${how[@]}" "${@:2}" >"$T/out.txt" 2>"$T/err" </dev/null
	status=$?
}

loaded() { sed -n 's/.*BPF_PROG_LOAD.*prog_name="\([^"]\{1,\}\)".* = [0-9].*/\1/p' "$T/calls"; }
# A program that the kernel refuses is tried again with a log.
refused() { sed -n 's/.*BPF_PROG_LOAD.*prog_name="\([^"]\{1,\}\)".* = -1 \(.*\)/\1: \2/p' "$T/calls" | sort -u | xargs; }

older_than() { ! printf '%s\n' "$1" "$(uname -r)" | sort -VC; }

# mode BUILD BBTRACE OLDEST NAME ARG...
mode() {
	[[ $4 =~ ${MODES:-} ]] || return
	run "$4" "$2" "${@:5}"
	if [[ $3 ]] && older_than "$3"; then
		[[ $status == 1 ]] && grep -q uprobe_multi "$T/err"
		ok $? "$(uname -r) $1, $4: refused without uprobe_multi" || diag "status $status"$'\n'"$(tail -n 30 "$T/err")"
		return
	fi
	loaded >>"$OUT/$1"
	[[ $status == 0 ]] && ! grep -q 'failed to load\|rejected\|cannot load' "$T/err"
	ok $? "$(uname -r) $1, $4: $(loaded | wc -l) programs are loaded" ||
		diag "status $status; refused: $(refused)"$'\n'"$(grep -v '^ *[0-9]*: (' "$T/err" | tail -n 30 | cut -c1-300)"
}

mechanisms() { "$1" doctor -F json | jq -r 'select(.available and (.mechanism | test("^(uprobe|executed)_(multi|event)$"))) | .mechanism'; }
for build; do
	name=${build%%=*} bbtrace=${build#*=}
	like <("$bbtrace" doctor) "^bpf_program .*: clang ${name#clang-}\\." "$name: doctor shows it"
	for mechanism in $(mechanisms "$bbtrace"); do
		mode "$name" "$bbtrace" '' "$mechanism" user "$P" work leaf --attach "$mechanism" -- "$P"
	done
	while IFS='|' read -r what arguments oldest; do
		read -r what <<<"$what"
		read -r oldest <<<"$oldest"
		read -ra words <<<"$arguments"
		[[ ! $what ]] || mode "$name" "$bbtrace" "$oldest" "$what" "${words[@]}"
	done <<<"$modes"
	sort -u -o "$OUT/$name" "$OUT/$name"
done
bring_back
done_testing

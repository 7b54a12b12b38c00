# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154
#
# Sourced by guest_arm64.sh and guest_riscv64.sh: what both programs have, and what neither machine can do. $program is the one
# that was built for the machine.

# Kernels differ in whether they interpret such programs.
own_jit() {
	local enable=/proc/sys/net/core/bpf_jit_enable

	[[ $(cat $enable) == 0 ]] || return 0
	bb user "$program" below -- "$program"
	[[ $status == 0 ]] || grep -q 'sysctl -w net.core.bpf_jit_enable=1$' "$T/err"
	ok $? "the kernel compiles no BPF programs: status $status" || diag "$(cat "$T/err")"
	$BBTRACE doctor | grep -A 2 '^jit  *no' | grep -q 'remedy: sysctl'
	ok $? 'doctor says how it would'
	echo 1 >$enable
	$BBTRACE doctor | grep -q '^jit  *yes'
	ok $? 'doctor sees that it does'
}

# The callers of the innermost function.
own_stacks() { # WHAT
	bb user "$program" innermost -e entry --stack -F json -o "$T/stack" -- "$program"
	exits 0 'stacks: the program ends'
	is "$(jq -r 'select(.event == "entry") | .stack[1:7][].symbol' "$T/stack" | tr '\n' ' ')" 'below below below below below main ' \
		"stacks: $1"
}

own_probe() {
	bb event "usdt:$program:probe" -F json -o "$T/usdt" -- "$program"
	exits 0 'static probes: the program ends'
	is "$(jq -r 'select(.event != "summary") | (.fields // .args)[]' "$T/usdt" | sed -n 9,12p | tr '\n' ' ')" '3 2 -5 2 ' \
		'static probes: registers, a constant, memory' || diag "$(sed -n 3p "$T/usdt")"
}

refused_here() { # WHY-NOT-WATCHED
	bb watch "$program:counts" -- "$program"
	exits 1 'memory is not watched'
	grep -q "$1" "$T/err"
	ok $? 'the reason is told' || diag "$(cat "$T/err")"
	bb user "$program" below --engine inline -- "$program"
	exits 0 'copies: the program ends'
	grep -q "by probes instead.*can't be copied" "$T/err"
	ok $? 'copies: there are none, which is told' || diag "$(cat "$T/err")"
}

# What perl makes of mount(2) is what the kernel's function gets.
own_mount() { # FUNCTION
	bb kernel "$1" -e entry,return -F json -o "$T/mount" -- perl -e 'my @a = qw(src /nowhere tmpfs); syscall 40, @a, 77, 0'
	is "$(jq -r 'select(.event == "entry") | .syscall_args[3:] | join(" ")' "$T/mount")" '0x4d 0x0' 'the arguments of a system call' ||
		diag "$(cat "$T/mount")"
	is "$(jq -r 'select(.event == "return") | .value' "$T/mount")" 0xfffffffffffffffe 'its result: ENOENT'
}

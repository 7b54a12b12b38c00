#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The kernel takes no probe on a call with a notrack prefix. It leads to a traced function of another object, whose entry
# shows it: the call comes before what it led to, in each placement and by copies; loops and recursion through it, too.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes
[[ $(uname -m) == x86_64 ]] || skip_all 'x86-64 only'
cat >"$T/lib.c" <<-'END'
	int leaf(int x) { if (x > 5) return x - 1; return x + 2; }
	int back(int x, int (*f)(int)) { return x > 2 ? f(x - 1) + 1 : x; }
END
cat >"$T/prog.c" <<-'END'
	int leaf(int), back(int, int (*)(int));

	/* a call that can't be probed, by a pointer */
	__attribute__((noipa)) static int by(void *f, int x, void *y)
	{
		int r;

		__asm__ volatile("sub $128, %%rsp; notrack call *%1; add $128, %%rsp"
				 : "=a"(r), "+r"(f), "+D"(x), "+S"(y) : : "rdx", "rcx", "r8", "r9", "r10", "r11", "memory", "cc");
		return r;
	}

	__attribute__((noipa)) int outer(int x) { return x > 7 ? 9 : by(leaf, x, 0) + 1; }
	__attribute__((noipa)) int loops(int n)
	{
		int s = 0;

		for (int i = 0; i < n; i++)
			s += by(leaf, i, 0);
		return s;
	}
	__attribute__((noipa)) int again(int x) { return by(back, x, again); }
	int main(int c, char **v) { return outer(c) + loops(4) + again(5) == 99; }
END
gcc -O2 -fPIC -shared -o "$T/libleaf.so" "$T/lib.c" -fno-optimize-sibling-calls &&
	gcc -O2 -fno-optimize-sibling-calls -o "$T/prog" "$T/prog.c" -L"$T" -lleaf -Wl,-rpath,"$T" || exit 2

# Entries, and calls by a pointer, in order.
order() {
	json_lines "$T/json" '($e->{event} eq "entry" || ($e->{kind} // "") eq "icall") && "$e->{symbol}." . ($e->{event} eq "entry" ? "in" : "call")' |
		xargs
}
leaf='by.in by.call leaf.in' back='again.in by.in by.call back.in back.call'
wanted="outer.in $leaf loops.in $leaf $leaf $leaf $leaf $back $back $back again.in by.in by.call back.in"
for how in '--engine probe --placement full' '--engine probe --placement implied' '--engine probe --placement witness' \
	'--engine inline --placement full' '--engine inline --placement witness'; do
	read -ra options <<<"$how"
	bb trace "user:$T/prog:outer" "user:$T/prog:loops" "user:$T/prog:again" "user:$T/prog:by" "user:$T/libleaf.so:leaf" \
		"user:$T/libleaf.so:back" "${options[@]}" -F json -o "$T/json" -- "$T/prog"
	is "$status $(order)" "0 $wanted" "$how: each call comes before what it leads to"
	is "$(json_lines "$T/json" '$e->{event} eq "unknown"' | wc -l)" 0 "$how: nothing is unknown"
done
done_testing

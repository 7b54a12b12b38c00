#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --returns: at ret instructions, by return probes, not at all.
# shellcheck disable=SC2154,SC2034 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes

source_program calls c -fcf-protection=none -I"$ROOT/tests/progs" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include "asm.h"
#define NOINLINE __attribute__((noinline))
NOINLINE long leaf(long n) { __asm__ volatile(""); return n * 3; }
NOINLINE long deep(long n)
{
	long r = n ? deep(n - 1) + 1 : leaf(7);
	__asm__ volatile("" : "+r"(r));
	return r;
}
/* jumps: both return at leaf's ret */
long tail(long n);
__asm__(".text\n.type tail, @function\ntail: "
	ASM_OF("inc %rdi\njmp leaf\n", "add x0, x0, #1\nb leaf\n", "addi a0, a0, 1\nj leaf\n") ".size tail, . - tail");
/* its entry is a loop's head */
long again(long n);
__asm__(".text\n.type again, @function\nagain: "
	ASM_OF("dec %rdi\njnz again\nmov $5, %eax\nret\n", "subs x0, x0, #1\nb.ne again\nmov x0, #5\nret\n",
	"addi a0, a0, -1\nbnez a0, again\nli a0, 5\nret\n") ".size again, . - again");
/* a loop's head with something else on top of the stack: a return probe would overwrite it */
long pushes(long n);
__asm__(".text\n.type pushes, @function\npushes: "
	ASM_OF("dec %rdi\njs 1f\npush %rdi\njmp pushes\n1: pop %rax\nmov %rax, %rdx\npop %rax\nmov $6, %eax\nret\n",
	"subs x0, x0, #1\nb.mi 1f\nstr x0, [sp, #-16]!\nb pushes\n1: ldr x1, [sp], #16\nldr x1, [sp], #16\nmov x0, #6\nret\n",
	"addi a0, a0, -1\nbltz a0, 1f\naddi sp, sp, -16\nsd a0, 0(sp)\nj pushes\n1: addi sp, sp, 32\nli a0, 6\nret\n") ".size pushes, . - pushes");
/* its ret is reached by a jump that nobody resolves */
long hidden(long n);
__asm__(".text\n.type hidden, @function\nhidden: "
	ASM_OF("lea 1f(%rip), %rax\nadd %rdi, %rax\nsub %rdi, %rax\njmp *%rax\n.fill 20, 1, 0x90\n1: mov $77, %eax\nret\n",
	"adr x1, 1f\nadd x1, x1, x0\nsub x1, x1, x0\nbr x1\n.fill 5, 4, 0xd503201f\n1: mov x0, #77\nret\n",
	"lla t1, 1f\nadd t1, t1, a0\nsub t1, t1, a0\njr t1\n.fill 5, 4, 0x13\n1: li a0, 77\nret\n") ".size hidden, . - hidden");
int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 5;
	printf("%ld %ld %ld %ld\n", deep(n), tail(n), again(3), hidden(n));
	return pushes(2) - 6;
}
END
want=$("$T/calls")

returned() { json_lines "$T/json" '$e->{event} eq "return" && join " ", $e->{symbol}, hex $e->{value}, $e->{depth} // ""'; }
paired() { json "$T/json" '$e->{event} eq "return" && $e->{duration_ns} > 0'; }
run() { # OPTION... : traced, with --returns as given
	bb user "$T/calls" "${functions[@]}" -F json -o "$T/json" "$@" -- "$T/calls" "${args[@]}"
}
functions=(deep leaf tail again) args=(5)
steps() { json_lines "$1" '$e->{event} =~ /entry|branch|return/ && join " ", map { $_ // "" } @$e{qw(event symbol vaddr kind taken value depth)}, $e->{to} ? $e->{to}{vaddr} : ""'; }

# ---- ret, the default ----
run
exits 0 'returns are traced by default'
returned >"$T/by_default"
is "$(grep -c . "$T/by_default")" 10 'returns are shown by default'
run --returns ret
returned >"$T/shown"
same "$T/shown" "$T/by_default" '--returns ret shows what the default does'
steps "$T/json" >"$T/ret.steps"
run --returns ret -e entry,return
probes_at_rets=$(summary probes)

# ---- none ----
run --returns none
exits 0 '--returns none ends well'
is "$(json "$T/json" '$e->{event} eq "return"')" 0 '--returns none shows no return'
is "$(json "$T/json" '$e->{event} eq "entry"')" "$(grep -c '^entry' "$T/ret.steps")" '--returns none shows all the entries'
bb user "$T/calls" deep leaf -e entry,branch -- "$T/calls"
without=$(summary probes)
bb user "$T/calls" deep leaf --returns none -- "$T/calls"
is "$(summary probes)" "$without" '--returns none has as many probes as -e without return'

# ---- probe ----
if ! "$BBTRACE" doctor | grep -q '^uprobe_multi  *yes'; then
	run --returns probe
	exits 1 '--returns probe is refused without uprobe_multi'
	like "$T/err" 'uprobe_multi \(Linux 6.6' '--returns probe is refused with what it needs'
	done_testing
	exit
fi
run --returns probe -e entry,return
exits 0 '--returns probe ends well'
returned >"$T/shown"
same "$T/shown" "$T/by_default" '--returns probe shows the same returns, with the same values'
is "$(paired)" 10 '--returns probe pairs each return with its entry'
is "$(summary unmatched)" 0 '--returns probe leaves no return unmatched'
is "$(summary probes) $((probes_at_rets > 4))" '4 1' '--returns probe has one probe a function for returns'
is "$(<"$T/out")" "$want" '--returns probe: the program prints what it always does'
like "$T/err" 'exception.*seccomp.*64' '--returns probe: a note says what return probes break'
for placement in full implied witness; do
	run --returns probe --placement $placement
	steps "$T/json" >"$T/shown"
	same "$T/shown" "$T/ret.steps" "--returns probe, $placement, with branches: the same steps"
	is "$(summary unmatched)" 0 "--returns probe, $placement, with branches: no return is unmatched"
	is "$(json "$T/json" '($e->{kind} // "") eq "ret" && !exists $e->{ts} && $e->{to}{vaddr}')" 9 \
		"--returns probe, $placement: the return probes imply each ret, with its target"
done
bb user "$T/calls" "${functions[@]}" --returns probe -F summary -- "$T/calls" 5
is $(($(summary probes) < probes_at_rets + 4)) 1 '--returns probe -F summary has no probe at rets'
bb user "$T/calls" "${functions[@]}" --returns probe -q -o "$T/trace" -- "$T/calls" 5
bb report "$T/trace" -F json -o "$T/json"
steps "$T/json" >"$T/shown"
same "$T/shown" "$T/ret.steps" '--returns probe: report of a trace file shows the same steps'

# ---- what a ret can't tell ----
functions=(hidden)
run --returns probe -e entry,return
is "$(returned)" 'hidden 77 0' '--returns probe shows the return of a function whose ret is not found by decoding'

# ---- nesting ----
functions=(deep)
for n in 63 64 99; do
	args=("$n")
	run --returns probe -e entry,return
	is "$(json "$T/json" '$e->{event} eq "entry"') $(json "$T/json" '$e->{event} eq "return"')" "$((n + 1)) 64" "$((n + 1)) calls deep: 64 have a return"
	is "$(summary unmatched)" $((n - 63)) "--returns probe, $((n + 1)) calls deep: the other returns are counted"
	# the outer ones have theirs: the value says which call it was, and so does the depth
	is "$(json "$T/json" '$e->{event} eq "return" && hex($e->{value}) == 21 + '"$n"' - $e->{depth} && $e->{duration_ns} > 0')" 64 "--returns probe, $((n + 1)) calls deep: each return is its own call's"
done

functions=(deep leaf) args=(99)
run --returns probe
exits 0 '100 calls deep with branches are traced'
is "$(json "$T/json" '($e->{kind} // "") eq "ret"')" "$(json "$T/json" '$e->{event} eq "return"')" \
	'100 calls deep: no ret is shown of a call whose return probe the kernel dropped'
is "$(json "$T/json" '$e->{event} eq "unknown"') $(summary unmatched)" '37 37' '100 calls deep: each of these calls is marked and counted'

# ---- frames that are left ----
source_program leaves c <<'END'
#include <setjmp.h>
static jmp_buf back;
__attribute__((noinline)) int leave(int n) { if (n) longjmp(back, n); return 5; }
__attribute__((noinline)) int middle(int n) { int r = leave(n); __asm__ volatile("" : "+r"(r)); return r; }
__attribute__((noinline)) int outer(int n) { int r = setjmp(back); if (!r) r = middle(n); __asm__ volatile("" : "+r"(r)); return r; }
int main(void) { int sum = 0; for (int i = 0; i < 4; i++) sum += outer(i & 1); return sum - 12; }
END
functions=(leave middle outer) args=()
for placement in full implied witness; do
	bb user "$T/leaves" leave middle -F json -o "$T/json" --returns probe --placement $placement -- "$T/leaves"
	exits 0 "$placement: a program with longjmp ends well"
	is "$(json "$T/json" '($e->{kind} // "") eq "ret"') $(json "$T/json" '$e->{event} eq "return"') $(json "$T/json" '$e->{event} eq "entry"')" '4 4 8' \
		"$placement: frames that longjmp left have neither ret nor return"
done

# ---- refused ----
args=(5)
functions=(pushes)
run --returns probe
exits 1 '--returns probe is refused where control may come back to an entry with another stack'
like "$T/err" 'no return probe on pushes: control may come back' '--returns probe: the message says that control may come back to the entry'
functions=(pushes deep)
run --returns probe -e entry,return
exits 0 '--returns probe goes on with the other function where one is refused'
like "$T/err" 'no return probe on pushes' '--returns probe: a note names the function that was refused'
is "$(returned | cut -d' ' -f1 | sort | uniq -c | xargs)" '6 deep' '--returns probe: the function that is not refused returns'

source_program throws c++ <<'END'
__attribute__((noinline)) int raise(int n) { if (n > 2) throw n; return n; }
__attribute__((noinline)) int caught(int n) { try { return raise(n); } catch (int i) { return -i; } }
int main() { return caught(1) + caught(2) - 3; }
END
bb user "$T/throws" 'caught*' --returns probe -- "$T/throws"
exits 1 '--returns probe of a function that catches exceptions is refused'
like "$T/err" 'no return probe on caught.*: it catches exceptions' '--returns probe: the message says that the function catches exceptions'

# ---- wrong usage ----
usage() { # MESSAGE OPTION...
	local message=$1
	shift
	bb "$@"
	exits 2 "$* is wrong usage"
	like "$T/err" "$message" "$*: the message says what is wrong"
}
usage "unknown value 'some': use ret" user "$T/calls" deep --returns some
usage 'contradicts -e return' user "$T/calls" deep --returns none -e entry,return
usage '-e leaves them out' user "$T/calls" deep --returns probe -e entry
usage 'is for programs' kernel schedule --returns probe
# ---- what is on top of the stack at an entry need not be a return address: at _start it is argc ----
bb user "$T/calls" '*' --returns probe -F json -o "$T/json" -- "$T/calls" 5
exits 0 'every function of a program is traced with return probes'
is "$(cat "$T/out")" "$want" 'a program with return probes on every function does what it does'
private_copy gzip
yes 'what is packed' | head -c 20000 >"$T/text"
"${PRIVATE_RUN[@]}" -c "$T/text" >"$T/packed"
for object in gzip libc.so.6 "${PRIVATE_RUN[0]##*/}"; do
	bb user "$PRIVATE/$object" '*' -e entry,return --returns probe -F json -o "$T/json" -- "${PRIVATE_RUN[@]}" -c "$T/text"
	exits 0 "every function of $object is traced with return probes"
	same "$T/out" "$T/packed" "a program with return probes on every function of $object does what it does"
	isnt "$(json "$T/json" '$e->{event} eq "return"')" 0 "$(json "$T/json" '$e->{event} eq "return"') returns"
done
done_testing

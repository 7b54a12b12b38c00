#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Without --args arguments and results are shown by their types, too, as far as registers have them: what the program
# itself prints, with each engine, live and from a file.

. "$(dirname "$0")/lib.sh"

needs root uprobes cmd:gcc cmd:jq
cd "$T" || exit 2
cat >typed.c <<'END'
#include <stdbool.h>
#include <stdio.h>
enum color { RED, GREEN = 5, BLUE = -2 };
struct point { int x, y; };
#define F __attribute__((noinline, noclone))
F int numbers(int a, unsigned char b, long c, unsigned long d, short e, bool f) { return a + b + c + d + e + f; }
F enum color named(enum color c, char letter) { return letter == 'x' ? BLUE : c; }
F const char *texts(const char *s, void *p) { return p ? s : "none"; }
F void many(int a, int b, int c, int d, int e, int f, int g) { fprintf(stderr, "%d", a + b + c + d + e + f + g); }
F struct point moved(struct point p, int by) { p.x += by; return p; }
F double scaled(double x, int by) { return x * by; }
int main(void)
{
	char s[] = "text";
	printf("numbers(a=-7, b=200, c=-5000000000, d=18446744073709551615, e=-3, f=true)\n");
	printf("numbers returns %d\n", numbers(-7, 200, -5000000000, -1, -3, true));
	printf("named(c=GREEN, letter='x')\nnamed returns BLUE\n");
	printf("", named(GREEN, 'x'));
	printf("texts(s=%p, p=%p)\n", s, &s);
	printf("texts returns %p\n", texts(s, &s));
	printf("many(a=1, b=2, c=3, d=4, e=5, f=-6, g=(not recorded))\nmany returns\n");
	many(1, 2, 3, 4, 5, -6, 7);
	printf("moved(p={x=3, y=-4}, by=9)\nmoved returns {x=12, y=-4}\n");
	volatile struct point q = moved((struct point){3, -4}, 9);
	printf("scaled(x=(not recorded), by=2)\nscaled returns (not recorded)\n");
	volatile double z = scaled(1.5, 2);
	return 0;
}
END
gcc -w -g -O1 -o typed typed.c || exit 2
lines() { sed -nE 's/^ *typed-[0-9]+ +([a-z]+(\(| returns))/\1/p' "$1" | sed 's/  .*//'; }
events=(-e "entry,return" -T none --no-src)
for engine in probe inline; do
	[[ $engine == probe || $(uname -m) == x86_64 ]] || continue
	bb user ./typed numbers named texts many moved scaled --engine $engine "${events[@]}" -o out.txt -F text -- ./typed
	cp "$T/out" wanted
	lines out.txt >got
	same got wanted "$engine: each argument and result is what the program prints"
	unlike "$T/err" 'types are not known|not recorded' 'nothing is said of it'
	bb user ./typed numbers named texts many moved scaled --engine $engine -o trace -- ./typed
	cp "$T/out" wanted
	bb report trace "${events[@]:2}"
	lines "$T/out" >got
	same got wanted "$engine: a report of a trace file has the same"
	bb user ./typed numbers named --engine $engine -F json -o json -- ./typed
	like json '"symbol":"numbers".*"regs":\{.*"args":\{"a":-7,"b":200,"c":-5000000000,"d":18446744073709551615,"e":-3,"f":true\}' \
		"$engine: JSON has both"
	is "$(jq -c 'select(.event == "return") | [.value != null, .ret]' json | xargs)" '[true,-705032514] [true,BLUE]' "$engine: and of results"
	bb user ./typed numbers texts --engine $engine "${events[@]}" -r args -- ./typed
	unlike "$T/out" 'typed-[0-9]+ +[a-z]+\((a|s)=' "$engine: -r args shows registers"
	like "$T/out" '  numbers\((rdi|x0|a0)=0xfffffff9, ' "$engine: these"
	like "$T/out" '  texts returns 0x' "$engine: and results as numbers"
done
bb user ./typed many --args "${events[@]}" -- ./typed
like "$T/out" '  many\(a=1, b=2, c=3, d=4, e=5, f=-6, g=7\)' '--args reads what is on the stack'

# ---- a parameter in a register that no call of C passes: reported by probes alone ----
cat >context.c <<'END'
#include <stdio.h>
typedef long context __attribute__((aligned(8)));
__attribute__((noinline, swiftcall)) long inner(long n, __attribute__((swift_context)) void *at) { __asm__ volatile(""); return n + (long)at; }
int main(void) { printf("inner(n=3, at=%p)\n", (void *)0x1234560); return inner(3, (void *)0x1234560) == 0; }
END
if [[ $(uname -m) == x86_64 ]] && command -v clang >"$T/clang" && clang -w -g -O1 -o context context.c; then
	bb user ./context inner --engine probe --args "${events[@]}" -- ./context
	like "$T/out" '  inner\(n=3, at=0x1234560\)' 'a probe reports each register'
	for engine in probe inline; do
		bb user ./context inner --engine $engine "${events[@]}" -- ./context
		like "$T/out" '  inner\(n=3, at=(0x1234560|\(not recorded\))\)' "$engine: what isn't reported is not shown as 0"
	done
else
	skip 'a parameter in another register' 'no clang for x86-64'
fi

# ---- without debug information ----
strip -o stripped typed
bb user ./stripped 0x"$(nm typed | awk '$3 == "numbers" { print $1 }' | sed 's/^0*//')":numbers "${events[@]}" -- ./stripped
like "$T/out" '  numbers\((rdi|x0|a0)=0x' 'a function without types shows its registers'
unlike "$T/err" 'types' 'and no note says so'
done_testing

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Static probes of programs: each form of an argument, semaphores, several places of one name; python3's and libstdc++'s as
# they are shipped; live, from a file, with copies.
# shellcheck disable=SC2154,SC2034 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes cmd:perl
printf '5.15\n%s\n' "$(uname -r)" | sort -VC || skip_all 'static probes need Linux 5.15: an attach cookie'
[[ $(uname -m) == x86_64 ]] || skip_all 'the operands are those of x86-64'

# ---- a program of our own: what it passes, it prints ----
program probes -O1 -Wno-unused
bb list --events "$T/probes"
exits 0 'the probes of a program are listed'
readelf -nW "$T/probes" 2>/dev/null | sed -n 's/^ *Name: //p' | grep -vx dropped | sort -u >"$T/wanted"
sed 's/^test://; s/ .*//' "$T/out" | sort >"$T/got"
same "$T/got" "$T/wanted" 'those that readelf shows, but for one that has no code'
like "$T/err" 'static probe test:dropped is left out' 'which is told'
like "$T/out" '^test:twice  \(2 places\)  arg0: s32$' 'one that is at two places says so'
bb event "usdt:$T/probes:*" -F json -o "$T/json" -- "$T/probes"
exits 0 'they are traced'
cp "$T/out" "$T/printed"
is "$(grep -c asked "$T/printed")" 40 'the semaphore is set while they are traced'
"$T/probes" >"$T/alone"
is "$(grep -c asked "$T/alone")" 0 'and not without a tracer'
forms='my @a = map { $e->{args}{"arg$_"} } 0 .. 11;
	join " ", "forms", @a[0 .. 4], $e->{args}{arg5_text} // "?", @a[6 .. 9], $a[11]'
json_lines "$T/json" '$e->{event} eq "usdt" && $e->{name} eq "test:forms" && do { '"$forms"' }' >"$T/got"
# Less than two characters may be anything.
sed -n '/^forms/ { s/ \(x\|\) -7 7/ ? -7 7/; p }' "$T/printed" >"$T/wanted"
same "$T/got" "$T/wanted" 'each form of an argument has the value that was passed'
is "$(json "$T/json" '$e->{event} eq "usdt" && exists $e->{args}{arg10}')" 0 'one in a vector register is left out'
for name in asked twice; do
	json_lines "$T/json" '$e->{event} eq "usdt" && $e->{name} eq "test:'$name'" && "'$name' $e->{args}{arg0}"' >"$T/got"
	grep "^$name" "$T/printed" >"$T/wanted"
	same "$T/got" "$T/wanted" "$name: each time, with its argument"
done
json_lines "$T/json" '$e->{event} eq "usdt" && $e->{name} =~ s/test://r' >"$T/got"
sed '/^texts/d; s/ .*//' "$T/printed" >"$T/wanted"
same "$T/got" "$T/wanted" 'in order'

# ---- with functions: the event is in the call, by probes and by copies ----
for engine in probe inline; do
	bb user "$T/probes" forms twice --engine $engine -e entry,return --with "usdt:$T/probes:test:*o*" -F json -o "$T/json" \
		--record "$T/trace" -- "$T/probes"
	json_lines "$T/json" '$e->{event} eq "usdt" ? "$e->{depth} $e->{name}" : $e->{event} =~ /entry|return/ && "$e->{event} $e->{symbol}"' |
		sort | uniq -c | sed 's/^ *//' >"$T/got"
	is "$(tr '\n' ',' <"$T/got")" '40 0 test:forms,40 entry forms,40 entry twice,40 return forms,40 return twice,' \
		"$engine: the events of a pattern, and the calls"
	json_lines "$T/json" '$e->{event} =~ /entry|usdt|return/ && ($e->{name} // $e->{event})' | head -n 3 | tr '\n' ' ' >"$T/got"
	is "$(cat "$T/got")" 'entry test:forms return ' "$engine: an event is where it happened"
	bb report "$T/trace" -F json -o "$T/again"
	same "$T/again" "$T/json" "$engine: a trace file shows the same"
done

# ---- variables, numbers in general registers, a literal that nobody has read, what can't be read ----
cat >"$T/places.c" <<'END'
#include "sdt.h"
int requests = 7;
static long total[4] = {1, 22, 333, 4444};
static __thread int own = 5;
int main(void)
{
	static const char literal[8192] __attribute__((aligned(4096))) = {[4096] = 'n', 'e', 'v', 'e', 'r'};
	long d = 0x4004000000000000;
	int f = 0xbdcccccd;
	for (int i = 0; i < 3; i++) {
		requests++;
		asm volatile(NOTE("places", "0",
				  "-4@requests(%%rip) -8@total+16(%%rip) 8f@%%rax 4f@%%edx 8@%%rdi 4@%%fs:own@tpoff 8f@%%xmm0")
			     ::"a"(d), "d"(f), "D"(literal + 4096), "m"(requests), "m"(total), "m"(own));
	}
	return 0;
}
END
if gcc -w -O1 -I "$ROOT/tests/progs" -o "$T/places" "$T/places.c" 2>"$T/log"; then
	bb list --events "$T/places"
	is "$(cat "$T/out")" 'test:places  arg0: s32, arg1: s64, arg2: f64, arg3: f32, arg4: u64, arg5: 4@%fs:own@tpoff (not recorded), arg6: 8f@%xmm0 (not recorded)' \
		'what can be read of the arguments is listed, and what can not'
	bb list --events "$T/places" -F json
	is "$(json_lines "$T/out" 'join " ", map { "$_->{name}" . (exists $_->{recorded} ? "!" : "") } @{$e->{fields}}' | head -n 1)" \
		'arg0 arg1 arg1_text arg2 arg3 arg4 arg4_text arg5! arg6!' 'in JSON, too'
	bb event "usdt:$T/places:*" -T none -- "$T/places"
	like "$T/out" 'arg0=8 arg1=333 arg2=2.5 arg3=-0.100000001 arg4=0x[0-9a-f]* "never" arg5=\(not recorded\) arg6=\(not recorded\)' \
		'variables, floats, the text of a page that was not in memory'
	like "$T/out" 'arg0=10 arg1=333' 'as they are at each hit'
	bb event "usdt:$T/places:*" -F json -o "$T/json" -- "$T/places"
	like "$T/json" '"arg0":8,"arg1":333,"arg2":2.5,"arg3":-0.100000001,"arg4":"0x[0-9a-f]*","arg4_text":"never"}' 'in JSON'
	like "$T/json" '"not_recorded":\["arg5","arg6"\]' 'with the names of those that are not recorded'
	bb event "usdt:$T/places:*" --record "$T/trace" -- "$T/places"
	bb report "$T/trace" -T none
	like "$T/out" 'arg0=9 arg1=333 arg2=2.5 .* "never" arg5=\(not recorded\)' 'a trace file has the same'
else
	skip 'no compiler'
fi

# ---- who isn't traced doesn't pay: its code has no breakpoint ----
background sh -c 'exec sleep 1000'
bb event "usdt:$T/probes:none" -- true
exits 1 'an unknown probe is an error'
like "$T/err" "has no static probe 'none'; bbtrace list --events" 'which says how to find one'
bb event usdt:/bin/true:x -- true
like "$T/err" 'has no static probes' 'so does a program without any'
bb event usdt:x -- true
exits 2 'a name without an object is wrong usage'

# ---- python3, as it is shipped: calls as python itself counts them ----
python=/usr/bin/python3
if "$BBTRACE" list --events "$(realpath $python)" 2>/dev/null | grep -q function__entry; then
	cat >"$T/calls.py" <<'END'
import sys
def leaf(n): return n + 1
def middle(n): return leaf(n) + leaf(n)
seen = []
def profile(frame, event, arg):
    if event in ("call", "return"): seen.append((event, frame.f_code.co_name, frame.f_code.co_filename))
def main():
    for i in range(100): middle(i)
    try: raise ValueError
    except ValueError: pass
sys.setprofile(profile)
main()
sys.setprofile(None)
for event, name, file in seen:
    if file == __file__: print(event, name)
END
	bb event "usdt:$(realpath $python):function__*" -F json -o "$T/json" -- $python "$T/calls.py"
	cp "$T/out" "$T/wanted"
	json_lines "$T/json" '$e->{event} eq "usdt" && ($e->{args}{arg0_text} // "") eq "'"$T/calls.py"'" &&
		$e->{args}{arg1_text} =~ /^(leaf|middle|main)$/ &&
		($e->{name} =~ /entry/ ? "call" : "return") . " $e->{args}{arg1_text}"' >"$T/got"
	same "$T/got" "$T/wanted" 'python3: each call and return that sys.setprofile sees, with its file and name'
	ok "$(($(wc -l <"$T/wanted") < 600))" 'hundreds of them' || diag "$(wc -l <"$T/wanted")"
else
	skip 'python3' 'it has no static probes here'
fi

# ---- libstdc++: each exception, its object and its type ----
source_program throws c++ <<'END'
#include <cstdio>
#include <stdexcept>
#include <typeinfo>
static void thrower(int n) { if (n % 2) throw n; throw std::runtime_error("x"); }
int main()
{
	for (int n = 0; n < 20; n++) {
		try {
			try { thrower(n); } catch (int &i) { printf("catch %p %p\n", (void *)&i, (void *)&typeid(int)); throw; }
			catch (std::exception &e) { printf("catch %p %p\n", (void *)&e, (void *)&typeid(e)); }
		} catch (int &i) { printf("again %p\n", (void *)&i); }
	}
}
END
libstdcxx=$(ldd "$T/throws" | sed -n 's/.*libstdc++[^ ]* => \([^ ]*\) .*/\1/p')
bb event "usdt:$libstdcxx:*" -F json -o "$T/json" -- "$T/throws"
is "$(json "$T/json" '$e->{name} // "" eq "libstdcxx:throw"' >/dev/null; json "$T/json" '($e->{name} // "") eq "libstdcxx:throw"')" 20 'libstdc++: each throw'
is "$(json "$T/json" '($e->{name} // "") eq "libstdcxx:rethrow"')" 10 'each rethrow'
json_lines "$T/json" '($e->{name} // "") eq "libstdcxx:throw" && "$e->{args}{arg0} $e->{args}{arg1}"' >"$T/got"
sed -n 's/^catch //p' "$T/out" >"$T/wanted"
same "$T/got" "$T/wanted" 'with the object that is caught, and its type'
done_testing

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

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The functions that FUNC means: names that look like numbers, aliases, globs, --exclude, versions, several objects.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/lib.sh"
needs root uprobes

source_program library c -shared -fPIC <<'END'
__attribute__((noinline)) int outside(int n) { return n > 2 ? n * 3 : -n; }
END
source_program prog c -L"$T" -l:library -Wl,-rpath,"$T" <<'END'
#include <stdio.h>
#define KEPT __attribute__((noipa))
KEPT int add(int a, int b) { return a > b ? a + b : a - b; }
KEPT int dead(int n) { return n ? n - 1 : 7; }
KEPT int beef(int n) { return n ? n - 2 : 8; }
KEPT int dead_end(int n) { return n ? n - 3 : 9; }
int plus(int a, int b) __attribute__((alias("add")));
int outside(int n);
int main(void) { printf("%d\n", add(1, 2) + plus(5, 4) + dead(3) + beef(2) + dead_end(1) + outside(5)); }
END

traces() { # WANTED FUNC...: which functions have entries
	local wanted=$1
	shift
	bb user "$T/prog" "$@" -F json -o "$T/json" -- "$T/prog"
	is "$status $(symbols)" "0 $wanted" "the functions that $* means are shown"
}

traces 'add beef dead' add dead beef
is "$(entries add)" 2 'a call by its alias is a call of the function'
traces plus plus
is "$(entries plus)" 2 'a function that is asked for by its alias is shown under that name'
traces add add plus
is "$(entries add) $(returns add) $(summary functions)" '2 2 1' 'a function that is asked for by its name and its alias is traced once'
traces dead dead dead
is "$(entries dead) $(summary functions)" '1 1' 'FUNC given twice is traced once'
traces 'dead dead_end' 'dead*'
traces 'add beef dead dead_end' 'a[d]d' 'de?d' 'beef' 'd*_end'
traces dead_end 'dead*' --exclude dead
traces 'dead_end' 'dead*' 'beef' --exclude 'b*' --exclude dead
bb list "$T/prog" 'dead*' --exclude dead --exclude daed
like "$T/err" '^bbtrace: --exclude daed leaves out no further function$' '--exclude of a name that no function has: a note says so'
is "$status $(grep -c exclude "$T/err")" '0 1' 'no note on the other --exclude'
bb user "$T/prog" 'dead*' --exclude '*' -- "$T/prog"
exits 1 '--exclude that leaves no function is refused'
like "$T/err" '^bbtrace: --exclude leaves no function$' 'the message says that --exclude leaves no function'

# ---- several objects ----
bb user "$T/prog:dead" "$T/library:outside" "$T/prog:add" -F json -o "$T/json" -- "$T/prog"
exits 0 'functions of several objects are traced at once'
is "$(symbols)" 'add dead outside' 'functions of several objects are shown'
is "$(json "$T/json" '$e->{event} eq "entry" && $e->{symbol} eq "outside" && $e->{object} eq "'"$T/library"'"')" 1 \
	"a function of several objects' is shown with its object"
is "$(summary functions) $(summary unmatched)" '3 0' 'the summary counts the functions of several objects'

# ---- versions ----
# each architecture's libc began with another one
libc=$(ldd "$T/prog" | awk '/libc[.]so/ { print $3 }')
versions() { readelf -W --dyn-syms "$libc" | sed -n "s/.* FUNC .* $1\(@@*\)\(GLIBC_[0-9.]*\).*/$1\1\2/p" | sort; }
malloc=$(versions malloc)
like <(echo "$malloc") '^malloc@@GLIBC_[0-9.]+$' "readelf tells malloc's version: $malloc"
bb user libc.so.6 "$malloc" -l 1 -F json -o "$T/json" -- ls "$T"
exits 0 'NAME@@VERSION is traced'
is "$(symbols)" "$malloc" 'NAME@@VERSION is shown as it was asked for'
if [[ $(versions pthread_cond_wait) == *$'\n'* ]]; then
	bb list libc.so.6 pthread_cond_wait -F json
	both=$(json "$T/out" 1)
	bb list libc.so.6 pthread_cond_wait@GLIBC_2.2.5 -F json
	is "$both $(json "$T/out" 1)" '2 1' 'a name without version means all versions, with one that alone'
else
	skip 'a name without version means all versions' 'libc has no function of two versions here'
fi
bb user libc.so.6 malloc@GLIBC_9 -- ls
exits 1 'a symbol version that is not there is refused'
like "$T/err" "has no malloc@GLIBC_9, but $malloc\$" 'a symbol version that is not there: the message names the one that is'

# ---- a command in PATH, a soname ----
PATH=$T:$PATH bb user prog dead -F json -o "$T/json" -- prog
is "$status $(entries dead)" '0 1' 'OBJECT and CMD are found in PATH'
cd "$T" || exit 1
bb user ./prog dead -F json -o "$T/json" -- ./prog
is "$status $(json "$T/json" '$e->{event} eq "entry" && $e->{object} eq "'"$T/prog"'"')" '0 1' 'OBJECT and CMD may be relative paths, and JSON has the real one'
ln -s prog "$T/link"
bb user ./link dead -F json -o "$T/json" -- ./prog
is "$status $(entries dead)" '0 1' 'OBJECT may be a link to the file'

# ---- C++: without parameters where that is unambiguous ----
source_program library_cc c++ -shared -fPIC <<'END'
#include <string>
namespace lib { __attribute__((noipa)) int length(const std::string &s) { return s.size() > 3 ? (int)s.size() : 0; } }
END
source_program cc c++ -L"$T" -l:library_cc -Wl,-rpath,"$T" <<'END'
#include <iostream>
#include <string>
#define KEPT __attribute__((noipa))
namespace lib { int length(const std::string &s); }
namespace ns {
KEPT int top(int n) { return n > 2 ? n : lib::length(std::string("text")); }
KEPT int over(int n) { return n ? n - 1 : 7; }
KEPT int over(char n) { return n ? n - 2 : 8; }
KEPT int named(std::string s) { return s.empty() ? 1 : 2; }
template <typename T> struct v { KEPT int push(T t) { return t ? 3 : 4; } };
}
extern "C" KEPT int both(int n) { return n ? 5 : 6; }
KEPT int both(char n) { return n ? 6 : 7; }
int main()
{
	int n = ns::top(1) + ns::over(2) + ns::over('c') + ns::named("x") + both(3) + both('d') + ns::v<int>().push(4) + ns::v<char>().push('e');

	std::cout << n << std::endl;
}
END
"$BBTRACE" list "$T/cc" 'ns::*' '*both*' >"$T/list"
is "$(awk 'NR > 1' "$T/list" | cut -c37- | sed 's/  .*//' | sort | xargs -d '\n')" \
	'both both(char) ns::named ns::over(char) ns::over(int) ns::top ns::v<char>::push ns::v<int>::push' \
	'functions of C++ are listed without their parameters where that is unambiguous'
"$BBTRACE" list "$T/cc" '*::over(int)' '*::over(char)' -F json >"$T/json"
is "$(json_lines "$T/json" '$e->{symbol}' | sort | xargs -d '\n')" 'ns::over ns::over(char)' 'functions of several patterns have names of their own'
"$BBTRACE" list "$T/cc" 'ns::top(int)' 'ns::*' -F json >"$T/json"
is "$(json_lines "$T/json" '$e->{symbol}' | sort | grep -c '^ns::top(int)$\|^ns::top$')" 1 'a function is listed once, under the name that came first'
for excluded in 'ns::top(int)' ns::top 'ns::t*' _ZN2ns3topEi; do
	is "$("$BBTRACE" list "$T/cc" 'ns::*' --exclude "$excluded" | grep -c top)" 0 "--exclude $excluded finds the function, whatever it is shown as"
done
bb user "$T/cc" 'ns::*' -o "$T/trace" -- "$T/cc"
bb report "$T/trace" 'ns::top(int)' -F json
is "$status $(json "$T/out" '$e->{event} eq "entry" && $e->{symbol} eq "ns::top"')" '0 1' 'report finds a function by its name with parameters, too'
"$BBTRACE" list "$T/cc" --sites '*' >"$T/sites"
is "$(grep -c 'std::ostream::operator<<(int)@plt' "$T/sites" | grep -vx 0 | wc -l) $(grep -c -e '-> .*_Z' "$T/sites")" '1 0' \
	'the targets of branches are readable, also in the PLT'
bb user "$T/cc:ns::top" "$T/library_cc:lib::*" -F callgrind -o "$T/callgrind" -- "$T/cc"
is "$(grep -B1 '^calls=' "$T/callgrind" | grep -c '^cfn=([0-9]*) lib::length$')" 1 'callgrind: a call through a C++ stub is a call'

# ---- a function without a name, told by its address and not by where it lies in the file ----
program tail -O2 -no-pie
hidden=$(printf 0x%x "$(symbol "$T/tail" hidden)")
strip -s -K direct -o "$T/nameless" "$T/tail"
bb user "$T/nameless" direct -F json -o "$T/json" -- "$T/nameless"
is "$(json_lines "$T/json" '$e->{event} eq "branch" && $e->{to}{vaddr} eq "'"$hidden"'" && join " ", $e->{kind}, $e->{to}{symbol} // "-"' | sort -u)" \
	'jmp -' 'a tail call into a function without symbol: its address'
bb user "$T/nameless" direct -F annotate -o "$T/text" -- "$T/nameless"
like "$T/text" " $JUMP $hidden\$" 'annotate shows a jump to a place without a name by its address'
done_testing

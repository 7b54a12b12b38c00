#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# C++ and Rust: mangled and demangled names; exceptions pass through traced functions as if they weren't traced.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/lib.sh"
needs root uprobes "cmd:${CXX:-c++}"
mechanisms

source_program names c++ <<'END'
#include <cstdio>
namespace shop {
struct cart {
	int n;
	__attribute__((noinline)) int add(int k) { return k > 1 ? n += k : n; }
	__attribute__((noinline)) int add(const char *s) { return *s ? n += 7 : n; }
	__attribute__((noinline)) cart operator+(const cart &o) const { return o.n > 3 ? cart{n + o.n} : cart{n - o.n}; }
};
template <class T> __attribute__((noinline)) T twice(T x) { return x > 2 ? 2 * x : x; }
}
int main()
{
	shop::cart a{1}, b{5};
	a.add(2);
	b.add(3);
	b.add("x");
	a = a + b;
	printf("%d %d\n", a.n, shop::twice(3));
}
END
run() { bb user "$T/names" "$@" -F json -o "$T/json" -- "$T/names"; }

run 'shop::cart::add(int)'
exits 0 'a C++ name with its arguments is traced'
is "$(symbols) $(entries 'shop::cart::add(int)')" 'shop::cart::add(int) 2' 'a C++ name with its arguments means that one function, shown so'
run _ZN4shop4cart3addEi
exits 0 'a mangled C++ name is traced'
is "$(symbols) $(json "$T/json" '$e->{event} eq "entry"')" '_ZN4shop4cart3addEi 2' 'a mangled C++ name means the same function, shown as asked for'
run 'shop::cart::add'
exits 0 'a C++ name without arguments is traced'
is "$(symbols)" 'shop::cart::add(char const*) shop::cart::add(int)' 'a C++ name without arguments means all functions that have it'
is "$(json "$T/json" '$e->{event} eq "entry"')" 3 'a C++ name without arguments: each call of each is shown'
run 'shop::*'
exits 0 'a glob over C++ names is traced'
is "$(json "$T/json" '$e->{event} eq "entry"')" 5 'a glob over C++ names: each call of what matches is shown'
run 'shop::cart::operator+'
is "$status $(json "$T/json" '$e->{event} eq "entry"')" '0 1' 'a C++ operator is traced by its name'
run 'shop::cart::operator+(shop::cart const&) const'
is "$status $(json "$T/json" '$e->{event} eq "entry"')" '0 1' 'a C++ operator is traced by its name with arguments and const'
run 'int shop::twice<int>(int)'
is "$status $(json "$T/json" '$e->{event} eq "entry"')" '0 1' 'a C++ template is traced by its demangled name'
bb user "$T/names:shop::cart::add(int)" -F json -o "$T/json" -- "$T/names"
is "$status $(json "$T/json" '$e->{event} eq "entry"')" '0 2' 'OBJECT:FUNC takes colons in FUNC'
run 'shop::*' --exclude 'shop::cart::add(int)'
is "$status $(json "$T/json" '$e->{event} eq "entry"')" '0 3' '--exclude takes a C++ name'
run 'shop::cart::ad'
exits 1 'an unknown C++ name is refused'
like "$T/err" 'shop::cart::add' 'for an unknown C++ name a close one is suggested'

# ---- thrown through traced functions ----
program except -O1
"$T/except" >"$T/plain"
for attach in "${MECHANISMS[@]}"; do
	bb user "$T/except" thrower through cleanup rethrow catcher --attach "$attach" -F json -o "$T/json" -- "$T/except"
	exits 0 "$attach: a program that throws through traced functions ends as ever"
	same "$T/out" "$T/plain" "$attach: a program that throws through traced functions prints what it always does"
	is "$(entries catcher) $(returns catcher)" '9 9' "$attach: the function that catches an exception returns"
	isnt "$(entries thrower)" "$(returns thrower)" "$attach: the functions that an exception leaves do not return"
done

# ---- Rust ----
if [[ -x $BUILD/progs/rusty ]]; then
	rusty=$BUILD/progs/rusty
	"$rusty" >"$T/plain" 2>/dev/null
	plain=$?
	bb user "$rusty" rust_match rust_deep -F json -o "$T/json" -- "$rusty"
	is "$status" "$plain" 'a traced Rust program ends with its own status'
	same "$T/out" "$T/plain" 'a traced Rust program prints what it always does, panics caught or not'
	bb list "$rusty" 'rusty::main'
	exits 0 'a Rust name is taken as it is written'
	like "$T/out" 'rusty::main' 'a Rust name is shown as it is written'
else
	skip 'a Rust program' 'no rustc when the programs were built'
fi
done_testing

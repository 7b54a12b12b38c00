#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# C++ functions by the end of their names, and processes by theirs.
# shellcheck disable=SC2154 # lib.sh sets it
. "$(dirname "$0")/lib.sh"
needs root uprobes cmd:g++

cat >"$T/shop.cc" <<'END'
#include <cstdio>
#include <unistd.h>
#define F __attribute__((noipa))
namespace shop {
struct cart { F int add(int n) { return n > 3 ? n : -n; } F int only(int n) { return n > 3 ? n : -n; } };
template <class T> F T price(T x) { return x > 3 ? x * 2 : x; }
}
struct box {
	F int add(int n) { return n > 5 ? n : -n; }
	F bool operator<(const box &o) const { return this < &o; }
};
namespace { struct hidden { F int inner(int n) { return n > 7 ? n : -n; } }; }
extern "C" F int plain(int n) { return n > 1 ? n : -n; }
int main(int c, char **v)
{
	shop::cart k;
	box b, d;
	hidden h;
	do
		printf("%d %d %d %d %g %d %d %d\n", k.add(c), k.only(c), shop::price(c), b.add(c), shop::price(1.0 * c), b < d,
		       h.inner(c), plain(c));
	while (c > 1 && !usleep(20000));
	return 0;
}
END
g++ -g -O1 -o "$T/shop" "$T/shop.cc" || exit 2
# names WANTED FUNC: what is traced, by its name in the trace
names() {
	bb user "$T/shop" "$2" -e entry -T none --no-src -r none -o "$T/text" -F text -- "$T/shop"
	is "$status $(sed -nE 's/^ *shop-[0-9]+ +([^ ].*)\(\.\.\.\).*/\1/p' "$T/text" | sort | paste -sd,)" "0 $1" "$2"
}
names shop::cart::only only
names shop::cart::only cart::only
names shop::cart::only shop::cart::only
names shop::cart::add cart::add
names box::add box::add
names 'box::operator<' 'operator<'
names 'shop::price<double>,shop::price<int>' price
names 'shop::price<double>,shop::price<int>' shop::price
names 'shop::price<int>' 'price<int>'
names '(anonymous namespace)::hidden::inner' inner
names '(anonymous namespace)::hidden::inner' hidden::inner
names plain plain
bb user "$T/shop" add -- "$T/shop"
is "$status" 1 'a name that several have is refused'
like "$T/err" 'several functions of .*/shop are called add: name one: (shop::cart::add, box::add|box::add, shop::cart::add)$' 'these are named'
bb user "$T/shop" other::add -- "$T/shop"
like "$T/err" 'no function named other::add' 'the end of a name is whole parts of it'
bb user "$T/shop" dd -- "$T/shop"
like "$T/err" 'no function named dd' 'and not a part of one'

# ---- processes ----
name=bbt-$$ # comm is cut after fifteen characters
cp "$T/shop" "$T/$name"
"$T/$name" more >/dev/null </dev/null & one=$!
"$T/$name" more >/dev/null </dev/null & two=$!
at_end "kill $one $two 2>/dev/null; wait $one $two 2>/dev/null"
called() { [[ $(cat "/proc/$1/comm") == "$2" ]]; }
wait_for "$PATIENCE" called $one "$name"
wait_for "$PATIENCE" called $two "$name"
pids_of() { json_lines "$T/json" '$e->{event} eq "entry" && $e->{pid}' | sort -un | xargs; }
for given in "$name" "$one,$two" "$one $two" "$(printf '%s\n' $one $two)"; do
	bb user "$T/$name" plain -p "$given" -l 60 -F json -o "$T/json"
	is "$status $(pids_of)" "0 $(printf '%s\n' $one $two | sort -n | xargs)" "-p '$given': both processes"
done
bb user plain -p $one -l 4 -F json -o "$T/json"
is "$status $(pids_of)" "0 $one" 'a PID alone means the one'
bb user "$T/$name" plain -p no-such-name
is "$status" 2 'a name that no process has is refused'
like "$T/err" 'there is no process no-such-name' 'by that'
mv "$T/$name" "$T/$name-is-long-enough"
kill $two
"$T/$name-is-long-enough" more >/dev/null </dev/null & long=$!
at_end "kill $long 2>/dev/null; wait $long 2>/dev/null"
wait_for "$PATIENCE" grep -q is- /proc/$long/comm
bb user plain -p "$name-is-long-enough" -l 4 -F json -o "$T/json"
is "$status $(pids_of)" "0 $long" 'a name that the kernel cuts'
bb report "$T/json" -p "$name"
like "$T/err" 'is not a PID; --comm chooses threads of a trace by name' 'report: of threads that were recorded'
done_testing

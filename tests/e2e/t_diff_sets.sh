#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# diff --pass … --fail …: of programs that fail by seed (tests/flaky), the branch that is marked PLANTED comes first; with
# events and with counts, with few runs, and with sets that don't differ.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes

FAILING=6 PASSING=10
# Each as its branch stays one: an optimizer makes none of some, and several of others.
programs='
cache       -O0
compare     -O1 -fno-inline
depth       -O1 -fno-inline
escape      -O0
fallthrough -O1 -fno-inline
hash        -O2
leap        -O0
machine     -O0
nan         -O2
null        -O0
overflow    -O1 -fno-inline
parser      -O2
pool        -O0
queue       -O1 -fno-inline
race        -O0
retry       -O2
rounds      -O1 -fno-inline
sign        -O0
signal      -O1 -fno-inline
sometimes   -O1 -fno-inline
timeout     -O2
update      -O0
'

# The tests below use these.
least=20
[[ ${MATRIX:-} == whole ]] || least=7 programs=$(grep -E '^(cache|hash|leap|null|race|rounds|timeout) ' <<<"$programs")

# planted NAME: the line.
planted() { grep -n 'PLANTED' "$ROOT/tests/flaky/$1.c" | head -1 | cut -d: -f1; }

# record PROGRAM SEED: with events, $T/PROGRAM.SEED.bbt
record() {
	"$BBTRACE" user "$T/$1" '*' -q -o "$T/$1.$2.bbt" -- "$T/$1" "$2" >"$T/$1.$2.out" 2>&1
}

# prepare NAME OPTION...: builds the program, and traces the first seeds that fail, and that pass; their numbers are in
# $T/NAME.fail and .pass.
prepare() {
	local name=$1 seed=0 set failing=0 passing=0
	shift

	"${CC:-cc}" -g "$@" -pthread -o "$T/$name" "$ROOT/tests/flaky/$name.c" || return
	for ((seed = 1; seed < 1000 && (failing < FAILING || passing < PASSING); seed++)); do
		if "$T/$name" $seed >"$T/$name.out" 2>&1; then
			((passing++ < PASSING)) || continue
			set=pass
		else
			((failing++ < FAILING)) || continue
			set=fail
		fi
		echo "$seed" >>"$T/$name.$set"
		record "$name" $seed
	done 2>"$T/$name.shell"
}

# files NAME SET [SUFFIX [N]]: the first N files of the set
files() { sed "s|.*|$T/$1.&.${3:-bbt}|; ${4:-1000}q" "$T/$1.$2"; }

# rank NAME ARG...: bbtrace diff of its sets
rank() {
	local name=$1
	shift

	# shellcheck disable=SC2046 # words
	bb diff --pass $(files "$name" pass) --fail $(files "$name" fail) "$@"
}

# place NAME FILE: the rank of the planted branch in JSON, 0: it isn't there
place() {
	local at

	at=$(json_lines "$2" "\$e->{event} eq 'branch' && \$e->{src} && \$e->{src}[0]{line} == $(planted "$1") &&
		\$e->{src}[0]{file} =~ m,/$1.c\$, && \$e->{rank}" | head -1)
	echo "${at:-0}"
}

# ---- the planted branch is the first ----

export -f prepare record
export T ROOT BBTRACE FAILING PASSING
# shellcheck disable=SC2016 # the inner shell's
xargs -P 2 -L 1 bash -c 'prepare "$@"' prepare <<<"$(sed '/^$/d' <<<"$programs")"
total=0 first=0
while read -r name _; do
	[[ $name ]] || continue
	((++total))
	rank "$name" -F json -n 100000 -o "$T/$name.json"
	[[ $status == 1 ]] || diag "$name: status $status: $(head -3 "$T/err")"
	at=$(place "$name" "$T/$name.json")
	diag "$name: $at"
	if [[ $at == 1 ]]; then
		((++first))
	else
		diag "$(rank "$name"; head -12 "$T/out")"
	fi
done <<<"$programs"
ok $((total < least)) "$total programs"
ok $((10 * first < 9 * total)) "the planted branch is the first one of $first of them, and so of nine in ten"

# ---- text, JSON, the page ----

rank hash
exits 1 'the sets differ'
like "$T/out" '^6 runs failed, 10 passed; [0-9]+ branches and calls distinguish them$' 'text: how many runs'
like "$T/out" "^   1  1\.00    6 of 6   0 of 10 .*hash\.c:$(planted hash)( |,|$)" 'text: the first row'
like "$T/out" 'PLANTED' 'text: its source'
is "$(grep -c '^ *[0-9]* *[01]\.[0-9][0-9] ' "$T/out")" 10 'text: ten rows'
rank hash -n 3 -F json
is "$(grep -c '"event":"branch"' "$T/out")" 3 'JSON: -n'
is "$(json "$T/out" '$e->{event} eq "summary" && @{$e->{fail}} == 6 && @{$e->{pass}} == 10 && $e->{shown} == 3')" 1 \
	'JSON: the summary'
is "$(json "$T/out" '$e->{event} eq "branch" && $e->{rank} == 1 && $e->{score} == 1 && $e->{fail}{runs} == 6 &&
	$e->{fail}{of} == 6 && $e->{pass}{runs} == 0 && $e->{pass}{of} == 10 && $e->{pass}{count} == 0 && $e->{decides} &&
	exists $e->{taken} && $e->{to}{vaddr} && $e->{insn} && $e->{symbol}')" 1 'JSON: the first row'
rank hash -o "$T/hash.html"
exits 1 'the page'
like "$T/hash.html" '<table' 'the page: a table'
like "$T/hash.html" 'PLANTED' 'the page: source'
is "$(json "$T/rounds.json" '$e->{event} eq "branch" && $e->{rank} == 1 && $e->{how} eq "at_least" && $e->{times} > 1')" 1 \
	'what all runs execute: how often'

# ---- functions ----

rank leap is_leap -F json -n 1000
is "$(json_lines "$T/out" '$e->{event} ne "summary" && $e->{symbol}' | sort -u)" is_leap 'FUNC: only that'
rank leap --exclude is_leap -F json -n 1000
is "$(json "$T/out" '$e->{event} ne "summary" && $e->{symbol} eq "is_leap"')" 0 '--exclude: all but that'
rank leap nowhere
exits 2 'FUNC: no such function'
like "$T/err" "no function 'nowhere' was traced" 'FUNC: the message'

# ---- counts, and both ----

for seed in $(<"$T/cache.fail") $(<"$T/cache.pass"); do
	"$BBTRACE" user "$T/cache" '*' -q -c --record "$T/cache.$seed.counts" -o "$T/cache.txt" -- "$T/cache" "$seed" >"$T/log" 2>&1
done
# shellcheck disable=SC2046
bb diff --pass $(files cache pass counts) --fail $(files cache fail counts) -F json
exits 1 'counts: the sets differ'
at=$(place cache "$T/out")
ok $((at < 1 || at > 2)) "counts: the planted branch is among the first two: $at"
is "$(json "$T/out" '$e->{event} eq "branch" && $e->{rank} == '"$at"' && $e->{score} == 1 && $e->{fail}{runs} == 6')" 1 \
	'counts: it tells the sets apart'
# shellcheck disable=SC2046
bb diff --pass $(files cache pass counts) --fail $(files cache fail) -F json
exits 1 'counts and events: the sets differ'
at=$(place cache "$T/out")
ok $((at < 1 || at > 2)) "counts and events: the planted branch is among the first two: $at"

# ---- few runs ----

# shellcheck disable=SC2046
bb diff --pass $(files cache pass bbt 2) --fail $(files cache fail bbt 2) -F json -n 1000
exits 1 'two of each: the sets differ'
at=$(place cache "$T/out")
ok $((at < 1 || at > 5)) "two of each: the planted branch is among the first five: $at"

# ---- what doesn't differ ----

seed=$(head -1 "$T/leap.pass")
for copy in a b c; do
	record leap "$seed"
	mv "$T/leap.$seed.bbt" "$T/same.$copy"
done
bb diff --pass "$T/same.a" "$T/same.b" --fail "$T/same.c"
exits 0 'the same run: no difference'
is "$(<"$T/out")" '' 'the same run: nothing is shown'
bb diff --pass "$T/same.a" --fail "$T/same.b" -F json
is "$(json "$T/out" '$e->{event} eq "summary" && $e->{branches} == 0')" 1 'the same run: JSON'

# ---- losses, and a cut file ----

"$BBTRACE" user "$T/leap" '*' -q --engine probe -o "$T/other" -- "$T/leap" "$seed" >"$T/log" 2>&1
cc -O1 -o "$T/often" -x c - <<'END'
static volatile int x;
__attribute__((noinline)) void note(int i) { x += i; }
int main(void) { for (int i = 0; i < 300000; i++) note(i); return 0; }
END
"$BBTRACE" user "$T/often" note -e entry,return --returns probe --engine probe --buffer 4K -q -o "$T/lossy" -- "$T/often" >"$T/log" 2>&1
is "$("$BBTRACE" report "$T/lossy" -q -F json | tail -n 1 | grep -c '"at_least":true')" 1 'a run of which events were lost, nobody knows how many'
bb diff --pass "$T/lossy" "$T/same.a" --fail "$T/other"
is "$(grep -c 'events were lost: what it has is used' "$T/err")" 1 'one run lost events: that is said of no other'
head -c $(($(wc -c <"$T/same.b") - 20)) "$T/same.b" >"$T/cut"
bb diff --pass "$T/same.a" --fail "$T/cut" "$T/other"
exits 2 'a cut file is trouble'

# ---- wrong usage ----

bb diff --pass "$T/same.a" "$T/same.a" --fail "$T/same.b"
exits 2 'a file twice in a set'
like "$T/err" 'are one file: it would count as two runs' 'a file twice: the message'
bb diff --pass "$T/same.a" --fail "$T/same.b" "$T/same.a"
exits 2 'a file in both sets'
like "$T/err" 'are one file: has that run passed, or failed' 'a file in both sets: the message'
bb diff --pass "$T/same.a"
exits 2 'no failing run'
like "$T/err" 'no trace file follows --fail' 'no failing run: the message'
bb diff "$T/same.a" --pass "$T/same.b" --fail "$T/same.c"
exits 2 'a file before the sets'
bb diff --pass "$T/same.a" --fail "$T/same.b" -o "$T/same.a"
exits 2 'a trace file as output'
done_testing

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# diff --pass … --fail …: of programs that fail by seed (tests/flaky), the branch that is marked PLANTED comes first; with
# events and with counts, with few runs, and with sets that don't differ.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs recorded

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
[[ ${MATRIX:-} == whole ]] || least=4 programs=$(grep -E '^(cache|leap|race|rounds) ' <<<"$programs")
# Without root: the one whose traces are kept.
is_root || least=1 programs=$(grep -E '^leap ' <<<"$programs")

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

	is_root || return
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

export -f prepare record is_root
export T ROOT BBTRACE FAILING PASSING
# shellcheck disable=SC2016 # the inner shell's
xargs -P 2 -L 1 bash -c 'prepare "$@"' prepare <<<"$(sed '/^$/d' <<<"$programs")"
# kept_set KIND SET FUNC OPTION...: without root the set of leap is that of tests/recorded/sets: few functions, so that files are
# small. As root its first run is compared, or with RECORD=1 each is recorded.
kept_set() {
	local seed file

	if is_root; then
		for seed in $(head -n $((${RECORD:-0} ? 1000 : 1)) "$T/leap.$2"); do
			recorded "sets/$1-$2-$seed" user "$T/leap" "${@:3}" -q -- "$T/leap" "$seed"
		done
		return
	fi
	: >"$T/leap.$2"
	for file in tests/recorded/sets/"$1-$2"-*.bbt; do
		seed=${file##*-} seed=${seed%.bbt}
		echo "$seed" >>"$T/leap.$2"
		cp "$file" "$T/leap.$seed.$1"
	done
}
for set in pass fail; do
	kept_set bbt $set is_leap weather -r none
done
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

rank leap
exits 1 'the sets differ'
like "$T/out" '^6 runs failed, 10 passed; [0-9]+ branches and calls distinguish them$' 'text: how many runs'
like "$T/out" "^   1  1\.00    6 of 6   0 of 10 .*leap\.c:$(planted leap)( |,|$)" 'text: the first row'
! as_root 'text: its source' || like "$T/out" 'PLANTED' 'text: its source'
is "$(grep -c '^ *[0-9]* *[01]\.[0-9][0-9] ' "$T/out")" 10 'text: ten rows'
rank leap -n 3 -F json
is "$(grep -c '"event":"branch"' "$T/out")" 3 'JSON: -n'
is "$(json "$T/out" '$e->{event} eq "summary" && @{$e->{fail}} == 6 && @{$e->{pass}} == 10 && $e->{shown} == 3')" 1 \
	'JSON: the summary'
is "$(json "$T/out" '$e->{event} eq "branch" && $e->{rank} == 1 && $e->{score} == 1 && $e->{fail}{runs} == 6 &&
	$e->{fail}{of} == 6 && $e->{pass}{runs} == 0 && $e->{pass}{of} == 10 && $e->{pass}{count} == 0 && $e->{decides} &&
	exists $e->{taken} && $e->{to}{vaddr} && $e->{insn} && $e->{symbol}')" 1 'JSON: the first row'
rank leap -o "$T/leap.html"
exits 1 'the page'
like "$T/leap.html" '<table' 'the page: a table'
! as_root 'the page: source' || like "$T/leap.html" 'PLANTED' 'the page: source'
! as_root 'what all runs execute: how often' || is "$(json "$T/rounds.json" '$e->{event} eq "branch" && $e->{rank} == 1 && $e->{how} eq "at_least" && $e->{times} > 1')" 1 \
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

# counts NAME: how it ranks the planted branch by counts, by counts and events, and by few runs
counts() {
	local seed set at

	if is_root; then
		for seed in $(<"$T/$1.fail") $(<"$T/$1.pass"); do
			"$BBTRACE" user "$T/$1" '*' -q -c --record "$T/$1.$seed.counts" -o "$T/$1.txt" -- "$T/$1" "$seed" >"$T/log" 2>&1
		done
	fi
	[[ $1 != leap ]] || for set in pass fail; do kept_set counts $set is_leap -c; done
	# shellcheck disable=SC2046
	bb diff --pass $(files "$1" pass counts) --fail $(files "$1" fail counts) -F json
	exits 1 "$1, counts: the sets differ"
	at=$(place "$1" "$T/out")
	ok $((at < 1 || at > 2)) "$1, counts: the planted branch is among the first two: $at"
	is "$(json "$T/out" '$e->{event} eq "branch" && $e->{rank} == '"$at"' && $e->{score} == 1 && $e->{fail}{runs} == 6')" 1 \
		"$1, counts: it distinguishes the sets"
	# shellcheck disable=SC2046
	bb diff --pass $(files "$1" pass counts) --fail $(files "$1" fail) -F json
	exits 1 "$1, counts and events: the sets differ"
	at=$(place "$1" "$T/out")
	ok $((at < 1 || at > 2)) "$1, counts and events: the planted branch is among the first two: $at"

	# shellcheck disable=SC2046
	bb diff --pass $(files "$1" pass bbt 2) --fail $(files "$1" fail bbt 2) -F json -n 1000
	exits 1 "$1, two of each: the sets differ"
	at=$(place "$1" "$T/out")
	ok $((at < 1 || at > 5)) "$1, two of each: the planted branch is among the first five: $at"
}
counts leap
[[ ${MATRIX:-} != whole ]] || counts cache

# ---- what doesn't differ ----

seed=$(head -1 "$T/leap.pass")
for copy in a b c; do
	! is_root || record leap "$seed"
	cp "$T/leap.$seed.bbt" "$T/same.$copy"
done
bb diff --pass "$T/same.a" "$T/same.b" --fail "$T/same.c"
exits 0 'the same run: no difference'
is "$(<"$T/out")" '' 'the same run: nothing is shown'
bb diff --pass "$T/same.a" --fail "$T/same.b" -F json
is "$(json "$T/out" '$e->{event} eq "summary" && $e->{branches} == 0')" 1 'the same run: JSON'

# ---- losses, and a cut file ----

if as_root 'losses'; then
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
fi
is_root || cp "$T/leap.$(head -1 "$T/leap.fail").bbt" "$T/other"
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

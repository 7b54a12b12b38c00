#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# bbtrace diff A B: programs of tests/diff that part in a branch which the source marks, once among many; runs that are the
# same; other builds, files that can't be compared, counts. tests/check/diff_rest.py: what lies between two differences is the
# same, by the lines that report prints.

# shellcheck disable=SC2154 # lib.sh sets status
. "$(dirname "$0")/lib.sh"
needs recorded cmd:python3
FLAGS=() # of record

# build OPTION...: parting and parting++ to $T
build() {
	cc -g -w "$@" -o "$T/parting" tests/diff/parting.c -lpthread && c++ -g -w "$@" -o "$T/parting++" tests/diff/parting.cc
}

# Of these scenarios traces of few functions are kept (tests/recorded/diff/NAME-...); without root they are all there is.
declare -A KEPT=(
	[loop_if-O1]=loop_if
	[loop_exit-O2]='loop_exit -r none'
	[pointer-O0]='pointer one two -r none'
	[compared-O1]='compared -r none'
	[thrown-O1]='innermost -r none'
	[repeated-O1]='repeated note -r none'
	[forked-O1]='child -r none'
	[coroutines-O1]='coroutine -r none'
)
is_kept() { [[ ${KEPT[$1]:-} ]]; }

# record NAME FILE PROGRAM ARG...: all of the program's own functions; and tests/recorded/diff/NAME.bbt.
# What has the same NAME is recorded once.
record() {
	local few once=$T/once-${3##*/}-$1

	[[ ! -e $once ]] || { cp "$once" "$2" && return; }
	read -ra few <<<"${KEPT[${1%-*}]:-}"
	rm -f "$2"
	[[ ! ${few[*]} ]] || recorded "diff/$1" user "$3" "${few[@]}" -f "${FLAGS[@]}" -q -- "${@:3}"
	is_root || { mv "$T/trace" "$2" && return; }
	timeout -k 10 "$BB_TIMEOUT" "$BBTRACE" user "$3" '*' --exclude main --exclude 'prep*' -f "${FLAGS[@]}" -q -o "$2" -- "${@:3}" \
		>"$T/stdout" 2>"$T/err" </dev/null
	cp "$2" "$once"
}

# diff_of ARG...: status in $status, what is printed in $T/out
diff_of() { bb diff "$@"; }

# planted SOURCE SCENARIO: the lines that its mark is on
planted() { grep -n "PLANTED: $2\b" "$1" | cut -d: -f1 | xargs; }

# parts_at FILE: the lines of the first difference in JSON, of it and of what it was inlined in
parts_at() { python3 -c '
import json, sys
for line in open(sys.argv[1]):
    row = json.loads(line)
    if row["event"] == "difference":
        print(*[f.get("line") for f in row.get("src", [])])
        break' "$1"; }

# parted PROGRAM SOURCE SCENARIO [ROUNDS]: it is the planted branch
parted() {
	local name="$OPT $3${4:+, $4 rounds}" want got one

	is_kept "$3$OPT" || as_root "$name" || return
	record "$3$OPT-0" "$T/a" "$1" "$3" 0 "${@:4}"
	record "$3$OPT-1" "$T/b" "$1" "$3" 1 "${@:4}"
	diff_of "$T/a" "$T/b" -F json -n 100000
	exits 1 "$name: the runs differ"
	want=" $(planted "$2" "$3") "
	got=$(parts_at "$T/out")
	for one in $got; do
		[[ $want == *" $one "* ]] && got=planted
	done
	is "$got" planted "$name: they part in the planted branch, of line$want"
	cp "$T/out" "$T/diff"
	[[ ${4:-} ]] && return
	"$BBTRACE" report -q -F json "$T/a" >"$T/a.json" 2>/dev/null
	"$BBTRACE" report -q -F json "$T/b" >"$T/b.json" 2>/dev/null
	python3 tests/check/diff_rest.py "$T/diff" "$T/a.json" "$T/b.json" >"$T/rest" 2>&1
	is "$?" 0 "$name: between differences all is the same: $(tail -n 1 "$T/rest")"
}

n=0
for OPT in -O0 -O1 -O2; do
	build $OPT
	at=0
	for scenario in $("$T/parting"); do
		((at++))
		# each at one level
		[[ ${SCENARIOS:-} == all ]] || { ((at % 3 == ${OPT#-O})) && in_part $((at / 3)) 0 6; } || continue
		parted "$T/parting" tests/diff/parting.c "$scenario"
	done
	for scenario in $("$T/parting++"); do
		in_part $((n++)) 0 6 || continue
		parted "$T/parting++" tests/diff/parting.cc "$scenario"
	done
done

# ---- the same ----

OPT=-O1
build $OPT
n=0
for scenario in loop_if sorted interpreter jumped threads forked deep coroutines; do
	in_part $((n++)) 0 2 || continue
	is_kept "$scenario$OPT" || as_root "$scenario: two runs are the same" || continue
	record "$scenario$OPT-0" "$T/a" "$T/parting" "$scenario" 0
	record "$scenario$OPT-again" "$T/b" "$T/parting" "$scenario" 0
	diff_of "$T/a" "$T/b"
	exits 0 "$scenario: two runs are the same"
	is "$(wc -c <"$T/out")" 0 "$scenario: nothing is printed of runs that are the same"
	like "$T/err" ' steps are the same; differences: 0' "$scenario: the note says how much was compared"
done

# ---- in the middle of a million, by copies; MATRIX=whole: of ten millions ----

rounds=100000
[[ ${MATRIX:-} != whole ]] || rounds=1000000
for scenario in $(part_of 0 2 loop_if pointer); do
	as_root "$scenario: a difference among millions of steps" || continue
	for bad in 0 1; do
		bb user "$T/parting" "$scenario" note one two --engine inline -o "$T/$bad" -- "$T/parting" "$scenario" $bad $rounds
	done
	diff_of "$T/0" "$T/1" -F json
	exits 1 "$scenario: a difference among millions of steps"
	is "$(parts_at "$T/out")" "$(planted tests/diff/parting.c $scenario)" "$scenario: it is the planted one"
	is "$(sed -n 's/.*"event":"difference".*"same":\([0-9]*\).*/\1/p' "$T/out" | awk -v rounds=$rounds '{ print ($1 > 3 * rounds) }')" 1 \
		"$scenario: millions of steps before it are the same"
done

# ---- text ----

record loop_if-O1-0 "$T/a" "$T/parting" loop_if 0
record loop_if-O1-1 "$T/b" "$T/parting" loop_if 1
diff_of "$T/a" "$T/b"
exits 1 'text of a difference'
like "$T/out" "^< A: $T/a$" 'text names the first file'
like "$T/out" "^> B: $T/b$" 'text names the second file'
like "$T/out" '^difference 1 of ' 'text numbers differences'
like "$T/out" '^  *loop_if\(\)' 'text shows the call that leads there, with its arguments'
like "$T/out" '^<  *loop_if\+0x[0-9a-f]*  j[a-z]*  (not )?taken -> loop_if\+' 'text shows what A does'
like "$T/out" '^>  *loop_if\+0x[0-9a-f]*  j[a-z]*  (not )?taken -> loop_if\+' 'text shows what B does'
like "$T/out" "parting.c:$(planted tests/diff/parting.c loop_if)" 'text shows the line of the source'
like "$T/out" 'until they meet: A takes [0-9]* branch.*; B takes [0-9]* branch' 'text says how long each is on its own'
record repeated-O1-1 "$T/b" "$T/parting" repeated 1
record repeated-O1-0 "$T/a" "$T/parting" repeated 0
diff_of "$T/a" "$T/b" -n 2
like "$T/out" 'were executed a different number of times' 'counts that differ are listed'
diff_of "$T/b" "$T/a" note
exits 1 'of one function, the number of its calls'
diff_of "$T/a" "$T/b" --exclude note --exclude repeated
exits 0 'what is left out is not compared'

# ---- what can't be compared ----

diff_of "$T/a"
exits 2 'one file is wrong usage'
like "$T/err" 'give two trace files' 'one file: the message says what to do'
diff_of "$T/a" "$T/nothing"
exits 2 'a file that is missing is trouble'
diff_of "$T/a" -
exits 2 'stdin is refused'
like "$T/err" 'reads its files twice' 'stdin: the message says why'
head -c 300 "$T/a" >"$T/cut"
diff_of "$T/a" "$T/cut"
exits 2 'a file that is cut in its plan is trouble'
echo text >"$T/text"
diff_of "$T/a" "$T/text"
exits 2 'a file of text is trouble'
head -c $(($(wc -c <"$T/a") - 20)) "$T/a" >"$T/cut"
diff_of "$T/a" "$T/cut"
exits 2 'a file without its end is trouble'
unlike "$T/out" '^difference' 'what is missing at the end of a file is no difference'
TMPDIR=$T/no diff_of "$T/a" "$T/b"
exits 2 'a folder for temporary files that is missing is trouble'
like "$T/err" 'TMPDIR names another place' 'it says what to do'
is_root || cp tests/recorded/fib.bbt "$T/true"
! is_root || bb user /bin/true '*' -q -o "$T/true" -- /bin/true
diff_of "$T/a" "$T/true"
isnt "$status" 0 'another program is not the same'

record repeated-O1-0 "$T/a" "$T/parting" repeated 0
FLAGS=(-e "entry,return")
record repeated-O1-entries "$T/b" "$T/parting" repeated 0
FLAGS=()
diff_of "$T/a" "$T/b"
exits 2 'traces of other events are refused'
like "$T/err" 'has the events entry,branch,return, and .* entry,return: record both with the same -e' 'the refusal names them'
recorded diff/repeated-O1-alone user "$T/parting" repeated -q -- "$T/parting" repeated 0
mv "$T/trace" "$T/b"
diff_of "$T/a" "$T/b"
exits 1 'a trace of fewer functions'
like "$T/err" 'only one of the runs traced .*name the functions' 'it is said that one run traced more'
diff_of "$T/a" "$T/b" repeated
exits 0 'the functions that both have are the same'

# ---- other builds ----

sed 's/PLANTED: loop_if/& once more/; s/^static long rounds = 200/static long filler[3] __attribute__((used)) = {1}, rounds = 200/' \
	tests/diff/parting.c >"$T/other.c"
sed -i 's/note(15);/note(15); note(16);/' "$T/other.c"
mkdir "$T/new"
cc -g -w -O1 -o "$T/new/parting" "$T/other.c" -lpthread
record loop_if-O1-0 "$T/a" "$T/parting" loop_if 0
record loop_if-O1-new1 "$T/b" "$T/new/parting" loop_if 1
diff_of "$T/a" "$T/b" -F json
exits 1 'another build'
is "$(parts_at "$T/out")" "$(planted tests/diff/parting.c loop_if)" 'another build: they part in the planted branch'
like "$T/err" 'two builds: [0-9]* functions correspond' 'another build: it is said how many functions correspond'
record loop_if-O1-new0 "$T/b" "$T/new/parting" loop_if 0
diff_of "$T/a" "$T/b"
exits 0 'another build of the same does the same'

echo 'void _exit(int); int main(int n) { while (n < 900) n += n % 3 ? 7 : n; return n & 1; }' >"$T/tiny.c"
echo 'int main(int n) { for (int i = 0; i < 9; i++) { if (i % 2) n *= 3; if (n > 7) n--; } return n & 1; }' >"$T/tiny2.c"
mkdir "$T/build1" "$T/build2"
cc -O1 -o "$T/build1/tiny" "$T/tiny.c" && cc -O1 -o "$T/build2/tiny" "$T/tiny2.c"
for i in 1 2; do
	recorded diff/tiny$i user "$T/build$i/tiny" main -q -- "$T/build$i/tiny"
	mv "$T/trace" "$T/tiny$i"
done
diff_of "$T/tiny1" "$T/tiny2"
exits 2 'builds without a function in common are refused'
like "$T/err" 'tiny is of two builds \(build-id [0-9a-f]{40}, build-id [0-9a-f]{40}\)' 'the refusal names both build-ids'

# ---- counts ----

for bad in 0 1; do
	recorded diff/count$bad user "$T/parting" loop_if -c -q -- "$T/parting" loop_if $bad
	mv "$T/trace" "$T/c$bad"
	! is_root || bb user "$T/parting" '*' --exclude main --exclude 'prep_*' -c --record "$T/c$bad" -q -- "$T/parting" loop_if $bad
done
diff_of "$T/c0" "$T/c1"
exits 1 'files of counts differ'
like "$T/out" ' 0  *1  loop_if\+' 'the side that only one run has taken is listed'
diff_of "$T/c0" "$T/c0"
exits 0 'counts of one file are the same'
record loop_if-O1-0 "$T/a" "$T/parting" loop_if 0
diff_of "$T/a" "$T/c1" -F json
exits 1 'events and counts are compared by counts'
# another build under another name: the only file without a namesake in the other run
if is_root; then
	cat >"$T/price.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#ifndef TEN
#define TEN n > 10
#endif
__attribute__((noinline)) static int discount(int n)
{
	if (TEN)
		return n / 10;
	return 0;
}
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		printf("%d\n", atoi(argv[i]) - discount(atoi(argv[i])));
	return 0;
}
END
	gcc -g -O1 -o "$T/price" "$T/price.c" && gcc -g -O1 '-DTEN=n >= 10' -o "$T/price-2" "$T/price.c" || exit 2
	for name in price price-2; do
		"$BBTRACE" user "$T/$name" '*' -q -o "$T/$name.bbt" -- "$T/$name" 5 10 15 >/dev/null
	done
	diff_of "$T/price.bbt" "$T/price-2.bbt" -F json
	is "$(parts_at "$T/out") $(grep -c '"event":"difference"' "$T/out")" '8 1' 'two builds of two names part where the source differs, once'
	diff_of "$T/price.bbt" "$T/price-2.bbt"
	like "$T/err" 'two builds: [0-9]+ functions correspond' 'they are told as two builds'
fi
done_testing

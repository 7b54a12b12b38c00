#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# summary, folded, callgrind and pprof agree with the events of the same recording, and their readers accept them:
# callgrind_annotate, protoc.
. "$(dirname "$0")/../e2e/lib.sh"
needs recorded cmd:perl

HERE=$ROOT/tests/formats
count() { cp "$T/count.$1" "$T/wanted"; }

# Records once (tests/recorded/KEPT.bbt) and renders in every format. KEPT OBJECT FUNC... -- CMD...
record() {
	recorded "$1" user "${@:2}"
	render
}
render() {
	local format

	bb report "$T/trace" -F json -o "$T/json"
	is "$(summary lost)" 0 "$name: nothing is lost"
	for format in summary folded folded:count callgrind pprof pprof:lines; do
		"$BBTRACE" report -q "$T/trace" -F "$format" >"$T/$format" || diag "report -F $format failed"
	done
	perl "$HERE/count.pl" "$T/json" "$T/count"
}

# The table has the share of the conditional ones that were taken, cut to a tenth of a percent.
check_summary() {
	count functions
	perl -ape '@F = split " ", $_, 6; $_ = join " ", @F[0 .. 2], $F[3] ? sprintf("%d.%d%%", $F[4] * 100 / $F[3], $F[4] * 1000 / $F[3] % 10) : "-", $F[5]' \
		"$T/wanted" | sort >"$T/wanted.rows"
	perl -ne 'last if /^$/; if ($. == 1) { @columns = split; next } @F = split " ", $_, @columns; print join " ", @F[0, 1, -3 .. -1]' \
		"$T/summary" | sort >"$T/rows"
	same "$T/rows" "$T/wanted.rows" "$name: summary has the calls, branches and share taken of JSON"
	grep -q 'more functions are not drawn' "$T/summary" && return
	is "$(grep '|' "$T/summary" | awk '{ n += $NF } END { print n + 0 }')" "$(awk '{ n += $2 } END { print n + 0 }' "$T/wanted")" \
		"$name: summary has each duration in a histogram"
}

check_folded() {
	count stacks
	grep -v '^#' "$T/folded:count" | sort >"$T/rows"
	same "$T/rows" "$T/wanted" "$name: folded:count has the calls of each stack"
	count self
	grep -v '^#' "$T/folded" | sort >"$T/rows"
	same "$T/rows" "$T/wanted" "$name: folded has the own time of each stack"
}

# What the file itself has: callgrind_annotate passes over jumps.
check_jumps() {
	count sites
	awk '$4 > 0 { print $1, $4 "/" $3 }' "$T/wanted" | sort >"$T/wanted.rows"
	awk '/^jcnd=/ { split($1, part, "="); getline; print $1, part[2] }' "$T/callgrind" | sort >"$T/rows"
	same "$T/rows" "$T/wanted.rows" "$name: callgrind has how often each conditional was taken and executed"
}

check_callgrind() {
	check_jumps
	if ! command -v callgrind_annotate >/dev/null; then
		skip "$name: callgrind_annotate reads the profile" 'not installed'
		return
	fi
	callgrind_annotate --auto=no --threshold=100 --show=Branches --sort=Branches --tree=calling "$T/callgrind" >"$T/annotated" 2>"$T/annotate.err"
	is "$? $(cat "$T/annotate.err")" '0 ' "$name: callgrind_annotate reads the profile without complaint"
	count functions
	awk '$3 { print $6, $3 }' "$T/wanted" | sort >"$T/wanted.rows"
	sed -nE 's/^ *([0-9,]+) \([ 0-9.]*%\) +\* +[^ ]*:([^ ]+)( .*)?$/\2 \1/p' "$T/annotated" | tr -d , |
		awk '{ n[$1] += $2 } END { for (f in n) print f, n[f] }' | sort >"$T/rows"
	same "$T/rows" "$T/wanted.rows" "$name: callgrind_annotate shows the branches of each function"
	count calls
	perl -ne '$from = $1 if /\* +\S*:(\S+)/; $n{"$from $1"} += $2 =~ tr/,//dr if />\s+\S*:(\S+) \(([\d,]+)x\)/;
		END { print map { "$_ $n{$_}\n" } keys %n }' "$T/annotated" | sort >"$T/rows"
	same "$T/rows" "$T/wanted" "$name: callgrind_annotate shows who called whom how often"
}

decode() { # FORMAT
	gzip -dc <"$T/$1" | protoc -I "$ROOT/src/output/profile" --decode=perftools.profiles.Profile profile.proto >"$T/decoded" 2>"$T/protoc.err"
	is "$? $(cat "$T/protoc.err")" '0 ' "$name: protoc decodes $1"
}

check_pprof() {
	local format

	if ! command -v protoc >/dev/null; then
		skip "$name: protoc decodes the profile" 'not installed'
		return
	fi
	for format in pprof:lines pprof; do
		decode "$format"
		is "$(perl "$HERE/pprof.pl" check <"$T/decoded")" '' "$name: each reference in $format is resolved"
		count stacks
		perl "$HERE/pprof.pl" stacks <"$T/decoded" >"$T/rows"
		same "$T/rows" "$T/wanted" "$name: $format has the calls of each stack"
		count self
		perl "$HERE/pprof.pl" self <"$T/decoded" >"$T/rows"
		same "$T/rows" "$T/wanted" "$name: $format has the own time of each stack"
	done
}

# Each location of pprof:lines is where addr2line has its address, with what was inlined there. PROGRAM
check_places() {
	decode pprof:lines
	perl "$HERE/pprof.pl" frames <"$T/decoded" | sort -u >"$T/rows"
	while read -r address _; do
		echo "$address $(addr2line -ifse "$1" "$address" | sed 's/ (discriminator.*//; s/.*[/]//' | paste -d: - - | paste -sd ' ')"
	done <"$T/rows" >"$T/wanted.rows"
	is "$(awk 'NF > 2' "$T/rows" | grep -c .)" "$(awk 'NF > 2' "$T/wanted.rows" | grep -c .)" "$name: as many have inlined functions"
	same "$T/rows" "$T/wanted.rows" "$name: the $(grep -c . "$T/rows") locations have addr2line's functions and lines"
}

check_all() {
	check_summary
	check_folded
	check_callgrind
	check_pprof
}

# A program of tests/progs: NAME KEPT FUNC...
check() {
	name=$1
	record "$2" "$T/$name" "${@:3}" -- "$T/$name"
	check_all
}

# The time of a function that calls none, line by line: what passes between two events of a call is of the branch that ends
# it, and of the line that addr2line has for that. NAME FUNC: of the same recording.
check_lines() {
	json_lines "$T/json" '($e->{symbol} // "") eq "'"$2"'" && $e->{event} =~ /^(entry|branch)$/ && "$e->{event} $e->{ts} $e->{vaddr}"' |
		awk '$1 == "branch" { ns[$3] += $2 - last } { last = $2 } END { for (at in ns) print at, ns[at] }' >"$T/spent"
	cut -d' ' -f1 "$T/spent" | xargs addr2line -e "$T/$1" | sed 's/.*:\([0-9]*\).*/\1/' | paste -d' ' - "$T/spent" |
		awk '{ ns[$1] += $3 } END { for (line in ns) if (ns[line]) print line, ns[line] }' | sort >"$T/wanted"
	isnt "$(wc -l <"$T/wanted")" 1 "$1: the time of a function is on several lines"
	if ! command -v callgrind_annotate >/dev/null; then
		skip "$1: callgrind_annotate shows the time of each line" 'not installed'
		return
	fi
	callgrind_annotate --auto=yes --context=1000 --threshold=100 --show=Ns "$T/callgrind" |
		awk '/^-- Auto-annotated source:/ { seen = 1 } seen && /^Ns/ { n = 0; getline; next } seen && /^-----/ { seen = n == "" }
			seen && n != "" { n++; if ($1 ~ /^[1-9]/) print n, $1 }' | tr -d , | sort >"$T/rows"
	same "$T/rows" "$T/wanted" "$1: callgrind_annotate shows the time of each line"
}

program fib -O1
check fib fib-main fib main
if as_root 'pprof has the build-id of the program'; then
	is "$(perl "$HERE/pprof.pl" mappings <"$T/decoded" | awk '{ print $3, $4 }')" \
		"$(readelf -n "$T/fib" | awk '/Build ID/ { print $3 }') $(realpath "$T/fib")" 'pprof has the build-id of the program'
fi
program loops -O1
check loops loops-all '*'
program switch -O1
check switch switch-all '*'
if as_root 'the time of each line of a function'; then
	name=switch
	bb user "$T/switch" pick -o "$T/trace" -- "$T/switch"
	render
	check_lines switch pick
fi
if as_root 'the places of pprof:lines'; then
	name=mixes
	cat >"$T/mixes.c" <<-'END'
		static inline __attribute__((always_inline)) long half(long a) { return a & 1 ? a : a / 2; }
		static inline __attribute__((always_inline)) long mix(long a)
		{
			for (int i = 0; i < 3; i++)
				if (a & 1)
					a = 3 * a + 1;
				else
					a = half(a);
			return a;
		}
		__attribute__((noinline)) long leaf(long n)
		{
			long s = 0;
			for (long i = 0; i < n; i++)
				s += mix(i);
			return s;
		}
		__attribute__((noinline)) long work(long n)
		{
			long a = leaf(10 * n);
			return a + leaf(n);
		}
		int main(void) { return work(30) + work(20) == 0; }
	END
	"${CC:-cc}" -g -O1 -o "$T/mixes" "$T/mixes.c" || exit 2
	bb user "$T/mixes" main work leaf -o "$T/trace" -- "$T/mixes"
	render
	check_places "$T/mixes"
fi
program mutual -O1
check mutual mutual '*'
program tail -O2
check tail tail '*'
program threads -O1 -pthread
check threads threads collatz worker
program loopinsn -O1
check loopinsn loopinsn '*'

# ---- a C++ name with what separates, and calls left by exceptions ----
program except -O1
name=except
record except "$T/except" '*' -- "$T/except"
check_summary
open=$(($(json "$T/json" '$e->{event} eq "entry"') - $(json "$T/json" '$e->{event} eq "return"')))
like "$T/summary" "^Missing: .*\b$open calls without return, not timed" 'summary says how many calls have no return'
like "$T/folded:count" "^# bbtrace: .*\b$open calls without return" 'folded says in a line that is no stack how many calls have no return'
gzip -dc <"$T/pprof" | protoc -I "$ROOT/src/output/profile" --decode=perftools.profiles.Profile profile.proto >"$T/decoded"
perl "$HERE/pprof.pl" comments <"$T/decoded" >"$T/comments"
like "$T/comments" "\b$open calls without return" 'pprof says in a comment how many calls have no return'

# ---- attached to in the middle of a recursion ----
program within -O1
# within_record ARGUMENT: what the program does from its third level on.
within_record() {
	is_root && within_attached "$1"
	kept "within-$1"
	"$BBTRACE" report -q "$T/trace" -F json >"$T/json"
	"$BBTRACE" report -q "$T/trace" -F html | sed -n 's/.*"name":"dig".*"timed":\([0-9]*\),"open":\([0-9]*\),"total":\([0-9]*\),.*/\1 timed, \2 open, total \3/p' >"$T/figures"
	"$BBTRACE" report -q "$T/trace" -F summary >"$T/summary"
}
within_attached() {
	local program tracer

	rm -f "$T/go" "$T/program.out" "$T/err" "$T/trace"
	mkfifo "$T/go"
	"$T/within" "$1" <>"$T/go" >"$T/program.out" &
	program=$!
	wait_for "$PATIENCE" grep -qs here "$T/program.out"
	"$BBTRACE" user "$T/within" dig -p $program -v -o "$T/trace" >"$T/out" 2>"$T/err" </dev/null &
	tracer=$!
	wait_for "$PATIENCE" grep -qs '^bbtrace: recording$' "$T/err"
	echo >"$T/go"
	wait $program
	is $? 0 "a recursion that is attached to ends well (and then: $1)"
	wait $tracer
}
# The calls from level three to level four, rdi shows the level: the outermost ones of those that are timed.
fourth='$e->{event} eq "entry" and push @levels, hex $e->{regs}{rdi};
	$e->{event} eq "return" && defined $e->{duration_ns} && pop @levels == 4 ? $e->{duration_ns} : ""'
for one in 'return 0' 'exit 1'; do
	read -r how open <<<"$one"
	within_record "$how"
	sum=$(json_lines "$T/json" "our @levels; $fourth" | awk '{ n += $1 } END { print NR, n }')
	is "${sum% *}" 5 "the program makes five calls from its third level (and then: $how)"
	is "$(cat "$T/figures")" "15 timed, $open open, total ${sum#* }" "the calls of a recursion that end are timed, and the others are counted as open (and then: $how)"
	is "$(awk '$NF == "dig" { print $1, $2, $3; exit }' "$T/summary")" "15 15 $open" "summary tells timed and open calls of a recursion (and then: $how)"
done

# ---- ten thousand levels ----
program deep -O1
recorded deep user "$T/deep" deep -r none --engine inline -- "$T/deep"
bb report "$T/trace" -F folded:count -o "$T/folded"
! is_root || bb user "$T/deep" deep -F folded:count -o "$T/folded" -- "$T/deep"
is "$(grep -v '^#' "$T/folded" | awk '{ n += $NF } END { print n }')" 10001 'folded: every call of a deep recursion is counted'
is "$(grep -v '^#' "$T/folded" | tail -1 | awk '{ print $NF }' FS='[;]')" '[deeper calls] 8977' 'folded: calls below 1024 levels are put together'
is "$(($(stat -c %s "$T/folded") < 5000000))" 1 'folded: a deep recursion makes a file of bounded size'

# ---- python3 starting ----
if [[ -x /usr/bin/python3 ]] && as_root 'python3 starting'; then
	name=python3
	bb user /usr/bin/python3 'PyDict_*' PyObject_GetAttr -o "$T/trace" -- /usr/bin/python3 -c 'print(1)'
	render
	check_all
	is "$(grep -vcE '^(python3(;[^; ]+)+ [0-9]+|#.*[a-z])$' "$T/folded")" 0 'python3: each line of folded is a stack, a blank and a number'
fi
done_testing

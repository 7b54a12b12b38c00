#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# report --sort: the table of functions by each of its columns. report --grep: the steps whose text matches, with the entries
# and returns of their calls; both are refused where they have no meaning.
# shellcheck disable=SC2154,SC2016 # lib.sh sets them; Perl
. "$(dirname "$0")/lib.sh"
needs root uprobes

program parts -O1
bb user "$T/parts" main choose even odd --args -o "$T/a.bbt" -- "$T/parts" 0 1 2 3 4 5
exits 0 'a trace is recorded'
bb user "$T/parts" main odd -c --record "$T/counts.bbt" -o "$T/counts.txt" -- "$T/parts" 0 4

# ---- --sort ----

# column NAME FILE: a column of the table, from its first row on
column() {
	awk -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) n = i; next } !NF { exit } { print $n }' "$2"
}
# in ns
plain() { perl -ne '/^([\d.]+)(ns|us|ms|s)?\+?$/ and print $1 * {ns => 1, us => 1e3, ms => 1e6, s => 1e9}->{$2 // "ns"}, "\n"'; }

for key in calls branches total self min avg p50 p99 max; do
	"$BBTRACE" report "$T/a.bbt" --sort $key >"$T/table" 2>/dev/null
	column $key "$T/table" | plain >"$T/values"
	sort -rg "$T/values" | cmp -s - "$T/values"
	ok $? "--sort $key" || diag "$(head -6 "$T/table")"
	is "$(wc -l <"$T/values")" 4 "--sort $key: all functions"
done
"$BBTRACE" report "$T/a.bbt" --sort name >"$T/table" 2>/dev/null
is "$(column function "$T/table" | xargs)" 'choose even main odd' '--sort name'
"$BBTRACE" report "$T/a.bbt" >"$T/x" -F summary 2>/dev/null
"$BBTRACE" report "$T/a.bbt" >"$T/y" -F summary --sort time 2>/dev/null
cmp -s "$T/x" "$T/y"
ok $? '--sort time is how the table is sorted without it'
"$BBTRACE" report "$T/counts.bbt" --sort calls >"$T/table" 2>/dev/null
is "$(column function "$T/table" | xargs)" 'odd main' '--sort of counts'

# ---- --grep ----

"$BBTRACE" report "$T/a.bbt" --no-fold -T none >"$T/all" 2>/dev/null
"$BBTRACE" report "$T/a.bbt" --no-fold -T none --grep 'even.* returns 2' >"$T/some" 2>/dev/null
is "$(sed -E 's/^[^ ]+ +//; s/  .*//' "$T/some" | paste -sd'|')" \
	"$(grep -E 'main\(|choose\(n=3\)|even\(n=12\)|even returns 2|choose returns 2|main returns' "$T/all" |
		sed -E 's/^[^ ]+ +//; s/  .*//' | paste -sd'|')" 'a step with the entries and returns of its calls'
grep -vxFf "$T/all" "$T/some" >"$T/other"
is "$(<"$T/other")" '' 'lines are those of the whole report'
"$BBTRACE" report "$T/a.bbt" --no-fold -T none --grep 'not taken' >"$T/some" 2>/dev/null
is "$(grep -c 'not taken' "$T/some")" "$(grep -c 'not taken' "$T/all")" 'all steps that match'
"$BBTRACE" report "$T/a.bbt" --grep 'nothing like it' >"$T/some" 2>"$T/err"
is "$?/$(wc -c <"$T/some")" 0/0 'no step matches'
"$BBTRACE" report "$T/a.bbt" -F json --grep 'odd\+0x.*not taken' >"$T/json" 2>/dev/null
is "$(json "$T/json" '$e->{event} eq "branch"')" \
	"$("$BBTRACE" report "$T/a.bbt" -F json 2>/dev/null | grep '"symbol":"odd"' | grep -c '"taken":false')" 'json has the same steps'
is "$(json "$T/json" '$e->{event} eq "branch" && ($e->{symbol} ne "odd" || $e->{taken})')" 0 'and no others'
"$BBTRACE" report "$T/a.bbt" "$T/a.bbt" --grep 'even.*returns 2' >"$T/some" 2>/dev/null
is "$(grep -c 'even returns 2' "$T/some")" 2 'several files'

# ---- what was chosen, of how many ----
bb report "$T/a.bbt" --no-fold -T none --grep 'even.* returns 2'
like "$T/err" "^bbtrace: --grep: 1 of $(summary events) events match; shown: 6, with the entries and returns around them, of 3 functions$" \
	'how many match, are shown, of all'
bb report "$T/a.bbt" -F json --grep 'even.* returns 2'
is "$(json "$T/out" '$e->{event} eq "summary" && $e->{matches} == 1 && $e->{shown} == 6 && $e->{shown_functions} == 3')" 1 'likewise in JSON'
bb report "$T/a.bbt" "$T/a.bbt" --grep 'even.* returns 2'
like "$T/err" '--grep: 2 of [0-9]* events match; shown: 12, .* of 3 functions$' 'and of several files'
bb report "$T/a.bbt" --grep .
is "$(sed -nE 's/.*--grep: ([0-9]+) of ([0-9]+) events match; shown: ([0-9]+),.*/\1 \2 \3/p' "$T/err" | tr ' ' '\n' | sort -u | wc -l)" 1 \
	'all match'
bb report "$T/a.bbt" -F json
is "$(json "$T/out" 'exists $e->{matches} || exists $e->{shown}')" 0 'no such fields without --grep'

# ---- refused ----

refused() { # MESSAGE STATUS WORD...
	bb report "${@:3}"
	exits "$2" "refused: ${*:3}"
	grep -qF -- "$1" "$T/err"
	ok $? "$1" || diag "$(<"$T/err")"
}
refused 'sorts the table of functions, and json has none' 2 "$T/a.bbt" --sort calls -F json
refused 'calls' 2 "$T/a.bbt" --sort nothing
refused 'chooses lines of -F text or json, not of summary' 2 "$T/a.bbt" --grep x -F summary
refused 'give one of them' 2 "$T/a.bbt" --grep x --sort calls
refused 'no meaning with -c' 2 "$T/a.bbt" --grep x -c
refused 'is no extended regular expression' 2 "$T/a.bbt" --grep '('
refused 'has only counts' 1 "$T/counts.bbt" --grep x
refused 'no times: --sort calls, branches or name' 1 "$T/counts.bbt" --sort total
done_testing

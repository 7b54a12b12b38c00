#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# -F annotate: objdump's instructions, JSON's counts, the source if it exists.
. "$(dirname "$0")/../e2e/lib.sh"
needs recorded cmd:objdump

# Both write $T/json and $T/annotate: KEPT PROGRAM FUNC
reported() {
	recorded "$1" user "$2" "$3" -- "$2"
	bb report "$T/trace" -F json -o "$T/json"
	bb report "$T/trace" -F annotate -o "$T/annotate"
	exits 0 "$3: annotated"
}
traced() {
	as_root "$3: annotated while it is traced" || return
	bb user "$2" "$3" -F json -o "$T/json" -- "$2"
	bb user "$2" "$3" -F annotate -o "$T/annotate" -- "$2"
	exits 0 "$3: annotated while it is traced"
}
# code PROGRAM FUNC ARG...: the same, or without root the code alone, in $T/annotate
code() {
	if is_root; then bb user "$@" -F annotate -- "$1"; else bb list "$@" -F annotate; fi
	cp "$T/out" "$T/annotate"
}
# "offset taken not-taken" of each conditional that ran.
conditionals() { awk '$1 ~ /^[0-9]+$/ && $2 ~ /^[0-9]+$/ { o = $3 ~ /^\+/ ? 3 : $4 ~ /^\+/ ? 4 : 0
	if (o && $(o + 1) ~ /^j/ && $(o + 1) != "jmp" && $(o - 2) + $(o - 1) > 0) print $o, $(o - 2), $(o - 1) }' "$T/annotate"; }
wanted() { json_lines "$T/json" 'our %n; $e->{kind} && $e->{kind} eq "jcc" and $n{$e->{offset}}[$e->{taken} ? 0 : 1]++;
	$e->{event} eq "summary" && join "\n", map { sprintf "+0x%x %d %d", $_, map { $_ || 0 } @{$n{$_}}[0, 1] } sort { $a <=> $b } keys %n'; }

program loops -O1
for way in reported traced; do
	$way loops "$T/loops" nested || continue
	is "$(conditionals)" "$(wanted)" "$way: annotate counts taken and not taken as JSON does"
	like "$T/annotate" '^nested in .*/loops, 0x[0-9a-f]+: 3 calls, [0-9]+ branches, 13/13 blocks, 15/16 sides of branches$' \
		"$way: the head of a function in annotate has its calls"
done
# every instruction that objdump shows stands there, under its offset
code "$T/loops" nested
objdump -d --no-show-raw-insn "$T/loops" | perl -ne '
	if (/^([0-9a-f]+) <nested>:/) { $s = hex $1 } elsif (/^\s*$/) { undef $s }
	elsif (defined $s && /^\s*([0-9a-f]+):\s+(\S+)/) { printf "+0x%x\n", hex($1) - $s if $2 !~ /^nop|^xchg|^cs|^data16/ }' >"$T/wanted"
isnt "$(wc -l <"$T/wanted")" 0 'objdump shows instructions'
grep -oE ' \+0x[0-9a-f]+ ' "$T/annotate" | tr -d ' ' >"$T/got"
is "$(grep -cvxFf "$T/got" "$T/wanted")" 0 'annotate shows each instruction that objdump shows'
like "$T/annotate" 'loops\.c:[0-9]+ .*for \(int i = 0' 'annotate shows the source'
like "$T/annotate" 'loops\.c:[0-9]+  ( {8})+for \(int i = 0' 'annotate expands tabs'
unlike "$T/annotate" '\\x09' 'annotate shows no tab as an escape'

# indirect targets by count
program fptr -O1
targets() { grep -oE '[0-9]+ +-> [A-Za-z_0-9]+$' "$T/annotate" | awk '{ n[$3] += $1 } END { for (t in n) print t, n[t] }' | sort; }
from_json() { json_lines "$T/json" 'our %n; $e->{kind} && $e->{kind} eq "icall" and $n{$e->{to}{symbol}}++;
	$e->{event} eq "summary" && join "\n", map { "$_ $n{$_}" } sort keys %n'; }
for way in reported traced; do
	$way fptr "$T/fptr" operands || continue
	isnt "$(from_json)" '' "$way: the recording for annotate has indirect calls"
	is "$(targets)" "$(from_json)" "$way: annotate shows where indirect calls went, and how often"
done

# what didn't run
source_program half c <<'END'
__attribute__((noipa)) int half(int n) { if (n > 5) { n *= 7; n ^= 3; return n; } return 1; }
int main(void) { return half(2) - 1; }
END
for way in traced reported; do
	$way half "$T/half" half || continue
	like "$T/annotate" '^ +0 +\+0x[0-9a-f]+ ' "$way: annotate shows a 0 for a block that never ran"
done
if is_root; then
	bb user "$T/half" half -F annotate --color always -o "$T/annotate" -- "$T/half"
	like "$T/annotate" $'\033\\[2m(imul|lea)' 'annotate shows a block that never ran dim while it is traced'
fi
bb report "$T/trace" -F annotate --color always -o "$T/annotate"
like "$T/annotate" $'\033\\[2m(imul|lea)' 'annotate shows a block that never ran dim'

# source that may not be shown
touch -d '+1 hour' "$T/half.c"
code "$T/half" half
like "$T/err" 'half\.c is newer than .*/half: its lines are not shown' 'annotate notes that a source file that changed is not shown'
unlike "$T/annotate" 'noipa' 'annotate shows no text of a source file that changed'
like "$T/annotate" 'half\.c:1$' 'annotate names the line of a source file that changed'
touch -d '-1 hour' "$T/half.c"
chmod "$(is_root && echo 600 || echo 0)" "$T/half.c" # its owner may read it
code "$T/half" half
unlike "$T/annotate" 'noipa' 'annotate shows no text of a source file that not everybody may read'
if is_root; then
	bb user "$T/half" half -e entry -F annotate -o "$T/annotate" -- "$T/half"
	like "$T/annotate" '^# No branches were recorded' 'annotate of -e entry says that it knows nothing of branches while it is traced'
	unlike "$T/annotate" '^ +0 +\+0x' 'annotate of -e entry claims nothing of branches while it is traced'
fi
recorded half-entries user "$T/half" half -e entry -- "$T/half"
bb report "$T/trace" -F annotate -o "$T/annotate"
like "$T/annotate" '^# No branches were recorded' 'annotate of -e entry says that it knows nothing of branches'
unlike "$T/annotate" '^ +0 +\+0x' 'annotate of -e entry claims nothing of branches'
done_testing

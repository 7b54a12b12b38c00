#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# -F annotate: objdump's instructions, JSON's counts, the source if it exists.
. "$(dirname "$0")/../e2e/lib.sh"
needs root uprobes cmd:objdump

annotate() {
	bb user "$@" -F json -o "$T/json" -- "$1"
	bb user "$@" -F annotate -o "$T/annotate" -- "$1"
	exits 0 "$2: annotated"
}
# "offset taken not-taken" of each conditional that ran.
conditionals() { awk '$1 ~ /^[0-9]+$/ && $2 ~ /^[0-9]+$/ { o = $3 ~ /^\+/ ? 3 : $4 ~ /^\+/ ? 4 : 0
	if (o && $(o + 1) ~ /^j/ && $(o + 1) != "jmp" && $(o - 2) + $(o - 1) > 0) print $o, $(o - 2), $(o - 1) }' "$T/annotate"; }
wanted() { json_lines "$T/json" 'our %n; $e->{kind} && $e->{kind} eq "jcc" and $n{$e->{offset}}[$e->{taken} ? 0 : 1]++;
	$e->{event} eq "summary" && join "\n", map { sprintf "+0x%x %d %d", $_, map { $_ || 0 } @{$n{$_}}[0, 1] } sort { $a <=> $b } keys %n'; }

program loops -O1
annotate "$T/loops" nested
is "$(conditionals)" "$(wanted)" 'annotate counts taken and not taken as JSON does'
# every instruction that objdump shows stands there, under its offset
objdump -d --no-show-raw-insn "$T/loops" | perl -ne '
	if (/^([0-9a-f]+) <nested>:/) { $s = hex $1 } elsif (/^\s*$/) { undef $s }
	elsif (defined $s && /^\s*([0-9a-f]+):\s+(\S+)/) { printf "+0x%x\n", hex($1) - $s if $2 !~ /^nop|^xchg|^cs|^data16/ }' >"$T/wanted"
isnt "$(wc -l <"$T/wanted")" 0 'objdump shows instructions'
grep -oE ' \+0x[0-9a-f]+ ' "$T/annotate" | tr -d ' ' >"$T/got"
is "$(grep -cvxFf "$T/got" "$T/wanted")" 0 'annotate shows each instruction that objdump shows'
like "$T/annotate" 'loops\.c:[0-9]+ .*for \(int i = 0' 'annotate shows the source'
like "$T/annotate" 'loops\.c:[0-9]+  ( {8})+for \(int i = 0' 'annotate expands tabs'
unlike "$T/annotate" '\\x09' 'annotate shows no tab as an escape'
like "$T/annotate" '^nested in .*/loops, 0x[0-9a-f]+: 3 calls, [0-9]+ branches, 13/13 blocks, 15/16 sides of branches$' 'the head of a function in annotate has its calls'

# indirect targets by count
program fptr -O1
annotate "$T/fptr" operands
targets() { grep -oE '[0-9]+ +-> [A-Za-z_0-9]+$' "$T/annotate" | awk '{ n[$3] += $1 } END { for (t in n) print t, n[t] }' | sort; }
from_json() { json_lines "$T/json" 'our %n; $e->{kind} && $e->{kind} eq "icall" and $n{$e->{to}{symbol}}++;
	$e->{event} eq "summary" && join "\n", map { "$_ $n{$_}" } sort keys %n'; }
isnt "$(from_json)" '' 'the recording for annotate has indirect calls'
is "$(targets)" "$(from_json)" 'annotate shows where indirect calls went, and how often'

# what didn't run
source_program half c <<'END'
__attribute__((noipa)) int half(int n) { if (n > 5) { n *= 7; n ^= 3; return n; } return 1; }
int main(void) { return half(2) - 1; }
END
annotate "$T/half" half
like "$T/annotate" '^ +0 +\+0x[0-9a-f]+ ' 'annotate shows a 0 for a block that never ran'
bb user "$T/half" half -F annotate --color always -o "$T/annotate" -- "$T/half"
like "$T/annotate" $'\033\\[2m(imul|lea)' 'annotate shows a block that never ran dim'

# source that may not be shown
touch -d '+1 hour' "$T/half.c"
bb user "$T/half" half -F annotate -o "$T/annotate" -- "$T/half"
like "$T/err" 'half\.c is newer than .*/half: its lines are not shown' 'annotate notes that a source file that changed is not shown'
unlike "$T/annotate" 'noipa' 'annotate shows no text of a source file that changed'
like "$T/annotate" 'half\.c:1$' 'annotate names the line of a source file that changed'
touch -d '-1 hour' "$T/half.c"
chmod 600 "$T/half.c"
bb user "$T/half" half -F annotate -o "$T/annotate" -- "$T/half"
unlike "$T/annotate" 'noipa' 'annotate shows no text of a source file that not everybody may read'
bb user "$T/half" half -e entry -F annotate -o "$T/annotate" -- "$T/half"
like "$T/annotate" '^# No branches were recorded' 'annotate of -e entry says that it knows nothing of branches'
unlike "$T/annotate" '^ +0 +\+0x' 'annotate of -e entry claims nothing of branches'
done_testing

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# How a trace is shown doesn't choose what is recorded: with each option of that group the same steps are shown, and a trace
# file has the same.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes

program ladder -O1
program switch -O2
program loops -O2

steps() { # FILE
	json_lines "$1" '$e->{event} =~ /^(entry|branch|return|unknown)$/ && join " ", map { $_ // "" } @$e{qw(event symbol vaddr kind taken)}, $e->{to} ? $e->{to}{vaddr} : ""'
}
# Text without times, colours and source lines.
plain() { sed -E -e 's/\x1b\[[0-9;]*m//g' -e '/^bbtrace: /d' -e 's/^ *[-+0-9.:]* *([a-z]+-[0-9]+)/\1/' -e 's/^ *[a-z]+-[0-9]+ +//' -e 's/ +[0-9.]+(ns|us|ms|s)$//' \
	-e 's/(  first entry|  \+[0-9.]+[a-z]+ since last)//' -e 's/ +[a-z_]+\.[ch]:[0-9].*$//' -e 's/  [0-9.]+(ns|us|ms|s)( .*)?$//' "$1" | grep -oE '^ *[A-Za-z_0-9]+(\+0x[0-9a-f]+  [a-z]+.*|\(|  *returns)'; }

n=0
for case in 'ladder classify' 'switch pick' 'loops work'; do
	read -r prog func <<<"$case"
	bb list "$T/$prog" "$func"
	[[ $status == 0 ]] || func='*'
	for options in '-T rel' '-T none' '-T delta' '-T abs' '--no-src' '--color always' '--addresses' '--no-fold' '-T none --no-src --no-fold'; do
		[[ $options == '-T rel' ]] || in_part $((n++)) || continue
		read -ra words <<<"$options"
		bb user "$T/$prog" "$func" "${words[@]}" -F json -o "$T/json" -- "$T/$prog"
		steps "$T/json" >"$T/steps"
		[[ $options != '-T rel' ]] || mv "$T/steps" "$T/wanted"
		[[ $options == '-T rel' ]] || same "$T/steps" "$T/wanted" "$prog $options: the steps of the default"
		bb user "$T/$prog" "$func" "${words[@]}" -o "$T/trace.bbt" -- "$T/$prog"
		bb report "$T/trace.bbt" -F json -o "$T/json"
		steps "$T/json" >"$T/steps"
		same "$T/steps" "$T/wanted" "$prog $options: in a trace file, too"
		[[ $options == *--no-fold* ]] || words+=(--no-fold)
		bb user "$T/$prog" "$func" "${words[@]}" -F text -o "$T/text" -- "$T/$prog"
		plain "$T/text" >"$T/lines"
		[[ $options != '-T rel' ]] || mv "$T/lines" "$T/text_wanted"
		[[ $options == '-T rel' ]] || same "$T/lines" "$T/text_wanted" "$prog $options: as text"
	done
	isnt "$(wc -l <"$T/wanted") $(wc -l <"$T/text_wanted")" '0 0' "$prog: $(wc -l <"$T/wanted") steps, $(wc -l <"$T/text_wanted") lines"
done
done_testing

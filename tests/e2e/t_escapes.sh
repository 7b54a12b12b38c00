#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Terminal escape codes and direction marks in names of symbols, files, threads and arguments never reach a terminal.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/lib.sh"
needs root uprobes

# clean FILE NAME: no control character but tabs and line ends; no C1 either, as a byte or in UTF-8; no bidirectional control.
controls='[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|(?<![\x80-\xff])[\x80-\x9f]'
bidirectional='\xd8\x9c|\xe2\x80[\x8e\x8f\xaa-\xae]|\xe2\x81[\xa6-\xa9]'
clean() {
	[[ -s $1 ]] && ! LC_ALL=C grep -aqP "$controls|$bidirectional" "$1"
	ok $? "$2" || diag "$(cat -v "$1" | head -5)"
}

esc=$'\e[31m\e]0;'
source_program plain c <<'C'
__attribute__((noinline)) int AAAAAAAAAred(int x) { return x > 1 ? x * 3 : x + 1; }
__attribute__((noinline)) int BBBBBBBBbell(int x) { return AAAAAAAAAred(x) + AAAAAAAAAred(x + 1); }
__attribute__((noinline)) int CCCCCCCCCCCdne(int x) { return x > 4 ? BBBBBBBBbell(x) : BBBBBBBBbell(x + 2); }
volatile int sum;
int main(int c, char **v) { sum = CCCCCCCCCCCdne(c); return 0; }
C
program=$T/$'p\e[7m'
perl -pe 's/AAAAAAAAA/\e[31m\e]0;/g; s/BBBBBBBB/\a\x7f\xc2\x9b\x9b\n\t\e/g;
	s/CCCCCCCCCCC/\xe2\x80\xae\xd8\x9c\xe2\x81\xa6\xe2\x80\x8f/g' "$T/plain" >"$program" && chmod +x "$program"
"$program" || skip_all 'the crafted program does not run'

bb list "$program"
exits 0 'list shows functions whose names have escape codes'
clean "$T/out" 'list'
like "$T/out" '\\x1b\[31m\\x1b\]0;red' 'list makes escape codes in a name visible'
bb list --sites "$program"
clean "$T/out" 'list --sites'
bb list -F json "$program"
clean "$T/out" 'list -F json'
json "$T/out" '$e->{symbol} eq "\e[31m\e]0;red"' >"$T/n"
is "$(cat "$T/n")" 1 'JSON has a name with escape codes as it is'
is "$(grep -c '"symbol":"\\u202e\\u061c\\u2066\\u200fdne"' "$T/out")" 1 'JSON escapes what turns text around'
bb list --points "$program"
exits 1 'list --points refuses a path with escape codes'
clean "$T/err" 'the error about a path with escape codes has none of them'

bb user "$program" '*red' '*bell' '*dne' -k -- "$program"
exits 0 'a function whose name has escape codes is traced'
clean "$T/out" 'the trace'
clean "$T/err" 'its notes'
isnt "$(summary events)" 0 'a function whose name has escape codes has events'
bb user "$program" '*red' '*dne' -v -F json -- "$program"
clean "$T/out" 'the trace as JSON'
clean "$T/err" 'notes with -v'
bb user "$program" '*' -o "$T/recorded" -- "$program"
for format in annotate callgrind dot folded html summary svg; do
	bb report "$T/recorded" -F $format -o "$T/report"
	clean "$T/report" "the report as $format"
done

bb list "$program" "${esc}rad"
exits 1 'a name that is nearly one with escape codes is refused'
clean "$T/err" 'a suggested name has no escape codes'
bb list "$T/${esc}" main
exits 1 'an object that is not there, with escape codes in its name, is refused'
clean "$T/err" 'the error about an object that is not there has no escape codes'
bb list "$program" "$program:3"
clean "$T/err" 'the error about a line of a program without source has no escape codes'
for wrong in "${esc}" "user --${esc}" "user -p ${esc} x" "user -F ${esc} x" "user --uid ${esc} x" "user -t ${esc}"; do
	# shellcheck disable=SC2086 # arguments
	bb $wrong
	exits 2 "wrong usage with escape codes: $(tr -d '\033' <<<"${wrong%%$'\e'*}")"
	clean "$T/err" "the message about wrong usage has no escape codes: $(tr -d '\033' <<<"${wrong%%$'\e'*}")"
done
bb user "$program" main -- "$T/${esc}cmd"
clean "$T/err" 'the error about a command that is not there has no escape codes'

# ---- each operand, and the value of each option ----
cd "$T" || exit 1
nasty=$'x\e]0;title\a\x9b\xe2\x80\xae'
bb report "$nasty"
is "$(cat "$T/err")" 'bbtrace: cannot open x\x1b]0;title\x07\x9b\xe2\x80\xae: No such file or directory' 'report of a file whose name has escape codes shows them'
said() { # ARG...: adds what bbtrace says to $T/said
	bb "$@"
	cat "$T/out" "$T/err" >>"$T/said"
}
tried=' ' # each option in the first verb that has it
while read -r verb operands; do
	: >"$T/said"
	# shellcheck disable=SC2206 # words
	words=($operands) run=()
	[[ $verb == @(user|kernel|trace) ]] && run=(-- true)
	for ((i = 0; i < ${#words[@]}; i++)); do
		said "$verb" "${words[@]:0:i}" "$nasty" "${words[@]:i+1}" "${run[@]}"
	done
	said "$verb" "${words[@]}" "$nasty" "${run[@]}"
	for option in $("$BBTRACE" "$verb" --help-all | sed -nE 's/^  (-.,|   ) --([a-z-]+) [A-Z].*/\2/p'); do
		[[ ${MATRIX:-} == whole || $tried != *" $option "* ]] || continue
		tried+="$option "
		said "$verb" "${words[@]}" "--$option" "$nasty" "${run[@]}"
	done
	clean "$T/said" "$verb: operands and values of options with escape codes: none is in a message"
done <<END
user $T/plain main
user $T/plain:main @$T/plain
kernel vfs_read
trace user:$T/plain:main kernel:vfs_read
list $T/plain main
list kernel vfs_read
report $T/recorded main
doctor
help
END
for text in "$nasty" "@$nasty" "$nasty:main" "$T/plain:$nasty" "0x$nasty" "$nasty:3"; do
	for words in "user" "user $T/plain" "trace" "list $T/plain"; do
		# shellcheck disable=SC2086 # words
		said $words "$text"
		said "${words%% *}" "user:$text"
	done
done
clean "$T/said" 'forms of FUNC with escape codes: none is in a message'
done_testing

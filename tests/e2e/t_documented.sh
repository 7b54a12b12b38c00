#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Each verb, option and format of --help is in the man page and in the three completions, and these have no others.
# CONTRACT.md agrees with the program.
# shellcheck disable=SC2034,SC2154 # used by name; lib.sh sets them
. "$(dirname "$0")/lib.sh"

MAN=$ROOT/man/bbtrace.8
PAGES=$B/man # of the verbs: made from the options that they have
BASH_FILE=$ROOT/completion/bbtrace.bash
ZSH_FILE=$ROOT/completion/_bbtrace
FISH_FILE=$ROOT/completion/bbtrace.fish

# options_of VERB: each as "LETTER NAME VALUE", - where it has none.
options_of() {
	"$BBTRACE" "$1" --help-all | sed -nE 's/^  (-(.),|   ) --([a-z-]+)( [A-Z].*|  .*|$)/\2|\3|\4/p' |
		awk -F'|' '{ print ($1 == "" ? "-" : $1), $2, $3 ~ /^ [A-Z]/ ? "value" : "-" }'
}
verbs=$("$BBTRACE" --help | sed -nE 's/^ +bbtrace ([a-z]+) .*/\1/p' | sort -u | xargs)
verbs="user ${verbs/user/}" # most options are tried there, whose operands cost no listing of events
is "$(($(wc -w <<<"$verbs") >= 5))" 1 "the verbs are known: $verbs"

# all_of NAME COMMAND...: which of the words on stdin the command fails for
all_of() {
	local name=$1 word missing=''
	shift

	while read -r word; do "$@" "$word" || missing+=" $word"; done
	is "$missing" '' "$name"
}
# in_man VERB <OPTIONS: those whose entry, with its letter and a text, isn't in the page of the verb
in_man() {
	awk -v page="$PAGES/bbtrace-$1.8" '
		BEGIN {
			while ((getline line < page) > 0) {
				if (entry && line ~ /^([^.]|\.[A-Z][a-z] )/) there[entry]
				entry = ""
				if (line ~ /^\.It Fl (. , )?-[a-z-]+( .*)?$/) {
					split(line, word, " ")
					entry = word[4] == "," ? word[3] " " substr(word[5], 2) : "- " substr(word[3], 2)
				}
			}
		}
		!(($1 " " $2) in there) { print $2 }'
}
# the completions call bbtrace by its name
mkdir -p "$T/bin" && ln -sf "$BBTRACE" "$T/bin/bbtrace" && PATH=$T/bin:$PATH
# What bash offers after these words.
offers() {
	bash -c '
		. "$0"
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		compopt() { :; }
		_bbtrace
		printf "%s\n" "${COMPREPLY[@]}"' "$BASH_FILE" bbtrace "$@" 2>/dev/null
}
# what follows an option with a value is that value, and no operand: each option in the first verb that has it
takes_value() {
	local name value
	read -r _ name value <<<"$1"
	[[ $value == - ]] && return
	[[ ${MATRIX:-} != whole && " $tried " == *" $name "* ]] && return
	tried+=" $name"
	[[ $(offers "$verb" "--$name" X y) == "$operands" ]]
}
tried=
# What zsh and fish offer where each of these lines ends, one a line, with -- and the help after a blank; a form feed
# follows each.
zsh_offers() { "$ROOT/tests/check/zsh_offers.py" "$ROOT/completion" "$@"; }
fish_offers() {
	# shellcheck disable=SC2016 # fish expands it
	fish -c 'source $argv[1]; for line in $argv[2..]; complete -C $line; printf "\f\n"; end' "$FISH_FILE" "$@" | cut -f1
}
for shell in zsh fish; do
	command -v $shell >/dev/null || continue
	mapfile -t lines < <(for verb in $verbs; do echo "bbtrace $verb --"; done)
	${shell}_offers "${lines[@]}" 'bbtrace ' 'bbtrace report -F ' |
		awk -v to="$T/$shell" -v names="$verbs VERBS FORMATS" '
			BEGIN { split(names, name, " "); n = 1; printf "" >(to "." name[1]) }
			/\f/ { close(to "." name[n++]); next }
			{ print >(to "." name[n]) }'
done
# offered SHELL: its options of $verb are those that the verb has
offered() {
	local shell=$1

	if ! command -v "$shell" >/dev/null; then
		skip "$verb: $shell offers its options" "no $shell"
		return
	fi
	grep -oE '^--[a-z-]+' "$T/$shell.$verb" | sort -u >"$T/offered.$shell"
	awk '{ print "--" $2 }' "$T/options" | sort >"$T/have"
	same "$T/offered.$shell" "$T/have" "$verb: $shell offers its options, and no others"
}
for verb in $verbs; do
	options_of "$verb" >"$T/options"
	is "$(($(wc -l <"$T/options") > 3))" 1 "$verb: its options are known"
	is "$(in_man "$verb" <"$T/options" | xargs)" '' "$verb: its options are in the man page"
	offers "$verb" - >"$T/offered"
	operands=$(offers "$verb" y)
	all_of "$verb: bash offers a value after options that have one" takes_value <"$T/options"
	awk '{ print "--" $2; if ($1 != "-") print "-" $1 }' "$T/options" | sort >"$T/have"
	sort -o "$T/offered" "$T/offered"
	same "$T/offered" "$T/have" "$verb: bash offers its options, and no others"

	offered zsh
	offered fish
	grep -qE "^\.It Cm $verb , Xr bbtrace-$verb 8$" "$MAN" && grep -qE "^\.Cm $verb$" "$PAGES/bbtrace-$verb.8"
	ok $? "$verb: the verb is in the manual"
	offers '' | grep -qx "$verb"
	ok $? "$verb: the verb is offered by bash"
done
# no option has a text that is none
for verb in $verbs; do options_of "$verb" | awk -v verb="$verb" '{ print $2; print $2, verb }'; done | sort -u >"$T/have"
sed -nE 's/^\.\\" ([a-z-]+( [a-z]+)?)$/\1/p' "$ROOT/man/options.mdoc" | sort >"$T/texts"
is "$(comm -13 "$T/have" "$T/texts" | xargs)" '' 'the manual has no text of an option that does not exist'
ok $(($(wc -l <"$T/texts") < 60)) 'and it has their texts'
is "$(basename -s .mdoc "$ROOT"/man/verbs/* | xargs)" "$(xargs -n1 <<<"$verbs" | sort | xargs)" 'the manual has a page of each verb, and no other'

# ---- CONTRACT.md: what it promises is there, what it reserves is not, and nothing else is ----
CONTRACT=$ROOT/CONTRACT.md
section() { sed -n "/^## $1/,/^## /{/^## /d;p}" "$CONTRACT"; }
is "$(section Verbs | sed -nE 's/^    bbtrace ([a-z]+) .*/\1/p' | sort -u | xargs)" "$(xargs -n1 <<<"$verbs" | sort | xargs)" \
	'the contract has the verbs that exist'
for verb in $verbs; do options_of "$verb"; done | awk '{ print "--" $2; if ($1 != "-") print "-" $1 }' | sort -u >"$T/have"
section Options | sed -n 's/^| \(`-[^|]*\)|.*/\1/p' | grep -oE -- '--?[A-Za-z-]+' | sort -u >"$T/told"
same "$T/told" "$T/have" 'the contract has the options that exist'
section Reserved | tr -d '\n' >"$T/reserved"
# reserved KIND: the words of its line
reserved() { sed -nE "s/.*- $1: ([^:]*)(- [a-z].*|\$)/\1/p" "$T/reserved" | tr -d ',' | xargs -n1; }
is "$(($(reserved verbs | wc -l) > 0))" 1 'the contract reserves verbs'
is "$(reserved verbs | while read -r word; do "$BBTRACE" "$word" --help 2>&1 | grep -q "^usage" && echo "$word"; done)" '' \
	'no verb exists that the contract reserves'
is "$(comm -12 <(reserved options | sort) "$T/have")" '' 'no option exists that the contract reserves'
section JSON | sed -nE 's/^\| ([a-z_, ]+[a-z]) +\|.*/\1/p' | grep -v '^field$' | tr -d , | xargs -n1 | sort >"$T/told"
{
	sed -nE 's/.*\{KEY\("([a-z_]+)"\).*/\1/p' "$ROOT/src/output/base/fields.c"
	printf '%s\n' object symbol offset vaddr # of a place
} | sort >"$T/have"
same "$T/told" "$T/have" 'the contract has the fields that exist'
for verb in $verbs; do
	is "$("$BBTRACE" help "$verb")" "$("$BBTRACE" "$verb" --help)" "help $verb shows what $verb --help does"
done
"$BBTRACE" help nothing >/dev/null 2>&1
is $? 2 'help of no verb is wrong usage'

# ---- formats ----
# first_words FILE: the words that are offered there, sorted
first_words() { sed 's/ -- .*//' "$1" | xargs -n1 | grep '^[a-z][a-z:]*$' | sort -u | xargs; }
for shell in zsh fish; do
	if ! command -v $shell >/dev/null; then
		skip "$shell offers the verbs and the formats" "no $shell"
		continue
	fi
	is "$(first_words "$T/$shell.VERBS")" "$(xargs -n1 <<<"$verbs" | sort | xargs)" "$shell offers the verbs"
	is "$(first_words "$T/$shell.FORMATS")" "$("$BBTRACE" help --options report |
		awk -F'\t' '$2 == "format" { print $4 }' | xargs -n1 | sort | xargs)" "$shell offers the formats"
done
formats=$("$BBTRACE" report --help-all | sed -n '/^formats:/,$s/^  \([^ ]*\) .*/\1/p')
is "$(sort <<<"$formats" | xargs)" "$(offers report -F '' | sort | xargs)" 'bash offers the formats'
for format in $("$BBTRACE" list --help | sed -n '/^formats:/,$s/^  \([^ ]*\) .*/\1/p'); do
	is "$("$BBTRACE" list libc.so.6 malloc -F "$format" 2>&1 >/dev/null; echo $?)" 0 "list has the format $format, as its --help says"
done
for verb in list doctor; do
	is "$("$BBTRACE" $verb --help | sed -n '/^formats:/,$p' | grep -c 'per event\|JSON object per line, the last\|with its counts')" 0 \
		"$verb --help says what its own formats are"
done
for format in $formats; do
	grep -qE "^\.It Cm ${format/:*/}( |$)|^\.Cm $format$|^\.Fl F Cm $format$|, $format$|^\.S[hs] ${format^}$" "$ROOT/man/bbtrace-formats.7"
	ok $? "format $format is in the manual"
	grep -qE "^\| .*\`$format\`" "$ROOT/README.md"
	ok $? "format $format is in the README"
done

# ---- and all is what its language takes ----
if command -v groff >/dev/null; then
	for page in "$ROOT"/man/*.[0-9] "$PAGES"/*; do
		is "$(groff -mdoc -Tutf8 -ww -z "$page" 2>&1)" '' "${page##*/}: groff has nothing to complain about"
	done
	# a page or a section that is referred to is there
	for page in "$ROOT"/man/*.[0-9] "$PAGES"/*; do
		sed -nE 's/^.*Xr (bbtrace[a-z-]*) ([0-9]).*/\1.\2/p' "$page" | sort -u | while read -r other; do
			[[ -e $ROOT/man/$other || -e $PAGES/$other ]] || echo "${page##*/}: $other"
		done
		sed -nE 's/^.*Sx ([A-Za-z ]*[A-Za-z]).*/\1/p' "$page" | while read -r section; do
			grep -qE "^\.S[hs] $section" "$page" || echo "${page##*/}: $section"
		done
	done >"$T/missing"
	is "$(<"$T/missing")" '' 'what the pages refer to is there'
else
	skip 'man page' 'no groff'
fi
for shell in bash zsh fish; do
	if ! command -v $shell >/dev/null; then
		skip "$shell reads its completion" "no $shell"
		continue
	fi
	file=${shell^^}_FILE
	is "$($shell -n "${!file}" 2>&1)" '' "$shell reads its completion"
done
done_testing

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What the shells offer for functions of C++, of trace files, and for variables: quoted as the shell needs it.
# shellcheck disable=SC2016,SC2154 # fish expands it; lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes

cp "$E2E/first/prog.c" "$E2E/first/cart.cc" "$T"
cd "$T" || exit 1
"${CC:-cc}" -g -O1 -o prog prog.c && "${CXX:-c++}" -g -O1 -o cart cart.cc || exit 2
mkdir bin && ln -s "$BBTRACE" bin/bbtrace && PATH=$T/bin:$PATH
echo one=1 >good.conf
bb user ./prog 'foo*' -o t.bbt -- ./prog
bb user ./cart 'shop*' -o cart.bbt -- ./cart
bb report --functions t.bbt
is "$(xargs <"$T/out")" 'foo_add foo_mul' 'report --functions has the names in the file'
bb report --functions t.bbt cart.bbt
like "$T/err" '^bbtrace: --functions shows one file: give only one' 'of one file'

# ---- bash, as it splits the line at : and = ----
# bash_offers LINE
bash_offers() {
	bash -c '
		. "$0"
		COMP_LINE=$1 COMP_POINT=${#1}
		compopt() { :; }
		shift
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_bbtrace
		printf "%s\n" "${COMPREPLY[@]}"' "$ROOT/completion/bbtrace.bash" "$@" 2>/dev/null
}
is "$(bash_offers 'bbtrace report t.bbt foo_' bbtrace report t.bbt foo_ | xargs)" 'foo_add foo_mul' 'bash: functions of the trace file'
is "$(bash_offers 'bbtrace user ./prog foo_' bbtrace user ./prog foo_ | xargs)" 'foo_add foo_mul' 'bash: functions of a program'
is "$(bash_offers 'bbtrace user ./cart shop::Cart::' bbtrace user ./cart shop :: Cart :: | xargs)" 'add total' \
	'bash: what follows the last colon of a C++ name, at which it ends a word'
is "$(bash_offers "bbtrace user ./cart 'shop::Cart::" bbtrace user ./cart "'shop::Cart::" | xargs)" 'shop::Cart::add shop::Cart::total' \
	'bash: all of the name within quotes'
is "$(bash_offers 'bbtrace user ./cart std::vector' bbtrace user ./cart std :: vector | head -n 1 | cut -c1-8)" 'vector\<' \
	'bash: < and blanks are quoted'
is "$(bash_offers 'bbtrace user ./cart:shop::Cart::a' bbtrace user ./cart : shop :: Cart :: a | xargs)" add 'bash: OBJECT:FUNC'
is "$(bash_offers 'bbtrace watch ./prog:count' bbtrace watch ./prog : count | xargs)" counter 'bash: variables of a program'
is "$(bash_offers 'bbtrace report t.bbt --exclude foo_a' bbtrace report t.bbt --exclude foo_a | xargs)" foo_add 'bash: --exclude of report'

# ---- fish ----
if command -v fish >/dev/null; then
	fish_offers() { fish -c 'source $argv[1]; complete -C $argv[2]' "$ROOT/completion/bbtrace.fish" "$1" | cut -f1 | sort | xargs -d '\n'; }
	is "$(fish_offers 'bbtrace report t.bbt foo_')" 'foo_add foo_mul' 'fish: functions of the trace file'
	is "$(fish_offers 'bbtrace user ./cart shop::Cart::')" 'shop::Cart::add shop::Cart::total' 'fish: C++ names'
	is "$(fish_offers 'bbtrace watch ./prog:count')" './prog:counter' 'fish: variables'
else
	skip 'fish: functions of the trace file' 'no fish'
fi

# ---- zsh ----
if command -v zsh >/dev/null; then
	zsh_offers() { "$ROOT/tests/check/zsh_offers.py" "$ROOT/completion" "$1" | tr -d '\f' | grep -oE '(foo_|shop|add|total|counter)[A-Za-z_:]*' | sort -u | xargs; }
	like <(zsh_offers 'bbtrace report t.bbt foo_') 'foo_add foo_mul' 'zsh: functions of the trace file'
	like <(zsh_offers 'bbtrace user ./cart shop::Cart::') 'shop::Cart::add shop::Cart::total' 'zsh: C++ names'
	like <(zsh_offers 'bbtrace watch ./prog:co') 'counter' 'zsh: variables'
else
	skip 'zsh: functions of the trace file' 'no zsh'
fi
done_testing

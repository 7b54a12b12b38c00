#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What the shells offer for functions of C++, of trace files, and for variables: quoted as the shell needs it.
# shellcheck disable=SC2016,SC2154 # fish expands it; lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes

cp "$E2E/first/prog.c" "$E2E/first/cart.cc" "$T"
cd "$T" || exit 1
"${CC:-cc}" -g -O1 -o prog prog.c && "${CXX:-c++}" -g -O1 -o cart cart.cc || exit 2
source_program odd c++ <<'END'
struct mass { unsigned long grams; };
__attribute__((noipa)) mass operator""_kg(unsigned long long n) { return {(unsigned long)n * 1000}; }
struct list {
	int all[4];
	__attribute__((noipa)) int &operator[](int at) { return all[at]; }
};
template <typename A, typename B> __attribute__((noipa)) A widest(A a, B b) { return a > (A)b ? a : (A)b; }
int main()
{
	list l = {{0, 1, 2, 3}};

	return operator""_kg(2).grams + l[0] + widest<unsigned long, int>(1, 2) == 2002 ? 0 : 1;
}
END
mkdir bin && ln -s "$BBTRACE" bin/bbtrace && PATH=$T/bin:$PATH
echo one=1 >good.conf
bb user ./prog 'foo*' -o t.bbt -- ./prog
bb user ./prog parse_line -o p.bbt -- ./prog
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

offers_conditions() { # its words, and what bash splits them into
	is "$(bash_offers "$@" | xargs)" "$WANTED" "bash: $NAME"
}
WANTED='a b ret' NAME='--if: all arguments' offers_conditions 'bbtrace user ./prog foo_add --if ' bbtrace user ./prog foo_add --if ''
WANTED='a > 1 && b' NAME='--if: after &&, within quotes' offers_conditions "bbtrace user ./prog foo_add --if 'a > 1 && b" \
	bbtrace user ./prog foo_add --if "'a > 1 && b"
WANTED='price' NAME='--if: of a C++ function' offers_conditions "bbtrace user ./cart shop::Cart::add --if pr" \
	bbtrace user ./cart shop :: Cart :: add --if pr
WANTED='price' NAME='--if: of OBJECT:FUNC' offers_conditions "bbtrace trace user:./cart:shop::Cart::add --if pr" \
	bbtrace trace user : ./cart : shop :: Cart :: add --if pr
WANTED='line ret' NAME='--if: report has those of the file' offers_conditions 'bbtrace report p.bbt parse_line --if ' \
	bbtrace report p.bbt parse_line --if ''
WANTED='' NAME='--if: nothing after a comparison' offers_conditions "bbtrace user ./prog foo_add --if 'a > " \
	bbtrace user ./prog foo_add --if "'a > "
is "$(bash_offers "bbtrace user ./odd 'operator\"" bbtrace user ./odd "'operator\"")" 'operator"" _kg' 'bash: quotes in a name, within quotes'
is "$(bash_offers 'bbtrace user ./odd operator\"' bbtrace user ./odd 'operator\"')" 'operator\"\"\ _kg' 'bash: and without'
is "$(bash_offers 'bbtrace user ./odd operator' bbtrace user ./odd operator)" 'operator\"\"\ _kg' 'bash: operator* is no pattern'
is "$(bash_offers 'bbtrace user ./odd "operator\"' bbtrace user ./odd '"operator\"')" 'operator\"\" _kg' 'bash: and within double quotes'
is "$(bash_offers "bbtrace user ./odd 'list::operator[" bbtrace user ./odd "'list::operator[")" 'list::operator[]' 'bash: [ is no pattern'
is "$(bash_offers "bbtrace user ./odd 'widest<unsigned long, i" bbtrace user ./odd "'widest<unsigned long, i")" \
	'widest<unsigned long, int>' 'bash: blanks in a name'
is "$(bash_offers "bbtrace user ./odd 'widest<unsigned long, int>' --if " bbtrace user ./odd "'widest<unsigned long, int>'" --if '' | xargs)" \
	'a b ret' 'bash: --if after a name with blanks'

# ---- fish ----
if command -v fish >/dev/null; then
	fish_offers() { fish -c 'source $argv[1]; complete -C $argv[2]' "$ROOT/completion/bbtrace.fish" "$1" | cut -f1 | sort | xargs -d '\n'; }
	is "$(fish_offers 'bbtrace report t.bbt foo_')" 'foo_add foo_mul' 'fish: functions of the trace file'
	is "$(fish_offers 'bbtrace user ./cart shop::Cart::')" 'shop::Cart::add shop::Cart::total' 'fish: C++ names'
	is "$(fish_offers 'bbtrace user ./prog foo_add --if ')" 'a b ret' 'fish: --if: all arguments'
	is "$(fish_offers "bbtrace user ./prog foo_add --if 'a > 1 && b")" 'a > 1 && b' 'fish: --if: after &&, within quotes'
	is "$(fish_offers 'bbtrace trace user:./cart:shop::Cart::add --if p')" 'price' 'fish: --if: of OBJECT:FUNC'
	is "$(fish_offers 'bbtrace report p.bbt parse_line --if ')" 'line ret' 'fish: --if: report has those of the file'
	is "$(fish_offers "bbtrace user ./odd 'operator\"")" 'operator"" _kg' 'fish: quotes in a name'
	is "$(fish_offers "bbtrace user ./odd 'list::operator[")" 'list::operator[]' 'fish: [ is no pattern'
	is "$(fish_offers "bbtrace user ./odd 'widest<unsigned long, i")" 'widest<unsigned long, int>' 'fish: blanks in a name'
	is "$(fish_offers 'bbtrace watch ./prog:count')" './prog:counter' 'fish: variables'
else
	skip 'fish: functions of the trace file' 'no fish'
fi

# ---- zsh ----
if command -v zsh >/dev/null; then
	zsh_offers() { "$ROOT/tests/check/zsh_offers.py" "$ROOT/completion" "$1" | tr -d '\f' | grep -oE '(foo_|shop|add|total|counter|price|line|ret|operator|widest|list::)[][<>A-Za-z_:, "\\]*' | sort -u | xargs; }
	like <(zsh_offers 'bbtrace report t.bbt foo_') 'foo_add foo_mul' 'zsh: functions of the trace file'
	like <(zsh_offers 'bbtrace user ./cart shop::Cart::') 'shop::Cart::add shop::Cart::total' 'zsh: C++ names'
	zsh_completes() { "$ROOT/tests/check/zsh_offers.py" -l "$ROOT/completion" "$1" | tr -d '\f' | sed 's/ *$//'; }
	like <(zsh_completes 'bbtrace user ./cart shop::Cart::add --if p') '--if price$' 'zsh: --if'
	like <(zsh_completes "bbtrace user ./cart shop::Cart::add --if 'price > 1 && p") "--if 'price > 1 && price$" 'zsh: --if: after &&, within quotes'
	like <(zsh_offers 'bbtrace report p.bbt parse_line --if ') 'line.*ret' 'zsh: --if: report has those of the file'
	like <(zsh_completes 'bbtrace user ./odd operator') 'operator.*_kg' 'zsh: quotes in a name'
	like <(zsh_completes "bbtrace user ./odd 'list::operator[") 'list::operator\[\]' 'zsh: [ is no pattern'
	like <(zsh_completes "bbtrace user ./odd 'widest<unsigned long, i") 'widest<unsigned long, int>' 'zsh: blanks in a name'
	like <(zsh_offers 'bbtrace watch ./prog:co') 'counter' 'zsh: variables'
else
	skip 'zsh: functions of the trace file' 'no zsh'
fi
done_testing

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# On a terminal no line is wider than it, what is cut is recognizable, and elsewhere nothing is cut.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes cmd:python3

cp "$E2E/first/prog.c" "$E2E/first/cart.cc" "$T"
"${CC:-cc}" -g -O1 -o "$T/prog" "$T/prog.c" && "${CXX:-c++}" -g -O1 -o "$T/cart" "$T/cart.cc" || exit 2
printf 'one=1\ntwo=2\nthree=3\n' >"$T/good.conf"
printf 'one=1\ntwo=200\n' >"$T/bad.conf"
cd "$T" || exit 1

# on COLUMNS ARG...: what bbtrace shows on a terminal of that width is in $T/shown, without colours.
on() {
	timeout -k 5 "$BB_TIMEOUT" "$E2E/terminal.py" "$1" 40 "$BBTRACE" "${@:2}" >"$T/raw" </dev/null
	sed 's/\x1b\[[0-9;]*[A-Za-z]//g' "$T/raw" >"$T/shown"
}
# Words that are longer than the terminal, such as paths in notes, are whole.
widest() { perl -CSD -sne 'chomp; print "$_\n" if length > $most && !/^ *\S*$/' -- "-most=$1" "$2"; }

background "$T/prog" sleep
bb user "$T/cart" '*' -o "$T/trace" -- "$T/cart"
while read -r line; do
	words=()
	read -ra words <<<"${line//PID/$background}"
	for columns in 60 80 200; do
		on $columns "${words[@]}"
		is "$(widest $columns "$T/shown")" '' "no line is wider than $columns columns: $line"
	done
	[[ -s $T/shown ]]
	ok $? "something is shown: $line"
done <<'END'
user ./prog * -- ./prog
user ./cart * --args -- ./cart
user ./cart * -k -- ./cart
user ./cart * -c -- ./cart
user ./cart * -F summary -- ./cart
user ./cart * -F paths -- ./cart
slow ./cart * -- ./cart
report ./trace
report ./trace -F summary
list ./cart
list ./cart main --sites
list libc.so.6 mem*
list --events kernel sched:*
why -- ./prog ./bad.conf
cover -- ./prog
cover -- ./cart
stack PID
profile -- ./prog spin 3000
top -- ./prog spin 3000
diff ./trace ./trace
doctor
help
user --help
user --help-all
report --help
top --help
nonexistent_thing
END

# ---- what is cut is recognizable ----
bb user ./cart 'shop*' main --args -T none -- ./cart
sed 's/^cart-[0-9]*//' "$T/out" >"$T/whole"
unlike "$T/whole" '…' 'what is no terminal gets no ellipsis'
on 200 user ./prog parse_line -T none -- ./prog
like "$T/shown" 'prog\.c:' 'a wide terminal shows source lines'
on 60 user ./prog parse_line -T none -- ./prog
unlike "$T/shown" 'prog\.c:' 'a narrow one leaves them out first'
on 60 user ./cart '*' --args -- ./cart
like "$T/shown" '0x[0-9a-f]*…$' 'a value that is cut ends with an ellipsis'
like "$T/shown" 'std::[A-Za-z_]*<…>::' 'template arguments are an ellipsis'
# ---- a terminal that gets another width ----
source_program ticker c <<'END'
#include <unistd.h>
__attribute__((noipa)) int tick(int number, long with, long very, long many, long wide, long arguments)
{
	return number + with + very + many + wide + arguments > 0;
}
int main(void)
{
	for (int i = 1; i <= 100; i++) {
		usleep(20000);
		tick(i, 1111111111111, 2222222222222, 3333333333333, 4444444444444, 5555555555555);
	}
}
END
RESIZE='60 number=5,' on 200 user ./ticker tick --no-src -- ./ticker
like "$T/shown" 'number=1, .*arguments=5555555555555' 'lines of a wide terminal'
like "$T/shown" 'number=100,.*…$' 'it gets another width in a live trace'
grep 'number=\([5-9][0-9]\|100\),' "$T/shown" >"$T/late"
is "$(widest 60 "$T/late")" '' 'later lines are no wider'

# ---- --help is one screen ----
# rows_of_help VERB: on a terminal of 80 columns
rows_of_help() {
	on 80 "$1" --help
	wc -l <"$T/shown"
}
long=''
for verb in $("$BBTRACE" help --options | cut -f1); do
	most=40
	[[ $verb != @(user|kernel|trace|event|watch|profile|report) ]] || most=45
	rows=$(rows_of_help "$verb")
	options=$(grep -cE '^  (-.,|   ) --' "$T/shown")
	((rows <= most && options <= (most == 40 ? 12 : 20))) || long+=" $verb: $rows rows, $options options;"
	is "$(grep -c '^  bbtrace ' "$T/shown")" 3 "$verb --help has three examples"
done
is "$long" '' '--help is one screen'
COLUMNS=70 on 200 user ./cart '*' -- ./cart
is "$(widest 70 "$T/shown")" '' 'COLUMNS counts, not the terminal'
on 60 user ./cart main -F json -- ./cart
unlike "$T/shown" '…' 'JSON is not cut'
on 60 user ./cart '*' --args --full-names -T none -- ./cart
unlike "$T/shown" '…' '--full-names: nothing is cut'
like "$T/shown" 'std::allocator<char> >::' '--full-names: names are whole'
COLUMNS=60 bb list ./cart
unlike "$T/out" '…' 'COLUMNS does not cut what is no terminal'
done_testing

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest_growing.sh: kprobes come and go while others of the same event are hit (tests/check/growing.c).

# shellcheck disable=SC2154,SC2034 # guest_lib.sh sets and uses them
. "$(dirname "$0")/guest_lib.sh"
growing=$1 grows=$2

# grow NAME OPTION...: of getpriority(2), while getppid(2) is traced.
grow() {
	"$growing" -k -n "${rounds:-6}" "${@:2}" "$grows" __x64_sys_getppid "$added" calls >"$T/grown" 2>"$T/err"
	is "$?" 0 "$1"
	calls=$(sed -n 's/ calls$//p' "$T/grown")
	diag "$(cat "$T/grown" "$T/err")"
}
worked() { sed -n 's/^worked \(.*\)/\1/p' "$T/grown"; }
exact() { # NAME
	is "$(grep -cx 'stray 0, lost 0, twice 0' "$T/grown") $(sed -n 's/^entered //p' "$T/grown")" "1 $calls" \
		"$1: $calls calls are seen once each"
}

choose added traceable 'what getpriority(2) runs through' __x64_sys_getpriority __do_sys_getpriority
for row in '' -c; do
	# shellcheck disable=SC2086 # words
	grow "kprobes ${row:-with events} are added and removed" $row
	is "$(worked)" '6, refused 0, breakpoints left 0' 'each time they work, and their definitions are gone'
	exact "${row:-events}"
	# shellcheck disable=SC2086 # words
	grow "kprobes ${row:-with events} leave an event" -s $row
	like "$T/grown" '^worked 6, refused 0, breakpoints left [03]$' 'each is removed alone, unless it is the last of its event'
	exact "${row:-events}"
done
grow 'kprobes are added without any capability' -d
is "$(worked)" '6, refused 0, breakpoints left 0' 'without capabilities they work'
done_testing

# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# The Test Anything Protocol for shell tests, to be sourced. A test ends with done_testing; one that ends earlier has
# failed. $T is a scratch folder, removed at the end (KEEP=1: kept, and printed).

tap_run=0
tap_failed=0
tap_finished=
tap_cleanup=()

T=$(mktemp -d "${TMPDIR:-/tmp}/bbtrace-test.XXXXXX") || exit 1

# What a test plans is kept for its own next traces alone; Go keeps what it has compiled where it always does.
export GOCACHE=${GOCACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/go-build}
export XDG_CACHE_HOME=$T/.cache

# A python3 of a version manager is a script that takes ten times as long to start as Debian's, which is called hundreds of times.
if [[ -x /usr/bin/python3 && $(type -P python3) != /usr/bin/python3 ]]; then
	mkdir "$T/.python" && ln -s /usr/bin/python3 "$T/.python/" && PATH=$T/.python:$PATH
fi

# Without the plugins of the linkers that are installed, of which LLVM's take half a second to load; nothing here is of their
# intermediate code.
nm() { command nm --plugin /dev/null "$@"; }

# Runs COMMAND when the test ends, in any way; the command added last runs first.
at_end() { tap_cleanup=("$*" "${tap_cleanup[@]}"); }

tap__end() {
	local status=$? command

	for command in "${tap_cleanup[@]}"; do eval "$command"; done
	if [[ ${KEEP:-} ]]; then echo "# kept: $T"; else rm -rf "$T"; fi
	[[ $tap_finished ]] && exit $((tap_failed > 0))
	echo "Bail out of this file: it ended early (status $status)" >&2
	exit $((status ? status : 1))
}
trap tap__end EXIT
trap 'exit 130' INT TERM

# in_part NUMBER [TURN [OF]]: true for the rows of a matrix that `make check` runs: each third, or NUMBER = TURN modulo OF.
# MATRIX=whole: each row (make check-long).
in_part() { [[ ${MATRIX:-} == whole ]] || (($1 % ${3:-3} == ${2:-0})); }
# part_of TURN OF NAME...: those names that are in_part by their place in the list.
part_of() {
	local turn=$1 of=$2 i

	shift 2
	for ((i = 0; i < $#; i++)); do
		! in_part $i "$turn" "$of" || echo "${*:i+1:1}"
	done
}

# Prints lines as comments, so that a traced program's output isn't read as TAP.
diag() { sed 's/^/# /' <<<"$*"; }

# The line numbers of the calls in the test's own file, innermost first.
tap__where() {
	local i lines=

	for ((i = 2; i < ${#BASH_SOURCE[@]}; i++)); do
		[[ ${BASH_SOURCE[i]} == "$0" ]] && lines+=" ${BASH_LINENO[i - 1]}"
	done
	echo "${0##*/} line${lines}"
}

# The same of a test that failed: false.
failing() {
	diag "$@"
	return 1
}

# ok STATUS NAME: passes if STATUS is 0. Use: COMMAND; ok $? "what it shows"
ok() {
	((++tap_run))
	if [[ $1 == 0 ]]; then
		echo "ok $tap_run - $2"
		return 0
	fi
	((++tap_failed))
	echo "not ok $tap_run - $2"
	diag "$(tap__where)"
	return 1
}

is() {
	[[ $1 == "$2" ]]
	ok $? "$3" || failing "got:    $1"$'\n'"wanted: $2"
}

isnt() {
	[[ $1 != "$2" ]]
	ok $? "$3" || failing "got what was not wanted: $1"
}

# like FILE REGEX NAME: some line of the file matches (extended regular expression).
like() {
	grep -qE -e "$2" "$1"
	ok $? "$3" || failing "no line of ${1##*/} matches: $2"$'\n'"$(head -20 "$1")"
}

unlike() {
	! grep -qE -e "$2" "$1"
	ok $? "$3" || failing "a line of ${1##*/} matches: $2"$'\n'"$(grep -E -m 5 -e "$2" "$1")"
}

# same FILE FILE NAME: passes if they are equal, else shows the difference.
same() {
	cmp -s "$1" "$2"
	ok $? "$3" || failing "$(diff -u "$2" "$1" | head -40)"
}

# skip NAME REASON: skips one test. skip_all REASON: skips the whole file, before any test ran.
skip() { echo "ok $((++tap_run)) - $1 # SKIP $2"; }
skip_all() {
	echo "1..0 # SKIP $1"
	tap_finished=1
	exit 0
}

# relay [PREFIX]: reads the results of a test that runs elsewhere and numbers them as our own. It sets $relayed,
# $relayed_failed and $planned; the caller compares $relayed with $planned.
# shellcheck disable=SC2034 # callers read it
relay() {
	local line prefix=${1:+$1: }

	relayed=0 relayed_failed=0 planned=
	while IFS= read -r line; do
		case $line in
		'ok '*)
			echo "ok $((++tap_run)) - $prefix${line#* - }"
			((++relayed))
			;;
		'not ok '*)
			echo "not ok $((++tap_run)) - $prefix${line#* - }"
			((++tap_failed, ++relayed, ++relayed_failed))
			;;
		1..*) planned=${line#1..} ;;
		*) echo "# ${line#\# }" ;;
		esac
	done
}

done_testing() {
	echo "1..$tap_run"
	tap_finished=1
	exit $((tap_failed > 0))
}

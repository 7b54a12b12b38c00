# shellcheck shell=sh
# SPDX-License-Identifier: BSD-2-Clause
# The Test Anything Protocol for shell scripts: source it, then `is GOT WANT TEXT`, `ok TEXT COMMAND...`, `tap_done`.
tap_n=0 tap_failed=0

tap_result() { # STATUS TEXT
	tap_n=$((tap_n + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $tap_n - $2"
	else
		echo "not ok $tap_n - $2"
		tap_failed=$((tap_failed + 1))
	fi
}

is() { # GOT WANT TEXT
	[ "$1" = "$2" ]
	tap_result $? "$3"
	[ "$1" = "$2" ] || echo "#   got '$1', want '$2'"
}

ok() { # TEXT COMMAND...
	tap_text=$1
	shift
	"$@"
	tap_result $? "$tap_text"
}

skip() { # TEXT WHY
	tap_n=$((tap_n + 1))
	echo "ok $tap_n - $1 # SKIP $2"
}

tap_done() {
	echo "1..$tap_n"
	[ $tap_failed -eq 0 ]
}

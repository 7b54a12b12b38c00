#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2154,SC2016 # lib.sh sets T; Perl's variables
# Recording that bbtrace ctl switches, by each mechanism: while it is stopped the program's code is its own, of all its
# threads and children, and what is recorded is what ran in between.
. "$(dirname "$0")/lib.sh"
needs root uprobes
. "$E2E/controlled.sh"

switch() { bb ctl "$T/sock" "$1"; }

mechanisms
for mechanism in "${MECHANISMS[@]}"; do
	rm -f "$T/sock"
	app "$mechanism" work --engine probe --attach "$mechanism" -f --paused -F json -e entry -o "$T/json"
	says ww
	is "$(entry_byte)" "$original" "$mechanism: paused, the code is that of the file"
	for round in 1 2 3; do
		switch start
		says w tw fw
		is "$(entry_byte)" cc "$mechanism, $round: started it has its probe"
		switch stop
		says ww tw fw
		is "$(entry_byte)" "$original" "$mechanism, $round: and stopped it has not"
	done
	ends "$mechanism"
	is "$(events "$T/json")" '[]WWW[]WWW[]WWW[' "$mechanism: what ran in between is recorded, of threads and children, too" ||
		diag "$(cat "$T/$mechanism.err")"
done
done_testing

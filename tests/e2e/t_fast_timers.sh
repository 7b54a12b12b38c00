#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --engine inline: a timer that fires faster than its signals can be passed on starves no program and fills no stack with
# handlers; each of its expirations is still counted, and none of a timer that fires once is lost.
# shellcheck disable=SC2154 # lib.sh sets status
. "$(dirname "$0")/lib.sh"
needs root uprobes

program ticks -lrt
for use in leave once 'count alrm' 'count rt'; do
	# shellcheck disable=SC2086 # words
	is "$("$T/ticks" $use)" right "$use: untraced all is right"
	for options in "-F summary -o $T/text" "-c -F json -o $T/json" "--last 50 -F summary -o $T/text"; do
		for load in 0 3; do
			# what the supervisor does is the same for all; handlers that leave need time most
			[[ $use == leave || ($load == 0 && $options == -*summary*text && $options != --last*) ]] || continue
			busy=()
			for ((i = 0; i < load; i++)); do
				while :; do :; done &
				busy+=($!)
			done
			# shellcheck disable=SC2086 # words
			bb user "$T/ticks" '*' --engine inline $options -- "$T/ticks" $use
			((load)) && kill "${busy[@]}" && wait "${busy[@]}" 2>/dev/null
			is "$status $(<"$T/out")" '0 right' "$use, ${options%% "$T"*}, $load other processes: is right, too"
		done
	done
done
done_testing

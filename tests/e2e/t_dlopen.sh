#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A library that the program opens after its start, closes, and opens again at another address.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/lib.sh"
needs root uprobes
mechanisms

program loader -O1
"${CC:-cc}" -g -O1 -fPIC -shared -o "$T/plug.so" "$ROOT/tests/progs/plug.c" || exit 2
"$T/loader" >"$T/plain"
"$T/loader" again >"$T/plain_again"

for attach in "${MECHANISMS[@]}"; do
	bb user "$T/plug.so" plug_work --attach $attach -F json -o "$T/json" -- "$T/loader"
	exits 0 "$attach: a library opened by dlopen is traced"
	same "$T/out" "$T/plain" "$attach: a program that opens a traced library prints what it always does"
	is "$(entries plug_work) $(returns plug_work)" '1 1' "$attach: a call into a library opened by dlopen is seen, and returns"
	is "$(json "$T/json" '$e->{event} eq "branch" && $e->{kind} eq "ret" && $e->{to}{object} eq "'"$T/loader"'"')" 1 \
		'to the program'

	bb user "$T/plug.so" plug_work "--attach=$attach" -F json -o "$T/json" -- "$T/loader" again
	exits 0 "$attach: a library opened three times is traced"
	same "$T/out" "$T/plain_again" "$attach: a program that opens a traced library three times prints what it always does"
	is "$(entries plug_work) $(returns plug_work)" '3 3' "$attach: each call into a library opened three times is seen, wherever it lies"
	is "$(json_lines "$T/json" '$e->{event} eq "entry" && $e->{vaddr}' | sort -u | wc -l)" 1 "$attach: a library opened three times is shown at one link-time address"
done
bb user "$T/loader:use" "$T/plug.so:plug_work" -F json -o "$T/json" -- "$T/loader"
is "$status $(json_lines "$T/json" '$e->{event} eq "entry" && "$e->{symbol} $e->{depth}"' | xargs)" '0 use 0 plug_work 1' \
	'called from a traced function: one deeper'
done_testing

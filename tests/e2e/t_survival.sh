#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The traced program behaves as if untraced: with every function of its libraries probed, with bbtrace killed, and
# with bbtrace not reading.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/lib.sh"
. "$E2E/served.sh"
. "$E2E/survival.sh"
needs root uprobes
mechanisms

# ---- all functions of a library ----

# survives OBJECT ARG...: of $PRIVATE_RUN, untraced and with all functions of the object traced.
survives() {
	local object=$1 plain
	shift

	"${PRIVATE_RUN[@]}" "$@" >"$T/plain" 2>"$T/plain_err" </dev/null
	plain=$?
	bb user "$PRIVATE/$object" '*' -o /dev/null -- "${PRIVATE_RUN[@]}" "$@"
	is "$status" $plain "$object of ${PRIVATE#*private-}, all functions traced: the status is the program's own"
	same "$T/out" "$T/plain" "$object of ${PRIVATE#*private-}, all functions traced: the output is the program's own"
	isnt "$(summary events)" 0 "$object of ${PRIVATE#*private-}, all functions traced: $(summary probes) probes have events"
}

perl -e 'print int(rand 1e9), "\n" for 1 .. 500' >"$T/numbers"
private_copy sort
survives libc.so.6 -n "$T/numbers"
private_copy gzip
survives libc.so.6 -9c "$T/numbers"
program carried -pthread
private_copy "$T/carried"
survives libstdc++.so.6
# Thousands of functions are in tests/long/t_matrices.sh.
if [[ ${MATRIX:-} != whole ]]; then
	:
elif command -v openssl >/dev/null && private_copy openssl && [[ -e $PRIVATE/libcrypto.so.3 ]]; then
	survives libcrypto.so.3 enc -aes-256-cbc -pbkdf2 -iter 10 -S 0102030405060708 -pass pass:x -in "$T/numbers" -a
else
	skip 'libcrypto of openssl, all functions traced' 'no openssl here'
fi
if [[ ${MATRIX:-} != whole ]]; then
	:
elif [[ -x /usr/bin/python3 ]]; then
	private_copy /usr/bin/python3
	survives "$(basename "$(realpath /usr/bin/python3)")" -S -c 'import sys
d = {str(i): [j * j for j in range(i)] for i in range(20)}
try:
    d["x"]
except KeyError as e:
    print(sorted(d), sum(map(len, d.values())), repr(e))
sys.exit(5)'
else
	skip 'python3, all functions traced' 'not here'
fi

# ---- killed ----

survivor
kill_times 20
killed 20

# ---- not read ----

build_served
serve one "$T/served"
watch -p "$pid_one" --buffer 4K
kill -STOP $watching
tell one 'work 20000'
ok $? 'while bbtrace is stopped the program goes on, and does all of its work'
kill -CONT $watching
tell one 'work 3'
tell_off one quit
is $ended 7 'a program that went on while bbtrace was stopped ends as ever'
stop_watching
exits 0 'bbtrace that was stopped and goes on ends well'
isnt "$(summary lost)" 0 'bbtrace that was stopped counts what found no room'
done_testing

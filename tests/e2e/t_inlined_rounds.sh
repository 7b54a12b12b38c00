#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --engine inline -p PID, of a program with 16 busy threads, in each use of the engine: it computes right, and afterwards it
# executes its own code again. tests/long/t_rounds.sh does that ten thousand times, with servers, too.
# shellcheck disable=SC2154 # lib.sh sets background
. "$(dirname "$0")/lib.sh"
. "$E2E/rounds.sh"
needs root uprobes
[[ $(uname -m) == x86_64 ]] || skip_all 'functions are copied on x86-64 only'

program busy -pthread
background "$T/busy" until "$T/until"
wait_for "$PATIENCE" has_threads "$background" 17
rounds "${ROUNDS:-8}" busy "$background" "$T/busy"
: >"$T/until"
wait "$background"
is "$? $(<"$T/bg.out")" '0 right' 'each thread has computed right'
done_testing

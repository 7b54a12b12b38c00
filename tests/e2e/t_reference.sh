#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Every program of tests/progs/progs.list, traced and single-stepped: both tell the same.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/lib.sh"
needs root uprobes "file:$BUILD/stepref" "file:$BUILD/progs"

tap_finished=1 # what it prints is TAP of its own
BBTRACE=$BBTRACE "$ROOT/tests/check/compare_all.sh" "$BUILD"
tap_failed=$?
exit $tap_failed

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Each mutant of tests/mutants/list can be applied; whether a unit test fails for it is seen by tests/long/t_mutants.sh.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh

is "$(tests/mutants.sh stale)" '' 'the text that a mutant changes is in its file once, and its tests are there'
done_testing

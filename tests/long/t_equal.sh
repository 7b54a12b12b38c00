#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs of Debian and of our own print, write and see the same, traced and untraced, in each use of bbtrace: tests/equal.
# PROGRAMS: only those whose name matches; USES: of count last summary file auto probe attach attach-probe.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/../e2e/lib.sh"
. "$ROOT/tests/equal/equal.sh"
needs root uprobes
[[ $(uname -m) == x86_64 ]] || skip_all 'functions are copied on x86-64 only'

equal_prepare
equal_build
equal_all '.' "${USES:-count last summary file auto probe attach attach-probe}"
done_testing

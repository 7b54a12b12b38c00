#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Small programs print, write and see the same, traced and untraced: tests/equal. All of them: tests/long/t_equal.sh.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
. "$ROOT/tests/equal/equal.sh"
needs root uprobes
[[ $(uname -m) == x86_64 ]] || skip_all 'functions are copied on x86-64 only'

equal_prepare
TURNS=2 equal_all '^quick ' 'count file probe attach'
done_testing

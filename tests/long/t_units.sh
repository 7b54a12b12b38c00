#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Unit tests of which `make check` runs a part, whole; as nobody, as ever.
. "$(dirname "$0")/lib.sh"
export MATRIX=whole

for name in code_step copier_use inline_rings target_hostile target_markers trace_damage trace_file trace_random; do
	scripts/run-test.sh "${B:-build}/unit/test_$name" >"$T/out" 2>&1
	judge $? "unit/test_$name"
done
done_testing

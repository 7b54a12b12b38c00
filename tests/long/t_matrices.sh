#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Tests of which `make check` runs a part of the rows, whole.
. "$(dirname "$0")/lib.sh"
export MATRIX=whole SCENARIOS=all ATTACHES=12

for name in e2e/t_if e2e/t_trace_file e2e/t_core e2e/t_core_calls e2e/t_core_files e2e/t_crash e2e/t_display e2e/t_documented e2e/t_escapes e2e/t_survival e2e/t_container e2e/t_brake e2e/t_live e2e/t_paths e2e/t_diff e2e/t_diff_sets e2e/t_inlined_attach e2e/t_coverage_gcov e2e/t_coverage_llvm check/t_comeback check/t_copies check/t_source check/t_values check/t_whole check/t_stepref check/t_foreign check/t_linked check/t_found; do
	"tests/$name.sh" >"$T/out" 2>&1 </dev/null
	judge $? "$name"
done
done_testing

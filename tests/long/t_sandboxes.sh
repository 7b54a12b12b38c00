#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# tests/e2e/t_inlined_sandboxes.sh with each sandbox, in each use of the copies, and by probes.
cd "$(dirname "$0")/../.." || exit 1
engine=${ENGINE:-inline} MODES=${MODES:-none strict kill trap errno time dispatch} USES=${USES-'
-c
--last 10
-k'} exec tests/e2e/t_inlined_sandboxes.sh

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Each of 2,000 armored lines is missing in turn, and each line and byte position of tests/e2e/t_armor.sh is damaged.
cd "$(dirname "$0")/../.." || exit
BB_LINES=2000 build/unit/test_trace_damage || exit
STEP=1 exec tests/e2e/t_armor.sh

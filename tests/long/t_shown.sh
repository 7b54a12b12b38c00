#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What handlers see of copied functions, with many random programs and more options: tests/e2e/t_inlined_shown.sh.
SEEDS=${SEEDS:-$(seq 3 32)} ALL=1 exec bash "$(dirname "$0")/../e2e/t_inlined_shown.sh"

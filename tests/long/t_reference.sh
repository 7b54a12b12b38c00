#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Every program of tests/progs/progs.list compared with its single-stepped reference in each way, including the one with
# a million events.
cd "$(dirname "$0")/../.." || exit 1
export ALL=1 MATRIX=whole
exec tests/e2e/t_reference.sh

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Every program of tests/progs/progs.list against its single-stepped reference, that of a million events too.
cd "$(dirname "$0")/../.." || exit 1
export ALL=1
exec tests/e2e/t_reference.sh

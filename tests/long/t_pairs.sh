#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# tests/e2e/t_pairs.sh with each kind of trace and each other one: some thousand runs.
PAIRS=all exec "$(dirname "$0")/../e2e/t_pairs.sh"

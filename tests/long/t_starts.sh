#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# tests/check/t_starts.sh for every executable and library of this machine.
STARTS=all exec "$(dirname "$0")/../check/t_starts.sh"

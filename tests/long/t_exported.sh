#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# tests/check/t_exported.sh for every executable and library of this machine.
EXPORTED=all exec "$(dirname "$0")/../check/t_exported.sh"

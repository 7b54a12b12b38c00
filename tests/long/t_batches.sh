#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# tests/check/t_batches.sh for all executables and libraries of this machine.
BATCHES=all exec "$(dirname "$0")/../check/t_batches.sh"

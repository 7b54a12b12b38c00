#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# tests/e2e/t_large.sh for each large object of this machine.
LARGE=all exec "$(dirname "$0")/../e2e/t_large.sh"

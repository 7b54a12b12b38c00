#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# tests/e2e/t_inlined_switched.sh, each a hundred times.
ROUNDS=${ROUNDS:-100} BB_TIMEOUT=3600 exec "$(dirname "$0")/../e2e/t_inlined_switched.sh"

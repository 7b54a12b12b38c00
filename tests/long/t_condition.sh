#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# tests/check/t_condition.sh with gzip, awk and bash, too.
PROGRAMS=all exec "$(dirname "$0")/../check/t_condition.sh"

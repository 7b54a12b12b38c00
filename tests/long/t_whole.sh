#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The larger programs of tests/check/t_whole.sh: stepping python3's start alone takes ten minutes.
WHOLE='sqlite headache python3' exec "$(dirname "$0")/../check/t_whole.sh"

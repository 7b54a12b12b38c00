#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Each known mutant of the core makes a unit test fail.
exec "$(dirname "$0")/../mutants.sh"

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Each known way to break the core is noticed by a unit test.
exec "$(dirname "$0")/../mutants.sh"

#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# shell.sh [options of run.sh]: an interactive shell in a guest (`make vm-shell`). Ctrl-A x or exit ends it.
exec "$(dirname "$0")/run.sh" "$@" --shell

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# bbtrace is killed a thousand times (KILLS) while it attaches, traces and detaches, and leaves nothing behind.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/../e2e/lib.sh"
. "$E2E/served.sh"
. "$E2E/survival.sh"
needs root uprobes
mechanisms

survivor
kill_times "${KILLS:-1000}"
killed "${KILLS:-1000}"
done_testing

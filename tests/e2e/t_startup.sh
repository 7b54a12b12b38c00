#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A short run: its end is noticed at once. Nothing is timed: what would take time can't happen, or is counted.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes

# In bbtrace, waiting ends by what is waited for only, however long it takes.
"${CC:-cc}" -O2 -shared -fPIC -o "$T/patient.so" -x c - <<'END' || exit 2
#define _GNU_SOURCE
#include <poll.h>
#include <sys/epoll.h>

int poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	return ppoll(fds, n, timeout_ms ? (void *)0 : &(struct timespec){0}, (void *)0);
}

int epoll_wait(int fd, struct epoll_event *events, int n, int timeout_ms)
{
	return epoll_pwait(fd, events, n, timeout_ms ? -1 : 0, (void *)0);
}
END

# patient ARG...: as bb.
patient() {
	LD_PRELOAD=$T/patient.so BB_TIMEOUT=60 bb "$@"
}

program loops
patient user "$T/loops" nested -F json -o "$T/json" -- "$T/loops"
exits 0 'the end of CMD is waited for, not looked for now and then'
is "$(entries nested) $(returns nested)" '3 3' 'all that CMD did is shown'
patient user "$T/loops" nested -- sh -c 'exit 3'
exits 3 'so it is if CMD has no event'
done_testing

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Activity in processes that are not traced leaves no data in a bbtrace that traces named processes.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/lib.sh"
. "$E2E/served.sh"
needs root uprobes
mechanisms

source_program busy c <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
/* Maps so many files for execution, at once, and makes so many children. */
int main(int argc, char **argv)
{
	int files = atoi(argv[1]), children = atoi(argv[2]);
	char name[64];

	for (int i = 0; i < files; i++) {
		snprintf(name, sizeof(name), "%s/%d", argv[3], i);
		int fd = open(name, O_RDWR | O_CREAT, 0600);
		if (fd < 0 || ftruncate(fd, 4096) || mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
			return 1;
		close(fd);
	}
	/* they live until this ends */
	int ends[2];
	char byte;
	if (pipe(ends))
		return 1;
	for (int i = 0; i < children; i++)
		if (!fork()) {
			close(ends[1]);
			return read(ends[0], &byte, 1) > 0;
		}
	puts("busy");
	fflush(stdout);
	return getchar() > 0;
}
END
mkdir "$T/files"
build_served
serve one "$T/served"
descriptors() { find /proc/$watching/fd | wc -l; }
memory() { awk '/^RssAnon/ { print $2 }' /proc/$watching/status; }
# All that the busy one did has been seen: what came after it is in the trace.
settled() {
	seen=$(calls)
	tell one 'work 1'
	wait_for $PATIENCE sees_more || exit 2
}
sees_more() { (($(calls) > seen)); }

for filter in "-p $pid_one" "-f -p $pid_one"; do
	# shellcheck disable=SC2086 # words
	watch $filter
	settled
	before=$(descriptors) held=$(memory)
	"$T/busy" 300 0 "$T/files" </dev/null >"$T/said"
	settled
	after=$(descriptors) # one that was open for a moment may have been counted before
	ok $((after > before)) "$filter: files that another process maps are not opened" || diag "$before before, $after now"
	: >"$T/said"
	mkfifo "$T/until"
	"$T/busy" 300 700 "$T/files" <"$T/until" >"$T/said" &
	busy=$!
	exec {until}>"$T/until"
	wait_for $PATIENCE grep -q busy "$T/said"
	settled
	grown=$(($(memory) - held))
	((grown < 2048))
	ok $? "$filter: children of processes that are not traced are not remembered" || diag "$grown kB more"
	exec {until}>&-
	wait $busy
	rm "$T/until"
	tell one "open lib $(ldd "$T/served" | awk '/libc[.]so/ { print $3 }')"
	tell one 'work 2'
	stop_watching INT
	is "$status $(calls)" '0 5' "$filter: the traced process's calls are shown while others are busy"
done
done_testing

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sandbox: a separate process for parsing untrusted bytes with a library. A crash, or unbounded
 * memory or time, is an error in the caller. An attacker who takes over the library gets no files
 * except those passed, no privileges and few system calls. Private to src/object.
 */
#ifndef BBTRACE_OBJECT_DEBUG_SANDBOX_H
#define BBTRACE_OBJECT_DEBUG_SANDBOX_H

#include "sandbox_files.h"
#include "util/util.h"

struct sandbox {
	/* Fills in the answer, which is passed back. It can open no files but those passed. */
	void (*fn)(void *ctx, struct str *answer);
	void *ctx;
	const int *fds; /* descriptors that stay open; -1 for none */
	size_t nfds;
	struct sandbox_file *files; /* what it can open by path; empty descriptors are -1 */
	size_t nfiles;
	uint64_t mapped;  /* bytes of address space for its files, in addition to 1 GiB of memory */
	unsigned seconds; /* of CPU time; wall time may be about three times as long */
	/* Called with what fn has written, of any length, in place of the answer; returns false to
	 * end it. NULL if it is not needed. */
	bool (*take)(void *ctx, const char *bytes, size_t n);
	void *take_ctx;
};

/*
 * Runs fn in a forked process. Returns 0; -EIO if it didn't complete, or wrote too much; -EPERM if
 * it could not give up its rights, so that it has read nothing; or the error of the fork. On error
 * a message is set and answer is empty. The answer is no more trustworthy than the bytes that fn
 * read.
 */
int sandbox__run(const struct sandbox *s, struct str *answer);
/* fn calls this to pass on a part of what it writes at once, before the answer. */
void sandbox__write(const void *bytes, size_t n);
/* fn calls this if the input can't be read; sandbox__run() returns -EIO. */
void __attribute__((noreturn)) sandbox__give_up(void);

#endif

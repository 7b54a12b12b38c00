/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * supervisor: the process that puts copies into the traced program and is its ptracer. It ends when
 * the program has ended or was detached, and outlives bbtrace if that is killed: then it detaches
 * from the program, which runs on as before.
 */
#ifndef BBTRACE_SOURCE_INLINE_SUPERVISOR_SUPERVISOR_H
#define BBTRACE_SOURCE_INLINE_SUPERVISOR_SUPERVISOR_H

#include <sys/types.h>
#include "copy/copy.h"
#include "plan/plan.h"
#include "source/inline/target/notice.h"

struct supervisor_options {
	const struct plan *plan;
	const struct copies *copies;
	pid_t command; /* waits to exec; 0: none */
	/* Processes that run: they are stopped, and continue with their copies. */
	const uint32_t *pids;
	size_t npids;
	bool follow;   /* children, too */
	bool stacks;   /* the log has callers (log_options.callers) */
	bool disarmed; /* no springboard is put anywhere until it is asked to */
	/* Called in the supervisor once it traces the command; it needs CAP_SYS_PTRACE,
	 * CAP_CHECKPOINT_RESTORE, CAP_DAC_READ_SEARCH and CAP_KILL from then on. 0 or -errno. NULL:
	 * it keeps all */
	int (*drop_privileges)(void);
	/* Returns why the program that a child has executed can't run under a ptracer; NULL if it
	 * can. NULL: nobody asks. */
	const char *(*unfit)(pid_t pid);
};

struct supervisor;
/* Forks it and attaches it to the command, or to the processes. 0, or -errno with a message. */
int supervisor__start(const struct supervisor_options *options, struct supervisor **out);
/* Messages are read from here, and written to: SOCK_SEQPACKET, one struct a message. */
int supervisor__socket(const struct supervisor *s);
pid_t supervisor__pid(const struct supervisor *s);
/*
 * Asks it to detach from everything, and waits until it has ended. Somebody else reads its messages
 * meanwhile, up to NOTICE_GONE. Returns false if more than a second has passed because a thread
 * waits in the kernel and can't be stopped. The supervisor detaches from that thread when it stops,
 * and ends.
 */
bool supervisor__quit(struct supervisor *s);
/* Closes the socket, upon which it detaches from everything; waits likewise, and frees it. */
void supervisor__close(struct supervisor *s);

/* Receives the next message, and the descriptor that came with it, or -1. Returns 1; 0 if there is
 * none now; -EPIPE if the supervisor has ended, and all was read. */
int supervisor__receive(int socket, struct notice *notice, int *fd);

#endif

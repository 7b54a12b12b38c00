/* SPDX-License-Identifier: BSD-2-Clause */
/* watch: the watchpoints that a command line asks for: where they are, in which processes, and what
 * their hits tell. */
#ifndef BBTRACE_SELECT_EVENTS_WATCH_H
#define BBTRACE_SELECT_EVENTS_WATCH_H

#include "cli/request.h"
#include "select/targets.h"

/* The data of a hit's event: plan__fields() describes it. What isn't known is at the end, and cut
 * off.
 */
struct watch_hit_data {
	char access[16];
	char insn[80]; /* "unknown: " and why */
	char from[16]; /* where new is from */
	uint64_t new, old;
};

struct watchpoint {
	char *name;
	uint32_t which;		     /* named event */
	const struct object *object; /* of targets; NULL: vaddr is a running address */
	uint64_t vaddr;
	uint8_t len;
	uint8_t access; /* enum watch_access */
	bool kernel;
	uint32_t watched_in; /* the process in which it was set last */
};
struct watchpoints {
	VEC(struct watchpoint) all;
	bool user_only;
};

/* Adds them to the plan, and the objects that they are in to n; pid: as in targets__find().
 * -ENOENT, -EINVAL …, with a message. */
int watchpoints__plan(struct watchpoints *w, const struct request *req, struct targets *n,
		      pid_t pid, struct plan *p);
/* Does one of them need the kernel's symbols and code? */
bool watchpoints__name_kernel(const struct request *req);
/* Starts to watch those of the kernel, and in processes that run. */
int watchpoints__begin(struct watchpoints *w, struct sources *s, const struct request *req);
/* Those in one process, which has mapped their objects; *waits: some are not mapped. */
int watchpoints__begin_in(struct watchpoints *w, struct sources *s, uint32_t pid, bool *waits);
void watchpoints__note_values(const struct watchpoints *w, struct sources *s, uint32_t pid);
void watchpoints__free(struct watchpoints *w);

#endif

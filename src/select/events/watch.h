/* SPDX-License-Identifier: BSD-2-Clause */
/* watch: the watchpoints that a command line asks for: their addresses, their processes, and the
 * data of their hits. */
#ifndef BBTRACE_SELECT_EVENTS_WATCH_H
#define BBTRACE_SELECT_EVENTS_WATCH_H

#include "cli/request.h"
#include "select/targets.h"

/* The data of a hit's event, as plan__fields() describes it. Unknown values are at the end, and
 * cut off. */
struct watch_hit_data {
	char access[16];
	char insn[80]; /* or "unknown: " and the reason */
	char from[16]; /* the source of new: the instruction, or memory */
	uint64_t new, old;
};

struct watchpoint {
	char *name;
	uint32_t which;		     /* index of the named event */
	const struct object *object; /* borrowed from targets; NULL if vaddr is a running address */
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

/* Adds the watchpoints to the plan, and their objects to n; pid is as in targets__find().
 * Returns 0, or -errno (-ENOENT, -EINVAL and others) with a message. */
int watchpoints__plan(struct watchpoints *w, const struct request *req, struct targets *n,
		      pid_t pid, struct plan *p);
/* True if a watchpoint needs the kernel's symbols and code. */
bool watchpoints__name_kernel(const struct request *req);
/* Sets the watchpoints in the kernel, and in processes that run. */
int watchpoints__begin(struct watchpoints *w, struct source *s, const struct request *req);
/* Sets the watchpoints in one process that has mapped their objects. *waits: some objects are
 * not mapped yet. */
int watchpoints__begin_in(struct watchpoints *w, struct source *s, uint32_t pid, bool *waits);
void watchpoints__note_values(const struct watchpoints *w, struct source *s, uint32_t pid);
void watchpoints__free(struct watchpoints *w);

#endif

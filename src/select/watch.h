/* SPDX-License-Identifier: BSD-2-Clause */
/* watch: the watchpoints that a command line asks for: where they are, in which processes, and what
 * their hits tell. */
#ifndef BBTRACE_CMD_WATCH_H
#define BBTRACE_CMD_WATCH_H

#include "cli/args.h"

struct show;

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
int watchpoints__plan(struct watchpoints *w, const struct args *a, struct targets *n, pid_t pid,
		      struct plan *p);
/* Does one of them need the kernel's symbols and code? */
bool watchpoints__name_kernel(const struct args *a);
/* Starts to watch those of the kernel, and in processes that run. */
int watchpoints__begin(struct watchpoints *w, struct probe *p, const struct args *a);
/* Those in one process, which has mapped their objects; *waits: some are not mapped. */
int watchpoints__begin_in(struct watchpoints *w, struct probe *p, uint32_t pid, bool *waits);
void watchpoints__note_values(const struct watchpoints *w, struct probe *p, uint32_t pid);
void watchpoints__free(struct watchpoints *w);

/* CMD, which is stopped when it has called exec, so that nothing that it does is missed
 * (watch_exec.c). */
int watch_exec__prepare(pid_t pid);
int watch_exec__begin(struct watchpoints *w, struct probe *p, const struct child *c);

/* ---- hits (watch_hits.c) ---- */

struct watch_hits;
struct watch_hits *watch_hits__new(const struct watchpoints *w, const struct targets *n);
void watch_hits__free(struct watch_hits *h);
/* The event with what is to be shown of the hit, until the next call; e if it is none of a
 * watchpoint. */
const struct event *watch_hits__event(struct watch_hits *h, const struct show *s,
				      const struct event *e);
/* Appends the fields of these events to the plan's last named event. */
void watch_hits__add_fields(struct plan *p, uint8_t access, uint8_t len);

#endif

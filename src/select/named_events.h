/* SPDX-License-Identifier: BSD-2-Clause */
/* with: the named events that a command line asks for: the operands of event, and --with. */
#ifndef BBTRACE_CMD_WITH_H
#define BBTRACE_CMD_WITH_H

#include "cli/args.h"

/* Where they are, beside the plan's rows. */
struct with {
	VEC(struct usdt_site) usdt; /* their probes are owned */
};
/* Adds them to the plan; the objects of static probes to n. pid: as of targets__find(). -ENOENT:
 * there is none of a name, with a message. */
int with__plan(struct with *with, const struct args *a, struct targets *n, pid_t pid,
	       struct plan *p);
/* Those of the kernel, or of an object: words[0]; nwords 1: all. */
int with__find(struct with *with, char *const *words, size_t nwords, struct targets *n, pid_t pid,
	       struct plan *p);
void with__free(struct with *with);

/* list --events OBJECT|kernel [NAME...] (with_list.c); the exit status, or -errno with a message.
 */
int with__list(const struct args *a);

#endif

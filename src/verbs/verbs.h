/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs: one file a verb. A verb calls the other rooms in the order of the data flow. Verbs are
 * rows in verbs.c; main.c parses, helps, reports errors and frees for all of them.
 */
#ifndef BBTRACE_VERBS_VERBS_H
#define BBTRACE_VERBS_VERBS_H

#include "cli/args.h"

extern const struct verb verbs[]; /* ends with name NULL */
/* NULL: unknown. */
const struct verb *verb__find(const char *name);

/* check and run of each verb. */
int trace__check(struct args *a);
int trace__run(struct args *a);
int list__check(struct args *a);
int list__run(struct args *a);
int report__check(struct args *a);
int report__run(struct args *a);
int merge__check(struct args *a);
int merge__run(struct args *a);
int diff__check(struct args *a);
int diff__run(struct args *a);
int core__check(struct args *a);
int core__run(struct args *a);
int doctor__check(struct args *a);
int doctor__run(struct args *a);
int ctl__check(struct args *a);
int why__check(struct args *a);
int why__run(struct args *a);
int ctl__run(struct args *a);

/* report, merge, diff: is none of the files that are read the one to write? (report.c) -EINVAL with
 * a message. */
int trace_files__check(const struct args *a);

/* doctor --calibrate (calibrate.c); 0, or -errno with a message. */
int calibrate__show(bool json);

#endif

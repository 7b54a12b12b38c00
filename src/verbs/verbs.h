/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs: one file a verb, which calls the other rooms in the order of the data flow. Verbs are
 * rows in verbs.c; main.c parses, prints help and errors, and frees for all of them. */
#ifndef BBTRACE_VERBS_VERBS_H
#define BBTRACE_VERBS_VERBS_H

#include "cli/request.h"
#include "explain/explain.h"

extern const struct verb verbs[]; /* ends with name NULL */
/* Returns NULL if there is no such verb. */
const struct verb *verb__find(const char *name);

extern const struct option_group options_why, options_cover, options_top, options_core,
	options_list, options_report, options_diff, options_ctl, options_doctor;

/* check and run of each verb. */
int trace__check(struct request *req);
int trace__run(const struct request *req);
/* As trace__run(), but explains into e instead of showing events. */
int trace__explain(const struct request *req, struct explaining *e);
int top__check(struct request *req);
int top__run(const struct request *req);
int slow__check(struct request *req);
int slow__run(const struct request *req);
int cover__check(struct request *req);
int cover__run(const struct request *req);
int list__check(struct request *req);
int list__run(const struct request *req);
int report__check(struct request *req);
int report__run(const struct request *req);
int merge__check(struct request *req);
int merge__run(const struct request *req);
int diff__check(struct request *req);
int diff__run(const struct request *req);
int core__check(struct request *req);
int core__run(const struct request *req);
int stacks__check(struct request *req);
int stacks__run(const struct request *req);
int doctor__check(struct request *req);
int doctor__run(const struct request *req);
int ctl__check(struct request *req);
int why__check(struct request *req);
int why__run(const struct request *req);
int ctl__run(const struct request *req);

/* report, merge, diff: fails if the file to write is one of those to read (report.c): -EINVAL
 * with a message. */
int operands__check_output(const struct request *req);

/* doctor --calibrate (calibrate.c). Returns 0, or -errno with a message. */
int calibrate__show(bool json);

#endif

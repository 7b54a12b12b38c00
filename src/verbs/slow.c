// SPDX-License-Identifier: BSD-2-Clause
/* The verb slow: what slow calls of a function do that others don't, and where they wait. It is a
 * trace of the function with the times on no CPU, in a format of its own. */
#include <errno.h>
#include <unistd.h>
#include "cli/option.h"
#include "output/output.h"
#include "verbs.h"

/* What slow is from its check on: a trace of functions, under its own name. */
static const struct verb as_trace = {.name = "slow", .bit = VERB_USER};

int slow__check(struct request *req)
{
	const char *last;

	if (!req->operands.len)
		return err__set(EINVAL,
				"no function: bbtrace slow FUNC -- CMD, or -p PID; bbtrace profile "
				"shows where time goes");
	last = *vec__last(&req->operands);
	if (!req->command && !req->who.filters.pids.len && req->operands.len > 1 &&
	    strchr(last, '/') && !access(last, X_OK))
		return err__set(EINVAL, "CMD comes after --: bbtrace slow %s -- %s",
				req->operands.data[0], last);
	if (req->show.format && !strcmp(req->show.format->name, "text"))
		req->show.format = NULL;
	req->show.format_by_name = false;
	req->record.sched = true;
	if (!req->show.format)
		req->show.format = output__by_name("slow");
	req->verb = &as_trace;
	return trace__check(req);
}

int slow__run(const struct request *req)
{
	return trace__run(req);
}

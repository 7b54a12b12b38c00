// SPDX-License-Identifier: BSD-2-Clause
/* What the supervisor reports, for the user. */
#include "source/inline/target/notice.h"
#include "util/util.h"

static const char *path_of(const struct notice *notice, const struct plan *p)
{
	return notice->object < p->objects.len ? p->objects.data[notice->object].path : "?";
}

/* Returns true if a process or thread is not traced any more. */
static bool note_detached(const struct notice *notice)
{
	if (*notice->text)
		note("process %u is not traced by copies: %s", notice->pid, notice->text);
	else if (notice->time)
		note_verbose("process %u was stopped for %.1f ms to be let go", notice->pid,
			     notice->time / 1e6);
	return *notice->text;
}

bool notice__show(const struct notice *notice, const struct plan *plan)
{
	switch (notice->type) {
	case NOTICE_MAPPED:
		note_verbose("process %u: %s has its copies at %#llx, %llu bytes%s", notice->pid,
			     path_of(notice, plan), (unsigned long long)notice->base,
			     (unsigned long long)notice->size,
			     notice->position ? ", made while it ran" : "");
		return false;
	case NOTICE_ATTACHED:
		note_verbose("process %u was stopped for %.1f ms", notice->pid, notice->time / 1e6);
		return false;
	case NOTICE_REFUSED:
		note("process %u: what it runs of %s is not traced: %s", notice->pid,
		     path_of(notice, plan), notice->text);
		return true;
	case NOTICE_LOST:
		note("process %u: %s of %s is not traced any more%s: the program has changed its code",
		     notice->pid,
		     notice->function < plan->functions.len
			     ? plan->functions.data[notice->function].name
			     : "?",
		     path_of(notice, plan), notice->base ? ", but for its entries" : "");
		return false;
	case NOTICE_DETACHED:
		return note_detached(notice);
	case NOTICE_NOTE:
		note("%s", notice->text);
		return false;
	default:
		return false;
	}
}

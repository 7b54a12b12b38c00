// SPDX-License-Identifier: BSD-2-Clause
/* What the supervisor reports, for the user. */
#include "source/inline/target/notice.h"
#include "util/util.h"

static const char *path_of(const struct say *say, const struct plan *p)
{
	return say->object < p->objects.len ? p->objects.data[say->object].path : "?";
}

/* True: somebody is not traced any more. */
static bool note_let_go(const struct say *say)
{
	if (*say->text)
		note("process %u is not traced by copies: %s", say->pid, say->text);
	else if (say->time)
		note_verbose("process %u was stopped for %.1f ms to be let go", say->pid,
			     say->time / 1e6);
	return *say->text;
}

bool say__note(const struct say *say, const struct plan *plan)
{
	switch (say->type) {
	case SAY_MAPPED:
		note_verbose("process %u: %s has its copies at %#llx, %llu bytes%s", say->pid,
			     path_of(say, plan), (unsigned long long)say->base,
			     (unsigned long long)say->size,
			     say->position ? ", made while it ran" : "");
		return false;
	case SAY_BEGUN:
		note_verbose("process %u was stopped for %.1f ms", say->pid, say->time / 1e6);
		return false;
	case SAY_REFUSED:
		note("process %u: what it runs of %s is not traced: %s", say->pid,
		     path_of(say, plan), say->text);
		return true;
	case SAY_LOST:
		note("process %u: %s of %s is not traced any more%s: the program has changed its code",
		     say->pid,
		     say->function < plan->functions.len ? plan->functions.data[say->function].name
							 : "?",
		     path_of(say, plan), say->base ? ", but for its entries" : "");
		return false;
	case SAY_LET_GO:
		return note_let_go(say);
	case SAY_NOTE:
		note("%s", say->text);
		return false;
	default:
		return false;
	}
}

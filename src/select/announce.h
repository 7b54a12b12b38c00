/* SPDX-License-Identifier: BSD-2-Clause */
/* announce: notes when a trace begins, and at its end on where the file is. */
#ifndef BBTRACE_SELECT_ANNOUNCE_H
#define BBTRACE_SELECT_ANNOUNCE_H

#include "cli/request.h"
#include "object/search/search.h"

/* Notes the functions in which control reaches bytes that are no known instruction. */
void announce__undecoded(const struct plan *p);
/* Notes code of the object that belongs to no known function. */
void announce__unknown_code(const struct object *o, const unknown_code_vec *found);
/* The same for all objects of a plan, if all functions are requested; sets the plan's sums. */
void announce__unknown_of_plan(const struct request *req, struct plan *p);
/* -v: reports where probes are, and what of each function has none. */
void announce__plan(const struct plan *p, enum plan_placement placement);
/* -v: reports the sites that plan__choose_again() chose. */
void announce__others(const struct plan *p, const id_vec *sites);
/* Before attaching: notes what the probes will cost the traced processes and others. */
void announce__cost(const struct request *req, const struct plan *p, const struct source *source);
/* Notes that the probes are live. */
void announce__live(const struct request *req, const struct plan *p);
/* On a terminal: notes how to show the trace file of this name. NULL if there is none. */
void announce__file(const struct request *req, const char *name);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* list_names: bbtrace list --exported and --arguments, which list names alone. */
#ifndef BBTRACE_VERBS_LIST_LIST_NAMES_H
#define BBTRACE_VERBS_LIST_LIST_NAMES_H

#include "select/targets.h"

/* True if only names are listed, since nothing else is requested. */
bool list_names__are_wanted(const struct request *req);
/* Writes one name a line, so that a shell can pass them on as FUNC. Returns 0. */
int list_names__put(const struct targets *n);
/* Writes what --if can name of the plan's functions. Returns 0, or -errno with a message. */
int list_names__put_arguments(const struct request *request, struct plan *plan);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* list_names: bbtrace list --exported, which lists names alone. */
#ifndef BBTRACE_VERBS_LIST_NAMES_H
#define BBTRACE_VERBS_LIST_NAMES_H

#include "select/targets.h"

/* True if only names are listed, since nothing else is requested. */
bool list_names__are_wanted(const struct request *req);
/* Writes one name a line, so that a shell can pass them on as FUNC. Returns 0. */
int list_names__put(const struct targets *n);

#endif

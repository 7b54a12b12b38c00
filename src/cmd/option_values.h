/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of options as numbers. */
#ifndef BBTRACE_CMD_OPTION_VALUES_H
#define BBTRACE_CMD_OPTION_VALUES_H

#include "cmd.h"

/* Calls fn for each part of a comma-separated list. */
int value__each(struct args *a, const char *list, int (*fn)(struct args *a, const char *part));
int value__u32(const char *text, uint32_t *out);
/* A time: a number with an optional unit, by default seconds. */
int value__time(const char *text, uint64_t *ns);
/* The index of the name; -1: none. */
int value__name(const char *const *names, size_t n, const char *v);
/* Is it a file's name, and neither empty nor an option? -EINVAL with a message. */
int value__file_name(const char *name);

/* The values of --pid, --tid, --uid and --comm, added to the filters (option_filters.c). */
int filter__set_pid(struct args *a, const char *v);
int filter__set_tid(struct args *a, const char *v);
int filter__set_uid(struct args *a, const char *v);
int filter__set_comm(struct args *a, const char *v);

#endif

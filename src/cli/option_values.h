/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of options as numbers. */
#ifndef BBTRACE_CLI_OPTION_VALUES_H
#define BBTRACE_CLI_OPTION_VALUES_H

#include "request.h"

/* Calls fn for each part of a comma-separated list. */
int value__each(struct request *req, const char *list,
		int (*fn)(struct request *req, const char *part));
int value__u32(const char *text, uint32_t *out);
/* A time: a number with an optional unit, by default seconds. */
int value__time(const char *text, uint64_t *ns);
/* The index of the name; -1: none. */
int value__name(const char *const *names, size_t n, const char *v);
/* Is it a file's name, and neither empty nor an option? -EINVAL with a message. */
int value__file_name(const char *name);

/* --armor, or --armor=redundant. */
int value__armor(struct request *req, const char *kind);
/* The value of --regs, a bit each; 0: none, or the arguments. -EINVAL: unknown register. */
int regs__parse(const char *list, const struct arch *arch, uint64_t *regs);

#endif

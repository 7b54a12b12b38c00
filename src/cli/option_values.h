/* SPDX-License-Identifier: BSD-2-Clause */
/* Parsers for values of options. They return 0, or -errno with a message, unless noted. */
#ifndef BBTRACE_CLI_OPTION_VALUES_H
#define BBTRACE_CLI_OPTION_VALUES_H

#include "request.h"

/* Calls fn for each part of a comma-separated list. */
int value__each(struct request *req, const char *list,
		int (*fn)(struct request *req, const char *part));
/* The same, with other separators. */
int value__each_of(struct request *req, const char *list, const char *separators,
		   int (*fn)(struct request *req, const char *part));
int value__u32(const char *text, uint32_t *out);
/* Parses a time: a number with an optional unit; without one, seconds. */
int value__time(const char *text, uint64_t *ns);
/* Sets *index to the place of the word among these, which blanks separate. -EINVAL with a message
 * that lists them. */
int value__word(const char *words, const char *v, unsigned *index);
/* -EINVAL with a message if the name is empty or looks like an option. */
int value__file_name(const char *name);

/* Sets the kind of --armor, or of --armor=redundant. */
int value__armor(struct request *req, const char *kind);
/* Parses the value of --regs into a bit for each register; 0 means none, or the arguments.
 * -EINVAL with a message for an unknown register. */
int regs__parse(const char *list, const struct arch *arch, uint64_t *regs);

#endif

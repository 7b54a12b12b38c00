/* SPDX-License-Identifier: BSD-2-Clause */
/* What expressions and conditions are parsed with (expression.c). */
#ifndef BBTRACE_TYPES_PARSER_H
#define BBTRACE_TYPES_PARSER_H

#include "types/types.h"

struct parser {
	const char *text, *p;
	char *to; /* where the next name is kept */
};

void parser__skip_blanks(struct parser *p);
bool parser__accept(struct parser *p, const char *token);
/* Takes a name. Returns NULL if none is next. */
const char *parser__name(struct parser *p);
/* An expression. -EINVAL with a message; then there is nothing to free. */
int parser__expression(struct parser *p, struct expression *e);
void expression__free(struct expression *e);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * src: the source lines of instructions, with the functions that were inlined, as JSON and as text.
 * Each instruction's are rendered once. Private to src/output.
 */
#ifndef BBTRACE_OUTPUT_BASE_SRC_H
#define BBTRACE_OUTPUT_BASE_SRC_H

#include "output/output.h"

struct src {
	uint32_t object;
	uint64_t vaddr;
	struct str json;	 /* an array of frames, innermost first */
	struct str text;	 /* "util.h:31 clamp, main.c:44" */
	struct plan_frame frame; /* the innermost */
};

/* Returns NULL if nothing is known, or if it isn't to be shown. Valid until the plan is
 * extended. */
const struct src *src__of(const struct output *o, uint32_t object, uint64_t vaddr);
/* The same for a branch's target, if that is in the same object. */
const struct src *src__of_target(const struct output *o, const struct step *s);
/* Appends text, and where a branch leads, if that is another line. to is NULL if not known. */
void src__put_text(struct str *s, const struct src *at, const struct src *to);
/* Appends text as the last cell of a line, which begins at line in the buffer, after this many
 * columns: at a fixed column, or after a longer line; not at all if the terminal is too narrow. */
void src__put_cell(struct output *o, size_t line, unsigned before, const struct str *text);

/* Sets the function's own line, whatever was inlined there. Returns false if it isn't known, or not
 * to be shown. */
bool src__own_line(const struct output *o, uint32_t object, uint64_t vaddr, struct plan_frame *f);

struct src_cache *src_cache__new(void);
/* Forgets all. */
void src_cache__clear(struct src_cache *c);
void src_cache__free(struct src_cache *c);

#endif

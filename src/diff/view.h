/* SPDX-License-Identifier: BSD-2-Clause */
/* view: shared by what shows differences. Private to src/diff. */
#ifndef BBTRACE_DIFF_VIEW_H
#define BBTRACE_DIFF_VIEW_H

#include "diff/diff.h"

struct location place__of(const struct plan *p, uint32_t object, uint64_t vaddr);
const char *function__shown(const struct plan *p, uint32_t function);
/* Appends what happened; step: as it was recorded, NULL: not known. */
void line__outcome(const struct diff_view *v, uint32_t outcome, const struct step *step,
		   struct str *s);
void line__arguments(const struct diff_view *v, const struct step *a, const struct step *b,
		     struct str *s);
bool line__source(const struct diff_view *v, uint32_t object, uint64_t vaddr, struct str *s);
const char *line__source_text(const struct diff_view *v, uint32_t object, uint64_t vaddr);
size_t parting__thread(const struct parting *p, int side);
/* The step of that index; NULL: there is none, or it wasn't read. */
const struct step *parting__step(const struct diff_view *v, const struct parting *p, int side,
				 uint64_t index);

#endif

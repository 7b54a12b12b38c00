/* SPDX-License-Identifier: BSD-2-Clause */
/* view: shared by what shows differences. Private to src/diff. */
#ifndef BBTRACE_DIFF_VIEW_H
#define BBTRACE_DIFF_VIEW_H

#include "diff/diff.h"

/* What both did, each as it was recorded; or only one of them, and NULL. */
struct step_pair {
	const struct step *of[SIDES];
};
typedef VEC(struct step_pair) step_pairs;

/* ---- what both do (both.c) ---- */

/* Up to most steps before they part, and from where they meet on. */
void both__before(const struct diff_view *v, const struct parting *p, uint64_t most,
		  step_pairs *out);
void both__after(const struct diff_view *v, const struct parting *p, uint64_t most,
		 step_pairs *out);

/* ---- as text (lines.c) ---- */

extern const char *const side_letters[SIDES]; /* "A", "B" */
extern const char *const side_names[SIDES];   /* "a", "b": keys of JSON, classes of HTML */
/* Appends "1 branch", "2 branches". */
void line__number(struct str *s, uint64_t n, const char *one);

struct location location__of(const struct plan *p, uint32_t object, uint64_t vaddr);
const char *function__shown(const struct plan *p, uint32_t function);
/* Sets the target of a branch, by its outcome. Returns false if it isn't known. */
bool outcome__to(const struct outcomes *o, uint32_t outcome, struct location *to);
void line__place(const struct location *at, struct str *s);
/* Appends what happened; steps: as it was recorded, NULL if not known. */
void line__outcome(const struct diff_view *v, uint32_t outcome, const struct step_pair *steps,
		   struct str *s);
/* The same without the arguments of an entry. */
void line__name(const struct diff_view *v, uint32_t outcome, const struct step_pair *steps,
		struct str *s);
const char *line__source_text(const struct diff_view *v, uint32_t object, uint64_t vaddr);
size_t parting__thread(const struct parting *p, int side);
/* Returns the step of that index; NULL if there is none, or if it wasn't read. */
const struct step *parting__step(const struct diff_view *v, const struct parting *p, int side,
				 uint64_t index);
/* Returns its CLOCK_MONOTONIC in its own file: all steps are on the clock of A. */
uint64_t step__own_time(const struct diff_view *v, int side, const struct step *s);
/* Sets when it was, since the trace of A began (of B, if A is over). Returns false if it isn't
 * known. */
bool parting__time(const struct diff_view *v, const struct parting *p, uint64_t *ns);
/* The entry of a call that leads there, of each side. */
struct step_pair parting__call(const struct diff_view *v, const struct parting *p,
			       const struct diff_frame *f);
/* Returns true if it is the entry, of A, of one of the calls that are shown. */
bool parting__is_call(const struct diff_view *v, const struct parting *p, const struct step *s);
/* The first call to show: of the others the entries weren't asked for. */
size_t parting__first_call(const struct parting *p);
/* Hides addresses of the kernel in what was appended from start on. */
void view__hide_addresses(const struct diff_view *v, struct str *out, size_t start, bool columns);

/* ---- as JSON (json.c) ---- */

/* Appends the members of an object: of a branch where it is, kind, insn, compare, src, taken and
 * to; of an entry symbol and object. */
void outcome__put_json(struct json *j, const struct outcomes *o, uint32_t outcome);

/* ---- the page (html.c, html_parting.c) ---- */

#define put(s, literal) str__put((s), literal, sizeof(literal) - 1)

/* Puts a difference, with context steps around it, and this many of the calls (html_parting.c). */
void html__parting(const struct diff_view *v, size_t i, uint64_t context, size_t calls,
		   struct str *out);
/* Puts where it is: "f+0x9  jle". */
void html__title(const struct diff_view *v, const struct parting *p, struct str *out);
/* Appends text, escaped, and clears it. */
void html__text(struct str *out, struct str *text);

/* ---- arguments (arguments.c) ---- */

struct argument {
	const char *name; /* NULL: of a system call */
	char *of[SIDES];  /* as it is shown; NULL: not known */
};
/* The arguments of entries: what was recorded, as far as the options show it. */
struct arguments {
	bool known;
	VEC(struct argument) at;
};
/* Returns them by their types, if these are known (--args), else the registers. */
struct arguments arguments__of(const struct diff_view *v, const struct step_pair *steps);
struct arguments arguments__registers(const struct diff_view *v, const struct step_pair *steps);
void arguments__free(struct arguments *a);
/* Returns true if it is known of both, and the same. */
bool argument__is_same(const struct argument *a);
/* Appends the member args, an object by name, if the types are known. */
void arguments__put_json(const struct diff_view *v, const struct step_pair *steps, int side,
			 struct json *j);
/* Appends "(NAME=0x1, NAME=0x2|0x3)": after a bar the value in B, if that differs; "?" if not
 * known. */
void line__arguments(const struct diff_view *v, const struct step_pair *steps, struct str *s);

#endif

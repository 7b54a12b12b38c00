/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tui: a browser of recorded traces in a terminal. Public header of src/tui. Steps go in, screens
 * come out: run.h keeps and indexes steps, model.h turns them into text, screens.h lists them,
 * browser.h takes keys and draws, terminal.c has ncurses.
 */
#ifndef BBTRACE_TUI_TUI_H
#define BBTRACE_TUI_TUI_H

#include "output/output.h"

struct tui;
struct tui *tui__new(void);
void tui__free(struct tui *t);
/*
 * A trace begins; its steps follow. name is that of its file, plan the same for both traces; both
 * outlive the browser, and so do the strings of steps' places. Returns 0, or -errno with a message:
 * after two traces, or without room for temporary files.
 */
int tui__begin(struct tui *t, const char *name, const struct plan *plan,
	       const struct output_options *options);
int tui__step(struct tui *t, const struct step *s);
void tui__plan_extended(struct tui *t);
void tui__end(struct tui *t, const struct trace_totals *totals);
/* Shows them in the terminal of stdin and stdout until the user ends it. Returns 0, or -errno with
 * a message. */
int tui__browse(struct tui *t, bool colours);
/* Returns 0 if there is a terminal, and what it needs; else -errno with a message. */
int tui__check(void);

#endif

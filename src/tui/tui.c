// SPDX-License-Identifier: BSD-2-Clause
#include "browser.h"
#include "terminal.h"
#include "tui.h"

struct tui {
	struct model model;
};

struct tui *tui__new(void)
{
	return xcalloc(1, sizeof(struct tui));
}

void tui__free(struct tui *t)
{
	if (t)
		model__free(&t->model);
	free(t);
}

int tui__begin(struct tui *t, const char *name, const struct plan *plan,
	       const struct output_options *options)
{
	return model__begin_run(&t->model, name, plan, options);
}

int tui__step(struct tui *t, const struct step *s)
{
	return model__step(&t->model, s);
}

void tui__plan_extended(struct tui *t)
{
	model__plan_extended(&t->model);
}

void tui__end(struct tui *t, const struct trace_totals *totals)
{
	model__end_run(&t->model, totals);
}

/* Notes would be written over the screen. */
int tui__browse(struct tui *t, bool colours)
{
	enum note_level level = note__level();
	struct browser b;
	int err;

	model__end(&t->model);
	err = terminal__open(colours);
	if (err)
		return err;
	note__set_level(NOTE_QUIET);
	browser__init(&b, &t->model, &(struct patience){terminal__is_wanted, NULL});
	err = terminal__run(&b);
	browser__free(&b);
	terminal__close();
	note__set_level(level);
	return err;
}

int tui__check(void)
{
	return terminal__check();
}

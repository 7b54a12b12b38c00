// SPDX-License-Identifier: BSD-2-Clause
/* Ranks which branches distinguish the runs that failed from those that passed:
 * src/diff/rank/rank.h. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include "cli/exit_status.h"
#include "verbs.h"
#include "diff_sets.h"
#include "diff_show.h"
#include "pipeline/read/diff_inputs.h"

struct sets {
	const struct request *request;
	struct diff_inputs runs;
	struct rank rank;
	bool begun;
	bool *functions; /* NULL if all */
	uint64_t damaged, lossy;
	struct diff_view lines;
};

/* ---- files ---- */

static int check_pair(const struct request *req, size_t i, size_t k)
{
	const char *x = req->operands.data[i], *y = req->operands.data[k];
	bool both = req->diff.sets.data[i] != req->diff.sets.data[k];

	return err__set(EINVAL,
			both ? "%s and %s are one file: has that run passed, or failed?"
			     : "%s and %s are one file: it would count as two runs",
			x, y);
}

/* A file, by device and inode. */
struct file_key {
	uint64_t dev, ino;
};

int diff_sets__check(const struct request *req)
{
	struct map64 known = {0};
	int err = 0;

	for (size_t i = 0; !err && i < req->files; i++) {
		struct stat st;
		struct file_key key;
		uint64_t *first;

		if (stat(req->operands.data[i], &st) || !S_ISREG(st.st_mode))
			continue;
		key = (struct file_key){st.st_dev, st.st_ino};
		first = map64__put(&known, map64__hash(&key, sizeof(key)));
		if (*first)
			err = check_pair(req, *first - 1, i);
		*first = i + 1;
	}
	map64__free(&known);
	return err ? err : operands__check_output(req);
}

/* ---- runs ---- */

static bool has_losses(const struct run *run)
{
	return run->totals.lost || run->totals.at_least || run->totals.untraced || run->paths.gaps;
}

/* Keeps only the counts of a run that has ended. */
static void on_ended(struct diff_inputs *r, struct run *run)
{
	struct sets *s = r->ctx;
	size_t i = run - r->run;
	struct rank_about about = {
		.fails = s->request->diff.sets.data[i] == SET_FAIL,
		.bounds = run->bounds,
		.events = run->events,
		.functions = run->functions.data,
		.nfunctions = run->functions.len,
		.unknown_outcomes = run->unknown_outcomes.data,
		.nunknown = run->unknown_outcomes.len,
	};

	if (!s->begun)
		rank__init(&s->rank, &r->outcomes);
	s->begun = true;
	rank__add(&s->rank, &run->paths, &about);
	if (has_losses(run)) {
		note("%s: some of its events were lost: what it has is used", run->name);
		s->lossy++;
	}
	paths__free(&run->paths);
	paths__init(&run->paths, &r->outcomes, NULL);
	vec__free(&run->unknown_outcomes);
	vec__free(&run->functions);
}

static int read_all(struct sets *s)
{
	const struct request *req = s->request;
	int err;

	s->runs.ended = on_ended;
	s->runs.ctx = s;
	err = diff_inputs__read(&s->runs, req, false);
	if (err)
		return err;
	err = replay__choose(req, merged_plan__plan(s->runs.files.joined), "these files",
			     &s->functions);
	if (err)
		return err;
	rank__find(&s->rank, s->functions);
	return 0;
}

/* ---- the result ---- */

static void render(void *ctx, enum output_form form, struct str *out)
{
	struct sets *s = ctx;
	autofree const char **names = xcalloc(s->request->files + 1, sizeof(*names));
	struct rank_view v = {&s->rank, &s->lines, s->request->diff.differences, names};

	for (size_t i = 0; i < s->runs.begun; i++)
		names[i] = s->runs.run[i].name;
	if (form == FORM_JSON)
		rank__json(&v, out);
	else if (form == FORM_PAGE)
		rank__html(&v, out);
	else
		rank__text(&v, out);
}

static int show(struct sets *s)
{
	struct diff d = {.outcomes = &s->runs.outcomes};

	s->lines.d = &d;
	return diff_show(s->request, &s->lines, render, s);
}

static int conclude(const struct sets *s)
{
	int err = trace_files__damage(&s->runs.files);

	if (s->rank.changed)
		note("the code of %zu functions differs between the builds: their branches are left "
		     "out",
		     s->rank.changed);
	if (err) /* as for two runs */
		return err;
	if (s->rank.rows.len)
		return EXIT_DIFFERENT;
	return s->lossy ? err__set(ENODATA, "nothing that is known distinguishes the sets, but "
					    "events were lost")
			: EXIT_TRACED;
}

static void close_sets(struct sets *s)
{
	free(s->functions);
	rank__free(&s->rank);
	diff_inputs__close(&s->runs);
}

int diff_sets__run(const struct request *req)
{
	CLEANUP(close_sets) struct sets s = {.request = req};
	int err = read_all(&s);

	if (!err)
		err = show(&s);
	return err ? err : conclude(&s);
}

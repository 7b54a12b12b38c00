// SPDX-License-Identifier: BSD-2-Clause
/*
 * The verb diff: shows where two traces part (src/diff), or with --pass and --fail which branches
 * distinguish failed runs from those that passed (diff_sets.c). Exit status as diff(1): 0 the same,
 * 1 different, 2 trouble.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "cli/option.h"
#include "cli/exit_status.h"
#include "verbs.h"
#include "diff_sets.h"
#include "diff_show.h"
#include "pipeline/read/diff_inputs.h"

#define ROWS 10 /* most rows of counts, as text */
#define MANY 20 /* differences that are too many to look at */

/* ---- operands ---- */

/* Sorts files first, in their order, then functions. */
static void sort_operands(struct request *req)
{
	struct request sorted = {0};

	for (int files = 1; files >= 0; files--)
		for (size_t i = 0; i < req->operands.len; i++) {
			char *word = req->operands.data[i];
			/* the first two operands are files in any case */
			bool is_file = req->diff.set == SET_NONE
					       ? i < 2
					       : input__is_trace(word) || !strcmp(word, "-");

			if (is_file != (bool)files)
				continue;
			vec__push(&sorted.operands, word);
			vec__push(&sorted.diff.sets, req->diff.sets.data[i]);
			req->files += is_file;
		}
	vec__free(&req->operands);
	vec__free(&req->diff.sets);
	memcpy(&req->operands, &sorted.operands, sizeof(req->operands));
	memcpy(&req->diff.sets, &sorted.diff.sets, sizeof(req->diff.sets));
}

static size_t count_set(const struct request *req, enum run_set set)
{
	size_t n = 0;

	for (size_t i = 0; i < req->files; i++)
		n += req->diff.sets.data[i] == set;
	return n;
}

static int check_sets(const struct request *req)
{
	if (count_set(req, SET_NONE))
		return err__set(EINVAL, "%s comes before --pass and --fail: of which set is it?",
				req->operands.data[0]);
	if (!count_set(req, SET_PASS) || !count_set(req, SET_FAIL))
		return err__set(EINVAL,
				"no trace file follows %s; bbtrace diff --pass FILE... "
				"--fail FILE...",
				count_set(req, SET_PASS) ? "--fail" : "--pass");
	return diff_sets__check(req);
}

/* ---- options ---- */

static int check_context(struct request *req, const char *v)
{
	return req->diff.context <= 10000 ? 0 : err__set(EINVAL, "must be at most 10000");
}

static int set_pass(struct request *req, const char *v)
{
	req->diff.set = SET_PASS;
	return 0;
}

static int set_fail(struct request *req, const char *v)
{
	req->diff.set = SET_FAIL;
	return 0;
}

static const struct option_row option_rows[] = {
	{"differences", 'n', "N", VERB_DIFF, POSITIVE(diff.differences),
	 "show the first N (default: 1; branches: 10)"},
	{"context", 0, "N", VERB_DIFF, COUNT(diff.context),
	 "N steps before and after each (default: 5)", check_context},
	{"noise", 0, "FILE", VERB_DIFF, TEXTS(diff.noise),
	 "leave out where A differs from this run of the same input; may be repeated",
	 .values = ":files"},
	{"pass", 0, NULL, VERB_DIFF, OTHER, "the files that follow are of runs that passed",
	 set_pass},
	{"fail", 0, NULL, VERB_DIFF, OTHER,
	 "the files that follow are of runs that failed: rank what distinguishes them", set_fail},
};

const struct option_group options_diff = {"Of bbtrace diff", option_rows, ARRAY_SIZE(option_rows)};

/* They are read as A and B are. */
static int add_noise(struct request *req)
{
	const char **name;

	if (req->diff.noise.len && req->diff.set != SET_NONE)
		return err__usage(
			"--noise compares two files: with --pass and --fail, give runs of "
			"the same input to --pass");
	vec__each (name, &req->diff.noise) {
		size_t at = req->files++;

		vec__push(&req->operands, NULL);
		memmove(req->operands.data + at + 1, req->operands.data + at,
			(req->operands.len - 1 - at) * sizeof(*req->operands.data));
		req->operands.data[at] = (char *)*name;
	}
	return 0;
}

int diff__check(struct request *req)
{
	int err;

	if (req->operands.len < 2 && req->diff.set == SET_NONE)
		return err__set(EINVAL, "give two trace files: bbtrace diff A B; see bbtrace diff "
					"--help");
	sort_operands(req);
	err = add_noise(req);
	if (err)
		return err;
	req->file.by_symbol = true;
	if (!req->diff.differences)
		req->diff.differences = req->diff.set == SET_NONE ? 1 : 10;
	for (size_t i = 0; i < req->files; i++)
		if (!strcmp(req->operands.data[i], "-"))
			return err__set(EINVAL, "-: diff reads its files twice: name a file");
	return req->diff.set == SET_NONE ? operands__check_output(req) : check_sets(req);
}

/* ---- two runs ---- */

struct comparison {
	const struct request *request;
	struct diff_inputs runs;
	struct diff diff;
	struct diff_steps steps;
	struct diff_view view;
	struct map64 noise;    /* site + 1: where A and a run of the same input part */
	count_changes changes; /* of such runs: how often they executed what */
	uint64_t left_out;     /* counts that differ there, too */
};

/* Refuses two builds of which no function corresponds: nothing can be compared. */
static int refuse_builds(const struct plan *p)
{
	const struct plan_object *a, *b;

	vec__each (a, &p->objects)
		vec__each (b, &p->objects) {
			autofree struct str one = {0}, other = {0};
			const char *name = path__base_name(a->path);

			if (a == b || strcmp(name, path__base_name(b->path)) != 0)
				continue;
			object__put_build(a->object, &one);
			object__put_build(b->object, &other);
			return err__set(EXDEV,
					"%s is of two builds (%s, %s), and no function of the one "
					"has the branches of one in the other",
					name, one.data, other.data);
		}
	return 0;
}

static int check_builds(const struct diff_inputs *r)
{
	uint64_t mapped, apart;

	merged_plan__mapped(r->files.joined, &mapped, &apart);
	if (mapped || apart)
		note("two builds: %llu functions correspond; of %llu others only calls are "
		     "compared",
		     (unsigned long long)mapped, (unsigned long long)apart);
	return apart && !mapped ? refuse_builds(merged_plan__plan(r->files.joined)) : 0;
}

/* Fails if the runs recorded different events: each step would be a difference. */
static int check_events(const struct diff_inputs *r)
{
	static const char *const names[] = {"entry", "branch", "return"};
	struct str lists[SIDES] = {{0}};

	if (r->files.counts || r->run[SIDE_A].events == r->run[SIDE_B].events)
		return 0;
	for (int side = 0; side < SIDES; side++)
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			if (r->run[side].events >> i & 1)
				str__printf(&lists[side], "%s%s", lists[side].len ? "," : "",
					    names[i]);
	err__set(EINVAL, "%s has the events %s, and %s %s: record both with the same -e",
		 r->run[SIDE_A].name, lists[SIDE_A].data, r->run[SIDE_B].name, lists[SIDE_B].data);
	str__free(&lists[SIDE_A]);
	str__free(&lists[SIDE_B]);
	return -EINVAL;
}

/* Notes functions that only one of the runs traced: their calls show as differences. */
static void report_functions(const struct diff_inputs *r)
{
	const struct outcomes *o = &r->outcomes;
	autofree uint8_t *traced = xcalloc(o->nfunctions + 1, 1);
	uint64_t n = 0;
	const char *first = NULL;

	for (int side = 0; side < SIDES; side++)
		for (size_t i = 0; i < r->run[side].functions.len; i++)
			traced[outcomes__function(o, r->run[side].functions.data[i])] |= 1 << side;
	for (size_t f = 0; f < o->nfunctions; f++)
		if (traced[f] == 1 || traced[f] == 2) {
			first = first ? first : o->plan->functions.data[f].name;
			n++;
		}
	if (n)
		note("only one of the runs traced %s%s; name the functions to compare: bbtrace "
		     "diff A B FUNC...",
		     first, n > 1 ? " and other functions" : "");
}

/* Where A and a run of the same input differ. */
static int find_noise_of(struct comparison *c, struct run *run)
{
	struct diff_inputs *r = &c->runs;
	CLEANUP(diff__free)
	struct diff d = {.outcomes = &r->outcomes,
			 .runs = {&r->run[SIDE_A].paths, &run->paths},
			 .cut = {r->run[SIDE_A].damaged, run->damaged},
			 .same_input = true};
	int err = r->files.counts ? 0 : diff__find(&d);

	counts__compare(&r->outcomes, d.runs[SIDE_A], d.runs[SIDE_B], &c->changes, &c->changes);
	for (uint32_t site = 0; !err && site < r->outcomes.plan->sites.len; site++)
		if (map64__get(&d.by_site, site + 1ull))
			*map64__put(&c->noise, site + 1ull) = 1;
	return err;
}

static int find_noise(struct comparison *c)
{
	int err = 0;

	for (size_t i = SIDES; !err && i < c->request->files; i++)
		err = find_noise_of(c, &c->runs.run[i]);
	return err;
}

/* What runs of the same input execute in different numbers says nothing. */
static void leave_out(struct comparison *c, count_changes *v)
{
	struct map64 known = {0};
	const struct count_change *n;
	size_t kept = 0;

	vec__each (n, &c->changes)
		*map64__put(&known, n->outcome) = 1;
	for (size_t i = 0; i < v->len; i++)
		if (!map64__get(&known, v->data[i].outcome))
			v->data[kept++] = v->data[i];
	c->left_out += v->len - kept;
	v->len = kept;
	map64__free(&known);
}

static int find(struct comparison *c)
{
	struct diff_inputs *r = &c->runs;
	int err = find_noise(c);

	if (err)
		return err;

	c->diff = (struct diff){.outcomes = &r->outcomes,
				.runs = {&r->run[0].paths, &r->run[1].paths},
				.cut = {r->run[0].damaged, r->run[1].damaged},
				.noise = c->request->diff.noise.len ? &c->noise : NULL,
				.most = c->request->diff.differences};
	counts__compare(&r->outcomes, c->diff.runs[SIDE_A], c->diff.runs[SIDE_B],
			&c->view.functions, &c->view.branches);
	leave_out(c, &c->view.functions);
	leave_out(c, &c->view.branches);
	c->view.counts_only = r->files.counts;
	if (r->files.counts)
		return 0;
	err = diff__find(&c->diff);
	if (err)
		return err;
	diff_steps__ask(&c->steps, &c->diff, c->request->diff.context);
	return diff_inputs__read_again(r, c->steps.again, SIDES);
}

static void show_run(struct diff_view *v, int side, const struct run *run)
{
	v->names[side] = run->name;
	v->totals[side] = &run->totals;
	v->unknown_counts[side] = run->unknown;
	v->options[side] = (struct output_options){.start_time = run->meta.start_time,
						   .realtime_offset = run->meta.realtime_offset,
						   .regs = run->meta.regs,
						   .show_regs = run->meta.show_regs,
						   .hide_addresses = v->hide_addresses};
}

static void render(void *ctx, enum output_form form, struct str *out)
{
	struct comparison *c = ctx;

	for (int side = 0; side < SIDES; side++)
		show_run(&c->view, side, &c->runs.run[side]);
	if (form == FORM_JSON)
		diff__json(&c->view, out);
	else if (form == FORM_PAGE)
		diff__html(&c->view, out);
	else
		diff__text(&c->view, out);
}

static int show(struct comparison *c)
{
	c->view.d = &c->diff;
	c->view.steps = c->view.counts_only ? NULL : &c->steps;
	c->view.context = c->request->diff.context;
	c->view.rows = ROWS;
	return diff_show(c->request, &c->view, render, c);
}

/* Notes what couldn't be compared, and returns the exit status. */
static int conclude(const struct comparison *c)
{
	const struct diff *d = &c->diff;
	bool differs = d->found || c->view.functions.len || c->view.branches.len;
	const struct run *run = c->runs.run;
	int err = trace_files__damage(&c->runs.files);

	if (!c->view.counts_only)
		note("%llu steps are the same; differences: %llu, gaps: %llu",
		     (unsigned long long)d->matched, (unsigned long long)d->found,
		     (unsigned long long)d->uncertain);
	if (d->noise)
		note("left out, since runs of the same input differ there, too: %llu differences, "
		     "%llu counts",
		     (unsigned long long)d->noisy, (unsigned long long)c->left_out);
	else if (d->found >= MANY)
		note("if runs of the same input differ, too: --noise FILE leaves out where they do; "
		     "for several runs, --pass and --fail");
	for (int side = 0; side < SIDES; side++) {
		if (run[side].unknown)
			note("%s: %llu counts are not known", run[side].name,
			     (unsigned long long)run[side].unknown);
		if (totals__are_low(&run[side].totals))
			note("%s: events are missing, so that its counts may be too low",
			     run[side].name);
	}
	if (err) /* a difference may be in what is missing */
		return err;
	if (differs)
		return EXIT_DIFFERENT;
	if (d->uncertain || run[0].unknown || run[1].unknown)
		return err__set(ENODATA, "no difference in what is known, but not all of both runs "
					 "is known");
	return EXIT_TRACED;
}

static int compare(struct comparison *c)
{
	int err = diff_inputs__read(&c->runs, c->request, true);

	if (!err)
		err = check_builds(&c->runs);
	if (!err)
		err = check_events(&c->runs);
	if (!err)
		report_functions(&c->runs);
	if (!err)
		err = find(c);
	if (!err)
		err = show(c);
	return err ? err : conclude(c);
}

static void close_comparison(struct comparison *c)
{
	diff_steps__free(&c->steps);
	diff__free(&c->diff);
	vec__free(&c->view.functions);
	vec__free(&c->view.branches);
	vec__free(&c->changes);
	map64__free(&c->noise);
	diff_inputs__close(&c->runs);
}

int diff__run(const struct request *req)
{
	CLEANUP(close_comparison) struct comparison c = {.request = req};

	return req->diff.set == SET_NONE ? compare(&c) : diff_sets__run(req);
}

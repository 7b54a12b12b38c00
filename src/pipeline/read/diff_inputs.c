// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include "diff_inputs.h"
#include "util/scratch.h"

/* ---- steps ---- */

/* The state of an output that passes the steps of all files to the paths of the file that is
 * read. */
struct sink_state {
	struct paths *paths;
};

static int on_step(struct output *o, const struct step *s)
{
	struct sink_state *state = o->state;

	return paths__step(state->paths, s);
}

static const struct output_format paths_sink = {
	.name = "paths", .size = sizeof(struct sink_state), .step = on_step};

static void direct(struct diff_inputs *r, struct paths *paths)
{
	static const struct output_options none;

	if (!r->sink)
		r->sink = output__new(&paths_sink, &none, merged_plan__plan(r->files.joined), NULL,
				      NULL);
	r->sink->error = 0; /* not an error: no more steps were wanted */
	((struct sink_state *)r->sink->state)->paths = paths;
	r->files.output = r->sink;
}

/* ---- counts ---- */

/* low: the count is a lower bound. */
static void add(struct run *run, uint32_t outcome, uint64_t n, bool low)
{
	run->bounds |= low;
	run->unknown += n == COUNT_UNKNOWN;
	if (n == COUNT_UNKNOWN || (low && !n))
		vec__push(&run->unknown_outcomes, outcome);
	else
		paths__count(&run->paths, outcome, n);
}

/* Adds the targets of indirect branches; unknown ones have no target. */
static void add_targets(struct diff_inputs *r, struct run *run, const struct edge_counts *c)
{
	for (size_t i = 0; i < c->ntargets; i++) {
		const struct counted_target *t = &c->targets[i];

		add(run, outcomes__branch(&r->outcomes, t->site, true, &t->to), t->count, false);
	}
}

/* Adds entries, as executions of the first block, whichever probe counted these. */
static void add_entries(struct diff_inputs *r, struct run *run, const struct edge_counts *c)
{
	const struct plan *p = merged_plan__plan(r->files.joined);
	const struct plan_function *f;

	vec__each (f, &p->functions)
		if (!(f->flags & (FUNCTION_RANGE | FUNCTION_HELPER)) &&
		    f->entry_block < p->blocks.len)
			add(run, outcomes__entry(&r->outcomes, f - p->functions.data),
			    c->edges->blocks[f->entry_block], run->bounds);
}

static void add_counts(struct diff_inputs *r, struct run *run, const struct edge_counts *c)
{
	const struct plan *p = merged_plan__plan(r->files.joined);
	const struct plan_site *s;

	vec__each (s, &p->sites) {
		uint32_t i = s - p->sites.data;
		const struct site_count *n = &c->edges->sites[i];
		uint8_t low = c->edges->low[i];

		if (s->role != ROLE_BRANCH || (!s->target && !plan_site__is_conditional(s)))
			continue;
		add(run, outcomes__branch(&r->outcomes, i, true, NULL), n->taken, low & LOW_TAKEN);
		if (plan_site__is_conditional(s))
			add(run, outcomes__branch(&r->outcomes, i, false, NULL), n->not_taken,
			    low & LOW_NOT_TAKEN);
	}
	add_entries(r, run, c);
	add_targets(r, run, c);
}

/* ---- files ---- */

static struct run *current(struct diff_inputs *r)
{
	return &r->run[r->begun - 1];
}

/* Notes if files are from several machines: what isn't traced may differ between them. */
static void note_host(struct diff_inputs *r, const char *host)
{
	host = host ? host : "";
	r->several_hosts |= r->host && strcmp(r->host, host) != 0;
	if (!r->host)
		r->host = xstrdup(host);
}

static int on_begin(void *ctx, const struct replay *p)
{
	struct diff_inputs *r = ctx;
	struct run *run = &r->run[r->begun++];

	if (!r->outcomes.plan)
		outcomes__init(&r->outcomes, merged_plan__plan(r->files.joined));
	run->name = p->in->name;
	note_host(r, p->meta.host);
	run->events = p->meta.events;
	run->meta = (struct trace_meta){.start_time = p->meta.start_time,
					.realtime_offset = p->meta.realtime_offset,
					.regs = p->meta.regs,
					.show_regs = p->meta.show_regs};
	paths__init(&run->paths, &r->outcomes, r->scratch);
	direct(r, &run->paths);
	return 0;
}

static int on_extended(void *ctx, const struct plan_increment *i)
{
	struct diff_inputs *r = ctx;

	if (r->sink)
		output__plan_extended(r->sink);
	return 0;
}

static int on_add(void *ctx, const struct replay *p, const struct trace_counts *c)
{
	struct diff_inputs *r = ctx;
	struct edge_counts sum;

	merged_plan__add(r->files.joined, p->show.plan, &c->counts);
	sum = merged_plan__counts(r->files.joined);
	add_counts(r, current(r), &sum);
	merged_plan__clear(r->files.joined);
	return 0;
}

static void on_end(void *ctx, const struct replay *p, const struct trace_totals *totals)
{
	struct diff_inputs *r = ctx;
	struct run *run = current(r);

	run->totals = *totals;
	run->damaged = r->files.damaged > r->damaged;
	r->damaged = r->files.damaged;
	for (uint32_t i = 0; i < p->show.plan->functions.len; i++)
		if (!(p->show.plan->functions.data[i].flags & FUNCTION_HELPER))
			vec__push(&run->functions, merged_plan__function(r->files.joined, i));
	if (r->ended)
		r->ended(r, run);
}

static void on_forked(void *ctx, const struct sideband_event *e)
{
	struct diff_inputs *r = ctx;

	paths__fork(&current(r)->paths, e->tid, e->ptid);
}

static const struct files_calls calls = {.begin = on_begin,
					 .extended = on_extended,
					 .add = on_add,
					 .end = on_end,
					 .forked = on_forked};

/* Fails if a file has no trace, which must not be taken for a run that ended before its first
 * step. */
static int check_begun(const struct diff_inputs *r)
{
	return r->begun == r->request->files
		       ? 0
		       : err__set(ENODATA, "%s has no trace: it is empty, or cut in its plan",
				  r->request->operands.data[r->begun]);
}

static void settle(struct diff_inputs *r)
{
	uint64_t mapped, apart;

	merged_plan__mapped(r->files.joined, &mapped, &apart);
	r->outcomes.renamed = merged_plan__renamed(r->files.joined, &r->outcomes.was);
	outcomes__settle(&r->outcomes, (mapped || apart ? BUILDS_OF_PLAN : 0) |
					       (r->several_hosts ? BUILDS_OF_OTHERS : 0));
}

int diff_inputs__read(struct diff_inputs *r, const struct request *req, bool keeps_paths)
{
	int err;

	*r = (struct diff_inputs){.request = req, .ended = r->ended, .ctx = r->ctx};
	r->run = xcalloc(req->files + 1, sizeof(*r->run));
	r->files = (struct trace_files){.request = req, .calls = &calls, .ctx = r};
	err = trace_files__find_counts(&r->files);
	if (err)
		return err;
	if (keeps_paths && !r->files.counts && !(r->scratch = scratch__new()))
		return -EIO;
	err = trace_files__read(&r->files);
	for (size_t i = 0; !err && i < r->begun; i++)
		err = paths__end(&r->run[i].paths);
	if (!err)
		err = check_begun(r);
	if (!err)
		settle(r);
	return err;
}

/* ---- reading the files again ---- */

struct again {
	struct diff_inputs *r;
	struct paths *paths; /* of the file that is read */
};

static int begin_again(void *ctx, const struct replay *p)
{
	struct again *a = ctx;

	direct(a->r, a->paths);
	return 0;
}

static int extended_again(void *ctx, const struct plan_increment *i)
{
	return err__set(EIO, "the file has changed meanwhile");
}

static void forked_again(void *ctx, const struct sideband_event *e)
{
	struct again *a = ctx;

	paths__fork(a->paths, e->tid, e->ptid);
}

static int read_again(struct diff_inputs *r, struct paths *again, size_t i)
{
	static const struct files_calls again_calls = {
		.begin = begin_again, .extended = extended_again, .forked = forked_again};
	struct again a = {r, &again[i]};
	struct request args = *r->request;
	struct trace_files files = {.request = &args,
				    .calls = &again_calls,
				    .ctx = &a,
				    .joined = r->files.joined,
				    .rereads = true,
				    .output = r->sink};
	int err;

	memset(&args.operands, 0, sizeof(args.operands));
	vec__push(&args.operands, r->request->operands.data[i]);
	for (size_t k = r->request->files; k < r->request->operands.len; k++) /* functions */
		vec__push(&args.operands, r->request->operands.data[k]);
	args.files = 1;
	err = trace_files__read(&files);
	trace_files__close(&files);
	vec__free(&args.operands);
	return err == 1 ? 0 : err;
}

int diff_inputs__read_again(struct diff_inputs *r, struct paths *again, size_t n)
{
	enum note_level level = note__level();
	int err = 0;

	note__set_level(NOTE_QUIET); /* damage was reported before */
	for (size_t i = 0; !err && i < n; i++)
		if (again[i].wanted)
			err = read_again(r, again, i);
	note__set_level(level);
	return err;
}

static void free_run(struct run *run)
{
	paths__free(&run->paths);
	vec__free(&run->functions);
	vec__free(&run->unknown_outcomes);
}

void diff_inputs__close(struct diff_inputs *r)
{
	for (size_t i = 0; r->run && i < r->begun; i++)
		free_run(&r->run[i]);
	free(r->run);
	free(r->host);
	outcomes__free(&r->outcomes);
	output__free(r->sink);
	trace_files__close(&r->files);
	scratch__free(r->scratch);
}

// SPDX-License-Identifier: BSD-2-Clause
/* An output: begun, fed with steps and counts, ended, by the functions of its format. */
#include "output/base/fields.h"
#include "output/stats/stats.h"
#include "output/text/grep.h"

#define FLUSH_AT (64 << 10)

static bool has_several_objects(const struct plan *plan)
{
	const struct plan_function *f, *first = plan->functions.data;

	vec__each (f, &plan->functions)
		if (f->object != first->object && !(f->flags & FUNCTION_HELPER) &&
		    !(plan->objects.data[f->object].kernel &&
		      plan->objects.data[first->object].kernel))
			return true;
	return false;
}

struct output *output__new(const struct output_format *format, const struct output_options *options,
			   const struct plan *plan, write_fn write, void *write_ctx)
{
	struct output *o = xcalloc(1, sizeof(*o));

	*o = (struct output){.format = format,
			     .options = *options,
			     .plan = plan,
			     .more = "",
			     .write = write,
			     .write_ctx = write_ctx,
			     .state = xcalloc(1, format->size)};
	o->src = src_cache__new();
	o->several_objects = has_several_objects(plan);
	regs__choose(o);
	address__prepare(o);
	if (format->begin)
		o->error = format->begin(o);
	if (options->grep && !o->error)
		o->error = grep__new(&o->grep, o);
	return o;
}

void output__plan_extended(struct output *o)
{
	o->several_objects = has_several_objects(o->plan);
	address__prepare(o);
	src_cache__clear(o->src);
	if (o->grep)
		grep__plan_extended(o->grep);
	if (o->format->plan_extended)
		o->format->plan_extended(o);
}

int output__step(struct output *o, const struct step *step)
{
	if (o->error)
		return o->error;
	o->error =
		o->grep ? grep__step(o->grep, step, o->format->step, o) : o->format->step(o, step);
	if (o->error)
		return o->error;
	return o->options.line_buffered || o->buffer.len >= FLUSH_AT ? output__flush(o) : 0;
}

void output__note_grep(const struct output *o, const struct trace_totals *t)
{
	const struct grep_totals *g = &o->grepped;

	if (o->grep)
		note("--grep: %llu of %llu events match; shown: %llu, with the entries and returns "
		     "around them, of %llu function%s",
		     (unsigned long long)g->matches, (unsigned long long)t->events,
		     (unsigned long long)g->shown, (unsigned long long)g->functions,
		     g->functions == 1 ? "" : "s");
}

bool output__adds_up(const struct output *o)
{
	return o->format->branch && o->format->run && !o->grep;
}

void output__branch(struct output *o, uint32_t site, bool taken, const struct location *to,
		    uint64_t n)
{
	o->format->branch(o, site, taken, to, n);
}

void output__run(struct output *o, const struct passed_run *run)
{
	o->format->run(o, run);
}

void output__count(struct output *o, const struct edge_counts *c)
{
	o->format->count(o, c);
}

void output__missed(struct output *o, const missed_vec *missed)
{
	o->missed = missed;
}

void output__program(struct output *o, uint32_t pid, const char *path)
{
	if (o->format->program)
		o->format->program(o, pid, path);
}

void output__untraced(struct output *o, const untraced_vec *untraced)
{
	o->untraced = untraced;
}

/* The state of formats that show what did not run begins with struct stats. Reports of coverage
 * have no mark for a count that may be too low. */
static void prepare_end(struct output *o, const struct trace_totals *t)
{
	bool no_marks = o->format->covers == COVERS_ONLY;

	o->more = totals__are_low(t) ? "+" : "";
	if (o->format->covers || output__shows_code(o->format))
		stats__set_untraced(o->state, o->untraced, no_marks && (t->lost || t->at_least));
}

int output__interval(struct output *o, uint64_t time, const struct trace_totals *t)
{
	prepare_end(o, t);
	if (!o->error)
		o->error = o->format->interval(o, time, t);
	return output__flush(o);
}

int output__settle(struct output *o)
{
	if (!o->error && o->format->settle)
		o->error = o->format->settle(o);
	return output__flush(o);
}

int output__end(struct output *o, const struct trace_totals *t)
{
	prepare_end(o, t);
	if (!o->error && o->format->end)
		o->error = o->format->end(o, t);
	return output__flush(o);
}

bool output__restart(struct output *o)
{
	if (!o->format->at_end)
		return false;
	o->format->free(o);
	memset(o->state, 0, o->format->size);
	str__clear(&o->buffer);
	o->error = o->format->begin(o);
	return true;
}

void output__free(struct output *o)
{
	if (!o)
		return;
	if (o->format->free)
		o->format->free(o);
	grep__free(o->grep);
	src_cache__free(o->src);
	str__free(&o->buffer);
	free(o->state);
	free(o->bases);
	free(o);
}

bool output__shows_times(const struct output *o)
{
	bool returns = !o->options.events || o->options.events & PLAN_RETURN;

	return o->format->wants.durations &&
	       (!o->format->time_column || o->options.time != TIME_NONE || returns);
}

// SPDX-License-Identifier: BSD-2-Clause
/* The table of formats, and what they share: the buffer, flushing, the registers to show. */
#include "output/base/src.h"
#include "output/stats/stats.h"
#include "output/text/text.h"

#define FLUSH_AT (64 << 10)

/* clang-format off */ /* one per line */
const struct output_format *const output_formats[] = {
	&output_text,
	&output_json,
	&output_chrome,
	&output_perfetto,
	&output_annotate,
	&output_dot,
	&output_html,
	&output_summary,
	&output_folded,
	&output_folded_count,
	&output_svg,
	&output_svg_count,
	&output_callgrind,
	&output_pprof,
	&output_lcov,
	&output_cobertura,
	&output_drcov,
	&output_bolt,
	&output_autofdo,
	&output_autofdo_gcc,
	&output_paths,
	&output_paths_json,
	&output_tests,
	&output_tests_names,
	NULL,
};
/* clang-format on */

const struct output_format *output__by_name(const char *name)
{
	for (const struct output_format *const *f = output_formats; *f; f++)
		if (!strcmp((*f)->name, name))
			return *f;
	return NULL;
}

/* Does the name end in one of the suffixes, with something before it? */
static bool has_suffix(const char *name, const char *suffixes)
{
	size_t len, all = strlen(name);

	for (const char *s = suffixes; *s; s += len + strspn(s + len, " ")) {
		len = strcspn(s, " ");
		if (all > len && !strncmp(name + all - len, s, len))
			return true;
	}
	return false;
}

const struct output_format *output__by_file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	for (const struct output_format *const *f = output_formats; *f; f++)
		if ((*f)->suffixes && has_suffix(slash ? slash + 1 : path, (*f)->suffixes))
			return *f;
	return NULL;
}

static void show_reg(struct reg_list *list, const struct arch *arch, unsigned number)
{
	if (number < EVENT_REGS && number < arch->nregs && arch->reg_names[number] &&
	    list->n < EVENT_REGS)
		list->regs[list->n++] = number;
}

static void show_args(struct reg_list *list, const struct arch *arch, enum convention_kind kind)
{
	for (unsigned i = 0; i < arch->conventions[kind].nargs; i++)
		show_reg(list, arch, arch->conventions[kind].args[i]);
}

/* The argument registers in the order of the calling convention, or the requested ones by
 * number. */
static void choose_regs(struct output *o)
{
	const struct arch *arch = o->plan->arch;

	if (!arch)
		return;
	if (!o->options.regs) {
		show_args(&o->regs, arch, CONVENTION_C);
		show_args(&o->go_regs, arch, CONVENTION_GO);
		show_args(&o->kernel_regs, arch, CONVENTION_C);
	}
	for (unsigned i = 0; i < EVENT_REGS; i++)
		if (o->options.regs >> i & 1) {
			show_reg(&o->regs, arch, i);
			show_reg(&o->kernel_regs, arch, i);
		}
}

const struct reg_list *output__regs(const struct output *o, const struct step *step)
{
	static const struct reg_list none;
	bool known = step->function < o->plan->functions.len;
	unsigned flags = known ? o->plan->functions.data[step->function].flags : 0;

	if (known && plan__is_kernel_function(o->plan, step->function))
		return &o->kernel_regs;
	if (!o->options.regs && flags & FUNCTION_NO_ARGS)
		return &none;
	return !o->options.regs && flags & FUNCTION_GO_ARGS ? &o->go_regs : &o->regs;
}

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
	choose_regs(o);
	address__prepare(o);
	if (format->begin)
		o->error = format->begin(o);
	return o;
}

void output__plan_extended(struct output *o)
{
	o->several_objects = has_several_objects(o->plan);
	address__prepare(o);
	src_cache__clear(o->src);
	if (o->format->plan_extended)
		o->format->plan_extended(o);
}

int output__step(struct output *o, const struct step *step)
{
	if (o->error)
		return o->error;
	o->error = o->format->step(o, step);
	if (o->error)
		return o->error;
	return o->options.line_buffered || o->buffer.len >= FLUSH_AT ? output__flush(o) : 0;
}

bool output__adds_up(const struct output *o)
{
	return o->format->branch && o->format->run;
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
	if (o->format->covers || o->format->code)
		stats__set_untraced(o->state, o->untraced, no_marks && (t->lost || t->at_least));
}

int output__interval(struct output *o, uint64_t time, const struct trace_totals *t)
{
	prepare_end(o, t);
	if (!o->error)
		o->error = o->format->interval(o, time, t);
	return output__flush(o);
}

int output__flush(struct output *o)
{
	if (o->hides_addresses && !o->format->binary)
		address__hide(&o->buffer, false);
	if (!o->error && o->buffer.len)
		o->error = o->write(o->write_ctx, o->buffer.data, o->buffer.len);
	str__clear(&o->buffer);
	return o->error;
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
	       (o->format != &output_text || o->options.time != TIME_NONE || returns);
}

bool totals__tracing(const struct trace_totals *t, struct str *s)
{
	if (t->hits) {
		str__printf(s, "about %llu hits x ", (unsigned long long)t->hits);
		put_duration(s, t->tracing / t->hits);
		str__puts(s, " = ");
		put_duration(s, t->tracing);
		str__puts(s, " of tracing");
	}
	if (t->unpriced)
		str__printf(s, "%s%llu %shit%s%s", t->hits ? "; the cost of " : "tracing: ",
			    (unsigned long long)t->unpriced, t->hits ? "more " : "",
			    t->unpriced == 1 ? "" : "s",
			    t->hits ? " is not known" : ", whose cost is not known");
	return t->hits || t->unpriced;
}

void totals__text(const struct trace_totals *t, struct str *s)
{
	bool said = true;

	for (const struct total *row = totals; row < totals + ntotals; row++) {
		said = row->before && (row->second ? said : !row->rare || total__of(row, t));
		if (!said)
			continue;
		str__puts(s, row->before);
		str__puts(s, row->bound && t->at_least ? "at least " : "");
		str__dec(s, total__of(row, t));
		str__puts(s, row->after);
	}
}

void totals__json(const struct trace_totals *t, struct json *j)
{
	for (const struct total *row = totals; row < totals + ntotals; row++) {
		uint64_t value = total__of(row, t);

		if ((row->flag || row->nonzero) && !value)
			continue;
		json__put_key(j, row->key);
		if (row->flag)
			json__bool(j, true);
		else
			json__unsigned(j, value);
	}
}

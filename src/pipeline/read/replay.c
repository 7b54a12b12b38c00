// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "resolve/resolve.h"
#include "pipeline/render.h"
#include "replay.h"

/* ---- which functions ---- */

static bool has_code_in(const struct plan_function *f, uint32_t object, uint64_t start,
			uint64_t end)
{
	for (size_t i = 0; i < f->nranges && f->object == object; i++)
		if (start < f->ranges[i].vaddr + f->ranges[i].size && f->ranges[i].vaddr < end)
			return true;
	return false;
}

/* True if the function has code of a source function that is declared there. */
static bool has_scope(const struct spec *spec, const struct plan *plan,
		      const struct plan_function *f)
{
	const struct plan_scope_range *r;

	vec__each (r, &plan->scope_ranges) {
		const struct plan_scope *s = &plan->scopes.data[r->scope];

		if (s->line && spec__is_line(spec, plan->line_files.data[s->file], s->line) &&
		    has_code_in(f, r->object, r->start, r->end))
			return true;
	}
	return false;
}

/* True if the function has code of that line. */
static bool has_line(const struct spec *spec, const struct plan *plan,
		     const struct plan_function *f)
{
	const struct plan_line *l;

	vec__each (l, &plan->lines) {
		uint64_t end = l + 1 < vec__end(&plan->lines) && l[1].object == l->object
				       ? l[1].vaddr
				       : UINT64_MAX;

		if (l->line && spec__is_line(spec, plan->line_files.data[l->file], l->line) &&
		    has_code_in(f, l->object, l->vaddr, end))
			return true;
	}
	return has_scope(spec, plan, f);
}

static bool names_function(const struct spec *spec, const struct plan *plan,
			   const struct plan_function *pf)
{
	struct function f = {.object = plan->objects.data[pf->object].object,
			     .name = (char *)pf->name,
			     .raw = (char *)pf->raw,
			     .flags = pf->flags};

	f.ranges.data = (struct range *)pf->ranges;
	f.ranges.len = pf->nranges;
	f.entry = plan__start(pf);
	return spec->kind == SPEC_LINE ? has_line(spec, plan, pf) : spec__matches(spec, &f);
}

static void suggest(const struct plan *plan, const char *text, struct str *out)
{
	VEC(const char *) names = {0};
	const struct plan_function *f;

	vec__each (f, &plan->functions)
		if (!(f->flags & FUNCTION_HELPER))
			vec__push(&names, f->name);
	suggest__among(names.data, names.len, text, out);
	vec__free(&names);
}

/* Marks the functions that text names. -ENOENT if there are none. */
static int mark_functions(bool *functions, const struct plan *plan, const char *name,
			  const char *text, bool value)
{
	struct spec spec;
	struct stat st;
	size_t found = 0;
	autofree struct str near = {0};
	int err = spec__parse(text, !plan__has_programs(plan), &spec);

	if (err)
		return err;
	for (size_t i = 0; i < plan->functions.len; i++)
		if (names_function(&spec, plan, &plan->functions.data[i])) {
			functions[i] = value;
			found++;
		}
	spec__free(&spec);
	if (found)
		return 0;
	if (!stat(text, &st)) /* access(2) would check the real user only */
		return err__set(
			ENOENT,
			"%s is not a trace file of bbtrace, and no function '%s' was traced", text,
			text);
	suggest(plan, text, &near);
	return err__set(ENOENT,
			"%s: no function '%s' was traced; -F summary shows those that ran%s", name,
			text, near.data ? near.data : "");
}

int replay__choose(const struct request *req, const struct plan *plan, const char *name, bool **out)
{
	bool all = req->operands.len == req->files;
	int err = 0;

	*out = NULL;
	if (all && !req->what.exclude.len)
		return 0;
	*out = xcalloc(plan->functions.len + 1, sizeof(bool));
	for (size_t i = 0; i < plan->functions.len; i++)
		(*out)[i] = all;
	for (size_t i = req->files; !err && i < req->operands.len; i++)
		err = mark_functions(*out, plan, name, req->operands.data[i], true);
	for (size_t i = 0; !err && i < req->what.exclude.len; i++)
		err = mark_functions(*out, plan, name, req->what.exclude.data[i], false);
	return err;
}

/* Chooses the functions. One of several files may lack some. */
static int choose(struct replay *r, const struct plan *plan)
{
	int err;

	free(r->functions);
	err = replay__choose(r->request, plan, r->in->name, &r->functions);
	r->filter.functions = r->functions;
	return err == -ENOENT && r->joined ? 0 : err;
}

static int fill_filter(struct replay *r, const struct plan *plan)
{
	const struct request *req = r->request;

	r->filter = (struct report_filter_options){
		.events = req->record.events,
		.pids = req->who.filters.pids.data,
		.npids = req->who.filters.pids.len,
		.tids = req->who.filters.tids.data,
		.ntids = req->who.filters.tids.len,
		.comms = req->who.filters.comms.data,
		.ncomms = req->who.filters.comms.len,
		.from = req->show.from ? r->meta.start_time + req->show.from : 0,
		.to = req->show.to ? r->meta.start_time + req->show.to : 0,
		.head = req->show.head,
		.tail = req->show.tail,
	};
	return choose(r, plan);
}

static bool filters(const struct replay *r)
{
	const struct report_filter_options *o = &r->filter;

	return r->request->record.events_given || o->npids || o->ntids || o->ncomms ||
	       o->functions || o->from || o->to || o->head || o->tail;
}

/* ---- contents of the file ---- */

static void describe(const struct replay *r, const struct plan *plan)
{
	const struct trace_meta *m = &r->meta;
	autofree struct str date = {0};

	if (note__level() < NOTE_VERBOSE)
		return;
	str__date(&date, m->start_time + m->realtime_offset, m->utc_offset);
	note_verbose("recorded at %s by bbtrace %s on %s, %u CPUs: %s", date.data,
		     m->version ? m->version : "", m->system ? m->system : "", m->cpus,
		     m->command ? m->command : "");
	note_verbose("%zu functions, %zu sites, %u probes", plan->functions.len, plan->sites.len,
		     plan->probes);
}

static int judge(struct replay *r)
{
	const value_condition_vec *c = &r->request->record.conditions;
	int err;

	if (!c->len)
		return 0;
	if (r->meta.counts)
		return err__set(EINVAL, "--if needs events: %s has only counts", r->in->name);
	err = trace_reader__judge(r->in->reader, c);
	return err ? err__prefix(err, "%s", r->in->name) : 0;
}

static int on_begin(void *ctx, const struct plan *plan, const struct trace_meta *meta)
{
	struct replay *r = ctx;
	struct trace_options options;
	struct output *output = NULL;
	int err;

	r->meta = *meta;
	describe(r, plan);
	err = meta__override(&r->meta, r->request, plan->arch);
	if (err)
		return err;
	err = judge(r);
	if (err)
		return err;
	err = fill_filter(r, plan);
	if (err)
		return err;
	options = meta__trace_options(&r->meta);
	if (r->filter.functions) { /* depth counts only the functions that pass */
		r->filter.max_depth = options.max_depth;
		options.max_depth = 0;
	}
	err = r->calls->begin(r->ctx, r, plan, &output);
	if (err)
		return err;
	show__open(&r->show, plan, &options, spaces__recorded(), output, r->meta.limit);
	/* an output of the file's own plan gets the file's own numbers */
	r->show.joined = output && output->plan != plan ? r->joined : NULL;
	if (r->request->record.last)
		show__keep_last(&r->show, r->request);
	if (filters(r))
		show__filter(&r->show, &r->filter);
	r->begun = true;
	return 0;
}

static int on_plan(void *ctx, const struct plan *plan)
{
	struct replay *r = ctx;
	int err = choose(r, plan);

	if (!err && r->calls->extended)
		err = r->calls->extended(r->ctx, r, plan);
	show__plan_extended(&r->show);
	return err;
}

static int on_object(void *ctx, const struct object *o)
{
	struct replay *r = ctx;

	show__object(&r->show, o);
	return 0;
}

static int on_mapped(void *ctx, uint64_t dev, uint64_t ino, const char *path,
		     const struct object *o)
{
	struct replay *r = ctx;

	spaces__know(r->show.spaces, dev, ino, path, o);
	return 0;
}

static int on_counts(void *ctx, const struct trace_counts *c)
{
	struct replay *r = ctx;

	if (!r->meta.counts)
		return err__set(EBADMSG, "damaged: it has counts, and its head says events");
	return r->calls->counts(r->ctx, r, c);
}

static void put_time(struct str *s, const struct replay *r, uint64_t time)
{
	uint64_t ns = time - min_of(time, r->meta.start_time);

	str__printf(s, "%llu.%09llu s", (unsigned long long)(ns / 1000000000),
		    (unsigned long long)(ns % 1000000000));
}

static int on_damage(void *ctx, const struct trace_damage *d)
{
	struct replay *r = ctx;
	autofree struct str when = {0};
	char what[160];

	trace_damage__text(d, what, sizeof(what));
	if (d->from) {
		str__puts(&when, d->to ? ", between " : ", after ");
		put_time(&when, r, d->from);
	} else if (d->to) {
		str__puts(&when, ", before ");
	}
	if (d->from && d->to)
		str__puts(&when, " and ");
	if (d->to)
		put_time(&when, r, d->to);
	progress__end(&r->in->progress);
	note("%s: block %u is damaged or missing: %s lost%s", r->in->name, d->block, what,
	     when.data ? when.data : "");
	return show__damage(&r->show, d);
}

static int on_event(void *ctx, const struct event *e)
{
	struct replay *r = ctx;

	return show__event(&r->show, e);
}

static int on_run(void *ctx, const struct event_run *run, size_t *n)
{
	struct replay *r = ctx;

	return show__run(&r->show, run, NULL, n);
}

static int on_sideband(void *ctx, const struct sideband_event *e)
{
	struct replay *r = ctx;

	if (e->type == SIDEBAND_FORK && r->calls->forked)
		r->calls->forked(r->ctx, e);
	return show__sideband(&r->show, e);
}

static int on_lost(void *ctx, uint32_t pid, uint32_t tid, uint64_t count)
{
	struct replay *r = ctx;

	return show__lost(&r->show, pid, tid, count);
}

static void on_missed(void *ctx, const struct missed *m)
{
	struct replay *r = ctx;

	show__missed(&r->show, m);
}

static void on_muted(void *ctx, uint64_t invocations, uint64_t hits)
{
	struct replay *r = ctx;

	trace__muted(r->show.trace, invocations, hits);
}

int replay__run(struct replay *r)
{
	static const struct trace_calls calls = {.begin = on_begin,
						 .plan = on_plan,
						 .object = on_object,
						 .mapped = on_mapped,
						 .counts = on_counts,
						 .damage = on_damage};
	const struct source_sink sink = {r,	    on_event, on_sideband, on_lost,
					 on_missed, NULL,     on_run,	   on_muted};
	int err;

	r->source = recorded__open(r->in->reader, &calls, r);
	do
		err = r->source->ops->take(r->source, (struct source_wait){0, -1}, &sink);
	while (!err);
	if (err == SOURCE_ENDED || input__is_of_file(err)) {
		int end = r->begun ? r->source->ops->losses(r->source, &sink) : 0;

		return err == SOURCE_ENDED ? end : err;
	}
	return err;
}

void replay__close(struct replay *r)
{
	if (r->begun)
		show__close(&r->show);
	if (r->source)
		r->source->ops->close(r->source);
	free(r->functions);
}

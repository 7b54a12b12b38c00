// SPDX-License-Identifier: BSD-2-Clause
/* Explains why a trace has no event: all were dropped or lost, other threads hit the probes,
 * nobody mapped the object, or its functions were not called. */
#include "process/process.h"
#include "select/events/markers.h"
#include "no_events.h"

#define OBJECTS 4 /* most objects to name */
#define SIMILAR 4 /* most files to name for each object */

static void put_option(struct str *s, const char *name, unsigned *n, const char *between)
{
	str__puts(s, (*n)++ ? between : "");
	str__puts(s, name);
}

/* ---- recorded, but not shown ---- */

/* chosen: -e chose the events, or the file lacks some kinds. */
static void report_dropped(const struct trace_meta *meta, bool chosen, uint64_t hits)
{
	CLEANUP(str__free) struct str by = {0};
	unsigned n = 0;

	if (chosen)
		put_option(&by, "-e", &n, " and ");
	if (meta->max_depth)
		put_option(&by, "--depth", &n, " and ");
	if (meta->min_duration)
		put_option(&by, "--min-duration", &n, " and ");
	if (n)
		note("no event is shown: the probes were hit %llu times, but %s %s all of it out",
		     (unsigned long long)hits, by.data, n == 1 ? "filters" : "filter");
	else
		note("no event is shown: the probes were hit %llu times, but no hit is an event of a "
		     "traced function",
		     (unsigned long long)hits);
}

/* ---- probes that were hit by others ---- */

static void report_filtered(const struct request *req, const char *children)
{
	const struct probe_filters *f = &req->who.filters;
	CLEANUP(str__free) struct str by = {0};
	unsigned n = 0;

	if (f->pids.len)
		put_option(&by, f->command ? "-- CMD" : "-p", &n, ", ");
	if (f->tids.len)
		put_option(&by, "--tid", &n, ", ");
	if (f->comms.len)
		put_option(&by, "--comm", &n, ", ");
	if (f->uids.len)
		put_option(&by, "--uid", &n, ", ");
	if (f->cgroup)
		put_option(&by, "--cgroup", &n, ", ");
	note("no event: the probes were hit, but only by threads that are not traced (%s)%s",
	     by.data, children);
}

/* ---- never hit ---- */

/* True if no filter names processes. */
static bool is_of_all(const struct request *req)
{
	return !req->who.filters.pids.len && !req->who.filters.tids.len;
}

/* True if a call would have been seen: a probe could be attached. */
static bool is_visible(const struct plan *p, const struct plan_function *f)
{
	const struct plan_site *s;

	if (f->entry_site == NO_SITE || !p->sites.data[f->entry_site].refusal)
		return true;
	vec__each (s, &p->sites)
		if (s->probe && s->function == f - p->functions.data)
			return true;
	return false;
}

/* Appends which functions of an object, or of the kernel, did not run. all: in any process. */
static void put_functions(struct str *s, const struct plan *p, uint32_t object, bool all)
{
	bool kernel = p->objects.data[object].kernel, ranges = false;
	const struct plan_function *f, *last = NULL;
	unsigned n = 0, invisible = 0;

	vec__each (f, &p->functions) {
		bool own = kernel ? p->objects.data[f->object].kernel : f->object == object;

		if (!own || f->flags & FUNCTION_HELPER)
			continue;
		if (!is_visible(p, f)) {
			invisible++;
			continue;
		}
		ranges |= f->flags & FUNCTION_RANGE;
		last = f;
		n++;
	}
	if (n || !invisible)
		str__puts(s, all ? "no thread " : "no traced thread ");
	if (invisible && !n)
		str__printf(s, "its functions can't be probed, so that it isn't known whether "
			       "they were called");
	else if (ranges)
		str__puts(s, "ran the traced code");
	else if (n == 1)
		str__printf(s, "called %s", last->name);
	else
		str__printf(s, "called any of the %u traced functions", n);
	if (invisible && n)
		str__printf(s, " (%u more can't be probed)", invisible);
}

struct similar {
	struct show *show;
	const struct request *request;
	const char *path; /* of the object */
	bool same_build;  /* look for files of the same build */
	unsigned named;
};

static void report_similar(void *ctx, uint32_t pid, const char *path, bool same_build)
{
	struct similar *s = ctx;
	const char *comm = trace__comm_of(s->show->trace, pid);
	CLEANUP(str__free) struct str line = {0};

	if (same_build != s->same_build || s->named == SIMILAR)
		return;
	s->named++;
	str__printf(&line, "process %u", pid);
	if (comm)
		str__printf(&line, " (%s)", comm);
	str__printf(&line, " mapped %s: the same %s, but another %s", path,
		    same_build ? "build" : "name", same_build ? "file" : "build");
	if (strcmp(path, s->path))
		str__puts(&line, "; trace that path");
	else if (is_of_all(s->request))
		str__printf(&line, "; -p %u finds it", pid);
	note("%s", line.data);
}

/* early: while the trace runs. */
static void report_unmapped(const struct request *req, struct show *s, const struct object *o,
			    const char *children, bool early)
{
	bool sure = !spaces__incomplete(s->spaces) && !s->sideband_lost;
	struct similar similar = {.show = s, .request = req, .path = o->path, .same_build = true};

	note("%s %sprocess %s %s%s", early ? "so far no" : "no event: no",
	     is_of_all(req) ? "" : "traced ",
	     !sure   ? "is known to have mapped"
	     : early ? "has mapped"
		     : "mapped",
	     o->path, children);
	spaces__similar(s->spaces, o, report_similar, &similar);
	similar.same_build = false;
	spaces__similar(s->spaces, o, report_similar, &similar);
}

static void report_of_object(const struct request *req, struct show *s, uint32_t object,
			     const char *children)
{
	const struct plan_object *o = &s->plan->objects.data[object];
	CLEANUP(str__free) struct str what = {0};

	put_functions(&what, s->plan, object, is_of_all(req));
	if (o->kernel)
		note("no event: %s%s", what.data,
		     plan__has_programs(s->plan) ? " of the kernel" : "");
	else if (spaces__mapped(s->spaces, o->object))
		note("no event: %s was mapped, but %s%s", o->path, what.data, children);
	else
		report_unmapped(req, s, o->object, children, false);
}

/* True unless the object has only helper functions, which were not asked for. */
static bool is_asked_for(const struct plan *p, uint32_t object)
{
	const struct plan_function *f;

	vec__each (f, &p->functions)
		if (f->object == object && !(f->flags & FUNCTION_HELPER))
			return true;
	return false;
}

static void report_of_objects(const struct request *req, struct show *s, const char *children)
{
	const struct plan *p = s->plan;
	bool kernel = false;
	unsigned n = 0;

	for (uint32_t i = 0; i < p->objects.len; i++) {
		bool again = p->objects.data[i].kernel && kernel;

		if (again || !is_asked_for(p, i))
			continue;
		kernel |= p->objects.data[i].kernel;
		if (n++ < OBJECTS)
			report_of_object(req, s, i, children);
	}
	if (n > OBJECTS)
		note("no event of %u more objects", n - OBJECTS);
}

/* ---- while it runs ---- */

/* What has run is said at the end: an event may have been left out, or not be read yet. */
static void report_early(const struct request *req, struct show *s, uint32_t object,
			 const char *children, bool reports_calls)
{
	const struct plan_object *o = &s->plan->objects.data[object];
	const struct plan_function *f, *last = NULL;
	unsigned n = 0;

	if (!o->kernel && !spaces__mapped(s->spaces, o->object))
		return report_unmapped(req, s, o->object, children, true);
	if (!reports_calls)
		return;
	vec__each (f, &s->plan->functions) {
		if (f->object != object || f->flags & FUNCTION_HELPER)
			continue;
		last = f;
		n++;
	}
	if (n == 1)
		note("so far no event of %s%s", last->name, children);
	else
		note("so far no event of any of %u functions of %s%s", n, o->path, children);
}

void no_events__explain_early(const struct request *req, struct live *l,
			      const struct source *source, bool reports_calls)
{
	const struct trace_totals *t = trace__totals(l->show.trace);
	const struct source_facts facts = source__facts(source);
	const char *children = facts.left_children ? "; children are not traced without -f" : "";
	unsigned n = 0;

	if (t->events || t->named || l->show.hits || l->closed || note__level() < NOTE_NORMAL)
		return;
	for (uint32_t i = 0; i < l->show.plan->objects.len; i++)
		if (is_asked_for(l->show.plan, i) && n++ < OBJECTS)
			report_early(req, &l->show, i, children, reports_calls);
}

/* ---- samples ---- */

static void put_process(struct str *s, uint32_t pid)
{
	size_t threads = 0, sleeping = process__sleeping(pid, &threads);

	if (threads && sleeping == threads)
		str__printf(s, "process %u sleeps, with %s; ", pid,
			    threads == 1 ? "its only thread" : "all of its threads");
	str__printf(s, "bbtrace stack %u shows what its threads wait for", pid);
}

static void report_unsampled(const struct request *req)
{
	const struct probe_filters *f = &req->who.filters;
	CLEANUP(str__free) struct str how = {0};

	if (f->pids.len == 1 && !f->command)
		put_process(&how, f->pids.data[0]);
	else if (f->pids.len && !f->command)
		str__printf(&how, "bbtrace stack %u shows what its threads wait for",
			    f->pids.data[0]);
	else
		str__puts(&how, "a higher --freq samples what runs for a shorter time");
	note("no sample: no traced thread ran when one was taken (at %llu Hz); %s",
	     (unsigned long long)req->record.freq, how.data);
}

/* ---- of bbtrace cover ---- */

struct sources {
	struct str names;
	unsigned n;
};

static void add_with_lines(void *ctx, const struct object *o)
{
	struct sources *all = ctx;

	if (!object__has_line_table(o))
		return;
	if (all->n++ < SIMILAR) {
		str__puts(&all->names, all->names.len ? ", " : "");
		str__shown(&all->names, o->path);
	}
}

/* What was run instead, of which sources are known. */
static void report_sources(struct show *s)
{
	struct sources all = {0};

	spaces__each_object(s->spaces, add_with_lines, &all);
	if (all.n)
		note("what ran with debug information: %s%s; --objects names what to cover",
		     all.names.data, all.n > SIMILAR ? ", ..." : "");
	else
		note("nothing that ran has debug information");
	str__free(&all.names);
}

/* ---- the choice of an explanation ---- */

/* Returns true if it has printed a note. */
static bool report_recorded(const struct trace_meta *meta, bool chosen, struct show *s)
{
	const struct trace_totals *t = trace__totals(s->trace);

	if (t->unmet + t->unjudged) {
		note("no event is shown: --if leaves out all of them");
		return true;
	}
	if (s->hits)
		report_dropped(meta, chosen, s->hits);
	else if (show__totals(s)->lost && !show__totals(s)->untraced)
		note("no event is shown: all that were recorded were lost; use a larger --buffer");
	else if (show__totals(s)->lost)
		note("no event is shown: what was recorded was lost, and something could not be traced");
	return s->hits || show__totals(s)->lost;
}

/* ---- may have run unseen ---- */

static bool has_other_probes(const struct plan *p)
{
	const struct plan_named *n;
	const struct plan_site *s;

	vec__each (s, &p->sites)
		if (s->probe == PROBE_TRAP || s->probe == PROBE_COUNT)
			return true;
	vec__each (n, &p->named)
		if (n->kind != NAMED_KILLED) /* it belongs to --last, and wasn't asked for */
			return true;
	return false;
}

/* True if a function may have run unseen in a process from which the engine was detached. */
static bool may_have_run(struct show *s)
{
	const struct object *const *o;

	vec__each (o, &s->objects)
		if (spaces__mapped(s->spaces, *o))
			return true;
	return spaces__incomplete(s->spaces) || s->sideband_lost;
}

bool no_events__report_untraced(struct show *s, const struct source *source)
{
	const struct trace_totals *t = show__totals(s);

	if (!source__facts(source).nothing || t->events || s->hits || has_other_probes(s->plan) ||
	    !may_have_run(s))
		return false;
	note("nothing could be traced for the reasons above, and whether the functions were called "
	     "is not known; use --engine probe");
	return true;
}

void no_events__explain_live(const struct request *req, const struct trace_meta *meta,
			     struct live *l, const struct source *source)
{
	const struct source_facts facts = source__facts(source);
	const struct trace_totals *t = show__totals(&l->show);

	const char *children = facts.left_children ? "; children are not traced without -f" : "";

	if (t->events || t->named || note__level() < NOTE_NORMAL ||
	    report_recorded(meta, req->record.events_given, &l->show))
		return;
	if (req->verb->bit == VERB_PROFILE)
		return report_unsampled(req);
	if (t->stops && (request__switches(req) || req->when.delay_ns || req->when.for_ns))
		note("no event while recording was on; -v shows what switches it");
	else if (t->stops)
		note("no event while recording was on: it was stopped (--paused, bbtrace ctl stop); "
		     "bbtrace ctl PID start continues it");
	if (t->untraced)
		note("no event: something of %llu processes could not be traced",
		     (unsigned long long)t->untraced);
	else if (facts.filtered)
		report_filtered(req, children);
	else if (!t->missed)
		report_of_objects(req, &l->show, children);
	if (req->what.covers)
		report_sources(&l->show);
}

void no_events__explain_report(const struct trace_meta *meta, struct show *s)
{
	uint64_t all = trace__totals(s->trace)->events;

	if (show__totals(s)->events || show__totals(s)->named)
		return;
	if (all)
		note("no event passes the filters; the trace has %llu", (unsigned long long)all);
	else if (!report_recorded(meta, meta->events != OUTPUT_STEPS, s))
		note("the trace has no events%s",
		     show__totals(s)->untraced ? ": something could not be traced" : "");
}

// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include "cache/cache.h"
#include "cli/command.h"
#include "engine.h"
#include "copy_fitness.h"
#include "requirements.h"

/* ---- which one ---- */

/* Returns what the request has that --engine inline can't do; NULL if nothing. */
static const char *not_inline(const struct request *req)
{
	if (req->verb->bit == VERB_KERNEL)
		return "kernel functions";
	if (req->what.watch.len || req->verb->bit == VERB_WATCH)
		return "watchpoints";
	if (req->verb->bit & VERB_NAMED)
		return "events by name";
	return req->command || req->who.filters.pids.len
		       ? NULL
		       : "all processes: name a command, or one with -p";
}

/* Returns what the request has that auto leaves to probes, although copies could do it. */
static const char *not_auto(const struct request *req)
{
	const char *what = not_inline(req);

	if (what)
		return what;
	if (!req->command) /* running processes would have to be stopped */
		return "processes that run already, unless inline is asked for";
	/* a debugger among the children could not trace anything */
	if (req->who.filters.follow && !req->what.covers && !req->record.explain)
		return "all children of a command, unless inline is asked for";
	if (req->how.attach)
		return "--attach";
	if (req->record.conditions.len) /* probes check arguments before they make an event */
		return "--if, unless inline is asked for";
	return req->how.returns == RETURNS_PROBE ? "--returns probe" : NULL;
}

/* With copies, returns are recorded at ret instructions in all functions: copies log a ret as
 * cheaply as anything else, and a return probe would change the return address that they log. */
static void log_rets(struct request *req)
{
	if (req->how.engine != ENGINE_INLINE || req->how.returns != RETURNS_PROBE)
		return;
	req->how.returns = RETURNS_RET;
	note("--returns probe: with copies, which log each ret, returns are recorded at ret "
	     "instructions; the events are the same");
}

static int take_default(struct request *req)
{
	const char *engine = getenv("BBTRACE_ENGINE");
	int err;

	if (req->how.engine_given)
		return 0;
	req->how.engine = ENGINE_AUTO;
	err = engine && *engine ? engine__parse(engine, &req->how.engine) : 0;
	return err ? err__prefix(err, "BBTRACE_ENGINE") : 0;
}

int engine__settle(struct request *req)
{
	int err = take_default(req);
	const char *what;

	if (err)
		return err;
	req->how.engine_auto = req->how.engine == ENGINE_AUTO;
	what = req->how.engine_auto		  ? not_auto(req)
	       : req->how.engine == ENGINE_INLINE ? not_inline(req)
						  : NULL;
	if (what && req->how.engine_given && req->how.engine == ENGINE_INLINE)
		return err__set(EINVAL, "--engine inline: not with %s; use --engine probe, or auto",
				what);
	if (what && req->verb->bit != VERB_KERNEL)
		note_verbose("--engine %s: by probes, since copies aren't for %s",
			     req->how.engine_auto ? "auto" : "inline", what);
	if (what || req->how.engine_auto)
		req->how.engine = what ? ENGINE_PROBE : ENGINE_INLINE;
	log_rets(req);
	return 0;
}

/* ---- copies ---- */

/* Returns the number of copied functions. -v reports why others aren't copied. */
static unsigned report_copies(const struct copies *c, const struct plan *p)
{
	autofree bool *copied = xcalloc(p->functions.len + 1, sizeof(*copied));
	unsigned inlined = 0, refused[COPY_REFUSALS] = {0};
	const struct plan_site *s;

	vec__each (s, &p->sites)
		copied[s->function] |= s->probe == PROBE_INLINE || s->probe == PROBE_INLINE_COUNT;
	for (uint32_t i = 0; i < p->functions.len; i++) {
		uint8_t why = i < c->refusals.len ? c->refusals.data[i] : COPY_OK;

		inlined += copied[i];
		refused[why]++;
		if (why)
			note_verbose("%s keeps its probes: %s", p->functions.data[i].name,
				     copy_refusal_text[why]);
	}
	note_verbose("%u function%s copied", inlined, inlined == 1 ? " is" : "s are");
	for (int i = COPY_OK + 1; i < COPY_REFUSALS; i++)
		if (refused[i])
			note_verbose("%u are not: %s", refused[i], copy_refusal_text[i]);
	return inlined;
}

/* A counter can't separate what a thread did before a change of its name from what it did after. */
static bool filters_threads(const struct probe_filters *f)
{
	return f->tids.len || f->comms.len || f->uids.len || f->cgroup;
}

/* Reserves the places of other probes of this trace. */
static void reserve(const struct engine_state *e, const struct planning *p, struct plan *plan)
{
	const struct probe_marker *m;
	const struct usdt_site *u;

	vec__each (m, &e->markers.all)
		plan__reserve(plan, m->object, m->vaddr);
	vec__each (u, &p->with.usdt)
		plan__reserve(plan, u->object, u->probe->vaddr);
}

/* flag: one of a processor's flags; no other word of that file is spelled so. */
static bool machine_has_shadow_stacks(const char *flag)
{
	autofree char *text = NULL;

	return !file__read("/proc/cpuinfo", 16u << 20, &text, NULL) && strstr(text, flag);
}

static int copy(struct engine_state *e, const struct request *req, struct planning *p,
		struct plan *plan)
{
	int err;

	if (!plan__has_programs(plan))
		return err__usage("--engine inline is for programs and libraries");
	e->log = (struct log_options){
		.regs = requirements__log_regs(req, plan),
		.timed = requirements__log_times(req),
		.callers = req->record.stack,
		.runs = !req->command,
		.by_records = filters_threads(&req->who.filters),
		.real_calls = machine_has_shadow_stacks(plan->arch->copier->shadow_stacks)};
	reserve(e, p, plan);
	err = req->how.no_cache ? copies__make(plan, &e->log, &e->copies)
				: cache__copies(plan, &e->log, &e->copies);
	e->copied = err ? 0 : report_copies(e->copies, plan);
	return err;
}

static int begin(struct engine_state *e, const struct request *req, struct planning *p,
		 struct plan **out)
{
	int err = planning__begin(p, req, out);

	if (err)
		return err;
	err = typed_values__plan(req, *out, e->btf, &e->values);
	if (err)
		return err;
	e->marks = (*out)->placement != PLACEMENT_COUNT && plan__has_programs(*out) &&
		   (request__record_name(req) || request__format(req)->marks);
	return markers__find(&e->markers, req, p, e->marks, *out);
}

/* Plans again: probes need another plan than copies. */
static int plan_for_probes(struct engine_state *e, struct request *req, struct planning *p,
			   struct plan **out)
{
	copies__free(e->copies);
	e->copies = NULL;
	e->copied = 0;
	plan__free(*out);
	*out = NULL;
	markers__free(&e->markers);
	e->markers = (struct markers){0};
	planning__free(p);
	*p = (struct planning){.explaining = p->explaining};
	return begin(e, req, p, out);
}

/* Returns why the traced program needs probes; NULL if it doesn't. One whose leak checker would
 * fail needs them even if copies were asked for. */
static const char *needs_probes(const struct request *req)
{
	enum fitness f;

	if (feature__copies())
		return err__text();
	if (!req->command)
		return NULL;
	f = copy_fitness__of(req->command[0], arch__native());
	return f == UNFIT_CHECKER || (f && req->how.engine_auto) ? fitness_text[f] : NULL;
}

static void choose_probes(struct request *req, const char *why)
{
	if (req->how.engine_auto)
		note_verbose("--engine auto: by probes, since %s", why);
	else
		note("--engine inline: tracing by probes instead, since %s", why);
	req->how.engine = ENGINE_PROBE;
	err__clear();
}

int engine__plan(struct engine_state *e, struct request *req, struct planning *p, struct plan **out)
{
	const char *why = req->how.engine == ENGINE_INLINE ? needs_probes(req) : NULL;
	int err;

	if (why)
		choose_probes(req, why);
	err = begin(e, req, p, out);
	e->advisable = !err && req->how.engine == ENGINE_PROBE && !why && !not_inline(req) &&
		       plan__has_programs(*out) && (*out)->arch->copier;
	if (err || req->how.engine != ENGINE_INLINE)
		return err;
	if (plan__has_programs(*out) && !(*out)->arch->copier) {
		if (!req->how.engine_auto)
			return err__usage("--engine inline: code of %s can't be copied, only that "
					  "of %s: use --engine probe",
					  (*out)->arch->name, arch__native()->name);
		choose_probes(req, "its code is of an architecture whose code isn't copied");
		return plan_for_probes(e, req, p, out);
	}
	if (req->how.engine_auto && (req->record.stack || req->record.freq) &&
	    requirements__stack_copy(req, *out)) {
		choose_probes(req,
			      "copies follow frame pointers only; --stack-size 0 does so, too");
		return plan_for_probes(e, req, p, out);
	}
	err = req->how.engine_auto && !plan__has_programs(*out) ? 0 : copy(e, req, p, *out);
	if (err || e->copied || !req->how.engine_auto)
		return err;
	choose_probes(req, "no function can be copied");
	return plan_for_probes(e, req, p, out);
}

/* From this number of events on, about a second or more of traps, a note is worth its line. */
#define MANY 1000000

void engine__advise(const struct engine_state *e, uint64_t events)
{
	if (e->advisable && events >= MANY)
		note("%llu events were recorded by traps; --engine inline avoids them in functions "
		     "that can be copied",
		     (unsigned long long)events);
}

/* True for a file or for totals: nobody watches the output grow, or ends the trace by its size. */
static bool shows_later(const struct request *req)
{
	return (request__record_name(req) || request__format(req)->at_end) &&
	       !req->record.interval_ns && !req->when.limit;
}

/* Bytes of the logs: some two million branches, which a second suffices for. */
#define EXPLAINED_WHOLE (64u << 20)

static int start(struct engine_state *e, const struct request *req, const struct plan *plan,
		 pid_t command)
{
	struct inline_options o = {.plan = plan,
				   .copies = e->copies,
				   .log = e->log,
				   .command = command,
				   .pids = req->who.filters.pids.data,
				   .npids = command ? 0 : req->who.filters.pids.len,
				   .follow = req->who.filters.follow,
				   .disarmed = request__begin_stopped(req),
				   .last = e->overwrites ? requirements__kept_branches(req, true)
							 : 0,
				   .whole = req->record.explain ? EXPLAINED_WHOLE : 0,
				   .later = shows_later(req),
				   .drop_privileges = privileges__keep_tracing,
				   .unfit = req->who.filters.follow ? copy_fitness__unfit : NULL};

	return inlined__start(&o, &e->inliner);
}

/* Processes that can't run copies are traced by probes. */
int engine__start(struct engine_state *e, struct request *req, struct planning *p,
		  struct plan **plan, pid_t command)
{
	int err;

	/* not if a function asks for dumps: by then the branches would be overwritten */
	e->overwrites = e->copies && req->record.last && !req->record.dump_on.len &&
			!request__switches(req);
	err = e->copies ? start(e, req, *plan, command) : 0;
	if (!err || err == -ESRCH || err == -EINVAL)
		return err;
	e->overwrites = false;
	choose_probes(req, err__text());
	return plan_for_probes(e, req, p, plan);
}

void engine__close(struct engine_state *e)
{
	inlined__end(e->inliner);
	copies__free(e->copies);
	markers__free(&e->markers);
}

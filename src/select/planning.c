// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <sys/utsname.h>
#include "explain/explain.h"
#include "cache/cache.h"
#include "cli/command.h"
#include "returns.h"
#include "targets.h"
#include "announce.h"
#include "costs.h"
#include "pipeline/fatal_signals.h"
#include "pipeline/outcomes.h"
#include "planning.h"
#include "requirements.h"

/* True from Linux 6.18 on, where a probe on such an instruction becomes a call, which overwrites
 * the red zone. */
static bool patchable_is_unsafe(void)
{
	unsigned major = 0, minor = 0;
	struct utsname u;

	return !uname(&u) && sscanf(u.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 18));
}

/* ---- the targets of tail calls ---- */

/* A library's function may itself tail-call one of another library. */
#define MAX_TAIL_ROUNDS 8

static bool wants_tail_calls(const struct planning *p)
{
	return p->request->record.events & PLAN_RETURN && p->options.placement != PLACEMENT_COUNT &&
	       p->request->how.returns == RETURNS_RET;
}

static int build_once(struct planning *p, struct plan **out)
{
	if (p->request->verb->bit & VERB_NAMED) {
		*out = plan__empty(arch__native());
		return 0;
	}
	p->options.stubs = p->targets.stubs.data;
	p->options.nstubs = p->targets.stubs.len;
	return p->request->how.no_cache ? plan__build(&p->targets.functions, &p->options, out)
					: cache__plan(&p->targets.functions, &p->options, out);
}

/* Plans, and plans again while tail calls lead to further functions. */
static int build(struct planning *p, struct plan **out)
{
	bool tails = wants_tail_calls(p) && !(p->request->verb->bit & VERB_NAMED);
	int err;

	if (tails)
		tail_calls__predict(&p->targets, p->pid);
	err = build_once(p, out);
	for (int i = 0; !err && i < MAX_TAIL_ROUNDS && tails && plan__has_programs(*out) &&
			tail_calls__add(&p->targets, *out, p->pid);
	     i++) {
		plan__free(*out);
		*out = NULL;
		err = build_once(p, out);
	}
	return err;
}

/* ---- the first plan ---- */

/* The default limit on the work of attaching: about 1,000 probes in the kernel itself, or 40 in
 * a module of 13,000 symbols. */
#define ATTACH_WORK 2000000

/* Plans fewer probes, which identify the same path, unless --placement was given. */
static int spare_probes(struct planning *p, struct plan **plan)
{
	uint64_t work = plan__attach_work(*plan);
	unsigned probes = (*plan)->probes;
	int err;

	if (work <= ATTACH_WORK || p->request->how.placement_given ||
	    (*plan)->placement >= PLACEMENT_WITNESS)
		return 0;
	plan__free(*plan);
	*plan = NULL;
	p->options.placement = PLACEMENT_WITNESS;
	err = build_once(p, plan);
	if (!err && (*plan)->placement == PLACEMENT_WITNESS)
		note("%u probes would take long to attach; using %u, which show the same path "
		     "without the time of each branch; --placement full attaches all",
		     probes, (*plan)->probes);
	return err;
}

/* Decides whether BPF programs execute the instructions that the kernel would single-step. */
static int choose_execution(const struct request *req, bool *executes)
{
	int err = 0;

	/* each of several processes has a link of its own, so no uprobe has a single consumer */
	if (req->how.engine == ENGINE_PROBE && req->verb->bit & (VERB_USER | VERB_BOTH) &&
	    (req->how.attach || req->who.filters.pids.len < 2))
		*executes = probes__can_execute(req->how.attach, &err);
	if (err && !req->how.attach) {
		note_verbose("the kernel single-steps most entries and rets: %s", err__text());
		err__clear();
		return 0;
	}
	return err ? err__prefix(err, "--attach %s", req->how.attach) : 0;
}

static int choose_options(struct planning *p)
{
	const struct request *req = p->request;
	int err;

	p->options = requirements__plan_options(req, arch__native());
	err = choose_execution(req, &p->options.executes);
	if (err)
		return err;
	if (!req->how.branch_weights)
		return 0;
	err = branch_weights__read(req->how.branch_weights, &p->weights);
	p->options.weights = branch_weights__counts;
	p->options.weights_ctx = p->weights;
	return err;
}

/* Bytes of an instruction, on average. */
#define INSTRUCTION 4

uint64_t planning__instructions(const function_vec *functions)
{
	return functions__size(functions) / INSTRUCTION;
}

static int find_targets(struct planning *p)
{
	int err;

	if (targets__name_kernel(p->request))
		tracepoints__pin(&p->tracepoints);
	if (p->request->command)
		object__find_as(p->request->command[0]);
	err = targets__find(&p->targets, p->request, p->pid, false);
	if (err)
		return err;
	if (p->targets.kernel)
		kernel_syscalls__count(&p->targets.functions);
	p->options.costs = costs__known(arch__native());
	p->options.kernel_object = p->targets.kernel;
	p->options.patchable_unsafe = patchable_is_unsafe();
	p->options.followed = p->followed;
	p->options.followed_ctx = p->followed_ctx;
	return 0;
}

/* ---- the functions whose results a kernel function may return ---- */

#define CALLEES_MOST 200

struct widening {
	const struct planning *p;
	VEC(char *) words;
};

static void add_callee(void *ctx, const char *name)
{
	struct widening *w = ctx;
	char *word = xasprintf("kernel:%s", name), **known;

	vec__each (known, &w->words)
		if (!strcmp(*known, word)) {
			free(word);
			return;
		}
	vec__push(&w->words, word);
}

/* Adds the functions that the plan's functions call directly, at most this many; *added is their
 * number. Skips those that can't be found or probed. */
static void add_callees(struct planning *p, const struct plan *plan, size_t most, size_t *added)
{
	struct widening w = {.p = p};
	struct function *f;
	char **word;

	explain__callees(plan, add_callee, &w);
	*added = 0;
	vec__each (word, &w.words) {
		function_vec more = {0};

		if (*added < most &&
		    targets__find_more(&p->targets, p->request, word, 1, p->pid, &more))
			err__clear();
		vec__each (f, &more)
			vec__push(&p->targets.functions, *f);
		*added += more.len;
		vec__free(&more);
		free(*word);
	}
	vec__free(&w.words);
}

static int widen(struct planning *p, struct plan **out)
{
	size_t left = CALLEES_MOST;
	int err = 0;

	for (uint64_t n = 0; !err && n < p->request->what.callees && plan__has_kernel(*out); n++) {
		size_t added;

		add_callees(p, *out, left, &added);
		left -= min_of(left, added);
		if (!added)
			break;
		functions__join(&p->targets.functions);
		exclude__apply(&p->targets, p->request);
		plan__free(*out);
		*out = NULL;
		err = build_once(p, out);
	}
	return err;
}

/* ---- marks ---- */

static bool file_has_marks(const char *path, pid_t pid)
{
	struct found found;
	bool has = !object__find(path, pid, &found) && markers__in_file(found.fd, true);

	found__close(&found);
	err__clear();
	return has;
}

static bool has_marks(const struct planning *p)
{
	autofree char *command = p->request->command ? command__path(p->request->command[0]) : NULL;
	marker_vec markers = {0};
	const struct marker *m;
	bool has = false;

	for (size_t i = 0; i < p->targets.objects.len; i++)
		object__markers(p->targets.objects.data[i], &markers);
	vec__each (m, &markers)
		has |= m->kind == MARKER_MARK;
	vec__free(&markers);
	return has || (command && file_has_marks(command, p->pid));
}

/* Gives each branch a probe: a mark is between the branches before it and those after it, which
 * a probe that is hit later could not separate. */
static void place_for_marks(struct planning *p)
{
	if (p->request->how.placement_given || p->options.placement == PLACEMENT_COUNT ||
	    p->options.placement == PLACEMENT_FULL || !has_marks(p))
		return;
	p->options.placement = PLACEMENT_FULL;
	note_verbose("each branch has a probe, so that the program's marks appear where they "
		     "were executed");
}

int planning__begin(struct planning *p, const struct request *req, struct plan **out)
{
	int err;

	p->request = req;
	p->pid = req->who.filters.pids.len ? (pid_t)req->who.filters.pids.data[0] : 0;
	err = choose_options(p);
	if (err)
		return err;
	err = find_targets(p);
	if (err)
		return err;
	place_for_marks(p);
	err = build(p, out);
	if (!err && p->explaining && p->explaining->ends)
		err = widen(p, out);
	if (err)
		return err;
	err = spare_probes(p, out);
	if (err)
		return err;
	err = named_events__plan(&p->with, req, &p->targets, p->pid, *out);
	if (!err)
		err = watchpoints__plan(&p->watches, req, &p->targets, p->pid, *out);
	if (err)
		return err;
	fatal_signal__plan(req, *out);
	if (p->explaining && p->explaining->ends)
		outcomes__plan(*out);
	err = req->how.returns == RETURNS_PROBE ? returns__check_probes(*out) : 0;
	if (!err && note__level() >= NOTE_VERBOSE)
		announce__plan(*out, p->options.placement);
	return err;
}

/* ---- other functions ---- */

int planning__again(struct planning *p, const struct plan *before, struct plan **out)
{
	int err;

	p->options.before = before;
	err = build(p, out);
	p->options.before = NULL;
	return err;
}

void planning__free(struct planning *p)
{
	tracepoints__release(&p->tracepoints);
	named_events__free(&p->with);
	branch_weights__free(p->weights);
	targets__free(&p->targets);
	watchpoints__free(&p->watches);
}

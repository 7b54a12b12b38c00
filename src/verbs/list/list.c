// SPDX-License-Identifier: BSD-2-Clause
/* The verb list: lists functions with address, size and branches; with --sites their branches;
 * with --points writes a points file. */
#include <errno.h>
#include <stdlib.h>
#include "cli/option.h"
#include "select/announce.h"
#include "select/targets.h"
#include "pipeline/pager.h"
#include "select/planning.h"
#include "list_names.h"
#include "verbs/verbs.h"
#include "copy/copy.h"
#include "select/events/named_events.h"
#include "pipeline/render.h"
#include "util/json.h"
#include "select/requirements.h"

#define BATCH (8u << 20) /* bytes of code to follow at once: takes about 200 MB of memory */

struct listing {
	const struct request *request;
	const struct plan *plan;
	struct copies *copies; /* NULL if not requested */
	/* gaps of function f: gaps[gaps_from[f] … gaps_from[f + 1] - 1] */
	uint32_t *gaps, *gaps_from;
	uint32_t *pointer_tails; /* by function */
	struct str out;
	bool json;
	bool hide_addresses;
};

static void put_out(struct listing *l)
{
	if (l->hide_addresses)
		address__hide(&l->out, !l->json);
	fwrite(l->out.data, 1, l->out.len, stdout);
	str__clear(&l->out);
}

/* ---- functions ---- */

/* Sorts the gaps by function, in order of address. */
static void index_gaps(struct listing *l)
{
	const struct plan *p = l->plan;
	uint32_t *from = xcalloc(p->functions.len + 2, sizeof(*from));
	const struct plan_gap *gap;

	vec__each (gap, &p->gaps)
		from[gap->function + 2]++;
	for (size_t i = 2; i < p->functions.len + 2; i++)
		from[i] += from[i - 1];
	l->gaps = xcalloc(p->gaps.len + 1, sizeof(*l->gaps));
	vec__each (gap, &p->gaps)
		l->gaps[from[gap->function + 1]++] = gap - p->gaps.data;
	l->gaps_from = from;
	l->pointer_tails = plan__pointer_tails(p);
}

/* Writes the ranges that were not decoded. */
static void put_gaps(const struct listing *l, struct json *j, uint32_t function)
{
	json__key(j, "undecoded");
	json__open_array(j);
	for (uint32_t i = l->gaps_from[function]; i < l->gaps_from[function + 1]; i++) {
		const struct plan_gap *gap = &l->plan->gaps.data[l->gaps[i]];

		json__open_object(j);
		json__member(j, hex, "vaddr", gap->start);
		json__member(j, unsigned, "size", gap->end - gap->start);
		json__close_object(j);
	}
	json__close_array(j);
}

/* Returns what --engine inline would do; NULL if that isn't requested. */
static const char *copy_text(const struct listing *l, uint32_t function)
{
	uint8_t why = COPY_OK;

	if (!l->copies)
		return NULL;
	if (function < l->copies->refusals.len)
		why = l->copies->refusals.data[function];
	return why ? copy_refusal_text[why] : "yes";
}

static bool is_refused(const char *text)
{
	return text && strcmp(text, "yes") != 0;
}

/* Returns true if nothing proves that the function's start is an entry. */
static bool is_unproved(const struct listing *l, const struct plan_function *f)
{
	const struct object *o = l->plan->objects.data[f->object].object;
	const struct frame *frame = object__frame_at(o, f->ranges[0].vaddr);

	return f->flags & FUNCTION_RANGE && frame && frame->unproved;
}

static void put_function_json(struct listing *l, const struct plan_function *f, const char *name,
			      uint64_t offset)
{
	struct json j = {.out = &l->out};

	json__open_object(&j);
	json__member(&j, string, "object", l->plan->objects.data[f->object].path);
	json__member(&j, string, "symbol", name);
	json__member(&j, unsigned, "offset", offset);
	json__member(&j, hex, "vaddr", f->ranges[0].vaddr);
	json__member(&j, unsigned, "size", plan_function__size(f));
	json__member(&j, unsigned, "sites", f->branches);
	json__member(&j, unsigned, "unreached", f->unreached);
	json__member(&j, unsigned, "unresolved", f->unresolved);
	json__member(&j, unsigned, "pointer_tails", l->pointer_tails[f - l->plan->functions.data]);
	put_gaps(l, &j, f - l->plan->functions.data);
	if (is_unproved(l, f))
		json__member(&j, bool, "entry", false);
	if (l->copies)
		json__member(&j, string, "copy", copy_text(l, f - l->plan->functions.data));
	json__close_object(&j);
	str__putc(&l->out, '\n');
}

/* Returns the first undecoded place that control reaches in the function; NULL if there is none. */
static const struct plan_place *undecoded_in(const struct plan *p, uint32_t function)
{
	const struct plan_place *at;

	vec__each (at, &p->undecoded)
		if (plan__function_at(p, at->object, at->vaddr) == function)
			return at;
	return NULL;
}

static void put_unreached(struct listing *l, const struct plan_function *f)
{
	const struct plan_place *at;
	uint64_t offset = 0;

	if (!f->unreached)
		return;
	str__printf(&l->out, "  (%llu bytes not decoded", (unsigned long long)f->unreached);
	at = undecoded_in(l->plan, f - l->plan->functions.data);
	if (at && plan__name_at(l->plan, f - l->plan->functions.data, at->vaddr, &offset))
		str__printf(&l->out, ", from +0x%llx on", (unsigned long long)offset);
	str__putc(&l->out, ')');
}

static void put_function(struct listing *l, const struct plan_function *f)
{
	uint64_t offset = 0, vaddr = f->ranges[0].vaddr;
	const char *name = plan__name_at(l->plan, f - l->plan->functions.data, vaddr, &offset);
	const char *copy;

	if (l->json) {
		put_function_json(l, f, name, offset);
		return;
	}
	str__printf(&l->out, "%#18llx %8llu %6u  ", (unsigned long long)vaddr,
		    (unsigned long long)plan_function__size(f), f->branches);
	str__shown(&l->out, name);
	if (offset)
		str__printf(&l->out, "+0x%llx", (unsigned long long)offset);
	if (f->skipped || f->unresolved)
		str__printf(&l->out, "  (%u not to be probed, %u indirect jumps not resolved)",
			    f->skipped, f->unresolved);
	put_unreached(l, f);
	if (is_unproved(l, f))
		str__puts(&l->out, "  (no entry: nothing known calls it)");
	copy = copy_text(l, f - l->plan->functions.data);
	if (is_refused(copy))
		str__printf(&l->out, "  (no copy: %s)", copy);
	str__putc(&l->out, '\n');
}

/* True if no function is named, or '*'. */
static bool lists_all(const struct request *req)
{
	const char *last = req->operands.data[req->operands.len - 1];

	return !req->what.exported &&
	       (req->operands.len == 1 || (req->operands.len == 2 && !strcmp(last, "*")));
}

static void put_unknown_json(struct listing *l, const struct object *o,
			     const unknown_code_vec *found)
{
	const struct unknown_code *c;

	vec__each (c, found) {
		struct json j = {.out = &l->out};

		json__open_object(&j);
		json__member(&j, string, "object", o->path);
		json__member(&j, string, "section", c->section);
		json__member(&j, unsigned, "unknown_code", c->bytes);
		json__member(&j, unsigned, "all_code", c->size);
		json__close_object(&j);
		str__putc(&l->out, '\n');
	}
}

/* Code that belongs to no known function. */
static void put_unknown(struct listing *l)
{
	const struct plan_object *o;

	if (!lists_all(l->request))
		return;
	vec__each (o, &l->plan->objects) {
		unknown_code_vec found = {0};

		object__unknown_code(o->object, &found);
		announce__unknown_code(o->object, &found);
		if (l->json)
			put_unknown_json(l, o->object, &found);
		vec__free(&found);
	}
	put_out(l);
}

static void put_functions(struct listing *l)
{
	const struct plan_function *f;

	index_gaps(l);
	if (!l->json)
		str__printf(&l->out, "%18s %8s %6s  function\n", "address", "size", "sites");
	vec__each (f, &l->plan->functions) {
		if (f->flags & FUNCTION_HELPER)
			continue;
		put_function(l, f);
		put_out(l);
	}
	put_unknown(l);
}

/* ---- sites ---- */

/* Returns the name of a direct branch's target, as requested, else by the symbol table; NULL if
 * there is none. */
static const char *target_name(const struct listing *l, const struct plan_site *s, uint64_t *offset)
{
	uint32_t f = plan__function_at(l->plan, s->object, s->target);
	const char *name = f == NO_FUNCTION ? NULL : plan__name_at(l->plan, f, s->target, offset);
	const struct symbol *symbol;

	if (name)
		return name;
	symbol = object__symbol_at(l->plan->objects.data[s->object].object, s->target);
	if (!symbol)
		return NULL;
	*offset = s->target - symbol->vaddr;
	return symbol->shown;
}

static void put_target_json(const struct listing *l, struct json *j, const struct plan_site *s)
{
	uint64_t offset = 0;
	const char *name = target_name(l, s, &offset);

	json__key(j, "to");
	json__open_object(j);
	json__member(j, string, "object", l->plan->objects.data[s->object].path);
	json__member(j, string, "symbol", name);
	if (name)
		json__member(j, unsigned, "offset", offset);
	json__member(j, hex, "vaddr", s->target);
	json__close_object(j);
}

static void put_target(struct listing *l, const struct plan_site *s)
{
	uint64_t offset = 0;
	const char *name = target_name(l, s, &offset);

	str__puts(&l->out, " -> ");
	if (name) {
		str__shown(&l->out, name);
		if (offset)
			str__printf(&l->out, "+0x%llx", (unsigned long long)offset);
	} else {
		str__hex(&l->out, s->target);
	}
}

static const char *probe_text(const struct plan_site *s)
{
	return s->refusal == PROBE_OK ? "yes" : probe_refusal_text[s->refusal];
}

static void put_proved_json(const struct listing *l, struct json *j, const struct plan_site *s,
			    bool taken)
{
	autofree struct str text = {0};

	if (!plan__condition(l->plan, s - l->plan->sites.data, taken, &text))
		return;
	json__name(j, taken ? "if_taken" : "if_not_taken");
	json__string(j, text.data);
}

static void put_site_json(struct listing *l, const struct plan_site *s, const char *name,
			  uint64_t offset)
{
	struct json j = {.out = &l->out};

	json__open_object(&j);
	json__member(&j, string, "object", l->plan->objects.data[s->object].path);
	json__member(&j, string, "symbol", name);
	json__member(&j, unsigned, "offset", offset);
	json__member(&j, hex, "vaddr", s->vaddr);
	src__put_json(&j, l->plan, s->object, s->vaddr);
	json__member(&j, string, "kind", branch_kind_names[s->kind]);
	json__member(&j, string, "insn", s->mnemonic);
	if (s->target)
		put_target_json(l, &j, s);
	if (s->compare)
		json__member(&j, string, "compare", s->compare);
	put_proved_json(l, &j, s, true);
	put_proved_json(l, &j, s, false);
	json__member(&j, string, "probe", probe_text(s));
	if (l->copies)
		json__member(&j, string, "copy", copy_text(l, s->function));
	json__close_object(&j);
	str__putc(&l->out, '\n');
}

static void put_instruction(struct listing *l, const struct plan_site *s)
{
	size_t avail = 0;
	const struct object *o = l->plan->objects.data[s->object].object;
	const uint8_t *bytes = object__bytes(o, s->vaddr, &avail);
	char text[128];

	if (bytes && l->plan->arch->format(bytes, min_of(avail, (size_t)s->len),
					   object__code_address(o, s->vaddr), text, sizeof(text)))
		str__printf(&l->out, "%-40s", text);
	else
		str__printf(&l->out, "%-40s", s->mnemonic);
}

static void put_site(struct listing *l, uint32_t id)
{
	const struct plan_site *s = &l->plan->sites.data[id];
	uint64_t offset = 0;
	const char *name = plan__name_at(l->plan, s->function, s->vaddr, &offset);

	if (l->json) {
		put_site_json(l, s, name, offset);
		return;
	}
	str__printf(&l->out, "%#18llx  ", (unsigned long long)s->vaddr);
	str__shown(&l->out, name ? name : "?");
	str__printf(&l->out, "+0x%llx\t%-5s ", (unsigned long long)offset,
		    branch_kind_names[s->kind]);
	put_instruction(l, s);
	if (s->target)
		put_target(l, s);
	if (s->refusal != PROBE_OK)
		str__printf(&l->out, "  [no probe: %s]", probe_text(s));
	if (is_refused(copy_text(l, s->function)))
		str__printf(&l->out, "  [no copy: %s]", copy_text(l, s->function));
	str__putc(&l->out, '\n');
}

static bool is_shown(const struct listing *l, const struct plan_site *s)
{
	return s->kind != BRANCH_NONE &&
	       !(l->plan->functions.data[s->function].flags & FUNCTION_HELPER);
}

static void put_sites(struct listing *l)
{
	const uint32_t *id;

	vec__each (id, &l->plan->sites_by_address) {
		if (!is_shown(l, &l->plan->sites.data[*id]))
			continue;
		put_site(l, *id);
		put_out(l);
	}
}

/* ---- points ---- */

/* Fails for a path that can't be a line of a points file because it has control characters. */
static int check_points(const struct plan *p)
{
	const struct plan_object *o;
	const char *c;

	vec__each (o, &p->objects)
		for (c = o->path; *c; c++)
			if ((unsigned char)*c < ' ' || *c == 0x7f)
				return err__set(EINVAL,
						"%s: a points file can't hold a path with control "
						"characters: copy the file, or link to it",
						o->path);
	return 0;
}

static void put_points(struct listing *l)
{
	uint32_t object = UINT32_MAX;
	const uint32_t *id;

	vec__each (id, &l->plan->sites_by_address) {
		const struct plan_site *s = &l->plan->sites.data[*id];

		if (!is_shown(l, s))
			continue;
		if (s->object != object)
			str__printf(&l->out, "# objname=%s\n",
				    l->plan->objects.data[s->object].path);
		object = s->object;
		str__printf(&l->out, "0x%llx+0x%x\n", (unsigned long long)s->vaddr, s->len);
		put_out(l);
	}
}

/* ---- code ---- */

static uint64_t code_size(const function_vec *functions)
{
	const struct function *f;
	const struct range *r;
	uint64_t size = 0;

	vec__each (f, functions)
		vec__each (r, &f->ranges)
			size += r->size;
	return size;
}

/* Fails if the code is too large for a graph, whose code is followed at once. */
static int check_graph(const function_vec *functions)
{
	uint64_t size = code_size(functions);

	if (size <= BATCH)
		return 0;
	return err__set(E2BIG,
			"%.1f MB of code are too much for -F dot, which shows at most %u MB: name "
			"fewer functions, or use -F annotate",
			size / (double)(1 << 20), BATCH >> 20);
}

/* Shows the code as a trace does, without counts. */
static int put_code(const struct request *req, struct plan *plan)
{
	const struct trace_totals none = {0};
	struct trace_meta meta = {0};
	CLEANUP(render__close) struct render r = {0};
	int err = sink__open(&r.sink, NULL, NULL);

	if (err)
		return err;
	if (req->show.format->wants.lines && !req->show.no_src)
		plan__lines(plan);
	err = render__start(&r, req, plan, &meta, 0);
	return err ? err : output__end(r.output, &none);
}

static int put_listing(struct listing *l)
{
	(l->request->list.points  ? put_points
	 : l->request->list.sites ? put_sites
				  : put_functions)(l);
	return 0;
}

static void free_listing(struct listing *l)
{
	str__free(&l->out);
	free(l->gaps);
	free(l->gaps_from);
	free(l->pointer_tails);
	copies__free(l->copies);
}

static void on_followed(void *progress, uint64_t instructions)
{
	progress__add(progress, instructions);
}

/* All functions of the kernel, or of a compiler, take seconds. */
static int build(const function_vec *functions, struct plan_options *o, struct plan **plan)
{
	struct progress progress;
	int err;

	progress__work(&progress, note__level() == NOTE_NORMAL, "decoding",
		       planning__instructions(functions));
	o->followed = on_followed;
	o->followed_ctx = &progress;
	err = plan__build(functions, o, plan);
	progress__end(&progress);
	return err;
}

static int list(const struct request *req)
{
	CLEANUP(targets__free) struct targets targets = {0};
	CLEANUP(plan__free_at) struct plan *plan = NULL;
	CLEANUP(free_listing) struct listing l = {.request = req};
	struct plan_options o = {.events = PLAN_BRANCH, .batch = BATCH};
	const struct log_options log = {0};
	int err = targets__find(
		&targets, req, req->who.filters.pids.len ? (pid_t)req->who.filters.pids.data[0] : 0,
		true);

	if (err)
		return err;
	if (list_names__are_wanted(req))
		return list_names__put(&targets);
	if (output__form(req->show.format) == FORM_GRAPH) {
		err = check_graph(&targets.functions);
		o.batch = UINT64_MAX;
	}
	if (err)
		return err;
	if (req->how.engine != ENGINE_PROBE) /* as in a trace of all events */
		o = (struct plan_options){.events = PLAN_ENTRY | PLAN_BRANCH | PLAN_RETURN};
	if (req->how.engine != ENGINE_PROBE && targets.kernel)
		return err__usage("--engine inline is for programs and libraries");
	o.kernel_object = targets.kernel;
	l.json = output__form(req->show.format) == FORM_JSON;
	l.hide_addresses = targets.kernel && request__hides_addresses(req);
	err = build(&targets.functions, &o, &plan);
	if (err)
		return err;
	err = req->list.points ? check_points(plan) : 0;
	if (err)
		return err;
	l.plan = plan;
	if (req->list.arguments)
		return list_names__put_arguments(req, plan);
	if (req->how.engine != ENGINE_PROBE)
		copies__make(plan, &log, &l.copies);
	if (l.json && req->list.sites && !req->show.no_src)
		requirements__read_source(&(struct output_wants){.lines = true, .scopes = true},
					  plan);
	return req->show.format && output__shows_code(req->show.format) ? put_code(req, plan)
									: put_listing(&l);
}

/* ---- options ---- */

static const struct option_row option_rows[] = {
	{"events", 0, NULL, VERB_LIST, SWITCH(list.events),
	 "list tracepoints of the kernel, or static probes of a program, with their fields"},
	{"sites", 0, NULL, VERB_LIST, SWITCH(list.sites), "list each branch site"},
	{"arguments", 0, NULL, VERB_LIST, SWITCH(list.arguments),
	 "list the names that --if takes for these functions, with their types"},
	{"points", 0, NULL, VERB_LIST, SWITCH(list.points),
	 "write a points file, for bbtrace user OBJECT @FILE"},
};

const struct option_group options_list = {"Of bbtrace list", option_rows, ARRAY_SIZE(option_rows)};

int list__check(struct request *req)
{
	if (!req->operands.len)
		return err__set(
			EINVAL,
			"no object to list: bbtrace list OBJECT, a program, a library, or kernel; "
			"bbtrace list --events kernel shows tracepoints");
	if (req->list.events && (req->list.sites || req->list.points || req->what.exclude.len ||
				 req->what.exported || req->how.engine != ENGINE_PROBE ||
				 (req->show.format && output__shows_code(req->show.format))))
		return err__set(EINVAL,
				"--events lists events, as text or json: no --sites, --points, "
				"--exclude, --exported, --engine and no code");
	if (req->list.arguments && (req->list.sites || req->list.points || req->list.events ||
				    req->what.exported || req->how.engine != ENGINE_PROBE ||
				    (req->show.format && output__shows_code(req->show.format))))
		return err__set(EINVAL,
				"--arguments lists names and types, as text or json: no "
				"--sites, --points, --events, --exported, --engine and no code");
	if (req->list.points && (req->list.sites || req->show.format))
		return err__set(EINVAL, "--points writes a points file: no -F and no --sites");
	if (req->how.engine != ENGINE_PROBE &&
	    (req->list.points || (req->show.format && output__shows_code(req->show.format))))
		return err__set(EINVAL, "--engine inline lists which functions are copied: as text "
					"or json, with or without --sites");
	if (req->list.sites && req->show.format && output__shows_code(req->show.format))
		return err__set(EINVAL,
				"--sites lists branches as text or json; -F %s shows the code",
				req->show.format->name);
	return 0;
}

int list__run(const struct request *req)
{
	return req->list.events ? named_events__list(req) : list(req);
}

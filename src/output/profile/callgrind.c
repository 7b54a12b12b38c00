// SPDX-License-Identifier: BSD-2-Clause
/*
 * The callgrind format (valgrind's manual, "Callgrind Format Specification"), for KCachegrind and
 * callgrind_annotate. A function's own time is attributed to the branches that end each interval,
 * and the time of calls of untraced code to these calls. The rest, and the cost of calls without a
 * known site, is attributed to its first instruction. Jumps are direct and indirect ones within and
 * between functions of the plan.
 */
#include "output/base/fields.h"
#include "output/stats/stats.h"

struct callgrind {
	struct stats stats;
	const struct output *o;
	struct str *s;
	size_t file;			   /* the current source file, or NO_FILE */
	uint64_t ns, branches, off;	   /* of all cost lines so far */
	bool has_off;			   /* times on no CPU are known (-e sched) */
	bool *objects, *files, *functions; /* by index: its name was written */
};

/* Writes an id, and the name at its first use. The names can't be listed first, since
 * callgrind_annotate starts a function at fl and fn. */
static void put_name(struct str *s, const char *key, size_t id, const char *name, bool *said)
{
	str__printf(s, "%s=(%zu)", key, id);
	if (!*said) {
		str__putc(s, ' ');
		str__shown(s, name);
		*said = true;
	}
	str__putc(s, '\n');
}

static void put_object(struct callgrind *c, const char *key, uint32_t object)
{
	put_name(c->s, key, object + 1, c->stats.plan->objects.data[object].path,
		 &c->objects[object]);
}

/* Functions are identified by index: several may have the same name. */
static void put_function_name(struct callgrind *c, const char *key, uint32_t function)
{
	put_name(c->s, key, function + 1, c->stats.plan->functions.data[function].name,
		 &c->functions[function]);
}

#define NO_FILE 0 /* "???": 1 stands for plan->line_files.data[0] */

static void put_file(struct callgrind *c, const char *key, size_t file)
{
	put_name(c->s, key, file + 1,
		 file == NO_FILE ? "???" : c->stats.plan->line_files.data[file - 1],
		 &c->files[file]);
}

static size_t file_of(const struct callgrind *c, uint32_t object, uint64_t vaddr)
{
	const struct plan_line *l = plan__line_at(c->stats.plan, object, vaddr);

	return l ? l->file + 1 : NO_FILE;
}

/* Positions are an address and a line, 0 if unknown. */
static void put_position(struct callgrind *c, uint32_t object, uint64_t vaddr)
{
	const struct plan_line *l = plan__line_at(c->stats.plan, object, vaddr);

	str__hex(c->s, address__shown(c->o, object, vaddr));
	str__printf(c->s, " %u", l ? l->line : 0);
}

/* Switches to the source file of this address, which differs from the function's for inlined
 * code. */
static void enter_file(struct callgrind *c, uint32_t object, uint64_t vaddr)
{
	size_t file = file_of(c, object, vaddr);

	if (file != c->file)
		put_file(c, "fi", file);
	c->file = file;
}

struct cost {
	uint64_t ns, branches, off;
};

static void put_costs(struct callgrind *c, const struct cost *cost)
{
	str__printf(c->s, " %llu %llu", (unsigned long long)cost->ns,
		    (unsigned long long)cost->branches);
	if (c->has_off)
		str__printf(c->s, " %llu", (unsigned long long)cost->off);
	str__putc(c->s, '\n');
}

static void put_cost(struct callgrind *c, uint32_t object, uint64_t vaddr, struct cost cost)
{
	put_position(c, object, vaddr);
	put_costs(c, &cost);
}

/* Puts the cost without that of calls. */
static void put_own_cost(struct callgrind *c, uint32_t object, uint64_t vaddr, struct cost cost)
{
	put_cost(c, object, vaddr, cost);
	c->ns += cost.ns;
	c->branches += cost.branches;
	c->off += cost.off;
}

static uint64_t start_of(const struct plan_function *f)
{
	return f->nranges ? f->ranges[0].vaddr : 0;
}

/* ---- header ---- */

static bool ran(const struct callgrind *c, uint32_t function)
{
	return c->stats.functions[function].calls || c->stats.functions[function].branches;
}

static void put_header(struct callgrind *c, const struct trace_totals *t)
{
	struct str note = {0};

	str__puts(c->s, "# callgrind format\nversion: 1\ncreator: bbtrace " BBTRACE_VERSION "\n");
	if (stats__missing(&c->stats, t, &note))
		str__printf(c->s, "desc: Missing: %s\n", note.data);
	str__clear(&note);
	if (totals__tracing(t, &note))
		str__printf(c->s, "desc: Times include: %s\n", note.data);
	str__free(&note);
	str__puts(c->s, "positions: instr line\n"
			"event: Ns : Nanoseconds\n"
			"event: Branches : Branches executed\n");
	if (c->has_off)
		str__puts(c->s, "event: OffNs : Nanoseconds of these on no CPU\n");
	str__printf(c->s, "events: Ns Branches%s\n", c->has_off ? " OffNs" : "");
}

/* ---- a function's branches ---- */

static uint64_t executed(const struct stats_site *s)
{
	return s->taken + s->not_taken;
}

/* Returns the block of the plan that starts there, in any object; NO_BLOCK if none does. */
static uint32_t block_at(const struct plan *plan, const struct location *at)
{
	for (size_t i = 0; at->object && i < plan->objects.len; i++)
		if (!strcmp(plan->objects.data[i].path, at->object))
			return plan__block_at(plan, i, at->vaddr);
	return NO_BLOCK;
}

static void put_jump(struct callgrind *c, const struct plan_site *from, uint32_t block,
		     uint64_t vaddr, uint64_t taken, uint64_t of)
{
	const struct plan_block *b;
	size_t file;

	if (!taken || block == NO_BLOCK)
		return;
	b = &c->stats.plan->blocks.data[block];
	if (!ran(c, b->function))
		return;
	file = file_of(c, b->object, vaddr);
	if (file != c->file)
		put_file(c, "jfi", file);
	if (b->function != from->function)
		put_function_name(c, "jfn", b->function);
	str__printf(c->s, of ? "jcnd=%llu/%llu " : "jump=%llu ", (unsigned long long)taken,
		    (unsigned long long)of);
	put_position(c, b->object, vaddr);
	str__putc(c->s, '\n');
	put_position(c, from->object, from->vaddr);
	str__putc(c->s, '\n');
}

static void put_jumps(struct callgrind *c, const struct plan_site *site,
		      const struct stats_site *ps)
{
	const struct plan *plan = c->stats.plan;
	const struct stats_target *t;
	uint32_t block = plan->blocks.data[site->block].taken;

	switch (site->kind) {
	case BRANCH_JCC:
	case BRANCH_LOOP:
		return put_jump(c, site, block, site->target, ps->taken, executed(ps));
	case BRANCH_JMP:
		return put_jump(c, site, block, site->target, ps->taken, 0);
	case BRANCH_IJMP:
		vec__each (t, &ps->targets)
			put_jump(c, site, block_at(plan, &t->to), t->to.vaddr, t->count, 0);
		return;
	}
}

static void put_branches(struct callgrind *c, uint32_t site)
{
	const struct plan_site *s = &c->stats.plan->sites.data[site];
	const struct stats_site *ps = &c->stats.sites[site];

	if (!executed(ps) && !ps->ns)
		return;
	enter_file(c, s->object, s->vaddr);
	put_own_cost(c, s->object, s->vaddr, (struct cost){ps->ns, executed(ps), 0});
	put_jumps(c, s, ps);
}

/* ---- a function's calls ---- */

static void put_call(struct callgrind *c, const struct stats_call *call)
{
	const struct plan *plan = c->stats.plan;
	const struct plan_function *caller = &plan->functions.data[call->caller],
				   *callee = &plan->functions.data[call->callee];
	uint64_t from =
		call->site == NO_SITE ? start_of(caller) : plan->sites.data[call->site].vaddr;

	enter_file(c, caller->object, from);
	put_object(c, "cob", callee->object);
	put_file(c, "cfi", file_of(c, callee->object, start_of(callee)));
	put_function_name(c, "cfn", call->callee);
	str__printf(c->s, "calls=%llu ", (unsigned long long)call->calls);
	put_position(c, callee->object, start_of(callee));
	str__putc(c->s, '\n');
	put_cost(c, caller->object, from, (struct cost){call->ns, call->branches, call->off});
}

/* ---- indices by function ---- */

struct by_function {
	uint32_t *next;	 /* of each element: the next one of the same function */
	uint32_t *first; /* of each function */
};
#define NONE UINT32_MAX

static void by_function__init(struct by_function *b, size_t functions, size_t elements)
{
	b->first = xcalloc(functions, sizeof(*b->first));
	b->next = xcalloc(elements, sizeof(*b->next));
	memset(b->first, 0xff, functions * sizeof(*b->first));
}

/* Called from last to first, so that the lists are in order. */
static void by_function__add(struct by_function *b, uint32_t function, uint32_t element)
{
	b->next[element] = b->first[function];
	b->first[function] = element;
}

static void by_function__free(struct by_function *b)
{
	free(b->first);
	free(b->next);
}

/* ---- the whole ---- */

static void put_function(struct callgrind *c, uint32_t i, const struct by_function *sites,
			 const struct by_function *calls)
{
	const struct plan_function *f = &c->stats.plan->functions.data[i];
	uint64_t rest = c->stats.functions[i].self;

	str__putc(c->s, '\n');
	put_object(c, "ob", f->object);
	c->file = file_of(c, f->object, start_of(f));
	put_file(c, "fl", c->file);
	put_function_name(c, "fn", i);
	for (uint32_t s = sites->first[i]; s != NONE; s = sites->next[s])
		rest -= min_of(rest, c->stats.sites[s].ns);
	put_own_cost(c, f->object, start_of(f),
		     (struct cost){rest, 0, c->stats.functions[i].self_off});
	for (uint32_t s = sites->first[i]; s != NONE; s = sites->next[s])
		put_branches(c, s);
	for (uint32_t e = calls->first[i]; e != NONE; e = calls->next[e])
		put_call(c, &c->stats.calls.data[e]);
}

static int put_functions(struct output *o, struct callgrind *c)
{
	const struct plan *plan = c->stats.plan;
	struct by_function sites, calls;
	int err = 0;

	by_function__init(&sites, plan->functions.len, plan->sites.len);
	by_function__init(&calls, plan->functions.len, c->stats.calls.len);
	for (size_t i = plan->sites.len; i-- > 0;)
		by_function__add(&sites, plan->sites.data[i].function, i);
	for (size_t i = c->stats.calls.len; i-- > 0;)
		by_function__add(&calls, c->stats.calls.data[i].caller, i);
	for (size_t i = 0; !err && i < plan->functions.len; i++) {
		if (ran(c, i))
			put_function(c, i, &sites, &calls);
		err = aggregate__flush_full(o);
	}
	by_function__free(&sites);
	by_function__free(&calls);
	return err;
}

static int callgrind__begin(struct output *o)
{
	struct callgrind *c = o->state;

	aggregate__begin(o);
	c->stats.by_site = true;
	return 0;
}

static int callgrind__end(struct output *o, const struct trace_totals *t)
{
	struct callgrind *c = o->state;
	int err;

	c->o = o;
	c->s = &o->buffer;
	c->objects = xcalloc(o->plan->objects.len, sizeof(bool));
	c->files = xcalloc(o->plan->line_files.len + 1, sizeof(bool));
	c->functions = xcalloc(o->plan->functions.len, sizeof(bool));
	stats__end(&c->stats);
	for (size_t i = 0; i < o->plan->functions.len; i++)
		c->has_off |= c->stats.functions[i].net.off_calls;
	put_header(c, t);
	err = put_functions(o, c);
	str__puts(c->s, "\ntotals:");
	put_costs(c, &(struct cost){c->ns, c->branches, c->off});
	free(c->objects);
	free(c->files);
	free(c->functions);
	return err;
}

const struct output_format output_callgrind = {
	.name = "callgrind",
	.wants = {.events = OUTPUT_STEPS, .branch_times = true, .durations = true, .lines = true},
	.suffixes = ".callgrind",
	.help = "for KCachegrind and callgrind_annotate, with jumps",
	.size = sizeof(struct callgrind),
	.at_end = true,
	.begin = callgrind__begin,
	.plan_extended = aggregate__plan_extended,
	.step = aggregate__step,
	.free = aggregate__free,
	.end = callgrind__end,
};

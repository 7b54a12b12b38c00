// SPDX-License-Identifier: BSD-2-Clause
/*
 * Builds the plan: one graph per object, in the order of the functions, then its blocks and sites.
 */
#include <errno.h>
#include <stdlib.h>
#include "plan/build.h"

static void add_planned(struct graph *g, struct function *f, uint32_t index)
{
	uint32_t i = graph__add_function(g, f);

	g->functions.data[i].plan = index;
}

/* ---- where a function may begin ---- */

/* Does it start at a symbol or an FDE? Then its start needs no proof. */
static bool has_own_start(const struct function *f)
{
	const struct symbol *s;
	struct function around;
	bool own;

	if (f->flags & FUNCTION_RANGE)
		return false;
	/* an offset inside of a symbol has the symbol's name, too */
	s = f->raw ? object__symbol_at(f->object, f->entry) : NULL;
	if ((s && s->vaddr == f->entry) || !function__around(f->object, f->entry, &around))
		return true;
	own = around.entry == f->entry;
	function__free(&around);
	return own;
}

static int not_a_start(uint64_t addr, uint64_t before, uint64_t after)
{
	return err__set(EINVAL,
			"address 0x%llx is not at an instruction boundary; the nearest are 0x%llx "
			"and 0x%llx",
			(unsigned long long)addr, (unsigned long long)before,
			(unsigned long long)after);
}

static struct map64 entries_of(const struct graph *g)
{
	const struct graph_function *f;
	struct map64 entries = {0};

	vec__each (f, &g->functions)
		if (!(f->f.flags & FUNCTION_RANGE))
			map64__put(&entries, f->f.entry);
	return entries;
}

/* Adds the function around a start that needs a proof: it is decoded, but gets no sites. entries:
 * the graph's functions by entry. */
static void add_around(struct graph *g, const struct function *f, struct map64 *entries)
{
	const struct range *r;
	struct function around;

	vec__each (r, &f->ranges) {
		if (!function__around(f->object, r->vaddr, &around))
			continue;
		if (map64__get(entries, around.entry)) {
			function__free(&around);
			continue;
		}
		map64__put(entries, around.entry);
		around.flags = FUNCTION_HIDDEN;
		graph__add_function(g, &around);
	}
}

/* Ends a block before the first instruction at or after addr. A range may end within an
 * instruction, which then belongs to the range. Instructions have at most 15 bytes. */
static void split_at(struct graph *g, uint64_t addr)
{
	for (unsigned at = 0; at < 15; at++) {
		uint32_t i = graph__known(g, addr + at);

		if (!i || !(g->nodes.data[i].flags & NODE_REACHED))
			continue;
		g->nodes.data[i].flags |= NODE_LEADER;
		return;
	}
}

/* Does a function, or a part of it, start at addr? Then the start needs no proof. */
static bool begins_at(const struct graph *g, uint32_t function, uint64_t addr)
{
	const struct range *r;

	vec__each (r, &g->functions.data[function].f.ranges)
		if (r->vaddr == addr && !r->offset)
			return true;
	return false;
}

/* Are there bytes in the range that flow hasn't reached and that aren't padding? */
static bool has_unreached(struct graph *g, const struct range *r)
{
	gap_vec gaps = {0};
	bool any;

	sweep__gaps(g, r->vaddr, r->vaddr + r->size, &gaps);
	any = gaps.len;
	vec__free(&gaps);
	return any;
}

/* Padding after a function is not code. */
static int prove_start(struct graph *g, const struct range *r)
{
	uint32_t around = graph__owner(g, r->vaddr), i;
	uint64_t before, after;

	if (around == NO_FUNCTION && has_unreached(g, r))
		return err__set(EINVAL, "address 0x%llx is in no function that is known",
				(unsigned long long)r->vaddr);
	if (around == NO_FUNCTION)
		return 0;
	if (!begins_at(g, around, r->vaddr) &&
	    !sweep__is_start(g, around, r->vaddr, &before, &after))
		return not_a_start(r->vaddr, before, after);
	i = graph__node(g, r->vaddr);
	if (i && !(g->nodes.data[i].flags & NODE_REACHED))
		graph__root(g, r->vaddr, NODE_UNKNOWN_SP);
	return 0;
}

static int add_inner(struct graph *g, const struct function *f, uint32_t index)
{
	const struct range *r;
	struct function copy;
	int err;

	vec__each (r, &f->ranges) {
		if (r != f->ranges.data && !(f->flags & FUNCTION_RANGE))
			break;
		err = prove_start(g, r);
		if (err)
			return err;
	}
	if (g->work.len)
		graph__follow(g);
	function__copy(&copy, f);
	add_planned(g, &copy, index);
	vec__each (r, &f->ranges) {
		split_at(g, r->vaddr);
		split_at(g, r->vaddr + r->size);
	}
	return 0;
}

/* ---- one object ---- */

static int fill_graph(struct graph *g, const function_vec *functions)
{
	const struct function *f;
	struct map64 entries;
	bool inner = false;
	int err;

	vec__each (f, functions) {
		struct function copy;

		if (f->object != g->object || !has_own_start(f))
			continue;
		function__copy(&copy, f);
		add_planned(g, &copy, f - functions->data);
	}
	entries = entries_of(g);
	vec__each (f, functions)
		if (f->object == g->object && !has_own_start(f)) {
			add_around(g, f, &entries);
			inner = true;
		}
	map64__free(&entries);
	graph__start(g);
	graph__follow(g);
	vec__each (f, functions)
		if (inner && f->object == g->object && !has_own_start(f)) {
			err = add_inner(g, f, f - functions->data);
			if (err)
				return err;
		}
	if (inner) {
		graph__start(g);
		graph__follow(g);
	}
	return 0;
}

/* ---- functions of the plan ---- */

static struct plan_data *data_of(const struct plan *p)
{
	return p->priv;
}

/* Parts without a name get the one that compilers use. */
static void name_parts(struct function *f)
{
	struct range *r;

	if (f->flags & FUNCTION_RANGE)
		return;
	vec__each (r, &f->ranges)
		if (!r->name)
			r->name = r == f->ranges.data ? xstrdup(f->name)
						      : xasprintf("%s.cold", f->name);
}

static void add_functions(struct plan *p, const function_vec *functions)
{
	for (size_t i = 0; i < functions->len; i++)
		(void)vec__add(&data_of(p)->functions);
	for (size_t i = 0; i < functions->len; i++)
		vec__add(&p->functions)->entry_site = NO_SITE;
}

/* Adds the helper functions that were found by following control flow, after the requested ones. */
static void take_functions(struct plan *p, struct graph *g, uint32_t object)
{
	struct graph_function *f;

	vec__each (f, &g->functions) {
		struct plan_function *to;

		if (f->f.flags & FUNCTION_HIDDEN)
			continue;
		if (f->plan == NO_FUNCTION) {
			f->plan = p->functions.len;
			(void)vec__add(&data_of(p)->functions);
			vec__add(&p->functions)->entry_site = NO_SITE;
		}
		name_parts(&f->f);
		function__copy(&data_of(p)->functions.data[f->plan], &f->f);
		to = &p->functions.data[f->plan];
		to->object = object;
		to->flags = f->f.flags;
		to->arguments = f->f.arguments;
		to->entry_block = NO_BLOCK;
	}
}

static void take_extents(struct plan *p, struct graph *g, uint32_t object)
{
	const struct owned_extent *extent;

	vec__each (extent, &g->extents) {
		uint32_t function = g->functions.data[extent->function].plan;

		if (function != NO_FUNCTION)
			vec__push(&p->extents, (struct plan_extent){extent->start, extent->end,
								    object, function});
	}
}

static void take_gaps(struct plan *p, uint32_t object, uint32_t function, const gap_vec *gaps)
{
	const struct gap *gap;

	vec__each (gap, gaps) {
		vec__push(&p->gaps, (struct plan_gap){gap->start, gap->end, object, function});
		p->functions.data[function].unreached += gap->end - gap->start;
	}
}

/* By extents, since ranges may nest: each byte is checked once. */
static void find_gaps(struct plan *p, struct graph *g, uint32_t object)
{
	const struct owned_extent *extent;
	gap_vec gaps = {0};

	vec__each (extent, &g->extents) {
		const struct graph_function *f = &g->functions.data[extent->function];

		if (f->plan == NO_FUNCTION || f->f.flags & FUNCTION_HELPER)
			continue;
		gaps.len = 0;
		sweep__gaps(g, extent->start, extent->end, &gaps);
		take_gaps(p, object, f->plan, &gaps);
	}
	vec__free(&gaps);
}

/* Prefix sums over the sites: branches, and those of them that are skipped. */
struct counts {
	uint32_t branches, skipped;
};

static struct counts *count_sites(const struct plan *p)
{
	struct counts *upto = xcalloc(p->sites.len + 1, sizeof(*upto));

	for (size_t i = 0; i < p->sites.len; i++) {
		const struct plan_site *s = &p->sites.data[i];
		bool branch = s->kind || s->refusal == PROBE_UNSUPPORTED;

		upto[i + 1].branches = upto[i].branches + branch;
		upto[i + 1].skipped =
			upto[i].skipped + (branch && s->probe == PROBE_NONE && s->refusal);
	}
	return upto;
}

/* The first site of the object at or after vaddr. */
static size_t first_site(const struct plan *p, uint32_t object, uint64_t vaddr)
{
	size_t low = 0, high = p->sites.len;

	while (low < high) {
		size_t mid = (low + high) / 2;
		const struct plan_site *s = &p->sites.data[mid];

		if (s->object < object || (s->object == object && s->vaddr < vaddr))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Counts the branches in a range, of whichever function. */
static void count_range(const struct plan *p, const struct counts *upto, struct plan_function *f)
{
	f->branches = f->skipped = 0;
	for (size_t i = 0; i < f->nranges; i++) {
		const struct range *r = &f->ranges[i];
		size_t from = first_site(p, f->object, r->vaddr);
		size_t to = first_site(p, f->object, r->vaddr + r->size);

		f->branches += upto[to].branches - upto[from].branches;
		f->skipped += upto[to].skipped - upto[from].skipped;
	}
}

static void point_to_data(struct plan *p)
{
	struct counts *upto = count_sites(p);

	for (size_t i = 0; i < p->functions.len; i++) {
		struct plan_function *f = &p->functions.data[i];
		const struct function *data = &data_of(p)->functions.data[i];

		f->name = data->name;
		f->raw = data->raw;
		f->ranges = data->ranges.data;
		f->nranges = data->ranges.len;
		if (f->flags & FUNCTION_RANGE)
			count_range(p, upto, f);
	}
	free(upto);
}

static void free_graph(struct graph **g)
{
	graph__free(*g);
}

static int add_object(struct plan *p, const function_vec *functions, const struct object *o,
		      const struct plan_options *options)
{
	struct plan_object *po = vec__add(&p->objects);
	uint32_t index = p->objects.len - 1;
	bool kernel = object__is_kernel(o);
	CLEANUP(free_graph) struct graph *g = graph__new(o, options->kernel_object, kernel);
	int err = fill_graph(g, functions);

	if (err)
		return err;
	po->object = o;
	po->path = o->path;
	po->machine = o->machine;
	po->kernel = kernel;
	po->module = o->kind == OBJECT_MODULE;
	if (options->events & PLAN_RETURN && !options->return_probes && !g->kernel)
		helpers__add(g);
	guard__mark(g);
	take_functions(p, g, index);
	plan__emit(p, index, g, options);
	take_extents(p, g, index);
	find_gaps(p, g, index);
	return 0;
}

static bool has_kind(const struct plan *p, bool kernel)
{
	const struct plan_object *o;

	vec__each (o, &p->objects)
		if (o->kernel == kernel)
			return true;
	return false;
}

bool plan__has_kernel(const struct plan *p)
{
	return has_kind(p, true);
}

bool plan__has_programs(const struct plan *p)
{
	return has_kind(p, false);
}

static bool has_object(const struct plan *p, const struct object *o)
{
	const struct plan_object *po;

	vec__each (po, &p->objects)
		if (po->object == o)
			return true;
	return false;
}

static int check_arch(struct plan *p, const function_vec *functions)
{
	const struct function *f;

	vec__each (f, functions) {
		const struct arch *arch = arch__by_machine(f->object->machine);

		if (!arch)
			return err__set(ENOEXEC,
					"%s is of an architecture that bbtrace doesn't know",
					f->object->path);
		if (p->arch && p->arch != arch)
			return err__set(
				EINVAL,
				"%s is for another architecture than the objects before it; trace them one "
				"at a time",
				f->object->path);
		p->arch = arch;
	}
	return 0;
}

static int fill_plan(struct plan *p, const function_vec *functions,
		     const struct plan_options *options)
{
	const struct function *f;
	int err;

	add_functions(p, functions);
	vec__each (f, functions)
		if (!has_object(p, f->object)) {
			err = add_object(p, functions, f->object, options);
			if (err)
				return err;
		}
	plan__index(p);
	placement__place(p, options); /* appends witnesses */
	point_to_data(p);
	plan__index(p);
	if (p->sites.len > PLAN_MAX_SITES)
		return err__set(
			E2BIG,
			"%zu branches are more than the %u that can be traced at once; name fewer "
			"functions",
			p->sites.len, PLAN_MAX_SITES);
	if (!p->probes)
		return plan__nothing(p);
	return 0;
}

static void free_functions(function_vec *v)
{
	struct function *f;

	vec__each (f, v)
		function__free(f);
	vec__free(v);
}

static int build(struct plan *p, const function_vec *functions, const struct plan_options *options)
{
	CLEANUP(free_functions) function_vec expanded = {0};
	int err = check_arch(p, functions);

	if (err)
		return err;
	err = ifunc__replace(functions, options->kernel_object, &expanded, &p->ifunc_unknown);
	return err ? err : fill_plan(p, &expanded, options);
}

int plan__build(const function_vec *functions, const struct plan_options *options,
		struct plan **out)
{
	struct plan *p = xcalloc(1, sizeof(*p));
	int err;

	p->priv = xcalloc(1, sizeof(struct plan_data));
	p->return_probes = options->return_probes;
	for (size_t i = 0; i < options->nstubs; i++)
		vec__push(&p->stubs, options->stubs[i]);
	err = build(p, functions, options);
	if (err) {
		plan__free(p);
		p = NULL;
	}
	*out = p;
	return err;
}

void plan__free_tables(struct plan *p)
{
	char **name;

	vec__free(&p->objects);
	vec__free(&p->functions);
	vec__free(&p->sites);
	vec__free(&p->sites_by_address);
	vec__free(&p->blocks_by_address);
	vec__free(&p->blocks);
	vec__free(&p->table);
	vec__free(&p->stubs);
	vec__free(&p->extents);
	vec__free(&p->gaps);
	vec__free(&p->lines);
	vec__each (name, &p->line_files)
		free(*name);
	vec__free(&p->line_files);
}

void plan__free(struct plan *p)
{
	struct function *f;

	if (!p)
		return;
	if (p->priv) {
		vec__each (f, &data_of(p)->functions)
			function__free(f);
		vec__free(&data_of(p)->functions);
		free(p->priv);
	}
	plan__free_tables(p);
	free(p);
}

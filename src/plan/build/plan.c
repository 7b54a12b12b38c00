// SPDX-License-Identifier: BSD-2-Clause
/*
 * Builds the plan: one graph per object, in the order of the functions, then its blocks and sites.
 */
#include <errno.h>
#include <stdlib.h>
#include "object/tables/tables.h"
#include "plan/plan_private.h"

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

/* Numbers the helper functions that control flow led to, after the requested ones. */
static void number_functions(struct plan *p, struct graph *g, uint32_t object)
{
	for (uint32_t i = 0; i < g->functions.len; i++) {
		struct graph_function *f = &g->functions.data[i];
		struct plan_function *to;

		if (f->f.flags & FUNCTION_HIDDEN || !graph__in_batch(g, i))
			continue;
		if (f->plan == NO_FUNCTION) {
			f->plan = p->functions.len;
			(void)vec__add(&data_of(p)->functions);
			vec__add(&p->functions)->entry_site = NO_SITE;
		}
		to = &p->functions.data[f->plan];
		to->object = object;
		to->flags = f->f.flags;
		if (f->f.object && object__is_final(f->f.object, f->f.entry))
			to->flags |= FUNCTION_FINAL;
		if (f->f.object && f->f.object->main == f->f.entry && f->f.entry)
			to->flags |= FUNCTION_MAIN;
		to->arguments = f->f.arguments;
		to->entry_block = NO_BLOCK;
	}
}

/* Moves names and ranges from the graph to the plan. */
static void take_functions(struct plan *p, struct graph *g)
{
	struct graph_function *f;

	vec__each (f, &g->functions) {
		if (f->plan == NO_FUNCTION)
			continue;
		name_parts(&f->f);
		data_of(p)->functions.data[f->plan] = f->f;
		memset(&f->f, 0, sizeof(f->f));
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

		if (f->plan == NO_FUNCTION || f->f.flags & FUNCTION_HELPER ||
		    !graph__in_batch(g, extent->function))
			continue;
		gaps.len = 0;
		sweep__gaps(g, extent->start, extent->end, &gaps);
		take_gaps(p, object, f->plan, &gaps);
	}
	vec__free(&gaps);
}

/* Prefix sums over sites_by_address: of branches, and of skipped branches. */
struct counts {
	uint32_t branches, skipped;
};

static struct counts *count_sites(const struct plan *p)
{
	struct counts *upto = xcalloc(p->sites_by_address.len + 1, sizeof(*upto));

	for (size_t i = 0; i < p->sites_by_address.len; i++) {
		const struct plan_site *s = &p->sites.data[p->sites_by_address.data[i]];
		bool branch = s->kind || s->refusal == PROBE_UNSUPPORTED;
		bool skipped = p->placement == PLACEMENT_COUNT
				       ? s->unsolved
				       : s->probe == PROBE_NONE && s->refusal;

		upto[i + 1].branches = upto[i].branches + branch;
		upto[i + 1].skipped = upto[i].skipped + (branch && skipped);
	}
	return upto;
}

/* Counts the branches in a range, of whichever function. */
static void count_range(const struct plan *p, const struct counts *upto, struct plan_function *f)
{
	f->branches = f->skipped = 0;
	for (size_t i = 0; i < f->nranges; i++) {
		const struct range *r = &f->ranges[i];
		size_t from = plan__sites_from(p, f->object, r->vaddr);
		size_t to = plan__sites_from(p, f->object, r->vaddr + r->size);

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

/* Follows a batch of functions, and adds their blocks, sites and gaps. */
static int add_batch(struct plan *p, struct following *w, uint32_t batch, uint32_t object,
		     const struct plan_options *options)
{
	int err = following__follow(w, batch);

	if (err)
		return err;
	if (options->events & PLAN_RETURN && !options->return_probes && !w->g->kernel)
		helpers__add(w->g);
	guard__mark(w->g);
	exclusive__mark(w->g);
	number_functions(p, w->g, object);
	plan__emit(p, object, w->g, options);
	find_gaps(p, w->g, object);
	plan__take_undecoded(p, w->g, object);
	return 0;
}

static int add_batches(struct plan *p, struct following *w, uint32_t object,
		       const struct plan_options *options)
{
	size_t first = p->blocks.len;
	int err = 0;

	for (uint32_t i = 0; !err && i < w->batches; i++) {
		err = add_batch(p, w, i, object, options);
		if (!err && w->batches > 1 && i + 1 == w->batches)
			batches__reopen(p, w);
	}
	if (w->batches > 1)
		batches__drop_edges(p, first);
	graph__index_ranges(w->g);
	return err;
}

static int add_object(struct plan *p, const function_vec *functions, const struct object *o,
		      const struct plan_options *options)
{
	uint32_t index = p->objects.len;
	struct plan_object *po = vec__add(&p->objects);
	CLEANUP(free_graph)
	struct graph *g = graph__new(o, options->kernel_object, object__is_kernel(o));
	struct following w;
	int err;

	po->object = o;
	po->path = o->path;
	po->machine = o->machine;
	po->kernel = g->kernel;
	po->module = o->kind == OBJECT_MODULE;
	g->followed = options->followed;
	g->followed_ctx = options->followed_ctx;
	following__init(&w, g, functions, options->batch);
	err = add_batches(p, &w, index, options);
	if (err)
		return err;
	take_extents(p, g, index);
	take_functions(p, g);
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

uint32_t plan__hooked(const struct plan *p)
{
	const struct plan_site *s;
	uint32_t n = 0;

	vec__each (s, &p->sites)
		n += plan_site__is_hooked(s);
	return n;
}

void plan__keep(struct plan *p, const struct object *o, uint64_t vaddr)
{
	for (uint32_t i = 0; i < p->objects.len; i++)
		if (p->objects.data[i].object == o)
			vec__push(&p->kept, (struct plan_kept){vaddr, i});
}

bool plan__is_kept(const struct plan *p, uint32_t object, uint64_t vaddr)
{
	const struct plan_kept *k;

	vec__each (k, &p->kept)
		if (k->vaddr == vaddr && k->object == object)
			return true;
	return false;
}

bool plan__sees_programs(const struct plan *p)
{
	return p->named.len || plan__has_programs(p);
}

bool plan__has_programs(const struct plan *p)
{
	return has_kind(p, false);
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

static int check_size(const struct plan *p)
{
	if (p->sites.len <= PLAN_MAX_SITES)
		return 0;
	return err__set(E2BIG,
			"%zu branches and entries are more than the %u that can be traced at once; "
			"name fewer functions",
			p->sites.len, PLAN_MAX_SITES);
}

static int fill_plan(struct plan *p, const function_vec *functions,
		     const struct plan_options *options)
{
	const struct function *f;
	int err;

	add_functions(p, functions);
	vec__each (f, functions)
		if (plan__object_of(p, f->object) == p->objects.len) {
			err = add_object(p, functions, f->object, options);
			if (err)
				return err;
		}
	err = options->batch ? 0 : check_size(p);
	if (err)
		return err;
	plan__index(p);
	if (!options->batch)
		placement__place(p, options); /* appends witnesses */
	point_to_data(p);
	plan__settle_undecoded(p);
	p->skipped += p->undecoded.len;
	plan__index(p);
	if (!p->probes)
		return plan__report_no_probes(p);
	return options->batch ? 0 : check_size(p);
}

static void free_functions(function_vec *v)
{
	struct function *f;

	vec__each (f, v)
		function__free(f);
	vec__free(v);
}

static bool has_ifunc(const function_vec *functions)
{
	const struct function *f;

	vec__each (f, functions)
		if (f->flags & FUNCTION_IFUNC)
			return true;
	return false;
}

static int build(struct plan *p, const function_vec *functions, const struct plan_options *options)
{
	CLEANUP(free_functions) function_vec expanded = {0};
	int err = check_arch(p, functions);

	if (err)
		return err;
	if (!has_ifunc(functions))
		return fill_plan(p, functions, options);
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
	p->mutes = options->mutes;
	p->executes = options->executes;
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

void plan__reserve(struct plan *p, const struct object *o, uint64_t vaddr)
{
	const struct plan_object *po;

	vec__each (po, &p->objects)
		if (po->object == o)
			vec__push(&p->reserved, (struct plan_place){po - p->objects.data, vaddr});
}

struct plan *plan__empty(const struct arch *arch)
{
	struct plan *p = xcalloc(1, sizeof(*p));

	p->arch = arch;
	return p;
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
	vec__free(&p->breaks);
	vec__free(&p->kept);
	vec__free(&p->sides);
	vec__free(&p->stubs);
	vec__free(&p->extents);
	vec__free(&p->gaps);
	vec__free(&p->undecoded);
	vec__free(&p->lines);
	vec__free(&p->scopes);
	vec__free(&p->scope_ranges);
	vec__free(&p->reserved);
	vec__each (name, &p->line_files)
		free(*name);
	vec__free(&p->line_files);
	plan__free_named(p);
}

void plan__free(struct plan *p)
{
	struct function *f;
	struct test **test;

	if (!p)
		return;
	if (p->priv) {
		vec__each (f, &data_of(p)->functions)
			function__free(f);
		vec__free(&data_of(p)->functions);
		texts__free(&data_of(p)->compares);
		vec__each (test, &data_of(p)->tests)
			free(*test);
		vec__free(&data_of(p)->tests);
		free(p->priv);
	}
	plan__free_tables(p);
	free(p);
}

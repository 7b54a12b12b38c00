// SPDX-License-Identifier: BSD-2-Clause
/* Copies the functions of a plan, object by object. */
#include <stdlib.h>
#include "copy/copying.h"
#include "object/tables/tables.h"

const char *const copy_refusal_text[COPY_REFUSALS] = {
	[COPY_RANGE] = "only a part of it is traced",
	[COPY_GAP] = "some of its bytes are not decoded",
	[COPY_UNCERTAIN] = "some of its instructions may not be instructions, or overlap",
	[COPY_UNRESOLVED] = "the targets of an indirect jump are not all known",
	[COPY_INSN] = "an instruction can't be executed elsewhere",
	[COPY_ROOM] = "too narrow for a jump to the copy",
	[COPY_RETURN] = "what it calls uses its return address",
	[COPY_GO] = "it is a Go program's, and not Go code of a known kind",
	[COPY_RUNS] = "goroutines that were interrupted may go on anywhere in it",
	[COPY_STEPS] = "its jumps to the copy can't be written one page at a time",
	[COPY_STACK] = "a stack may be too small for its log",
	[COPY_OBJECT] = "its object can't be patched",
	[COPY_SITE] = "a branch in it can't be logged",
	[COPY_VALUES] = "some of its values are in memory, or in registers that copies don't log",
	[COPY_RESERVED] = "a mark, or what switches recording, is in it",
	[COPY_CHANGES] = "the program changes its code",
	[COPY_BOUNDS] = "neither a symbol nor an unwinding table says where it ends",
};

/* Returns the offset of a label in the image. */
static uint32_t offset_of(const struct copying *c, uint64_t label)
{
	const struct code_label *l = &c->code.labels.data[label];

	return l->offset + (l->cold ? c->code.hot.bytes.len : 0);
}

/* ---- the image ---- */

static void finish_fixups(struct copying *c, const struct code_part *part, uint32_t shift)
{
	struct copy_image *image = c->image;
	const struct code_fixup *f;

	vec__each (f, &part->fixups) {
		uint32_t at = f->at + shift, distance;

		if (!f->to_label || !c->code.labels.data[f->to].set) {
			uint64_t to = f->to_label ? c->addresses.data[f->to] : f->to;

			vec__push(&image->fixups, (struct code_fixup){at, f->following, false, to});
			continue;
		}
		distance = offset_of(c, f->to) - (at + sizeof(distance) + f->following);
		memcpy(image->code.data + at, &distance, sizeof(distance));
	}
}

static void append(struct copy_image *image, const struct code_part *part)
{
	if (!part->bytes.len)
		return;
	vec__reserve(&image->code, image->code.len + part->bytes.len);
	memcpy(image->code.data + image->code.len, part->bytes.data, part->bytes.len);
	image->code.len += part->bytes.len;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int by_start(const void *a, const void *b)
{
	const struct copy_extent *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* A key that sorts the pcs by address; of those with the same address, the copy is first. */
struct pc_key {
	uint64_t vaddr;
	uint32_t index;
};

static int by_key(const void *a, const void *b)
{
	const struct pc_key *x = a, *y = b;

	if (x->vaddr != y->vaddr)
		return x->vaddr < y->vaddr ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

static void sort_pcs(struct copy_image *image)
{
	VEC(struct pc_key) keys = {0};
	const struct pc_key *k;

	for (uint32_t i = 0; i < image->pcs.len; i++)
		if (!image->pcs.data[i].near)
			vec__push(&keys, (struct pc_key){image->pcs.data[i].vaddr, i});
	vec__sort(&keys, by_key);
	vec__each (k, &keys)
		vec__push(&image->by_vaddr, k->index);
	vec__free(&keys);
}

static void sort_patches(struct copy_image *image)
{
	VEC(struct pc_key) keys = {0};
	const struct pc_key *k;

	for (uint32_t i = 0; i < image->patches.len; i++)
		vec__push(&keys, (struct pc_key){image->patches.data[i].vaddr, i});
	vec__sort(&keys, by_key);
	vec__each (k, &keys)
		vec__push(&image->patches_by_vaddr, k->index);
	vec__free(&keys);
}

static int by_first(const void *a, const void *b)
{
	const struct code_fault *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void finish_faults(struct copying *c)
{
	const struct code_fault *f;

	vec__each (f, &c->code.faults) {
		uint32_t shift = f->cold ? c->code.hot.bytes.len : 0;

		vec__push(&c->image->faults, (struct code_fault){f->start + shift, f->end + shift,
								 offset_of(c, f->resume), false});
	}
	vec__sort(&c->image->faults, by_first);
}

static int by_begin(const void *a, const void *b)
{
	const struct code_time *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void finish_times(struct copying *c)
{
	const struct code_time *t;

	vec__each (t, &c->code.times) {
		uint32_t shift = t->cold ? c->code.hot.bytes.len : 0;
		uint32_t to = t->instead == NO_LABEL ? NO_LABEL : offset_of(c, t->instead);

		vec__push(&c->image->times,
			  (struct code_time){t->start + shift, t->end + shift, to, false});
	}
	vec__sort(&c->image->times, by_begin);
}

static void finish(struct copying *c)
{
	struct copy_image *image = c->image;
	uint32_t hot = c->code.hot.bytes.len;
	struct copy_function *f;
	struct copy_patch *p;
	const struct copy_pc *pc;

	append(image, &c->code.hot);
	append(image, &c->code.cold);
	finish_fixups(c, &c->code.hot, 0);
	finish_fixups(c, &c->code.cold, hot);
	finish_faults(c);
	finish_times(c);
	vec__each (p, &image->patches)
		if (p->kind != PATCH_SHORT)
			p->to = offset_of(c, p->to);
	/* Code that all logs share belongs to no instruction. */
	vec__push(&image->pcs, (struct copy_pc){hot, true, false, 0, 0});
	vec__each (pc, &c->cold_pcs)
		vec__push(&image->pcs,
			  (struct copy_pc){pc->offset + hot, true, false, 0, pc->vaddr});
	vec__each (f, &image->functions) {
		f->cold_start += hot;
		f->cold_end += hot;
	}
	sort_pcs(image);
	sort_patches(image);
	vec__sort(&image->live, by_value);
	vec__sort(&image->springs, by_value);
	vec__sort(&image->intact, by_start);
	vec__sort(&image->approaches, by_start);
}

/* ---- one function ---- */

/* The function's sites have their events from the copy from now on. */
static void take_over(struct body *b)
{
	struct plan *p = b->c->plan;
	const struct item *i;

	vec__each (i, &b->items)
		for (unsigned k = 0; k < i->nsites; k++) {
			struct plan_site *s = &p->sites.data[p->sites_by_address.data[i->site + k]];

			if (!plan_site__is_hooked(s))
				continue;
			s->probe = s->probe == PROBE_TRAP ? PROBE_INLINE : PROBE_INLINE_COUNT;
			s->logs = s->probe == PROBE_INLINE;
			s->probe_at = 0;
		}
}

static bool has_events(const struct body *b)
{
	const struct item *i;

	vec__each (i, &b->items)
		for (unsigned k = 0; k < i->nsites; k++)
			if (body__site(b, i, k))
				return true;
	return false;
}

static bool is_argument(const struct arch *arch, uint8_t reg)
{
	const struct convention *c = &arch->conventions[CONVENTION_C];

	return reg == REG_NONE || memchr(c->args, reg, c->nargs);
}

/* Copies log the registers in which calls pass arguments. */
static bool are_logged(const struct plan *p, uint32_t function)
{
	size_t n;
	const struct plan_value *v = plan__values(p, function, &n);

	for (size_t i = 0; i < n; i++)
		if (v[i].from == FROM_REGISTER &&
		    (!is_argument(p->arch, v[i].reg) || !is_argument(p->arch, v[i].second)))
			return false;
	return true;
}

static bool loads_values(const struct copying *c, uint32_t function)
{
	uint32_t planned = c->g->functions.data[function].plan;

	return plan__fetched(c->plan, planned, false) || plan__fetched(c->plan, planned, true) ||
	       !are_logged(c->plan, planned);
}

/* Gathers the function again without what an attempt to place its springboards has changed. */
static enum copy_refusal try_again(struct body *b)
{
	struct body again = {.c = b->c, .function = b->function, .hints = b->hints};

	body__free(b);
	*b = again;
	return body__gather(b);
}

/* What is in the way of an attempt is served before all else in the next one. */
static enum copy_refusal place_springs(struct body *b)
{
	enum copy_refusal why;
	unsigned hints;

	for (;;) {
		hints = b->hints.nurgent + b->hints.navoid;
		body__find_zones(b);
		why = body__place_springs(b);
		if (!why)
			why = body__order(b);
		if (!why || b->hints.nurgent + b->hints.navoid == hints)
			return why;
		why = try_again(b);
		if (why)
			return why;
	}
}

static enum copy_refusal copy_function(struct copying *c, uint32_t function)
{
	struct body b = {.c = c, .function = function};
	enum copy_refusal why = loads_values(c, function) ? COPY_VALUES : body__gather(&b);

	if (!why && has_events(&b)) {
		why = place_springs(&b);
		if (!why) {
			body__find_live(&b);
			why = body__emit(&b);
		}
		if (!why) {
			body__put_patches(&b);
			body__find_intact(&b);
			take_over(&b);
		}
	}
	body__free(&b);
	return why;
}

/* ---- one object ---- */

static void add_functions(struct copying *c)
{
	const struct plan *p = c->plan;

	for (uint32_t i = 0; i < p->functions.len; i++) {
		const struct plan_function *pf = &p->functions.data[i];
		struct function f = {.object = c->g->object, .flags = pf->flags};
		uint32_t index;

		if (pf->object != c->object || pf->flags & FUNCTION_REMOVED || !pf->nranges)
			continue;
		if (pf->flags & FUNCTION_RANGE) {
			c->refusals[i] = body__is_found(c->g->object, pf->ranges[0].vaddr)
						 ? COPY_BOUNDS
						 : COPY_RANGE;
			continue;
		}
		f.entry = pf->ranges[0].vaddr;
		f.name = xstrdup(pf->name);
		for (size_t k = 0; k < pf->nranges; k++)
			vec__push(&f.ranges, (struct range){.vaddr = pf->ranges[k].vaddr,
							    .size = pf->ranges[k].size,
							    .offset = pf->ranges[k].offset});
		index = graph__add_function(c->g, &f);
		c->g->functions.data[index].plan = i;
	}
}

static void index_extents(struct copying *c)
{
	const struct graph *g = c->g;

	c->extent_of = xcalloc(g->functions.len + 1, sizeof(*c->extent_of));
	c->extent_after = xcalloc(g->extents.len + 1, sizeof(*c->extent_after));
	for (size_t i = g->extents.len; i-- > 0;) {
		uint32_t *first = &c->extent_of[g->extents.data[i].function];

		c->extent_after[i] = *first;
		*first = i + 1;
	}
}

static bool is_sanitized(const struct object *o)
{
	static const char *const names[] = {"__tsan_init", "__msan_init", "__hwasan_init"};
	const struct symbol *s;

	vec__each (s, &o->symbols)
		for (size_t i = 0; s->name[0] == '_' && i < ARRAY_SIZE(names); i++)
			if (!strncmp(s->name, names[i], strlen(names[i])))
				return true;
	return false;
}

static enum copy_refusal check_object(const struct plan *p, const struct plan_object *o,
				      const struct log_options *options)
{
	if (o->object->go && !o->object->go_g)
		return COPY_GO;
	if (o->object->go && options->runs)
		return COPY_RUNS;
	if (!p->arch->copier || object__text_relocated(o->object) || object__has_rseq(o->object) ||
	    is_sanitized(o->object))
		return COPY_OBJECT;
	return COPY_OK;
}

static void refuse_all(struct copies *out, const struct plan *p, uint32_t object,
		       enum copy_refusal why)
{
	for (uint32_t i = 0; i < p->functions.len; i++)
		if (p->functions.data[i].object == object)
			out->refusals.data[i] = why;
}

static void free_image(struct copy_image *i)
{
	vec__free(&i->code);
	vec__free(&i->fixups);
	vec__free(&i->faults);
	vec__free(&i->times);
	vec__free(&i->patches);
	vec__free(&i->order);
	vec__free(&i->patches_by_vaddr);
	vec__free(&i->pcs);
	vec__free(&i->by_vaddr);
	vec__free(&i->functions);
	vec__free(&i->live);
	vec__free(&i->springs);
	vec__free(&i->approaches);
	vec__free(&i->intact);
}

static void copying__free(struct copying *c)
{
	graph__free(c->g);
	code_buffer__free(&c->code);
	free(c->claims);
	copying__free_rooms(c);
	free(c->extent_of);
	free(c->extent_after);
	map64__free(&c->uses_return);
	vec__free(&c->label_of);
	map64__free(&c->other_labels);
	vec__free(&c->addresses);
	vec__free(&c->cold_pcs);
	vec__free(&c->spare);
}

/* In a second round, functions that lack room may use what the others don't need. */
static void copy_functions(struct copying *c)
{
	for (uint32_t i = 0; i < c->g->functions.len; i++) {
		uint32_t plan = c->g->functions.data[i].plan;

		if (plan != NO_FUNCTION)
			c->refusals[plan] = copy_function(c, i);
	}
	vec__sort(&c->spare, by_start);
	c->uses_spare = true;
	c->later = c->image->functions.len;
	for (uint32_t i = 0; i < c->g->functions.len; i++) {
		uint32_t plan = c->g->functions.data[i].plan;

		if (plan != NO_FUNCTION && c->refusals[plan] == COPY_ROOM)
			c->refusals[plan] = copy_function(c, i);
	}
}

static void prepare_go(struct copying *c)
{
	const struct object *o = c->g->object;

	c->code.small_stack = true;
	c->code.goroutine = (struct log_goroutine){true, o->go_g, o->go_goid};
	copying__find_rooms(c);
}

static void copy_object(struct copies *out, struct plan *p, uint32_t object,
			const struct log_options *options)
{
	struct copy_image image = {.object = object};
	struct copying c = {.plan = p,
			    .copies = out,
			    .options = options,
			    .arch = p->arch,
			    .object = object,
			    .image = &image,
			    .refusals = out->refusals.data};

	c.g = graph__new(p->objects.data[object].object, NULL, false);
	add_functions(&c);
	graph__start(c.g);
	graph__follow(c.g);
	guard__mark(c.g);
	graph__index_ranges(c.g);
	index_extents(&c);
	copying__find_claims(&c);
	if (c.g->object->go)
		prepare_go(&c);
	p->arch->copier->log_begin(&c.code);
	copy_functions(&c);
	copying__order(&c);
	finish(&c);
	if (image.functions.len)
		vec__push(&out->images, image);
	else
		free_image(&image);
	copying__free(&c);
}

static bool has_traps(const struct plan *p, uint32_t object)
{
	const struct plan_site *s;

	vec__each (s, &p->sites)
		if (s->object == object && plan_site__is_hooked(s))
			return true;
	return false;
}

int copies__make(struct plan *plan, const struct log_options *options, struct copies **out)
{
	struct copies *c = xcalloc(1, sizeof(*c));

	for (size_t i = 0; i < plan->functions.len; i++)
		vec__push(&c->refusals, COPY_OK);
	for (uint32_t i = 0; i < plan->objects.len; i++) {
		const struct plan_object *o = &plan->objects.data[i];
		enum copy_refusal why;

		if (o->kernel || !o->object || !has_traps(plan, i))
			continue;
		why = check_object(plan, o, options);
		if (why)
			refuse_all(c, plan, i, why);
		else
			copy_object(c, plan, i, options);
	}
	*out = c;
	return 0;
}

void copies__free(struct copies *c)
{
	struct copy_image *i;

	if (!c)
		return;
	vec__each (i, &c->images)
		free_image(i);
	vec__free(&c->images);
	vec__free(&c->refusals);
	vec__free(&c->counted);
	free(c);
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tail calls into other objects: a traced function that ends with a jump to a PLT stub, or through
 * a GOT slot (-fno-plt, Rust), returns when the library's function does. That function is found as
 * the dynamic loader does, in the objects needed, and added as a helper function: only its rets are
 * probed, and only those that end a traced call are shown.
 */
#include <errno.h>
#include <stdlib.h>
#include "targets.h"
#include "cli/request.h"

#define MAX_LIBRARIES 256

/* The search for the functions that an object imports: in itself, then in the libraries that it
 * needs. */
struct search {
	struct targets *n;
	pid_t pid;
	VEC(struct object *) queue; /* breadth-first, as in ld.so(8) */
	/* the number of objects in queue whose needed libraries are in it, too */
	size_t followed;
};

static bool stub_known(const struct targets *n, const struct object *o, uint64_t vaddr)
{
	const struct plan_stub *s;

	vec__each (s, &n->stubs)
		if (s->object == o && s->vaddr == vaddr)
			return true;
	return false;
}

static bool queued(const struct search *s, const struct object *o)
{
	for (size_t i = 0; i < s->queue.len; i++)
		if (s->queue.data[i] == o)
			return true;
	return false;
}

static int enqueue(void *ctx, const char *soname)
{
	struct search *s = ctx;
	struct object *o;

	if (s->queue.len >= MAX_LIBRARIES || targets__open(s->n, soname, s->pid, &o))
		return 0; /* not found: the return isn't seen, which is counted */
	if (!queued(s, o))
		vec__push(&s->queue, o);
	return 0;
}

/* Finds a function's definition. A stub may lead to a local function of its own object
 * (IRELATIVE); other objects must export it. */
static const struct symbol *definition(const struct object *o, const char *name, bool own)
{
	const struct symbol *found = NULL, *s;

	vec__each (s, &o->symbols)
		if ((s->global || own) && s->type != SYMBOL_PLT && !strcmp(s->name, name) &&
		    (!found || s->default_version))
			found = s;
	return found;
}

static bool known(const function_vec *v, const struct object *o, uint64_t entry)
{
	const struct function *f;

	vec__each (f, v)
		if (f->object == o && f->entry == entry && !(f->flags & FUNCTION_RANGE))
			return true;
	return false;
}

/* Returns false if the function's bounds are unknown. */
static bool add(struct targets *n, const struct object *o, uint64_t vaddr, unsigned flags)
{
	struct function f;

	if (known(&n->functions, o, vaddr))
		return true;
	if (!object__function_at(o, vaddr, &f))
		return false;
	f.flags |= FUNCTION_HELPER | flags;
	vec__push(&n->functions, f);
	return true;
}

static bool add_definition(struct search *s, const char *name)
{
	for (size_t i = 0; i < s->queue.len; i++) {
		struct object *at = s->queue.data[i];
		const struct symbol *symbol = definition(at, name, i == 0);

		if (symbol)
			return add(s->n, at, symbol->vaddr,
				   symbol->type == SYMBOL_IFUNC ? FUNCTION_IFUNC : 0);
		if (i == s->followed) {
			s->followed++;
			object__needed(at, enqueue, s);
		}
	}
	return false;
}

/* True if the block ends with a jump out of a traced frame; never for a range. */
static bool leaves_frame(const struct plan *plan, const struct plan_block *b)
{
	return b->site != NO_SITE && b->leaves && b->taken == NO_BLOCK &&
	       b->function != NO_FUNCTION && !plan->objects.data[b->object].kernel &&
	       !(plan->functions.data[b->function].flags & FUNCTION_RANGE);
}

/* Returns the address of the slot of a jump through memory relative to it; 0 for another kind of
 * jump. */
static uint64_t slot_of(const struct plan_site *s)
{
	const struct operand *o = &s->operand;

	if (s->kind != BRANCH_IJMP || o->kind != OPERAND_MEM || o->base != REG_IP ||
	    o->index != REG_NONE || o->seg != SEG_NONE || o->size != 8)
		return 0;
	return s->vaddr + s->len + (int64_t)o->disp;
}

/* A PLT stub or a GOT slot, which the dynamic loader fills in: the operand of a jump. */
struct tail_target {
	uint64_t vaddr;
	const char
		/* of the function, "puts@plt"; NULL if it is the object's own, at target */
		*name;
	uint64_t target;
};

static bool find_tail_target(const struct plan *plan, const struct plan_block *b,
			     struct tail_target *p)
{
	const struct plan_site *site = &plan->sites.data[b->site];
	const struct object *o = plan->objects.data[b->object].object;
	const struct got_slot *slot;
	const struct symbol *s;

	if (site->target) {
		s = object__symbol_at(o, site->target);
		*p = (struct tail_target){site->target, s ? s->name : NULL, 0};
		return s && s->type == SYMBOL_PLT;
	}
	slot = object__slot_at(o, slot_of(site));
	if (slot)
		*p = (struct tail_target){slot->vaddr, slot->name, slot->target};
	return slot;
}

static bool add_target(struct search *s, const struct tail_target *p)
{
	autofree char *name = p->name ? xstrndup(p->name, strcspn(p->name, "@")) : NULL;

	if (!name)
		return add(s->n, s->queue.data[0], p->target, 0);
	return *name && add_definition(s, name);
}

static bool add_of_object(struct targets *n, const struct plan *plan, uint32_t object, pid_t pid)
{
	struct object *o = (struct object *)plan->objects.data[object].object;
	struct search s = {.n = n, .pid = pid};
	const struct plan_block *b;
	struct tail_target p;
	bool added = false;

	vec__push(&s.queue, o);
	vec__each (b, &plan->blocks) {
		if (b->object != object || !leaves_frame(plan, b) ||
		    !find_tail_target(plan, b, &p) || stub_known(n, o, p.vaddr) ||
		    !add_target(&s, &p))
			continue;
		vec__push(&n->stubs, (struct plan_stub){o, p.vaddr});
		added = true;
	}
	vec__free(&s.queue);
	return added;
}

/* ---- before there is a plan ---- */

/* The addresses of an object's PLT stubs. */
struct stubs {
	const struct object *o;
	uint64_t first, last;
};

static struct stubs stubs_of(const struct object *o)
{
	struct stubs all = {o, UINT64_MAX, 0};
	const struct symbol *s;

	vec__each (s, &o->symbols)
		if (s->type == SYMBOL_PLT) {
			all.first = min_of(all.first, s->vaddr);
			all.last = max_of(all.last, s->vaddr);
		}
	return all;
}

/* Returns true if the bytes may be a jump to a stub. Another instruction may have them inside. */
static bool may_jump_to_stub(const struct stubs *all, const struct arch *arch, const uint8_t *bytes,
			     size_t len, uint64_t addr, struct tail_target *out)
{
	const struct symbol *s;
	struct insn insn;
	uint64_t target;

	if (!arch->leads_to(bytes, len, addr, &target) || target < all->first || target > all->last)
		return false;
	s = object__symbol_at(all->o, target);
	if (!s || s->type != SYMBOL_PLT || s->vaddr != target ||
	    arch->decode(bytes, len, addr, false, &insn) ||
	    (insn.kind != BRANCH_JMP && insn.kind != BRANCH_JCC))
		return false;
	*out = (struct tail_target){target, s->name, 0};
	return true;
}

static void predict_in(struct search *s, const struct stubs *all, const struct range *r)
{
	const struct object *o = all->o;
	const struct arch *arch = arch__by_machine(o->machine);
	struct tail_target p;
	size_t len;
	const uint8_t *bytes = object__bytes(o, r->vaddr, &len);

	for (uint64_t i = 0; bytes && i < r->size && i < len; i++)
		if (may_jump_to_stub(all, arch, bytes + i, len - i, r->vaddr + i, &p) &&
		    !stub_known(s->n, o, p.vaddr) && add_target(s, &p))
			vec__push(&s->n->stubs, (struct plan_stub){s->queue.data[0], p.vaddr});
}

/* Of the functions from this index on, up to another one, that are of the object. */
static void predict_of_object(struct search *s, size_t from, size_t end)
{
	const struct object *o = s->queue.data[0];
	const struct arch *arch = arch__by_machine(o->machine);
	const struct stubs all = stubs_of(o);

	if (!arch || !arch->leads_to || all.first > all.last)
		return;
	for (size_t i = from; i < end; i++) {
		const struct function *f = &s->n->functions.data[i];

		if (f->object != o || f->flags & FUNCTION_RANGE)
			continue;
		/* adding functions may move f */
		for (size_t k = 0; k < s->n->functions.data[i].ranges.len; k++) {
			const struct range r = s->n->functions.data[i].ranges.data[k];

			predict_in(s, &all, &r);
		}
	}
}

/* Returns the index of the first function of an object, from this one on. */
static size_t first_of(const struct targets *n, const struct object *o, size_t from)
{
	while (n->functions.data[from].object != o)
		from++;
	return from;
}

void tail_calls__predict(struct targets *n, pid_t pid)
{
	size_t end;

	for (size_t from = 0; from < n->functions.len; from = end) {
		end = n->functions.len;
		for (size_t i = from; i < end; i++) {
			struct object *o = (struct object *)n->functions.data[i].object;
			struct search s = {.n = n, .pid = pid};

			if (first_of(n, o, from) != i || object__is_kernel(o))
				continue;
			vec__push(&s.queue, o);
			predict_of_object(&s, from, end);
			vec__free(&s.queue);
		}
	}
}

bool tail_calls__add(struct targets *n, const struct plan *plan, pid_t pid)
{
	bool added = false;

	for (uint32_t i = 0; i < plan->objects.len; i++)
		added |= add_of_object(n, plan, i, pid);
	return added;
}

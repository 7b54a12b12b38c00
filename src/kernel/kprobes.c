// SPDX-License-Identifier: BSD-2-Clause
/*
 * kernel_kprobes: restores the bytes that the kprobes of all tracers replaced in the kernel's code.
 * They are read from the kernel's kprobe_table (kernel/kprobes.c). Only what is proved correct is
 * restored.
 */
#include <stdlib.h>
#include "kernel_file.h"

#define BUCKETS	    64u /* KPROBE_TABLE_SIZE, POINTER bytes each */
#define MAX_PROBES  (1u << 20)
#define TRIES	    3u
#define POINTER	    sizeof(uint64_t)
#define FLAG_FTRACE 8u /* KPROBE_FLAG_FTRACE of include/linux/kprobes.h */

/* ---- the table ---- */

static uint64_t u64_at(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

bool kprobe_layout__is_sane(const struct kprobe_layout *l)
{
	const uint64_t size = l->size, optimized = l->optimized_size;

	return size <= KPROBE_LAYOUT_LIMIT && optimized <= KPROBE_LAYOUT_LIMIT &&
	       l->hlist + 2ull * POINTER <= size && l->addr + 1ull * POINTER <= size &&
	       l->flags + 4ull <= size && l->opcode + 1ull <= size &&
	       (!optimized || (l->covered + (uint64_t)KPROBE_COVERED <= optimized &&
			       l->detour + 1ull * POINTER <= optimized));
}

/* Parses the kprobe at node, or the optimized_kprobe that it is the start of. */
static struct kernel_kprobe parse(const struct kprobe_layout *l, const uint8_t *p, bool optimized)
{
	struct kernel_kprobe k = {.vaddr = u64_at(p + l->addr), .opcode = p[l->opcode]};

	memcpy(&k.flags, p + l->flags, sizeof(k.flags));
	if (optimized) {
		memcpy(k.covered, p + l->covered, sizeof(k.covered));
		k.detour = u64_at(p + l->detour);
	}
	return k;
}

/* link is the address of the pointer to the first node. Each node has the address of the pointer to
 * it, so a concurrent change of the list is noticed. */
static bool read_bucket(struct kernel_text *t, const struct kprobe_layout *l, uint64_t link,
			kernel_kprobe_vec *out)
{
	uint8_t buf[KPROBE_LAYOUT_LIMIT];
	uint64_t node;

	if (!kernel_text__peek(t, link, &node, sizeof(node)))
		return false;
	while (node && out->len < MAX_PROBES) {
		uint64_t at = node - l->hlist;
		bool optimized =
			l->optimized_size && kernel_text__peek(t, at, buf, l->optimized_size);

		if (!optimized && !kernel_text__peek(t, at, buf, l->size))
			return false;
		if (u64_at(buf + l->hlist + POINTER) != link)
			return false;
		vec__push(out, parse(l, buf, optimized));
		link = node;
		node = u64_at(buf + l->hlist);
	}
	return !node;
}

static bool read_table(struct kernel_text *t, const struct kprobe_layout *l, uint64_t table,
		       kernel_kprobe_vec *out)
{
	for (uint64_t i = 0; i < BUCKETS; i++)
		if (!read_bucket(t, l, table + i * POINTER, out))
			return false;
	return true;
}

bool kernel_kprobes__read(struct kernel_text *t, const struct kprobe_layout *l, uint64_t table,
			  bool after, kernel_kprobe_vec *out)
{
	size_t from = out->len;
	bool whole = false;

	for (unsigned i = 0; i < TRIES && !whole; i++) {
		out->len = from;
		whole = table && kprobe_layout__is_sane(l) && read_table(t, l, table, out);
	}
	for (size_t i = from; i < out->len; i++)
		out->data[i].after = after;
	return whole;
}

/* ---- the code ---- */

/* Returns true if the code jumps into the buffer of this optimised probe, or soon will. */
static bool jumps_to_detour(const struct kernel_kprobe *k, const uint8_t *p, size_t avail)
{
	const struct arch_kernel *code = kernel_code();
	uint64_t target;

	return k->detour && code->detour && code->detour(p, avail, k->vaddr, &target) &&
	       target == k->detour;
}

/* The probe's bytes in the code of o; NULL: not in it. */
static uint8_t *code_at(const struct object *o, uint64_t vaddr, size_t *avail)
{
	const struct kernel_file *f = kernel_file__of(o);

	if (vaddr < f->start || vaddr >= f->end || !object__bytes(o, vaddr, avail))
		return NULL;
	return f->text + (vaddr - f->start);
}

/* The kernel saves the covered bytes when it writes the jump, so a kprobe read before the code may
 * not have them. */
static void put_back_jump(const struct kernel_kprobe *k, uint8_t *p, size_t avail)
{
	if (k->after && jumps_to_detour(k, p, avail)) {
		*p = k->opcode;
		memcpy(p + 1, k->covered, sizeof(k->covered));
	}
}

/* Jumps were restored already. True: the code is proved to be the compiler's. */
static bool put_back_byte(const struct kernel_kprobe *k, uint8_t *p, size_t avail)
{
	const uint8_t breakpoint = kernel_code()->breakpoint.bytes[0];

	if (jumps_to_detour(k, p, avail) || kernel_code()->breakpoint.len != sizeof(breakpoint))
		return false;
	if (*p == breakpoint)
		*p = k->opcode;
	return *p == k->opcode && *p != breakpoint;
}

void kernel_kprobes__undo(const kernel_kprobe_vec *all, struct object *o, struct map64 *proved)
{
	const struct kernel_kprobe *k;
	size_t avail;
	uint8_t *p;

	vec__each (k, all)
		if ((p = code_at(o, k->vaddr, &avail)))
			put_back_jump(k, p, avail);
	vec__each (k, all) {
		p = k->flags & FLAG_FTRACE ? NULL : code_at(o, k->vaddr, &avail);
		if (!p)
			continue;
		if (put_back_byte(k, p, avail))
			*map64__put(proved, k->vaddr) = 1;
		else
			kernel_patches__hide(o, k->vaddr);
	}
}

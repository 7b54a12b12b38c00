// SPDX-License-Identifier: BSD-2-Clause
/* What a watchpoint's hit shows: the instruction that did it, the old value and the new one. The
 * record has the registers after the instruction; src/code/access.h finds it. */
#include <linux/types.h>
#include <stdlib.h>
#include "select/targets.h"
#include "../bpf/wire_named.h"
#include "code/code.h"
#include "watch_hits.h"

struct watch_hits {
	const struct watchpoints *points;
	const struct targets *targets;
	struct accesses *accesses;
	/* for the event in work */
	const struct show *show;
	uint32_t pid;
	struct event event;
	struct event_named named;
	struct watch_hit_data data;
};

/* ---- code ---- */

static bool kernel_at(const struct watch_hits *h, uint64_t addr, struct access_place *out)
{
	for (size_t i = 0; i < h->targets->objects.len; i++) {
		const struct object *o = h->targets->objects.data[i];

		if (!object__is_kernel(o) || !object__segment_at(o, addr))
			continue;
		*out = (struct access_place){.object = o, .kernel = h->targets->kernel};
		return true;
	}
	return false;
}

static bool place_at(void *ctx, uint64_t addr, struct access_place *out)
{
	const struct watch_hits *h = ctx;
	struct mapped_place place;

	if (h->named.kernel)
		return kernel_at(h, addr, out);
	spaces__find(h->show->spaces, h->pid, addr, &place);
	if (!place.object)
		return false;
	*out = (struct access_place){.object = place.object, .bias = addr - place.vaddr};
	return true;
}

struct watch_hits *watch_hits__new(const struct watchpoints *w, const struct targets *n)
{
	struct watch_hits *h = xcalloc(1, sizeof(*h));

	h->points = w;
	h->targets = n;
	h->accesses = accesses__new(place_at, h);
	return h;
}

void watch_hits__free(struct watch_hits *h)
{
	if (h)
		accesses__free(h->accesses);
	free(h);
}

/* ---- a hit ---- */

static const struct watchpoint *point_of(const struct watch_hits *h, uint32_t which)
{
	const struct watchpoint *w;

	vec__each (w, &h->points->all)
		if (w->which == which)
			return w;
	return NULL;
}

static void put_text(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text);
}
#define PUT(field, text) put_text(h->data.field, sizeof(h->data.field), text)

static bool put_insn(struct watch_hits *h, const struct access_place *p, uint64_t vaddr)
{
	size_t avail;
	const uint8_t *bytes = object__bytes(p->object, vaddr, &avail);
	const struct arch *arch = arch__by_machine(p->object->machine);
	char text[80];

	if (!bytes || !arch || !arch->format(bytes, avail, vaddr, text, sizeof(text)))
		return false;
	PUT(insn, text);
	return true;
}

static uint64_t bytes_of(uint64_t word, uint64_t addr, unsigned len)
{
	word >>= 8 * (addr & 7);
	return len == 8 ? word : word & ((1ull << 8 * len) - 1);
}

/* Sets the new value: the stored one if the instruction determines all of it, else the one that
 * is there now. */
static void put_values(struct watch_hits *h, const struct wire_watch_hit *w, unsigned len,
		       const struct accessor *a)
{
	bool determined = a && a->result == ACCESS_PROVED && a->known == (1u << len) - 1;

	h->named.len = offsetof(struct watch_hit_data, new);
	if (!determined && !(w->flags & WATCH_HAS_WORD))
		return;
	PUT(from, determined ? "instruction" : "memory");
	h->data.new = determined ? a->value : bytes_of(w->word, w->addr, len);
	h->named.len = offsetof(struct watch_hit_data, old);
	if (!(w->flags & WATCH_HAS_OLD))
		return;
	h->data.old = bytes_of(w->old, w->addr, len);
	h->named.len = sizeof(h->data);
}

static const char *access_of(const struct accessor *a, bool only_writes)
{
	if (only_writes)
		return "write";
	if (a->result != ACCESS_PROVED)
		return "any";
	return a->writes && a->reads ? "read-write" : a->writes ? "write" : "read";
}

static void find_accessor(struct watch_hits *h, const struct watchpoint *p,
			  const struct wire_watch_hit *w, struct accessor *a)
{
	uint64_t regs[WIRE_REGS];
	struct access_hit hit = {.regs = regs,
				 .fs = w->fs,
				 .gs = w->gs,
				 .addr = w->addr,
				 .size = p->len,
				 .writes = p->access == WATCH_WRITE,
				 .has_top = w->flags & WATCH_HAS_TOP,
				 .has_word = w->flags & WATCH_HAS_WORD,
				 .top = w->top,
				 .word = w->word};

	memcpy(regs, w->regs, sizeof(regs));
	accesses__find(h->accesses, &hit, a);
	PUT(access, access_of(a, hit.writes));
	if (a->result == ACCESS_PROVED && put_insn(h, &a->place, a->vaddr)) {
		h->named.ip = a->vaddr + a->place.bias;
		return;
	}
	snprintf(h->data.insn, sizeof(h->data.insn), "unknown: %s",
		 a->result == ACCESS_PROVED ? "its bytes" : access_result_text[a->result]);
}

/* Reports an access by the kernel to a program's memory, at the place where the program called
 * the kernel. */
static void report_kernel(struct watch_hits *h, const struct watchpoint *p,
			  const struct wire_watch_hit *w)
{
	PUT(access, p->access == WATCH_WRITE ? "kernel write" : "kernel");
	PUT(insn, "by the kernel, for it");
	if (!w->user_ip)
		return;
	h->named.ip = w->user_ip;
	h->named.kernel = false;
}

static void report_executed(struct watch_hits *h)
{
	struct access_place p;

	PUT(access, "execute");
	if (!place_at(h, h->named.ip, &p) || !put_insn(h, &p, h->named.ip - p.bias))
		PUT(insn, "unknown");
	h->named.len = offsetof(struct watch_hit_data, from);
}

const struct event *watch_hits__event(struct watch_hits *h, const struct show *s,
				      const struct event *e)
{
	const struct watchpoint *p =
		e->type == EVENT_NAMED && h ? point_of(h, e->named->which) : NULL;
	struct wire_watch_hit w;
	struct accessor a;

	if (!p || e->named->len < sizeof(w))
		return e;
	memcpy(&w, e->named->data, sizeof(w));
	h->show = s;
	h->pid = e->pid;
	h->event = *e;
	h->named = *e->named;
	h->event.named = &h->named;
	memset(&h->data, 0, sizeof(h->data));
	h->named.data = (const uint8_t *)&h->data;
	if (p->access == WATCH_EXEC) {
		report_executed(h);
	} else if (h->named.kernel && !p->kernel) {
		report_kernel(h, p, &w);
		put_values(h, &w, p->len, NULL);
	} else {
		find_accessor(h, p, &w, &a);
		put_values(h, &w, p->len, &a);
	}
	return &h->event;
}

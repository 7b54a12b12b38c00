// SPDX-License-Identifier: BSD-2-Clause
/*
 * The drcov format, version 2, of DynamoRIO (clients/drcov/drcov.c): the blocks that ran, by their
 * offsets from where their object is loaded; Lighthouse and its likes read it. A module is an
 * object of the plan.
 */
#include <stdlib.h>
#include "coverage.h"
#include "output/base/fields.h"

/* As in the file, little-endian. */
struct block {
	uint32_t start;
	uint16_t size, module;
};
_Static_assert(sizeof(struct block) == 8, "without padding");

struct drcov {
	struct output *o;
	struct coverage c;
	uint64_t *base, *end; /* by object: addresses */
};

/* Returns the page of its first segment, which is 0 if it is position-independent. */
static uint64_t base_of(const struct object *o)
{
	return o && o->segments.len ? o->segments.data[0].vaddr & ~0xfffull : 0;
}

static void find_modules(struct drcov *d)
{
	const struct plan *plan = d->o->plan;
	const struct plan_block *k;

	for (size_t i = 0; i < plan->objects.len; i++) {
		const struct object *o = plan->objects.data[i].object;
		const struct segment *last = o && o->segments.len ? vec__last(&o->segments) : NULL;

		d->base[i] = base_of(o);
		d->end[i] = last ? last->vaddr + last->size : 0;
	}
	vec__each (k, &plan->blocks)
		d->end[k->object] = max_of(d->end[k->object], k->end);
}

static void put_modules(struct drcov *d)
{
	const struct plan *plan = d->o->plan;
	struct str *s = &d->o->buffer;

	str__printf(s,
		    "DRCOV VERSION: 2\nDRCOV FLAVOR: drcov\nModule Table: version 2, count %zu\n"
		    "Columns: id, base, end, entry, path\n",
		    plan->objects.len);
	for (size_t i = 0; i < plan->objects.len; i++) {
		bool hidden = d->o->hides_addresses && plan->objects.data[i].kernel;
		uint64_t base = hidden ? 0 : d->base[i];

		str__printf(s, "%zu, 0x%llx, 0x%llx, 0x0, ", i, (unsigned long long)base,
			    (unsigned long long)(base + d->end[i] - d->base[i]));
		str__shown(s, plan->objects.data[i].path);
		str__putc(s, '\n');
	}
}

/* A row of the table for each 64 KiB of a block; returns how many. */
static size_t put_block(const struct drcov *d, const struct plan_block *k, struct str *s)
{
	size_t n = 0;

	for (uint64_t at = k->start, len; at < k->end; at += len, n++) {
		struct block row = {.start = at - d->base[k->object], .module = k->object};

		len = min_of(k->end - at, (uint64_t)UINT16_MAX);
		row.size = len;
		str__put(s, (const char *)&row, sizeof(row));
	}
	return n;
}

static int drcov__end(struct output *o, const struct trace_totals *t)
{
	const struct plan *plan = o->plan;
	struct drcov d = {.o = o};
	struct str rows = {0};
	size_t n = 0;

	stats__end(o->state);
	coverage__init(&d.c, o->state, &o->options);
	d.base = xcalloc(plan->objects.len + 1, sizeof(*d.base));
	d.end = xcalloc(plan->objects.len + 1, sizeof(*d.end));
	find_modules(&d);
	put_modules(&d);
	for (size_t i = 0; i < plan->blocks_by_address.len; i++) {
		uint32_t block = plan->blocks_by_address.data[i];

		if (coverage__has_block(&d.c, block) && d.c.runs.blocks[block] &&
		    d.c.runs.blocks[block] != RUNS_UNKNOWN)
			n += put_block(&d, &plan->blocks.data[block], &rows);
	}
	str__printf(&o->buffer, "BB Table: %zu bbs\n", n);
	str__put(&o->buffer, rows.data, rows.len);
	str__free(&rows);
	coverage__free(&d.c);
	free(d.base);
	free(d.end);
	return 0;
}

const struct output_format output_drcov = {
	.name = "drcov",
	.wants = {.events = OUTPUT_EDGES},
	.suffixes = ".drcov",
	.binary = true,
	.help = "the blocks that ran, for Lighthouse and its likes",
	.size = sizeof(struct stats),
	.covers = COVERS_ONLY,
	.counting = &output_drcov,
	AGGREGATES,
	ADDS_UP,
	.count = aggregate__count,
	.end = drcov__end,
};

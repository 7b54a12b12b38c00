// SPDX-License-Identifier: BSD-2-Clause
/*
 * The autofdo format: a sample profile as text (LLVM's include/llvm/ProfileData/SampleProf.h), for
 * clang's -fprofile-sample-use and llvm-profdata. Counts instead of samples.
 *
 * Clang packs into discriminators how often a loop was unrolled, too
 * (llvm/lib/IR/DebugInfoMetadata.cpp, decodeDiscriminator()): counts need no such factor, since
 * each copy is counted.
 */
#include "output/base/fields.h"
#include "sample_profile.h"

struct writing {
	struct sample_profile p;
	struct str *s;
};

static uint32_t base_discriminator(uint32_t d)
{
	if (d & 1)
		return 0;
	d >>= 1;
	return d & 0x20 ? (d >> 1 & 0xfe0) | (d & 0x1f) : d & 0x1f;
}

static void put_spot(struct writing *w, unsigned indent, uint32_t offset, uint32_t discriminator)
{
	for (unsigned i = 0; i < indent; i++)
		str__putc(w->s, ' ');
	str__printf(w->s, "%u", offset);
	if (discriminator)
		str__printf(w->s, ".%u", discriminator);
	str__puts(w->s, ": ");
}

static void put_line(struct writing *w, const struct profile_line *l, unsigned indent)
{
	size_t i, n = sample_profile__callees(&w->p, &l->at, &i);

	put_spot(w, indent, l->at.offset, l->at.discriminator);
	str__printf(w->s, "%llu", (unsigned long long)l->count);
	for (; n; n--, i++) {
		const struct profile_callee *c = &w->p.callees.data[i];

		str__putc(w->s, ' ');
		str__shown(w->s, w->p.names.data[c->name]);
		str__printf(w->s, ":%llu", (unsigned long long)c->count);
	}
	str__putc(w->s, '\n');
}

static void put_body(struct writing *w, uint32_t body, unsigned indent)
{
	const struct profile_body *b = &w->p.bodies.data[body];
	size_t i, n;

	str__shown(w->s, w->p.names.data[b->name]);
	str__printf(w->s, ":%llu", (unsigned long long)b->total);
	if (!indent)
		str__printf(w->s, ":%llu", (unsigned long long)b->head);
	str__putc(w->s, '\n');
	for (n = sample_profile__lines(&w->p, body, &i); n; n--, i++)
		put_line(w, &w->p.lines.data[i], indent + 1);
	for (n = sample_profile__within(&w->p, body, &i); n; n--, i++) {
		uint32_t inner = w->p.order.data[i];

		b = &w->p.bodies.data[inner];
		put_spot(w, indent + 1, b->offset, b->discriminator);
		put_body(w, inner, indent + 1);
	}
}

static int autofdo__end(struct output *o, const struct trace_totals *t)
{
	static const struct profile_style style = {base_discriminator, true, true};
	struct writing w = {.s = &o->buffer};
	size_t i, n;
	int err = 0;

	sample_profile__init(&w.p, o, &style);
	for (n = sample_profile__within(&w.p, NO_BODY, &i); n && !err; n--, i++) {
		put_body(&w, w.p.order.data[i], 0);
		err = aggregate__flush_full(o);
	}
	sample_profile__free(&w.p);
	return err;
}

const struct output_format output_autofdo = {
	.name = "autofdo",
	.wants = {.events = OUTPUT_EDGES, .lines = true, .scopes = true},
	.suffixes = ".prof",
	.help = "a sample profile for clang: how often each line ran",
	.size = sizeof(struct stats),
	AGGREGATES,
	ADDS_UP,
	.count = aggregate__count,
	.end = autofdo__end,
};

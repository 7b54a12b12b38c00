// SPDX-License-Identifier: BSD-2-Clause
/*
 * The autofdo:gcc format: a sample profile for gcc's -fauto-profile, as create_gcov of
 * github.com/google/autofdo writes it (profile_writer.cc) and gcc 10 to 15 read it
 * (gcc/auto-profile.cc). Those ignore the discriminators of lines, and find nothing where a call
 * that was inlined has one: so there are none. A function's name ends at its first period.
 */
#include "output/base/fields.h"
#include "sample_profile.h"

#define MAGIC	    0x67636461 /* "gcda" */
#define VERSION	    2
#define NAMES	    0xaa000000
#define FUNCTIONS   0xac000000
#define MODULES	    0xae000000
#define WORKING_SET 0xaf000000
#define INDIRECT    7 /* HIST_TYPE_INDIR_CALL_TOPN */

/* Gcc inlines each call that the profile has as inlined, since any count is frequent to it: those
 * with a smaller part of all counts than this are left out, as they are of a profile by samples. */
#define LEAST_INLINED 10000

/* Which no gcc reads that reads this version, but the tools of autofdo do: rows of a count of 32
 * bits and one of 64. */
#define WORKING_SET_ROWS 128

struct writing {
	struct sample_profile p;
	struct str functions, names;
	VEC(uint32_t) numbers; /* by name: in the file; 0: not yet */
	uint32_t n;	       /* names so far; number 0 is "" */
	uint64_t least;	       /* total of what was inlined */
	uint32_t name_words;   /* of 4 bytes, as create_gcov has it: as if each was padded */
};

static void put_bytes(struct str *s, uint64_t v, unsigned n)
{
	for (; n; n--, v >>= 8)
		str__putc(s, (char)(v & 0xff));
}

static void put_u32(struct str *s, uint32_t v)
{
	put_bytes(s, v, 4);
}

static void put_u64(struct str *s, uint64_t v)
{
	put_bytes(s, v, 8);
}

static void put_name(struct writing *w, const char *name)
{
	uint32_t len = strlen(name) + 1;

	put_u32(&w->names, len);
	str__put(&w->names, name, len);
	w->name_words += 1 + (len + 3) / 4;
}

static uint32_t number_of(struct writing *w, uint32_t name)
{
	uint32_t *number = &w->numbers.data[name];

	if (!*number) {
		*number = ++w->n;
		put_name(w, w->p.names.data[name]);
	}
	return *number;
}

static uint32_t no_discriminator(uint32_t d)
{
	return 0;
}

static void put_line(struct writing *w, const struct profile_line *l)
{
	size_t i, n = sample_profile__callees(&w->p, &l->at, &i);

	put_u32(&w->functions, l->at.offset << 16);
	put_u32(&w->functions, n);
	put_u64(&w->functions, l->count);
	for (; n; n--, i++) {
		put_u32(&w->functions, INDIRECT);
		put_u64(&w->functions, number_of(w, w->p.callees.data[i].name));
		put_u64(&w->functions, w->p.callees.data[i].count);
	}
}

static void put_body(struct writing *w, uint32_t body)
{
	const struct sample_profile *p = &w->p;
	size_t line, first, worth = 0;
	size_t nlines = sample_profile__lines(p, body, &line);
	size_t n = sample_profile__within(p, body, &first);

	for (size_t i = first; i < first + n; i++)
		worth += p->bodies.data[p->order.data[i]].total >= w->least;
	put_u32(&w->functions, number_of(w, p->bodies.data[body].name));
	put_u32(&w->functions, nlines);
	put_u32(&w->functions, worth);
	for (; nlines; nlines--, line++)
		put_line(w, &p->lines.data[line]);
	for (size_t i = first; i < first + n; i++) {
		const struct profile_body *inner = &p->bodies.data[p->order.data[i]];

		if (inner->total < w->least)
			continue;
		put_u32(&w->functions, inner->offset << 16);
		put_body(w, p->order.data[i]);
	}
}

static void find_least(struct writing *w)
{
	const struct profile_line *l;
	uint64_t all = 0;

	vec__each (l, &w->p.lines)
		all += l->count;
	w->least = all / LEAST_INLINED;
}

/* Returns how many. */
static uint32_t put_functions(struct writing *w)
{
	size_t i, n = sample_profile__within(&w->p, NO_BODY, &i);

	for (size_t end = i + n; i < end; i++) {
		put_u64(&w->functions, w->p.bodies.data[w->p.order.data[i]].head);
		put_body(w, w->p.order.data[i]);
	}
	return n;
}

static void put_section(struct str *out, uint32_t tag, uint32_t words, uint32_t n,
			const struct str *rows)
{
	put_u32(out, tag);
	put_u32(out, 1 + words);
	put_u32(out, n);
	str__put(out, rows->data, rows->len);
}

static int autofdo_gcc__end(struct output *o, const struct trace_totals *t)
{
	static const struct profile_style style = {.discriminator = no_discriminator};
	struct writing w = {0};
	struct str *out = &o->buffer;
	uint32_t n;

	sample_profile__init(&w.p, o, &style);
	while (w.numbers.len < w.p.names.len)
		vec__push(&w.numbers, 0);
	find_least(&w);
	put_name(&w, "");
	n = put_functions(&w);
	put_u32(out, MAGIC);
	put_u32(out, VERSION);
	put_u32(out, 0);
	put_section(out, NAMES, w.name_words, w.n + 1, &w.names);
	put_section(out, FUNCTIONS, w.functions.len / 4, n, &w.functions);
	put_u32(out, MODULES);
	put_u64(out, 0);
	put_u32(out, WORKING_SET);
	put_u32(out, 3 * WORKING_SET_ROWS);
	for (unsigned i = 0; i < 3 * WORKING_SET_ROWS; i++)
		put_u32(out, 0);
	sample_profile__free(&w.p);
	vec__free(&w.numbers);
	str__free(&w.names);
	str__free(&w.functions);
	return 0;
}

const struct output_format output_autofdo_gcc = {
	.name = "autofdo:gcc",
	.wants = {.events = OUTPUT_EDGES, .lines = true, .scopes = true},
	.suffixes = ".afdo",
	.binary = true,
	.help = "the same for gcc's -fauto-profile",
	.size = sizeof(struct stats),
	AGGREGATES,
	ADDS_UP,
	.count = aggregate__count,
	.end = autofdo_gcc__end,
};

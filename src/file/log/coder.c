// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include "file/log/coder.h"

#define NONE UINT32_MAX

/* From one record to the next one of its thread. */
struct move {
	/* The first word of the next one minus the high half of this one's; 0: none, since a
	 * record's kind isn't 0 */
	uint64_t first;
	uint32_t origin; /* index into origins: those from the next one on */
	uint32_t values; /* index into values: the other words of the last record after this move */
};

/* A record, by the low half of its first word. The first one is that before a run. */
struct origin {
	uint8_t kind, words;
	struct move moves[LOG_MOVES]; /* the last one first */
};

struct log_coder {
	const struct log_decoder *decoder;
	VEC(struct origin) origins;
	VEC(uint64_t) values;
	struct map64 known; /* id -> index into origins */
	uint8_t half;	    /* the rank that doesn't fill a byte yet */
	bool has_half;	    /* written; to be read */
};

void log_streams__free(struct log_streams *s)
{
	str__free(&s->ranks);
	str__free(&s->firsts);
	str__free(&s->times);
	for (int i = 0; i < LOG_COLUMNS; i++)
		str__free(&s->columns[i]);
}

struct log_coder *log_coder__new(const struct log_decoder *decoder)
{
	struct log_coder *c = xcalloc(1, sizeof(*c));

	c->decoder = decoder;
	log_coder__begin(c);
	return c;
}

void log_coder__free(struct log_coder *c)
{
	if (!c)
		return;
	vec__free(&c->origins);
	vec__free(&c->values);
	map64__free(&c->known);
	free(c);
}

/* ---- what is known ---- */

static uint32_t add_origin(struct log_coder *c, uint8_t kind, uint8_t words)
{
	vec__push(&c->origins, (struct origin){.kind = kind, .words = words});
	return c->origins.len - 1;
}

void log_coder__begin(struct log_coder *c)
{
	c->origins.len = c->values.len = 0;
	map64__free(&c->known);
	c->has_half = false;
	add_origin(c, LOG_NONE, 0);
}

/* Returns where a record leads from; NONE if it is none that can be in a block. */
static uint32_t origin_of(struct log_coder *c, uint32_t id)
{
	uint64_t *known = map64__put(&c->known, id);
	struct logged l;

	if (!*known && log_decoder__id(c->decoder, id, &l) && l.kind >= LOG_BRANCH &&
	    l.kind <= LOG_ENTRY)
		*known = add_origin(c, l.kind, l.words);
	return *known ? *known : NONE;
}

/* Adds a move as the last one of its origin. Returns false if its record can't be in a block. */
static bool add_move(struct log_coder *c, uint32_t from, uint64_t first)
{
	struct move m = {first, origin_of(c, (uint32_t)first), c->values.len};
	struct move *moves = c->origins.data[from].moves;

	if (m.origin == NONE)
		return false;
	for (int i = 1; i < c->origins.data[m.origin].words; i++)
		vec__push(&c->values, 0);
	memmove(moves + 1, moves, (LOG_MOVES - 1) * sizeof(*moves));
	moves[0] = m;
	return true;
}

static inline void move_to_front(struct move *moves, unsigned rank)
{
	struct move m = moves[rank];

	if (!rank)
		return;
	for (; rank; rank--)
		moves[rank] = moves[rank - 1];
	moves[0] = m;
}

/* The index of the record's word that is a time; 0 if it has none. */
static unsigned time_at(uint8_t kind)
{
	return kind == LOG_ENTRY ? 1 : kind == LOG_RETURN ? 3 : 0;
}

/* The index of the column of a record's word that isn't a time. */
static unsigned column_of(uint8_t kind, unsigned word)
{
	unsigned first = kind == LOG_ENTRY ? 1 : kind == LOG_RETURN ? 0 : -1u;

	return min_of(first + word, LOG_COLUMNS - 1u);
}

/* ---- writing ---- */

static inline void put_rank(struct log_coder *c, struct log_streams *out, unsigned rank)
{
	if (c->has_half)
		put_byte(&out->ranks, c->half | rank << 4);
	c->half = rank;
	c->has_half = !c->has_half;
}

void log_coder__end(struct log_coder *c, struct log_streams *out)
{
	if (c->has_half)
		put_rank(c, out, 0);
}

static inline unsigned rank_of(const struct move *moves, uint64_t first)
{
	unsigned i = 0;

	while (i < LOG_MOVES && moves[i].first != first)
		i++;
	return i;
}

/* Puts the first word of a record. Returns the move; NULL if it is none. */
static inline const struct move *put_first(struct log_coder *c, struct log_streams *out,
					   uint32_t from, uint64_t first)
{
	unsigned rank = rank_of(c->origins.data[from].moves, first);

	if (rank == LOG_MOVES && !add_move(c, from, first))
		return NULL;
	put_rank(c, out, rank);
	if (rank == LOG_MOVES) {
		put_number(&out->firsts, (uint32_t)first);
		put_number(&out->firsts, zigzag((uint64_t)((int64_t)first >> 32)));
	} else {
		move_to_front(c->origins.data[from].moves, rank);
	}
	return c->origins.data[from].moves;
}

/* The words after the first one. ns: the time among them; *before: the one before it. */
static void put_rest(struct log_coder *c, const struct move *m, const uint64_t *words, uint64_t ns,
		     uint64_t *before, struct log_streams *out)
{
	const struct origin *o = &c->origins.data[m->origin];
	uint64_t *values = c->values.data + m->values;

	for (unsigned i = 1; i < o->words; i++) {
		if (i == time_at(o->kind)) {
			put_number(&out->times, ns - *before);
			*before = ns;
			continue;
		}
		put_delta(&out->columns[column_of(o->kind, i)], words[i], values[i - 1]);
		values[i - 1] = words[i];
	}
}

/* The high half of a first word, with which the next one begins. */
static inline uint64_t high_half(uint64_t word)
{
	return word & ~(uint64_t)UINT32_MAX;
}

size_t log_coder__put(struct log_coder *c, const struct logged_words *w, struct log_streams *out)
{
	const struct logged_time *time = w->times, *end = time + w->ntimes;
	uint64_t sp = w->thread.stacks[0] << 32, before = w->thread.time;
	uint32_t from = 0;
	size_t n = 0;

	for (size_t i = 0; i < w->n; n++) {
		const struct move *m = put_first(c, out, from, w->words[i] - sp);

		if (!m || c->origins.data[m->origin].words > w->n - i)
			return 0;
		sp = high_half(w->words[i]);
		from = m->origin;
		if (c->origins.data[from].words > 1) {
			while (time < end && time->at < i)
				time++;
			put_rest(c, m, w->words + i, time < end ? time->ns : before, &before, out);
		}
		i += c->origins.data[from].words;
	}
	return n;
}

/* ---- reading ---- */

static inline unsigned get_rank(struct log_coder *c, struct log_sources *in)
{
	if (!c->has_half)
		c->half = get_byte(&in->ranks);
	c->has_half = !c->has_half;
	return c->has_half ? c->half & 15 : c->half >> 4;
}

/* Returns the move of the next record; NULL if there is none. */
static inline const struct move *get_first(struct log_coder *c, struct log_sources *in,
					   uint32_t from)
{
	unsigned rank = get_rank(c, in);
	uint64_t id;

	if (in->ranks.bad || rank > LOG_MOVES)
		return NULL;
	if (rank < LOG_MOVES) {
		move_to_front(c->origins.data[from].moves, rank);
	} else {
		id = (uint32_t)get_number(&in->firsts);
		if (!add_move(c, from, unzigzag(get_number(&in->firsts)) << 32 | id) ||
		    in->firsts.bad)
			return NULL;
	}
	return c->origins.data[from].moves[0].first ? c->origins.data[from].moves : NULL;
}

static bool get_rest(struct log_coder *c, const struct move *m, struct log_sources *in,
		     uint64_t *before, uint64_t *words)
{
	const struct origin *o = &c->origins.data[m->origin];
	uint64_t *values = c->values.data + m->values;
	struct reader *r;

	for (unsigned i = 1; i < o->words; i++) {
		r = i == time_at(o->kind) ? &in->times : &in->columns[column_of(o->kind, i)];
		if (r == &in->times)
			words[i] = *before += get_number(r);
		else
			words[i] = values[i - 1] = get_delta(r, values[i - 1]);
		if (r->bad)
			return false;
	}
	return true;
}

bool log_coder__get(struct log_coder *c, struct log_sources *in, const struct log_thread *t,
		    uint64_t n, word_vec *words)
{
	uint64_t sp = t->stacks[0] << 32, before = t->time;
	uint32_t from = 0;

	for (; n; n--) {
		const struct move *m = get_first(c, in, from);
		size_t at = words->len;

		if (!m)
			return false;
		from = m->origin;
		words->len += c->origins.data[from].words;
		vec__reserve(words, words->len);
		words->data[at] = sp + m->first;
		sp = high_half(words->data[at]);
		if (words->len > at + 1 && !get_rest(c, m, in, &before, words->data + at))
			return false;
	}
	return true;
}

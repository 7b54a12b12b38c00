// SPDX-License-Identifier: BSD-2-Clause
/*
 * The paths of a run's threads, a byte or two an outcome: its number + 1 as LEB128, and before it,
 * where the depth isn't the one that the outcome before leads to, a 0 and the depth. Full chunks go
 * to the scratch file.
 */
#include <stdlib.h>
#include "diff/paths.h"

#define CHUNK	     (64u << 10)
#define BUFFERS_MOST (64u << 20) /* of all threads */
#define TIMES	     1024	 /* outcomes, for each of which a time is kept */

void paths__init(struct paths *p, struct outcomes *o, struct scratch *scratch)
{
	*p = (struct paths){.outcomes = o, .scratch = scratch};
}

static void free_path(struct path *t)
{
	str__free(&t->buffer);
	vec__free(&t->chunks);
	vec__free(&t->times);
	free(t);
}

void paths__free(struct paths *p)
{
	struct path_wants *w;
	struct path **t;

	vec__each (t, &p->threads)
		free_path(*t);
	vec__each (w, &p->wants)
		vec__free(&w->indices);
	vec__free(&p->wants);
	vec__free(&p->threads);
	vec__free(&p->counts);
	vec__free(&p->first);
	map64__free(&p->by_key);
	for (size_t i = 0; i < PATH_SLOTS; i++)
		free(p->slots[i].data);
}

/* ---- threads ---- */

static struct path *add_thread(struct paths *p, uint64_t key, size_t parent)
{
	struct path *t = xcalloc(1, sizeof(*t));

	t->number = p->threads.len;
	t->about.parent = parent;
	t->about.function = NO_FUNCTION;
	t->key = key;
	vec__push(&p->threads, t);
	*map64__put(&p->by_key, key) = p->threads.len;
	return t;
}

void paths__fork(struct paths *p, uint64_t key, uint64_t parent)
{
	const uint64_t *from = map64__get(&p->by_key, parent);

	if (p->last && p->last->key == key)
		p->last = NULL;
	add_thread(p, key, from ? *from - 1 : SIZE_MAX);
}

static struct path *thread_of(struct paths *p, const struct step *s)
{
	uint64_t key = step__thread_key_in_run(s);
	const uint64_t *known;

	if (p->last && p->last->key == key)
		return p->last;
	known = map64__get(&p->by_key, key);
	p->last = known ? p->threads.data[*known - 1] : add_thread(p, key, SIZE_MAX);
	return p->last;
}

const struct path_thread *paths__thread(const struct paths *p, size_t thread)
{
	return &p->threads.data[thread]->about;
}

uint64_t paths__time(const struct paths *p, size_t thread, uint64_t index)
{
	const struct path *t = p->threads.data[thread];

	return t->times.len ? t->times.data[min_of(index / TIMES, (uint64_t)t->times.len - 1)] : 0;
}

/* ---- writing ---- */

static int flush(struct paths *p, struct path *t)
{
	struct path_chunk c = {.len = t->buffer.len};
	int err;

	if (!c.len || !p->scratch)
		return 0;
	err = scratch__put(p->scratch, t->buffer.data, c.len, &c.at);
	if (err)
		return err;
	vec__push(&t->chunks, c);
	p->buffered -= c.len;
	str__clear(&t->buffer);
	return 0;
}

static int flush_all(struct paths *p)
{
	struct path **t;
	int err = 0;

	for (t = p->threads.data; !err && t < vec__end(&p->threads); t++) {
		err = flush(p, *t);
		str__free(&(*t)->buffer);
	}
	return err;
}

/* No number is cut in two. */
static void put_number(struct str *s, uint32_t n)
{
	for (; n >= 0x80; n >>= 7)
		str__putc(s, (char)(n | 0x80));
	str__putc(s, (char)n);
}

static uint32_t next_depth(const struct outcome *o, uint32_t depth)
{
	return o->type == OUTCOME_RETURN ? depth : depth + 1;
}

static uint32_t depth_of(const struct outcome *o, uint32_t expected)
{
	/* an entry is one deeper than the call that it is made from */
	return o->type == OUTCOME_ENTRY ? expected : expected ? expected - 1 : 0;
}

static void put(struct paths *p, struct path *t, uint32_t outcome, uint32_t depth)
{
	const struct outcome *o = &p->outcomes->rows.data[outcome];
	size_t before = t->buffer.len;

	if (depth_of(o, t->expected) != depth) {
		str__putc(&t->buffer, 0);
		put_number(&t->buffer, depth);
	}
	put_number(&t->buffer, outcome + 1);
	t->expected = next_depth(o, depth);
	p->buffered += t->buffer.len - before;
}

static uint64_t *count_of(struct paths *p, uint32_t outcome)
{
	while (p->counts.len <= outcome) {
		vec__push(&p->counts, 0);
		vec__push(&p->first, 0);
	}
	return &p->counts.data[outcome];
}

static void count(struct paths *p, uint32_t outcome)
{
	if (!(*count_of(p, outcome))++)
		p->first.data[outcome] = p->steps + 1;
	p->steps++;
}

void paths__count(struct paths *p, uint32_t outcome, uint64_t n)
{
	*count_of(p, outcome) += n;
	p->steps += n;
}

/* Those that have no event of their own have the time of the one before. */
static void note_time(struct path *t, const struct step *s)
{
	if (s->timed)
		t->time = s->time;
	if (!t->about.steps) {
		t->about.pid = s->pid;
		t->about.tid = s->tid;
		t->about.function = s->function;
		snprintf(t->about.comm, sizeof(t->about.comm), "%s", s->comm);
	}
	if (t->about.steps % TIMES == 0)
		vec__push(&t->times, t->time);
}

/* ---- a second reading ---- */

void paths__want(struct paths *p, size_t thread, uint64_t index)
{
	while (p->wants.len <= thread)
		vec__add(&p->wants);
	vec__push(&p->wants.data[thread].indices, index);
	p->wanted++;
}

static int capture(struct paths *p, struct path *t, const struct step *s)
{
	const struct path_wants *w = t->number < p->wants.len ? &p->wants.data[t->number] : NULL;
	int err = 0;

	while (!err && w && t->captured < w->indices.len &&
	       w->indices.data[t->captured] == t->about.steps) {
		t->captured++;
		p->wanted--;
		err = p->captured(p->ctx, t->number, t->about.steps, s);
	}
	return err ? err : !p->wanted;
}

/* ---- steps ---- */

int paths__step(struct paths *p, const struct step *s)
{
	uint32_t outcome = outcomes__of(p->outcomes, s);
	struct path *t;
	int err = 0;

	if (outcome == NO_OUTCOME)
		return 0;
	t = thread_of(p, s);
	note_time(t, s);
	if (p->captured) {
		err = capture(p, t, s);
		t->about.steps++;
		return err;
	}
	count(p, outcome);
	p->gaps += p->outcomes->rows.data[outcome].type == OUTCOME_GAP;
	if (p->scratch)
		put(p, t, outcome, s->depth);
	t->about.steps++;
	if (t->buffer.len >= CHUNK)
		err = flush(p, t);
	return !err && p->buffered > BUFFERS_MOST ? flush_all(p) : err;
}

int paths__end(struct paths *p)
{
	p->last = NULL;
	return flush_all(p);
}

/* ---- reading ---- */

/* The slot that was not used for the longest time takes the chunk. */
static bool load(struct path_cursor *c)
{
	struct paths *p = c->paths;
	const struct path_chunk *chunk = &c->path->chunks.data[c->chunk];
	struct path_slot *oldest = &p->slots[0];

	for (uint32_t i = 0; i < PATH_SLOTS; i++) {
		struct path_slot *s = &p->slots[i];

		if (s->path == c->path && s->chunk == c->chunk) {
			c->slot = i;
			s->used = ++p->uses;
			return true;
		}
		oldest = s->used < oldest->used ? s : oldest;
	}
	oldest->path = NULL;
	oldest->data = xrealloc(oldest->data, chunk->len, 1);
	p->error = scratch__get(p->scratch, chunk->at, oldest->data, chunk->len);
	if (p->error)
		return false;
	oldest->path = c->path;
	oldest->chunk = c->chunk;
	oldest->len = chunk->len;
	oldest->used = ++p->uses;
	c->slot = oldest - p->slots;
	return true;
}

static uint32_t get_number(const uint8_t *data, size_t *at)
{
	uint32_t n = 0;

	for (unsigned shift = 0;; shift += 7) {
		uint8_t b = data[(*at)++];

		n |= (uint32_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			return n;
	}
}

void path_cursor__init(struct path_cursor *c, struct paths *p, size_t thread)
{
	*c = (struct path_cursor){.paths = p, .path = p->threads.data[thread]};
}

static bool fetch(struct path_cursor *c)
{
	const struct path_slot *s = &c->paths->slots[c->slot];
	const struct outcome *o;
	uint32_t n, depth;

	if (c->chunk == c->path->chunks.len)
		return false;
	if ((s->path != c->path || s->chunk != c->chunk) && !load(c))
		return false;
	s = &c->paths->slots[c->slot];
	n = get_number(s->data, &c->at);
	depth = n ? 0 : get_number(s->data, &c->at);
	c->item.outcome = (n ? n : get_number(s->data, &c->at)) - 1;
	o = &c->paths->outcomes->rows.data[c->item.outcome];
	c->item.depth = n ? depth_of(o, c->expected) : depth;
	c->expected = next_depth(o, c->item.depth);
	if (c->at == s->len) {
		c->chunk++;
		c->at = 0;
	}
	return true;
}

const struct path_item *path_cursor__peek(struct path_cursor *c)
{
	if (!c->has && !fetch(c))
		return NULL;
	c->has = true;
	return &c->item;
}

void path_cursor__skip(struct path_cursor *c)
{
	c->has = false;
	c->item.index++;
}

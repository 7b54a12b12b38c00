// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds repeated lines in a stream. Each thread has a window of lines. When the last p items equal
 * the p before, or the body of the group before, they are removed and counted. Each item is linked
 * to those before with the same hash: only there the items are compared.
 */
#include "fold.h"

#define CHAINS 512
#define LINES  4096 /* buckets */

/* In a chain of those whose marks are equal modulo CHAINS. */
struct link {
	uint32_t mark;
	uint32_t prev; /* as the window's newest */
};

/* A thread's lines and groups that are still held, oldest first from head on. */
struct fold_window {
	uint64_t thread;
	VEC(struct fold_item *) items;
	size_t head;
	/* Two of each item: by its hash, and of a group by that of its body's last. */
	VEC(struct link) links;
	uint32_t newest[CHAINS]; /* index of a link, from 1 on; 0: none */
};

struct fold {
	fold_fn fn;
	void *ctx;
	struct map64 windows;		/* thread -> struct fold_window * */
	struct fold_item held;		/* head of the list of all windows' items, in order */
	struct fold_window *recent;	/* the window of the last line; NULL: none */
	struct fold_item *spare;	/* free lines for reuse */
	struct fold_line *table[LINES]; /* by hash */
	struct fold_line *spare_lines;	/* kept until the end: others look at their number */
	size_t lines;			/* in memory, among those held */
	uint64_t unique;
};

/* ---- items ---- */

struct fold *fold__new(fold_fn fn, void *ctx)
{
	struct fold *f = xcalloc(1, sizeof(*f));

	f->fn = fn;
	f->ctx = ctx;
	f->held.next = f->held.prev = &f->held;
	return f;
}

struct fold_item *fold__line(struct fold *f)
{
	struct fold_item *line = f->spare;
	struct str text;

	if (!line)
		return xcalloc(1, sizeof(*line));
	f->spare = line->next;
	text = line->text;
	str__clear(&text);
	*line = (struct fold_item){.text = text};
	return line;
}

static void drop_line(struct fold *f, struct fold_line *line)
{
	struct fold_line **at = &f->table[line->hash % LINES];

	if (--line->refs)
		return;
	while (!line->alone && *at != line)
		at = &(*at)->next;
	if (!line->alone)
		*at = line->next;
	line->number = 0;
	line->next = f->spare_lines;
	f->spare_lines = line;
}

static void free_item(struct fold *f, struct fold_item *item)
{
	for (size_t i = 0; i < item->nbody; i++)
		free_item(f, item->body[i]);
	if (item->count) {
		free(item->body);
		free(item);
		return;
	}
	drop_line(f, item->line);
	item->next = f->spare;
	f->spare = item;
}

static void link_before(struct fold_item *item, struct fold_item *next)
{
	item->next = next;
	item->prev = next->prev;
	item->prev->next = item;
	next->prev = item;
}

static void unlink_item(struct fold_item *item)
{
	item->prev->next = item->next;
	item->next->prev = item->prev;
}

/* ---- equality ---- */

static uint64_t mix(uint64_t hash, uint64_t v)
{
	hash = (hash ^ v) * 0x9e3779b97f4a7c15; /* 2^64 / golden ratio: spreads every bit upwards */
	return hash ^ hash >> 29;
}

static uint64_t mix_text(uint64_t hash, const char *text, size_t len)
{
	uint64_t word;

	for (; len >= sizeof(word); text += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		hash = mix(hash, word);
	}
	word = len;
	memcpy(&word, text, len);
	return mix(hash, word ^ (uint64_t)len << 56);
}

static uint64_t hash_of_group(const struct fold_item *g)
{
	uint64_t hash = mix(g->nbody, g->count);

	for (size_t i = 0; i < g->nbody; i++)
		hash = mix(hash, g->body[i]->hash);
	return hash;
}

static bool same_items(struct fold_item *const *a, struct fold_item *const *b, size_t n);

static bool same_item(const struct fold_item *a, const struct fold_item *b)
{
	if (a->hash != b->hash || a->count != b->count || a->nbody != b->nbody)
		return false;
	return a->count ? same_items(a->body, b->body, a->nbody) : a->line == b->line;
}

static bool same_items(struct fold_item *const *a, struct fold_item *const *b, size_t n)
{
	for (size_t i = n; i-- > 0;)
		if (a[i]->hash != b[i]->hash)
			return false;
	for (size_t i = 0; i < n; i++)
		if (!same_item(a[i], b[i]))
			return false;
	return true;
}

/* ---- what lines say ---- */

/* A line's text without its times. */
struct halves {
	const char *head, *tail;
	size_t nhead, ntail;
};

static uint64_t hash_of(const uint64_t *key, const struct halves *h)
{
	uint64_t hash = 0;

	for (int i = 0; i < FOLD_KEYS; i++)
		hash = mix(hash, key[i]);
	return mix_text(mix_text(hash, h->head, h->nhead), h->tail, h->ntail);
}

static bool says(const struct fold_line *l, const uint64_t *key, const struct halves *h)
{
	return !memcmp(l->key, key, sizeof(l->key)) && l->times == h->nhead &&
	       l->text.len == h->nhead + h->ntail && !memcmp(l->text.data, h->head, h->nhead) &&
	       !memcmp(l->text.data + h->nhead, h->tail, h->ntail);
}

/* Makes a line for one item. */
static struct fold_line *new_line(struct fold *f, const struct halves *h)
{
	struct fold_line *l = f->spare_lines;

	if (l)
		f->spare_lines = l->next;
	else
		l = xcalloc(1, sizeof(*l));
	str__clear(&l->text);
	str__put(&l->text, h->head, h->nhead);
	str__put(&l->text, h->tail, h->ntail);
	l->times = h->nhead;
	l->number = ++f->unique;
	l->refs = 1;
	return l;
}

static struct fold_line *lone_line(struct fold *f, const struct halves *h)
{
	struct fold_line *l = new_line(f, h);

	l->alone = true;
	l->hash = l->number;
	return l;
}

static struct fold_line *line_of(struct fold *f, const uint64_t *key, const struct halves *h)
{
	uint64_t hash = hash_of(key, h);
	struct fold_line **bucket = &f->table[hash % LINES], *l;

	for (l = *bucket; l; l = l->next) {
		if (l->hash != hash || !says(l, key, h))
			continue;
		l->refs++;
		return l;
	}
	l = new_line(f, h);
	memcpy(l->key, key, sizeof(l->key));
	l->alone = false;
	l->hash = hash;
	l->next = *bucket;
	*bucket = l;
	return l;
}

void fold__describe(struct fold *f, struct fold_item *item, const uint64_t *key, const char *text,
		    size_t len, size_t times, size_t time_end)
{
	const struct halves h = {text, text + time_end, times, len - time_end};

	str__put(&item->text, text + times, time_end - times);
	item->line = key ? line_of(f, key, &h) : lone_line(f, &h);
}

void fold__share(struct fold_item *item, struct fold_line *line)
{
	line->refs++;
	item->line = line;
}

/* ---- links: added and removed at the window's end only ---- */

static void add_link(struct fold_window *w, size_t at, uint64_t hash)
{
	struct link *l = &w->links.data[at];
	uint32_t *newest;

	l->mark = hash ^ hash >> 32;
	newest = &w->newest[l->mark % CHAINS];
	l->prev = *newest;
	*newest = at + 1;
}

static void remove_link(struct fold_window *w, size_t at)
{
	w->newest[w->links.data[at].mark % CHAINS] = w->links.data[at].prev;
}

static void link_item(struct fold_window *w, size_t at)
{
	const struct fold_item *item = w->items.data[at];

	vec__reserve(&w->links, 2 * w->items.cap);
	add_link(w, 2 * at, item->hash);
	if (item->nbody)
		add_link(w, 2 * at + 1, item->body[item->nbody - 1]->hash);
}

/* The last n. */
static void unlink_items(struct fold_window *w, size_t n)
{
	for (size_t at = w->items.len; n; n--) {
		at--;
		if (w->items.data[at]->nbody)
			remove_link(w, 2 * at + 1);
		remove_link(w, 2 * at);
	}
}

/* Returns true if the last p items can be equal to the p before. */
static bool marks_repeat(const struct fold_window *w, size_t p)
{
	const struct link *end = w->links.data + 2 * w->items.len, *before = end - 2 * p;

	for (size_t i = 1; i <= p; i++)
		if (end[-2 * (ssize_t)i].mark != before[-2 * (ssize_t)i].mark)
			return false;
	return true;
}

/* ---- groups ---- */

static void widen(struct fold_item *g, const struct fold_item *by)
{
	if (!by->timed)
		return;
	/* With --last the newest is first. */
	g->first = g->timed ? min_of(g->first, by->first) : by->first;
	g->last = g->timed ? max_of(g->last, by->last) : by->last;
	g->timed = true;
}

/* The last n items repeat the group's body: counts and frees them. */
static void absorb(struct fold *f, struct fold_window *w, struct fold_item *g, size_t n)
{
	struct fold_item **last = w->items.data + w->items.len - n;

	for (size_t i = 0; i < n; i++) {
		widen(g, last[i]);
		f->lines -= last[i]->lines;
		unlink_item(last[i]);
		free_item(f, last[i]);
	}
	w->items.len -= n;
	g->count++;
	g->hash = hash_of_group(g);
	link_item(w, w->items.len - 1);
}

/* Makes a group with count 1 of the n items from at on. */
static struct fold_item *make_group(struct fold_window *w, size_t at, size_t n)
{
	struct fold_item *g = xcalloc(1, sizeof(*g)), **body = w->items.data + at;

	*g = (struct fold_item){.count = 1,
				.nbody = n,
				.body = xcalloc(n, sizeof(*g->body)),
				.window = w,
				.indent = body[0]->indent};
	memcpy(g->body, body, n * sizeof(*body));
	link_before(g, body[0]);
	for (size_t i = 0; i < n; i++) {
		widen(g, body[i]);
		g->indent = min_of(g->indent, body[i]->indent);
		g->lines += body[i]->lines;
		unlink_item(body[i]);
	}
	return g;
}

static void fold_pair(struct fold *f, struct fold_window *w, size_t n)
{
	size_t at = w->items.len - 2 * n;
	struct fold_item *g = make_group(w, at, n);

	w->items.data[at] = g;
	memmove(&w->items.data[at + 1], &w->items.data[at + n], n * sizeof(*w->items.data));
	w->items.len = at + 1 + n;
	absorb(f, w, g, n);
}

/* Folds the last p items with those before them. */
static bool fold_last(struct fold *f, struct fold_window *w, size_t p)
{
	struct fold_item **end = w->items.data + w->items.len, *g = end[-1 - (ssize_t)p];

	if (g->nbody == p && same_items(g->body, end - p, p)) {
		unlink_items(w, p + 1);
		absorb(f, w, g, p);
		return true;
	}
	if (2 * p <= w->items.len - w->head && marks_repeat(w, p) &&
	    same_items(end - 2 * p, end - p, p)) {
		unlink_items(w, 2 * p);
		fold_pair(f, w, p);
		return true;
	}
	return false;
}

/* Folds the shortest repetition that ends with the window's last item. */
static bool reduce(struct fold *f, struct fold_window *w)
{
	size_t last = w->items.len - 1, at;
	const struct link *l = &w->links.data[2 * last];
	uint32_t mark = l->mark;

	while (l->prev) {
		at = (l->prev - 1) / 2;
		l = &w->links.data[l->prev - 1];
		if (at < w->head || last - at > FOLD_BODY)
			return false;
		if (l->mark == mark && fold_last(f, w, last - at))
			return true;
	}
	return false;
}

/* ---- windows ---- */

static struct fold_window *new_window(uint64_t thread)
{
	struct fold_window *w = xcalloc(1, sizeof(*w));

	w->thread = thread;
	return w;
}

static struct fold_window *window_of(struct fold *f, uint64_t thread)
{
	uint64_t *slot;

	if (f->recent && f->recent->thread == thread)
		return f->recent;
	slot = map64__put(&f->windows, thread);
	f->recent = (void *)(uintptr_t)*slot;
	if (f->recent)
		return f->recent;
	f->recent = new_window(thread);
	*slot = (uintptr_t)f->recent;
	return f->recent;
}

static void free_window(struct fold *f, struct fold_window *w)
{
	if (f->recent == w)
		f->recent = NULL;
	map64__del(&f->windows, w->thread);
	vec__free(&w->items);
	vec__free(&w->links);
	free(w);
}

/* Moves the items to the front when most of the array before them is free. */
static void compact(struct fold_window *w)
{
	size_t n = w->items.len - w->head;

	if (w->head < 4 * FOLD_BODY || w->head < n)
		return;
	memmove(w->items.data, w->items.data + w->head, n * sizeof(*w->items.data));
	w->items.len = n;
	w->head = 0;
	memset(w->newest, 0, sizeof(w->newest));
	for (size_t i = 0; i < n; i++)
		link_item(w, i);
}

/* Outputs the oldest item, which is the oldest of its window, too. */
static void give_oldest(struct fold *f)
{
	struct fold_item *item = f->held.next;
	struct fold_window *w = item->window;

	f->fn(f->ctx, item);
	unlink_item(item);
	f->lines -= item->lines;
	free_item(f, item);
	if (++w->head == w->items.len)
		free_window(f, w);
	else
		compact(w);
}

void fold__push(struct fold *f, uint64_t thread, struct fold_item *line)
{
	struct fold_window *w = window_of(f, thread);

	line->hash = line->line->hash;
	line->lines = 1;
	line->window = w;
	f->lines++;
	link_before(line, &f->held);
	vec__push(&w->items, line);
	link_item(w, w->items.len - 1);
	while (!line->line->alone && reduce(f, w))
		;
	while (f->lines > FOLD_HELD)
		give_oldest(f);
}

void fold__settle(struct fold *f)
{
	while (f->held.next != &f->held)
		give_oldest(f);
}

void fold__free(struct fold *f)
{
	struct fold_line *line, *next_line;
	struct fold_item *item, *next;

	if (!f)
		return;
	f->fn = NULL;
	for (item = f->held.next; item != &f->held; item = next) {
		next = item->next;
		if (++item->window->head == item->window->items.len)
			free_window(f, item->window);
		free_item(f, item);
	}
	for (item = f->spare; item; item = next) {
		next = item->next;
		str__free(&item->text);
		free(item);
	}
	for (line = f->spare_lines; line; line = next_line) {
		next_line = line->next;
		str__free(&line->text);
		free(line);
	}
	map64__free(&f->windows);
	free(f);
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * Blocks of what threads have logged (BLOCK_LOG): the records of src/arch/log.h as copied functions
 * wrote them, with times in ns. Writing them takes no decoding. The reader decodes them, or passes
 * many at once.
 */
#include <errno.h>
#include <stdlib.h>
#include "arch/arch.h"
#include "file/format.h"
#include "file/pack.h"

#define FIELDS 8 /* numbers of struct log_thread */

static void fields_of(struct log_thread *t, uint64_t *out[FIELDS])
{
	_Static_assert(LOG_STACKS == 4, "which of them are in the file");
	for (int i = 0; i < LOG_STACKS; i++)
		out[i] = &t->stacks[i];
	out[4] = &t->time;
	out[5] = &t->goroutine;
	out[6] = &t->stack_low;
	out[7] = &t->stack_high;
}

/* ---- writing ---- */

/* Times are the words that differ most: apart, and as differences, they take fewer bytes. */
static void put_times(struct str *out, const struct logged_words *w)
{
	uint64_t at = 0, ns = w->thread.time;
	const struct logged_time *t;

	put_number(out, w->ntimes);
	for (t = w->times; t < w->times + w->ntimes; t++) {
		put_number(out, t->at - at);
		put_number(out, t->ns - ns);
		at = t->at;
		ns = t->ns;
	}
}

static void put_words(struct str *out, const struct logged_words *w)
{
	const struct logged_time *t;
	char *words;

	put_number(out, w->n);
	str__put(out, (const char *)w->words, w->n * sizeof(*w->words));
	words = out->data + out->len - w->n * sizeof(*w->words);
	for (t = w->times; t < w->times + w->ntimes; t++)
		memset(words + t->at * sizeof(*w->words), 0, sizeof(*w->words));
}

void logged_block__put(struct logged_block *b, const struct logged_words *w)
{
	struct log_thread t = w->thread;
	uint64_t *fields[FIELDS];

	put_number(&b->bytes, t.pid);
	put_number(&b->bytes, t.tid);
	put_part(&b->bytes, t.comm, strnlen(t.comm, sizeof(t.comm)));
	fields_of(&t, fields);
	for (int i = 0; i < FIELDS; i++)
		put_number(&b->bytes, *fields[i]);
	put_number(&b->bytes, w->regs);
	put_times(&b->bytes, w);
	put_words(&b->bytes, w);
	b->events += w->events;
}

bool logged_block__end(struct logged_block *b, struct str *out, struct block_totals *t)
{
	if (!b->bytes.len)
		return false;
	put_number(out, b->events);
	block_totals__put(out, t);
	str__put(out, b->bytes.data, b->bytes.len);
	t->events += b->events;
	str__clear(&b->bytes);
	b->events = 0;
	return true;
}

/* ---- reading ---- */

struct logged_reader {
	struct log_options options;
	struct log_decoder *decoder;
	struct log_thread thread;
	struct reader in;
	VEC(uint64_t) words; /* of the run that is being read; those before at were given */
	size_t at;
};

static uint64_t same(void *ctx, uint64_t ns)
{
	return ns;
}

struct logged_reader *logged_reader__new(const struct plan *plan)
{
	struct logged_reader *l = xcalloc(1, sizeof(*l));

	l->decoder = log_decoder__new(plan, &l->options, (struct log_clock){same, NULL});
	return l;
}

void logged_reader__free(struct logged_reader *l)
{
	if (!l)
		return;
	log_decoder__free(l->decoder);
	vec__free(&l->words);
	free(l);
}

int logged_reader__begin(struct logged_reader *l, const uint8_t *raw, size_t len, uint64_t *events)
{
	struct block_totals totals;

	l->in = reader_of(raw, len);
	l->at = l->words.len = 0;
	*events = get_number(&l->in);
	block_totals__get(&l->in, &totals);
	return l->in.bad || *events > len / sizeof(uint64_t) ? -EBADMSG : 0;
}

/* Sets all but the words and their times. */
static void get_thread(struct logged_reader *l)
{
	/* times are as they were read, not as they might have been */
	struct log_thread *t = &l->thread;
	uint64_t *fields[FIELDS];
	struct reader comm;

	*t = (struct log_thread){.goroutine_known = true, .until = UINT64_MAX};
	t->pid = get_number(&l->in);
	t->tid = get_number(&l->in);
	comm = get_part(&l->in);
	memcpy(t->comm, comm.at, min_of((size_t)(comm.end - comm.at), sizeof(t->comm) - 1));
	fields_of(t, fields);
	for (int i = 0; i < FIELDS; i++)
		*fields[i] = get_number(&l->in);
	l->options.regs = get_number(&l->in);
}

/* Returns the times, to be read again by set_times(), and skips them. */
static struct reader skip_times(struct logged_reader *l)
{
	struct reader times = l->in;

	for (uint64_t n = get_number(&l->in); n && !l->in.bad; n--) {
		get_number(&l->in);
		get_number(&l->in);
	}
	return times;
}

/* Returns false if one is no word. */
static bool set_times(struct logged_reader *l, struct reader times)
{
	uint64_t at = 0, ns = l->thread.time;

	for (uint64_t n = get_number(&times); n; n--) {
		at += get_number(&times);
		ns += get_number(&times);
		if (at >= l->words.len)
			return false;
		l->words.data[at] = ns;
	}
	return true;
}

static bool begin_run(struct logged_reader *l)
{
	struct reader times;
	uint64_t n;

	l->words.len = l->at = 0;
	get_thread(l);
	times = skip_times(l);
	n = get_number(&l->in);
	if (l->in.bad || !n || n > (size_t)(l->in.end - l->in.at) / sizeof(uint64_t))
		return false;
	vec__reserve(&l->words, n);
	memcpy(l->words.data, l->in.at, n * sizeof(uint64_t));
	l->words.len = n;
	l->in.at += n * sizeof(uint64_t);
	return set_times(l, times);
}

/* Returns 1 if there are words that were not given, 0 at the end of the block. */
static int find_words(struct logged_reader *l)
{
	if (l->at < l->words.len)
		return 1;
	if (l->in.at == l->in.end)
		return 0;
	return begin_run(l) ? 1 : -EBADMSG;
}

int logged_reader__next(struct logged_reader *l, const struct event **out)
{
	int n = find_words(l);

	if (n <= 0)
		return n;
	n = log_decoder__event(l->decoder, &l->thread, l->words.data + l->at, l->words.len - l->at,
			       out);
	if (n <= 0 || !*out)
		return -EBADMSG;
	l->at += n;
	return 1;
}

bool logged_reader__run(struct logged_reader *l, struct event_run *out)
{
	if (find_words(l) <= 0)
		return false;
	*out = (struct event_run){.pid = l->thread.pid,
				  .tid = l->thread.tid,
				  .comm = l->thread.comm,
				  .decoder = l->decoder,
				  .thread = &l->thread,
				  .before = UINT64_MAX,
				  .words = l->words.data + l->at,
				  .n = l->words.len - l->at};
	return true;
}

void logged_reader__skip(struct logged_reader *l, size_t words)
{
	l->at += words;
}

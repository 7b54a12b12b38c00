// SPDX-License-Identifier: BSD-2-Clause
/*
 * Blocks of what threads have logged (BLOCK_LOG): the records of src/arch/log.h that copied
 * functions wrote, with times in ns, in few bytes (coder.h). Writing them takes no decoding. The
 * reader decodes them, or passes many at once.
 */
#include <errno.h>
#include <stdlib.h>
#include "arch/arch.h"
#include "file/format.h"
#include "file/log/coder.h"
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

struct logged_writer {
	struct log_options options; /* of all runs of the block */
	struct log_decoder *decoder;
	struct log_coder *coder;
	struct str runs;
	struct log_streams streams;
	uint64_t events;
};

static uint64_t same(void *ctx, uint64_t ns)
{
	return ns;
}

struct logged_writer *logged_writer__new(const struct plan *plan)
{
	struct logged_writer *l = xcalloc(1, sizeof(*l));

	l->decoder = log_decoder__new(plan, &l->options, (struct log_clock){same, NULL});
	l->coder = log_coder__new(l->decoder);
	return l;
}

void logged_writer__free(struct logged_writer *l)
{
	if (!l)
		return;
	log_coder__free(l->coder);
	log_decoder__free(l->decoder);
	log_streams__free(&l->streams);
	str__free(&l->runs);
	free(l);
}

size_t logged_writer__size(const struct logged_writer *l)
{
	size_t n =
		l->runs.len + l->streams.ranks.len + l->streams.firsts.len + l->streams.times.len;

	for (int i = 0; i < LOG_COLUMNS; i++)
		n += l->streams.columns[i].len;
	return n;
}

bool logged_writer__takes(const struct logged_writer *l, uint32_t regs)
{
	return !l->runs.len || l->options.regs == regs;
}

int logged_writer__put(struct logged_writer *l, const struct logged_words *w)
{
	struct log_thread t = w->thread;
	uint64_t *fields[FIELDS];
	size_t records;

	l->options.regs = w->regs;
	put_number(&l->runs, t.pid);
	put_number(&l->runs, t.tid);
	put_part(&l->runs, t.comm, strnlen(t.comm, sizeof(t.comm)));
	fields_of(&t, fields);
	for (int i = 0; i < FIELDS; i++)
		put_number(&l->runs, *fields[i]);
	records = log_coder__put(l->coder, w, &l->streams);
	put_number(&l->runs, records);
	l->events += w->events;
	return records ? 0 : -EINVAL;
}

static void put_stream(struct str *out, struct str *s)
{
	put_part(out, s->data, s->len);
	str__clear(s);
}

bool logged_writer__end(struct logged_writer *l, struct str *out, struct block_totals *t)
{
	struct log_streams *s = &l->streams;
	int columns = LOG_COLUMNS;

	if (!l->runs.len)
		return false;
	log_coder__end(l->coder, s);
	put_number(out, l->events);
	block_totals__put(out, t);
	put_number(out, l->options.regs);
	put_stream(out, &l->runs);
	put_stream(out, &s->ranks);
	put_stream(out, &s->firsts);
	put_stream(out, &s->times);
	while (columns && !s->columns[columns - 1].len)
		columns--;
	put_number(out, columns);
	for (int i = 0; i < columns; i++)
		put_stream(out, &s->columns[i]);
	t->events += l->events;
	l->events = 0;
	log_coder__begin(l->coder);
	return true;
}

/* ---- reading ---- */

struct logged_reader {
	struct log_options options;
	struct log_decoder *decoder;
	struct log_coder *coder;
	struct log_thread thread;
	struct reader runs;
	struct log_sources in;
	word_vec words; /* of the run that is being read; those before at were given */
	size_t at;
};

struct logged_reader *logged_reader__new(const struct plan *plan)
{
	struct logged_reader *l = xcalloc(1, sizeof(*l));

	l->decoder = log_decoder__new(plan, &l->options, (struct log_clock){same, NULL});
	l->coder = log_coder__new(l->decoder);
	return l;
}

void logged_reader__free(struct logged_reader *l)
{
	if (!l)
		return;
	log_coder__free(l->coder);
	log_decoder__free(l->decoder);
	vec__free(&l->words);
	free(l);
}

static bool get_streams(struct logged_reader *l, struct reader *in)
{
	uint64_t columns;

	l->runs = get_part(in);
	l->in.ranks = get_part(in);
	l->in.firsts = get_part(in);
	l->in.times = get_part(in);
	columns = get_number(in);
	for (uint64_t i = 0; i < LOG_COLUMNS; i++)
		l->in.columns[i] = i < columns ? get_part(in) : reader_of(NULL, 0);
	return !in->bad && columns <= LOG_COLUMNS && in->at == in->end;
}

int logged_reader__begin(struct logged_reader *l, const uint8_t *raw, size_t len, uint64_t *events)
{
	struct reader in = reader_of(raw, len);
	struct block_totals totals;

	l->at = l->words.len = 0;
	log_coder__begin(l->coder);
	*events = get_number(&in);
	block_totals__get(&in, &totals);
	l->options.regs = get_number(&in);
	if (!get_streams(l, &in))
		return -EBADMSG;
	return *events > 2 * (uint64_t)(l->in.ranks.end - l->in.ranks.at) ? -EBADMSG : 0;
}

static void get_thread(struct logged_reader *l)
{
	/* times are as they were read, not as they might have been */
	struct log_thread *t = &l->thread;
	uint64_t *fields[FIELDS];
	struct reader comm;

	*t = (struct log_thread){.goroutine_known = true, .until = UINT64_MAX};
	t->pid = get_number(&l->runs);
	t->tid = get_number(&l->runs);
	comm = get_part(&l->runs);
	memcpy(t->comm, comm.at, min_of((size_t)(comm.end - comm.at), sizeof(t->comm) - 1));
	fields_of(t, fields);
	for (int i = 0; i < FIELDS; i++)
		*fields[i] = get_number(&l->runs);
}

static bool begin_run(struct logged_reader *l)
{
	uint64_t records;

	l->words.len = l->at = 0;
	get_thread(l);
	records = get_number(&l->runs);
	return !l->runs.bad && records &&
	       log_coder__get(l->coder, &l->in, &l->thread, records, &l->words);
}

/* Returns 1 if there are words that were not given, 0 at the end of the block. */
static int find_words(struct logged_reader *l)
{
	if (l->at < l->words.len)
		return 1;
	if (l->runs.at == l->runs.end)
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

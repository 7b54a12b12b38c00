// SPDX-License-Identifier: BSD-2-Clause
/*
 * Logs in the trace file: what threads have logged comes back as the events that it is, whether it
 * is read as events, or taken as words; damaged ones are noticed.
 */
#include "arch/log.h"
#include "file/format.h"
#include "file_fixture.h"

#define REGS (1u << 4 | 1u << 6 | 1u << 7) /* rsp, rsi, rdi */

static struct str file, wrote; /* the file; its items as text */
static uint64_t clock_now = 5000000000000;
static const struct trace_meta meta = {.version = "0", .system = "Linux"};

static uint64_t same(void *ctx, uint64_t ns)
{
	return ns;
}

static const struct log_options options = {.regs = REGS};
static const struct log_clock ns_clock = {same, NULL};

/* ---- writing ---- */

struct words {
	uint64_t words[4096];
	size_t n;
	VEC(struct logged_time) times;
	uint64_t events;
};

static void put_word(struct words *w, uint64_t word)
{
	w->words[w->n++] = word;
}

static void put_time(struct words *w)
{
	clock_now += rnd() % 3 ? rnd() % 900 : 0;
	vec__push(&w->times, (struct logged_time){w->n, clock_now});
	put_word(w, clock_now);
}

static void put_first(struct words *w, unsigned kind, uint32_t site, uint64_t sp)
{
	unsigned words = rnd() % 3 ? 0 : rnd() % 4; /* that the log had pushed */
	uint64_t lowered = words ? words + 16 : 0;

	put_word(w,
		 (sp - lowered * 8) << 32 | LOG_ID(kind, words, site != S_CALL && rnd() % 3, site));
	w->events++;
}

static void put_record(struct words *w, uint64_t sp)
{
	static const uint32_t plain[] = {S_JNE, S_CALL, S_LOOP};

	switch (rnd() % 12) {
	case 0:
		put_first(w, LOG_ENTRY, S_ENTRY, sp);
		put_time(w);
		put_word(w, 0x555500001000 + rnd() % 4); /* where it was called */
		put_word(w, 0x555500001000);
		put_word(w, sp);
		put_word(w, rnd());
		put_word(w, rnd() % 3);
		break;
	case 1:
		put_first(w, LOG_RETURN, S_RET, sp);
		put_word(w, rnd() % 9 ? 0x555500002000 : 0);
		put_word(w, rnd() % 3 ? 1 : rnd());
		put_time(w);
		break;
	case 2:
		put_first(w, LOG_TARGET, S_IJMP, sp);
		put_word(w, rnd() % 9 ? 0x555500003000 : 0);
		break;
	default:
		put_first(w, LOG_BRANCH, plain[rnd() % 3], sp);
	}
}

/* Notes the events that the words are; with the thread as it is then. */
static void note_events(const struct words *w, struct log_thread *t)
{
	struct log_decoder *d = log_decoder__new(&plan, &options, ns_clock);
	const struct event *e;

	for (size_t at = 0; at < w->n;) {
		int n = log_decoder__event(d, t, w->words + at, w->n - at, &e);

		if (n <= 0 || !e) {
			ok(false, "the words are records");
			break;
		}
		put_event(&wrote, e);
		at += n;
	}
	log_decoder__free(d);
}

static void add_run(struct trace_writer *w, struct log_thread *t)
{
	static struct words words;
	uint64_t sp = 0x7ffc00000100;
	size_t most = rnd() % 8 ? rnd() % 40 : rnd() % 4000;
	struct logged_words run = {.thread = *t, .regs = REGS};

	words.n = words.events = words.times.len = 0;
	do
		put_record(&words, sp -= rnd() % 5 ? 0 : 64);
	while (words.n < most);
	run.words = words.words;
	run.n = words.n;
	run.events = words.events;
	run.times = words.times.data;
	run.ntimes = words.times.len;
	note_events(&words, t);
	if (trace_writer__words(w, &run))
		ok(false, "words are written");
	vec__free(&words.times);
}

static void write_file(int runs)
{
	struct trace_writer *w = trace_writer__new(&plan, to_memory, &file, false);
	struct log_thread threads[3] = {{.until = UINT64_MAX}};

	for (unsigned i = 0; i < 3; i++) {
		threads[i] = (struct log_thread){.pid = 100,
						 .tid = 100 + i,
						 .until = UINT64_MAX,
						 .time = clock_now,
						 .goroutine_known = true,
						 .stacks = {0x7ffc00000100}};
		snprintf(threads[i].comm, sizeof(threads[i].comm), "thread %u", i);
	}
	str__clear(&file);
	str__clear(&wrote);
	trace_writer__begin(w, &meta);
	for (int i = 0; i < runs; i++) {
		struct event e = {.time = clock_now,
				  .pid = 100,
				  .tid = 100 + rnd() % 3,
				  .sp = 0x7ffc00000100,
				  .site = S_JNE,
				  .cpu = 1,
				  .type = EVENT_BRANCH};
		struct sideband_event side = {.type = SIDEBAND_COMM,
					      .time = clock_now,
					      .pid = 100,
					      .tid = 101,
					      .text = "x"};

		add_run(w, &threads[rnd() % 3]);
		if (rnd() % 4 == 0) {
			trace_writer__event(w, &e);
			put_event(&wrote, &e);
		}
		if (rnd() % 9 == 0) {
			trace_writer__sideband(w, &side);
			put_sideband(&wrote, &side);
		}
	}
	trace_writer__end(w, &(struct trace_end){0});
	trace_writer__free(w);
}

/* ---- reading ---- */

/* Takes some records of a run. Returns the words that they have. */
static size_t take(const struct event_run *run, struct got *got)
{
	size_t at = 0, most = rnd() % 3 ? rnd() % 50 : rnd() % 5000;
	const struct event *e;

	while (at < run->n && at < most) {
		int n = log_decoder__event(run->decoder, run->thread, run->words + at, run->n - at,
					   &e);

		if (n <= 0 || !e)
			break;
		put_event(&got->items, e);
		at += n;
	}
	return at;
}

static void test_offered(void)
{
	struct from_memory m = {file.data, file.len, 0, 4096};
	struct trace_reader *r = trace_reader__new(read_memory, &m);
	const struct trace_calls calls = {.event = got_event, .sideband = got_sideband};
	struct trace_item item;
	struct got got = {0};
	size_t runs = 0;
	int n;

	trace_reader__offer_runs(r);
	while ((n = trace_reader__next(r, &item)) > 0) {
		if (item.type == TRACE_RUN)
			trace_reader__took(r, take(item.run, &got));
		else
			trace_reader__pass(r, &item, &calls, &got);
		runs += item.type == TRACE_RUN;
	}
	is(n, 0, "the file is read to its end");
	ok(runs > 300, "%zu runs are offered", runs);
	is_str(got.items.data, wrote.data,
	       "what is taken of runs, and the events, are all there are");
	trace_reader__free(r);
	str__free(&got.items);
}

static int read_whole(struct got *got)
{
	struct from_memory m = {file.data, file.len, 0, 4096};
	struct trace_reader *r = trace_reader__new(read_memory, &m);
	const struct trace_calls calls = {.event = got_event, .sideband = got_sideband};
	int err = trace_reader__run(r, &calls, got);

	trace_reader__free(r);
	return err;
}

static void test_events(void)
{
	struct got got = {0};

	is(read_whole(&got), 0, "the file is read");
	is_str(got.items.data, wrote.data, "logs come back as the events that they are");
	str__free(&got.items);
}

static void test_damage(void)
{
	int noticed = 0, tries = 300;

	write_file(5);
	for (int i = 0; i < tries; i++) {
		size_t at = 20 + rnd() % (file.len - 20);
		struct got got = {0};

		const char was = file.data[at];

		file.data[at] ^= 1 << rnd() % 8;
		noticed += read_whole(&got) != 0;
		file.data[at] = was;
		str__free(&got.items);
	}
	is(noticed, tries, "a bit flipped anywhere is noticed");
}

/* What a block of logs says is checked, even if its checksum is right. */
static void test_hostile(void)
{
	struct logged_reader *l = logged_reader__new(&plan);
	struct logged_writer *b = logged_writer__new(&plan);
	struct words *words = xcalloc(1, sizeof(*words));
	struct log_thread t = {.pid = 1, .tid = 1, .stacks = {0x7ffc00000100}};
	struct block_totals totals = {0};
	struct logged_words good;
	struct str raw = {0};
	const struct event *e;
	uint64_t events;
	int n;

	for (int i = 0; i < 50; i++)
		put_record(words, 0x7ffc00000100);
	good = (struct logged_words){.thread = t,
				     .regs = REGS,
				     .words = words->words,
				     .n = words->n,
				     .events = words->events,
				     .times = words->times.data,
				     .ntimes = words->times.len};
	is(logged_writer__put(b, &good), 0, "records are taken");
	is(logged_writer__put(b,
			      &(struct logged_words){
				      .thread = t, .regs = REGS, .words = (uint64_t[]){1}, .n = 1}),
	   -EINVAL, "what is no record is refused");
	logged_writer__free(b);
	b = logged_writer__new(&plan);
	logged_writer__put(b, &good);
	logged_writer__end(b, &raw, &totals);
	is(totals.events, 50, "the totals have its events");
	for (size_t cut = 0; cut < raw.len; cut++) {
		uint8_t *copy = malloc(cut + 1);

		memcpy(copy, raw.data, cut);
		n = logged_reader__begin(l, copy, cut, &events);
		while (!n || n == 1)
			if ((n = logged_reader__next(l, &e)) == 0)
				break;
		free(copy);
	}
	for (int i = 0; i < 5000; i++) {
		size_t at = rnd() % raw.len;
		char was = raw.data[at];

		raw.data[at] = (char)rnd();
		n = logged_reader__begin(l, (uint8_t *)raw.data, raw.len, &events);
		while (!n || n == 1)
			if ((n = logged_reader__next(l, &e)) == 0)
				break;
		raw.data[at] = was;
	}
	ok(true, "nothing else happens with what isn't one");
	n = logged_reader__begin(l, (uint8_t *)raw.data, raw.len, &events);
	is(events, 50, "a whole one says how many events it has");
	while ((n = logged_reader__next(l, &e)) == 1)
		events--;
	ok(!n && !events, "... and has them");
	vec__free(&words->times);
	free(words);
	str__free(&raw);
	logged_writer__free(b);
	logged_reader__free(l);
}

int main(void)
{
	make_plan();
	for (int i = 0; i < SITES; i++)
		sites[i].probe = PROBE_INLINE;
	write_file(300);
	test_events();
	test_offered();
	test_hostile();
	test_damage();
	str__free(&file);
	str__free(&wrote);
	return tap__done();
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * The perfetto format event by event: unzipped, unpacked by protobuf-c, and read as the comments of
 * Perfetto's protos say: what a sequence told before holds until it is cleared.
 */
#include "output_fixture.h"
#include "perfetto_check.h"

#define START	  1000000000
#define MONOTONIC 3
#define REALTIME  1

static struct output_options options;

/* ---- a reader ---- */

struct table {
	char *texts[20000]; /* by number */
};

struct reading {
	bool valid;
	uint64_t track, now;
	unsigned clock;
	unsigned cleared; /* how often */
	bool incremental[128];
	uint64_t clocks[128];
	struct table categories, names, keys, values;
};

struct reader {
	struct reading sequences[6]; /* by trusted_packet_sequence_id */
	struct str out;
	size_t packets;
};

static char **slot_of(struct table *t, bool has_number, uint64_t number)
{
	return &t->texts[has_number && number < ARRAY_SIZE(t->texts) ? number : 0];
}

static const char *text_of(struct table *t, uint64_t number)
{
	const char *text = *slot_of(t, true, number);

	return text ? text : "?";
}

static void learn(struct table *t, bool has_number, uint64_t number, const char *text, size_t len)
{
	char **slot = slot_of(t, has_number, number);

	free(*slot);
	*slot = xstrndup(text, len);
}

#define EACH(m, data, list)                                                                        \
	for (size_t i_ = 0; i_ < (data)->n_##list && ((m) = (data)->list[i_], true); i_++)

static void read_strings(struct reading *q, const PB(InternedData) * d)
{
	const PB(EventCategory) * category;
	const PB(EventName) * name;
	const PB(DebugAnnotationName) * key;
	const PB(InternedString) * value;

	EACH(category, d, event_categories)
	learn(&q->categories, category->has_iid, category->iid, category->name,
	      strlen(category->name));
	EACH(name, d, event_names)
	learn(&q->names, name->has_iid, name->iid, name->name, strlen(name->name));
	EACH(key, d, debug_annotation_names)
	learn(&q->keys, key->has_iid, key->iid, key->name, strlen(key->name));
	EACH(value, d, debug_annotation_string_values)
	learn(&q->values, value->has_iid, value->iid, (char *)value->str.data, value->str.len);
}

static void forget(struct table *t)
{
	for (size_t i = 0; i < ARRAY_SIZE(t->texts); i++) {
		free(t->texts[i]);
		t->texts[i] = NULL;
	}
}

static void clear(struct reading *q)
{
	q->valid = true;
	q->cleared++;
	q->track = q->clock = 0;
	forget(&q->categories);
	forget(&q->names);
	forget(&q->keys);
	forget(&q->values);
}

static void read_clocks(struct reading *q, const PB(ClockSnapshot) * snapshot)
{
	const PB(ClockSnapshot__Clock) * clock;

	EACH(clock, snapshot, clocks)
	{
		q->clocks[clock->clock_id % 128] = clock->timestamp;
		q->incremental[clock->clock_id % 128] = clock->is_incremental;
	}
}

static void read_annotations(struct reader *r, struct reading *q, const PB(TrackEvent) * e)
{
	const PB(DebugAnnotation) * note;

	EACH(note, e, debug_annotations)
	{
		str__printf(&r->out, " %s=", text_of(&q->keys, note->name_iid));
		if (note->has_string_value_iid)
			str__puts(&r->out, text_of(&q->values, note->string_value_iid));
		if (note->has_pointer_value)
			str__hex(&r->out, note->pointer_value);
		if (note->has_uint_value)
			str__dec(&r->out, note->uint_value);
		if (note->has_bool_value)
			str__puts(&r->out, note->bool_value ? "true" : "false");
	}
}

static void read_event(struct reader *r, struct reading *q, const PB(TracePacket) * p)
{
	static const char types[] = "?BEI";
	const PB(TrackEvent) *e = p->track_event;
	uint64_t time = p->timestamp;

	if (q->incremental[q->clock])
		time = q->clocks[q->clock] += p->timestamp;
	str__printf(&r->out, "%llu %c %lld", (unsigned long long)q->track, types[e->type & 3],
		    (long long)(time - START));
	for (size_t i = 0; i < e->n_category_iids; i++)
		str__printf(&r->out, " [%s]", text_of(&q->categories, e->category_iids[i]));
	if (e->has_name_iid)
		str__printf(&r->out, " %s", text_of(&q->names, e->name_iid));
	read_annotations(r, q, e);
	str__putc(&r->out, '\n');
}

static void read_track(struct reader *r, const PB(TrackDescriptor) * t)
{
	str__printf(&r->out, "track %llu", (unsigned long long)t->uuid);
	if (t->has_parent_uuid)
		str__printf(&r->out, " of %llu", (unsigned long long)t->parent_uuid);
	if (t->name)
		str__printf(&r->out, ": %s", t->name);
	if (t->process)
		str__printf(&r->out, ": process %d %s", t->process->pid,
			    t->process->process_name ? t->process->process_name : "-");
	if (t->thread)
		str__printf(&r->out, ": thread %d/%d %s", t->thread->pid, t->thread->tid,
			    t->thread->thread_name ? t->thread->thread_name : "-");
	str__putc(&r->out, '\n');
}

static void read_packet(struct reader *r, const PB(TracePacket) * p)
{
	unsigned id = p->trusted_packet_sequence_id;
	struct reading *q = &r->sequences[id < ARRAY_SIZE(r->sequences) ? id : 0];

	r->packets++;
	if (p->sequence_flags & 1)
		clear(q);
	if (!id || id >= ARRAY_SIZE(r->sequences) || !q->valid)
		str__puts(&r->out, "invalid sequence\n");
	if (p->trace_packet_defaults) {
		q->clock = p->trace_packet_defaults->timestamp_clock_id % 128;
		q->track = p->trace_packet_defaults->track_event_defaults->track_uuid;
	}
	if (p->interned_data)
		read_strings(q, p->interned_data);
	if (p->clock_snapshot)
		read_clocks(q, p->clock_snapshot);
	if (p->track_descriptor)
		read_track(r, p->track_descriptor);
	if (p->track_event)
		read_event(r, q, p);
}

/* What the file says, a line for each descriptor and event. */
static void read_file(struct reader *r, const struct str *file)
{
	PB(Trace) *trace = perfetto_check__unpack(file);

	for (size_t i = 0; trace && i < trace->n_packet; i++)
		read_packet(r, trace->packet[i]);
	if (!trace)
		str__puts(&r->out, "not a trace\n");
	else
		perfetto__protos__trace__free_unpacked(trace, NULL);
}

static void reader__free(struct reader *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(r->sequences); i++)
		clear(&r->sequences[i]);
	str__free(&r->out);
	free(r);
}

/* ---- rendering ---- */

static const struct trace_totals no_totals;

static struct output *open_output(struct str *file)
{
	return output__new(output__by_name("perfetto"), &options, &fixture_plan, fixture_write,
			   file);
}

static struct reader *render(const struct step *steps, size_t n)
{
	struct reader *r = xcalloc(1, sizeof(*r));
	struct str file = {0};
	struct output *o = open_output(&file);

	for (size_t i = 0; i < n; i++)
		output__step(o, &steps[i]);
	output__end(o, &no_totals);
	output__free(o);
	read_file(r, &file);
	str__free(&file);
	return r;
}

#define HEAD  "track 1: bbtrace\n"
#define NAMES "track 3: process 7 ls\ntrack 2 of 3: thread 7/7 ls\n"
#define TAIL(time)                                                                                 \
	"1 I " time " [summary] summary functions=0 probes=0 skipped=0 events=0 lost=0 "           \
	"unmatched_returns=0 unseen_tail_returns=0 unknown=0 undecoded=0 code=0 "                  \
	"missed_at_most=0\n"
#define REGS  " rdi=0x18 rsi=0x0\n"
#define VALUE " value=0x5581a2c0\n"

/* All that is shown. */
#define shows_all(want, what, ...)                                                                 \
	do {                                                                                       \
		const struct step steps_[] = {__VA_ARGS__};                                        \
		struct reader *r_ = render(steps_, ARRAY_SIZE(steps_));                            \
		is_str(r_->out.data, want, what);                                                  \
		reader__free(r_);                                                                  \
	} while (0)
/* What thread 7 of the fixture does, to the last time. */
#define shows(want, time, what, ...) shows_all(HEAD NAMES want TAIL(time), what, __VA_ARGS__)

static struct step at(struct step s, uint64_t call, unsigned depth, uint64_t ns)
{
	s.call = call;
	s.depth = depth;
	s.time += ns;
	return s;
}

/* ---- tests ---- */

static void test_calls(void)
{
	struct step e = fixture_entry(), r = fixture_return();

	shows("2 B 12345 [function] malloc" REGS "2 E 13345" VALUE, "13345",
	      "a call is a slice, with its value at the end", at(e, 1, 0, 0), at(r, 1, 0, 1000));
	shows("2 B 12345 [function] malloc" REGS "2 B 12346 [function] malloc" REGS
	      "2 E 12350 return=not seen\n2 E 12350" VALUE,
	      "12350", "a call left by longjmp ends with its caller", at(e, 1, 0, 0),
	      at(e, 2, 1, 1), at(r, 1, 0, 5));
	shows("2 I 12345 [return] return of a call whose entry was not seen" VALUE, "12345",
	      "a return without entry is an instant", at(r, 9, 0, 0));
	shows("2 B 12345 [function] malloc" REGS "2 I 12346 [entry] entry again" REGS
	      "2 E 12346 return=not seen\n",
	      "12346", "a jump back to the entry begins no second slice", at(e, 1, 0, 0),
	      at(e, 1, 0, 1));
}

static void test_branches(void)
{
	struct step b = fixture_branch(SITE_JNE, true, fixture_at(0x50)), i = b, c;

	shows("2 I 12345 [branch] jne taken at=malloc+0x25 vaddr=0x985a5 to=malloc+0x50 "
	      "taken=true\n",
	      "12345", "a branch is an instant", b);
	i.timed = false;
	i.implied = true;
	i.taken = false;
	i.time = 0;
	c = fixture_branch(SITE_CALL, false, fixture_main());
	c.to.symbol = NULL;
	shows("2 I 12345 [branch] call at=malloc+0x30 vaddr=0x985b0 to=0x4444\n"
	      "2 I 12345 [branch] jne not taken at=malloc+0x25 vaddr=0x985a5 to=malloc+0x50 "
	      "taken=false implied=true\n",
	      "12345", "an implied branch has the time of the step before it", c, i);
}

static void test_losses(void)
{
	struct step lost = fixture_step(STEP_LOST, SITE_ENTRY), unknown = lost, omitted = lost;

	lost.count = 17;
	lost.at_least = true;
	unknown.type = STEP_UNKNOWN;
	omitted.type = STEP_OMITTED;
	omitted.count = 3;
	shows("2 I 12345 [lost] events lost count=17 at_least=true\n"
	      "2 I 12345 [unknown] path unknown\n"
	      "2 I 12345 [omitted] events not shown count=3\n",
	      "12345", "what is lost, unknown or left out is an instant in its place", lost,
	      unknown, omitted);
}

static void test_global(void)
{
	struct step stop = {.type = STEP_STOP,
			    .timed = true,
			    .time = START + 13345,
			    .site = NO_SITE,
			    .comm = ""};
	struct step start = stop, mark = stop, own = fixture_step(STEP_MARK, SITE_ENTRY);

	start.type = STEP_START;
	mark.type = STEP_MARK;
	mark.text = "a \"b\"";
	mark.time -= 1000;
	own.text = "mine";
	shows("2 B 12345 [function] malloc" REGS "2 E 12345 return=not seen\n"
	      "1 I 13345 [recording] recording stops\n1 I 13345 [recording] recording starts\n"
	      "1 I 12345 [mark] a \"b\"\n2 I 12345 [mark] mine number=0\n",
	      "13345", "a stop ends all calls; marks are of the whole trace, or of their thread",
	      at(fixture_entry(), 1, 0, 0), stop, start, mark, own);
}

static struct step of(uint32_t pid, uint32_t tid, const char *comm)
{
	struct step s = fixture_step(STEP_UNKNOWN, SITE_ENTRY);

	s.pid = pid;
	s.tid = tid;
	s.comm = comm;
	return s;
}

#define UNKNOWN(track) track " I 12345 [unknown] path unknown\n"
#define EXIT(track)    track " I 12345 [task] exit\n"

static void test_tracks(void)
{
	struct step idle = of(0, 0, ""), named = of(0, 0, "swapper/4"), go = of(7, 8, "prog"), at_g;
	struct step exit = of(7, 8, "ls"), last = of(7, 7, "ls");

	idle.cpu = 3;
	named.cpu = 4;
	go.goroutine = 17;
	at_g = go;
	at_g.goroutine = GOROUTINE_AT | 0xc000002000;
	exit.type = last.type = STEP_EXIT;
	shows_all(
		HEAD
		"track 3: process 7 -\ntrack 2 of 3: thread 7/8 -\n" UNKNOWN("2") "track 2 of 3: thread 7/8 work\ntrack 3: process 7 work\n" UNKNOWN(
			"2") "track 3: process 7 ls\ntrack 4 of 3: thread 7/7 ls\n" UNKNOWN("4")
			TAIL("12345"),
		"a process has its main thread's name if that is known, else another one's",
		of(7, 8, ""), of(7, 8, "work"), of(7, 7, "ls"));
	shows_all(HEAD "track 2: swapper/3\n" UNKNOWN("2") "track 3: swapper/4\n" UNKNOWN("3")
			  TAIL("12345"),
		  "each CPU's idle task has a track, which is of no process", idle, named);
	shows_all(HEAD "track 3: process 7 prog\ntrack 2 of 3: goroutine 17\n" UNKNOWN(
			  "2") "track 4 of 3: goroutine at 0xc000002000\n" UNKNOWN("4")
			  TAIL("12345"),
		  "a goroutine has a track of its process", go, at_g);
	shows_all(HEAD NAMES UNKNOWN("2") "track 4 of 3: thread 7/8 ls\n" EXIT(
			  "4") "track 5 of 3: thread 7/8 ls\n" UNKNOWN("5") TAIL("12345"),
		  "another thread of the same number has another track", of(7, 7, "ls"), exit,
		  of(7, 8, "ls"));
	shows_all(HEAD NAMES EXIT(
			  "2") "track 5: process 7 ls\ntrack 4 of 5: thread 7/7 ls\n" UNKNOWN("4")
			  TAIL("12345"),
		  "another process of the same number has another track", last, of(7, 7, "ls"));
	shows_all(HEAD NAMES UNKNOWN(
			  "2") "track 5: process 9 sh\ntrack 4 of 5: thread 9/7 sh\n" UNKNOWN("4")
			  TAIL("12345"),
		  "a thread's number that another process has now is another track", of(7, 7, "ls"),
		  of(9, 7, "sh"));
	shows_all(HEAD "track 3: process 7 l\xef\xbf\xbds\ntrack 2 of 3: thread 7/7 "
		       "l\xef\xbf\xbds\n" UNKNOWN("2") TAIL("12345"),
		  "a name that is not UTF-8 is shown as such", of(7, 7, "l\xffs"));
}

static void test_clocks(void)
{
	struct reader *r;

	options.realtime_offset = 5000;
	r = render((struct step[]){of(7, 7, "ls")}, 1);
	options.realtime_offset = 0;
	is(r->sequences[1].clocks[MONOTONIC], START, "the trace says when it began");
	is(r->sequences[1].clocks[REALTIME], START + 5000, "and what time of day that was");
	is(r->sequences[1].clock, MONOTONIC, "what is of the whole trace has absolute times");
	is(r->sequences[2].clocks[MONOTONIC], START, "a thread tells the same instant");
	ok(r->sequences[2].clock >= 64 && r->sequences[2].incremental[r->sequences[2].clock],
	   "a thread's times are relative, by a clock of its own");
	reader__free(r);
}

/* A live trace starts after its output was made. */
static void test_start(void)
{
	struct step e = fixture_entry();
	struct reader *r = xcalloc(1, sizeof(*r));
	struct str file = {0};
	struct output *o;

	options.start_time = 1;
	o = open_output(&file);
	o->options.start_time = options.start_time = START;
	output__step(o, &e);
	output__end(o, &no_totals);
	output__free(o);
	read_file(r, &file);
	is(r->sequences[1].clocks[MONOTONIC], START, "the start is that of the first step");
	reader__free(r);
	str__free(&file);
}

/* A thread with more places than are kept. */
static void test_many(void)
{
	struct step b = fixture_branch(SITE_IJMP, true, fixture_at(0));
	struct reader *r = xcalloc(1, sizeof(*r));
	struct str file = {0}, want = {0};
	struct output *o = open_output(&file);

	str__puts(&want, HEAD NAMES);
	for (unsigned i = 0; i < 40000; i++) {
		b.to = fixture_at(i % 20000);
		b.time++;
		output__step(o, &b);
		str__printf(&want, "2 I %u [branch] jmp at=malloc+0x35 vaddr=0x985b5 to=malloc+",
			    12346 + i);
		str__hex(&want, i % 20000);
		str__putc(&want, '\n');
	}
	output__end(o, &no_totals);
	output__free(o);
	read_file(r, &file);
	str__puts(&want, TAIL("52345"));
	ok(!strcmp(r->out.data, want.data), "a thread that goes to many places is read the same");
	is(r->sequences[2].cleared, 3, "its strings are forgotten when they are many");
	is(r->packets, 40008, "an event is a packet");
	ok(file.len < 40000 * 8, "and takes few bytes (%zu), even with a string of its own",
	   file.len / 40000);
	reader__free(r);
	str__free(&file);
	str__free(&want);
}

static size_t packets_of(const struct str *file)
{
	struct reader *r = xcalloc(1, sizeof(*r));
	size_t n;

	read_file(r, file);
	n = r->packets;
	reader__free(r);
	return n;
}

static void test_stream(void)
{
	struct step e = of(7, 7, "ls");
	struct str file = {0}, plain = {0};
	struct output *o = open_output(&file);
	size_t len;

	output__step(o, &e);
	output__settle(o);
	is(packets_of(&file), 6, "a live viewer has all events so far");
	perfetto_check__unzip(&file, &plain);
	is(plain.data[0], 0x0a, "the file is packets, nothing else");
	str__free(&plain);
	len = file.len;
	output__settle(o);
	is(file.len, len, "without events, nothing more is written");
	output__step(o, &e);
	output__end(o, &no_totals);
	is(packets_of(&file), 8, "and the file goes on behind that");
	output__free(o);
	str__free(&file);
}

static void test_hidden(void)
{
	static struct plan_object kernel[] = {{.path = "[kernel]", .kernel = true}};
	static const uint64_t regs[EVENT_REGS] = {
		[6] = 0xffffffff81000000, [7] = 0xfffffffffffffff2};
	const struct plan plan = fixture_plan;
	struct step e = fixture_entry();

	e.regs = regs;
	fixture_plan.objects.data = kernel;
	options.hide_addresses = true;
	shows("2 B 12345 [function] malloc rdi=0xfffffffffffffff2 rsi=(hidden)\n"
	      "2 E 12345 return=not seen\n",
	      "12345", "kernel addresses are hidden, small negative numbers are not",
	      at(e, 1, 0, 0));
	options.hide_addresses = false;
	fixture_plan = plan;
}

int main(void)
{
	options = fixture_options;
	test_calls();
	test_branches();
	test_losses();
	test_global();
	test_tracks();
	test_clocks();
	test_start();
	test_many();
	test_stream();
	test_hidden();
	return tap__done();
}

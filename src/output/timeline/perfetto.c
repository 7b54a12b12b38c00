// SPDX-License-Identifier: BSD-2-Clause
/*
 * The perfetto format: slices as TrackEvents of a Perfetto trace, for ui.perfetto.dev and
 * trace_processor's SQL. Each track is a sequence of packets of its own. The arguments are those of
 * the chrome format, as debug annotations.
 */
#include "packets.h"

struct perfetto {
	struct slices slices;
	struct packets packets;
	struct sequence whole;		 /* what is of the whole trace */
	VEC(struct sequence) sequences;	 /* by index of the track; track: 0: it is not described */
	struct map64 processes, threads; /* by PID: the process's UUID; its tracks */
	uint64_t uuid;			 /* the latest one */
};

/* ---- descriptors of tracks ---- */

static uint64_t process_of(struct perfetto *f, uint32_t pid)
{
	uint64_t *uuid = map64__put(&f->processes, pid);

	if (!*uuid)
		*uuid = ++f->uuid;
	return *uuid;
}

static void describe_process(struct perfetto *f, struct sequence *s, const struct track *t)
{
	PB(TrackDescriptor) track = PB_MESSAGE(track_descriptor);
	PB(ProcessDescriptor) process = PB_MESSAGE(process_descriptor);

	track.has_uuid = true;
	track.uuid = process_of(f, t->pid);
	track.process = &process;
	process.has_pid = true;
	process.pid = t->pid;
	if (t->comm[0])
		process.process_name = packets__string(&f->packets, t->comm);
	packets__track(&f->packets, s, &track);
}

/* For what is no thread to the kernel. */
static char *name_of(struct perfetto *f, const struct track *t)
{
	struct str name = {0};
	char *text;

	if (!t->goroutine)
		str__puts(&name, t->comm);
	else if (t->goroutine & GOROUTINE_AT)
		str__printf(&name, "goroutine at 0x%llx",
			    (unsigned long long)(t->goroutine & ~GOROUTINE_AT));
	else
		str__printf(&name, "goroutine %llu", (unsigned long long)t->goroutine);
	if (!name.len)
		str__printf(&name, "swapper/%u", t->cpu);
	text = packets__string(&f->packets, name.data);
	str__free(&name);
	return text;
}

static void describe_track(struct perfetto *f, struct sequence *s, const struct track *t)
{
	PB(TrackDescriptor) track = PB_MESSAGE(track_descriptor);
	PB(ThreadDescriptor) thread = PB_MESSAGE(thread_descriptor);

	track.has_uuid = true;
	track.uuid = s->track;
	track.has_parent_uuid = t->pid;
	track.parent_uuid = t->pid ? process_of(f, t->pid) : 0;
	if (t->goroutine || !t->pid) {
		track.name = name_of(f, t);
	} else {
		track.thread = &thread;
		thread.has_pid = thread.has_tid = true;
		thread.pid = t->pid;
		thread.tid = t->tid;
		if (t->comm[0])
			thread.thread_name = packets__string(&f->packets, t->comm);
	}
	packets__track(&f->packets, s, &track);
}

/* ---- tracks ---- */

static struct sequence *find_sequence(struct perfetto *f, const struct track *t)
{
	while (f->sequences.len <= t->index)
		vec__push(&f->sequences, (struct sequence){.id = f->sequences.len + 2});
	return &f->sequences.data[t->index];
}

/* process: its process has its name. */
static void begin_track(struct perfetto *f, struct sequence *s, const struct track *t, bool process)
{
	s->track = ++f->uuid;
	if (t->pid && (!(*map64__put(&f->threads, t->pid))++ || process))
		describe_process(f, s, t);
	describe_track(f, s, t);
}

static void perfetto__name(struct output *o, const struct track *t, bool process)
{
	struct perfetto *f = o->state;
	struct sequence *s = find_sequence(f, t);

	if (!s->track)
		return begin_track(f, s, t, process);
	describe_track(f, s, t);
	if (process && t->pid)
		describe_process(f, s, t);
}

/* The next thread of this number is another track, and so is the next process of its PID if all
 * threads have ended. */
static void perfetto__exit(struct output *o, const struct track *t)
{
	struct perfetto *f = o->state;
	struct sequence *s = find_sequence(f, t);
	uint64_t *threads = map64__get(&f->threads, t->pid);

	if (!s->track)
		return;
	s->track = 0;
	sequence__clear(s);
	if (!threads || --*threads)
		return;
	map64__del(&f->threads, t->pid);
	map64__del(&f->processes, t->pid);
}

static void perfetto__event(struct output *o, const struct slice_event *e)
{
	struct perfetto *f = o->state;
	struct sequence *s = e->track ? find_sequence(f, e->track) : &f->whole;

	if (!s->track)
		begin_track(f, s, e->track, false);
	packets__event(&f->packets, s, e);
}

/* ---- the format ---- */

static int perfetto__begin(struct output *o)
{
	static const struct slice_writer writer = {
		.name = perfetto__name, .event = perfetto__event, .exit = perfetto__exit};
	struct perfetto *f = o->state;

	f->slices.writer = &writer;
	return packets__begin(&f->packets, o);
}

/* Before all other packets, but not before the trace's start is known. */
static void ensure_whole(struct output *o)
{
	struct perfetto *f = o->state;
	PB(TrackDescriptor) track = PB_MESSAGE(track_descriptor);

	if (f->whole.track)
		return;
	f->whole = (struct sequence){.id = 1, .track = ++f->uuid, .absolute = true};
	track.has_uuid = true;
	track.uuid = f->whole.track;
	track.name = packets__string(&f->packets, "bbtrace");
	packets__track(&f->packets, &f->whole, &track);
}

static int perfetto__step(struct output *o, const struct step *step)
{
	ensure_whole(o);
	return slices__step(o, step);
}

static int perfetto__settle(struct output *o)
{
	struct perfetto *f = o->state;

	packets__flush(&f->packets);
	return 0;
}

static int perfetto__end(struct output *o, const struct trace_totals *t)
{
	struct perfetto *f = o->state;

	ensure_whole(o);
	slices__end(o);
	slices__put_totals(o, max_of(f->packets.last, o->options.start_time), t);
	packets__end(&f->packets);
	return 0;
}

static void perfetto__free(struct output *o)
{
	struct perfetto *f = o->state;
	struct sequence *s;

	vec__each (s, &f->sequences)
		sequence__clear(s);
	vec__free(&f->sequences);
	sequence__clear(&f->whole);
	map64__free(&f->processes);
	map64__free(&f->threads);
	packets__free(&f->packets);
	slices__free(o);
}

const struct output_format output_perfetto = {
	.name = "perfetto",
	.wants = {.events = OUTPUT_STEPS,
		  .branch_times = true,
		  .durations = true,
		  .regs = true,
		  .tests = true},
	.suffixes = ".pftrace .perfetto-trace",
	.marks = true,
	.help = "a gzipped Perfetto trace, for ui.perfetto.dev and trace_processor's SQL",
	.binary = true,
	.size = sizeof(struct perfetto),
	.begin = perfetto__begin,
	.step = perfetto__step,
	.settle = perfetto__settle,
	.end = perfetto__end,
	.free = perfetto__free,
};

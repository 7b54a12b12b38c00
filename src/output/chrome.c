// SPDX-License-Identifier: BSD-2-Clause
/*
 * The chrome format: trace events as JSON (the "Trace Event Format" of chrome://tracing, read by
 * Perfetto's UI too). A thread is a track; a call is a slice, from B to E; a branch, a loss or an
 * unknown path is an instant. Slices nest: a call that is left without a return ends when the next
 * step shows that. An untimed branch has the time of the previous step.
 */
#include "output/fields.h"

/* All CPUs' idle tasks have TID 0: they get numbers above those of threads (PID_MAX_LIMIT is
 * 2^22). */
#define IDLE_TID      (1u << 24)
#define GOROUTINE_TID (1u << 30)

struct open_call {
	uint64_t call;
	uint32_t function;
};

struct track {
	uint32_t pid, tid;
	char comm[16];
	uint64_t now; /* ns, of its last timed step */
	VEC(struct open_call) open;
};

struct chrome {
	struct map64 tracks; /* thread -> index + 1 */
	VEC(struct track) list;
	struct map64 processes; /* named ones */
	struct json json;
};

/* ---- the pieces of an event ---- */

static struct json *json_of(struct output *o)
{
	struct chrome *c = o->state;

	return &c->json;
}

/* symbol+0xOFF or the address, as a JSON string */
static void put_place(struct json *j, const char *key, const struct location *at)
{
	autofree char *text = NULL;

	if (at->symbol)
		text = xasprintf("%s+0x%llx", at->symbol, (unsigned long long)at->offset);
	else
		text = xasprintf("0x%llx", (unsigned long long)(at->object ? at->vaddr : at->addr));
	json__name(j, key);
	json__string(j, text);
}

/* The format's unit is microseconds. */
static void put_ts(struct json *j, const struct track *t)
{
	json__member(j, thousandths, "ts", t->now);
}

static void put_name(struct json *j, const char *name)
{
	json__member(j, string, "name", name);
}

/* Arguments follow, ended by end_event(). */
static void begin_args(struct json *j)
{
	json__key(j, "args");
	json__open_object(j);
}

static struct json *begin_event(struct output *o, const struct track *t, const char *phase)
{
	struct json *j = json_of(o);

	json__begin_line(j);
	json__open_object(j);
	json__member(j, string, "ph", phase);
	json__member(j, unsigned, "pid", t->pid);
	json__member(j, unsigned, "tid", t->tid);
	return j;
}

static void end_event(struct json *j)
{
	json__close_object(j); /* the arguments */
	json__close_object(j);
}

/* Starts an instant of this thread. */
static struct json *put_instant(struct output *o, const struct track *t, const char *category,
				const char *name)
{
	struct json *j = begin_event(o, t, "i");

	put_ts(j, t);
	json__member(j, string, "s", "t");
	json__member(j, string, "cat", category);
	put_name(j, name);
	return j;
}

static struct json *begin_instant(struct output *o, const struct track *t, const char *category,
				  const char *name)
{
	struct json *j = put_instant(o, t, category, name);

	begin_args(j);
	return j;
}

/* ---- the ends of calls ---- */

static void put_function(struct output *o, uint32_t function)
{
	const struct plan *p = o->plan;

	put_name(json_of(o), function < p->functions.len ? p->functions.data[function].name : "?");
}

/* Ends the innermost call; arguments follow. */
static struct json *begin_end(struct output *o, struct track *t)
{
	struct json *j = begin_event(o, t, "E");

	put_ts(j, t);
	put_function(o, vec__last(&t->open)->function);
	begin_args(j);
	t->open.len--;
	return j;
}

/* Ends calls whose return was not seen. */
static void end_unseen(struct output *o, struct track *t, size_t left)
{
	while (t->open.len > left) {
		struct json *j = begin_end(o, t);

		json__member(j, string, "return", "not seen");
		end_event(j);
	}
}

/* ---- tracks ---- */

static void put_metadata(struct output *o, const struct track *t, const char *what,
			 const char *name)
{
	struct json *j = begin_event(o, t, "M");

	put_name(j, what);
	begin_args(j);
	put_name(j, name);
	end_event(j);
}

/* Names the process after its main thread when that is known. */
static void name_track(struct output *o, struct track *t, const char *comm)
{
	struct chrome *c = o->state;
	uint64_t *named = map64__put(&c->processes, t->pid);

	snprintf(t->comm, sizeof(t->comm), "%s", comm);
	put_metadata(o, t, "thread_name", t->comm);
	if (!*named || t->tid == t->pid)
		put_metadata(o, t, "process_name", t->comm);
	*named = 1;
}

/* A goroutine has a track of its own, whichever thread it runs on. */
static uint32_t track_number(const struct step *s)
{
	if (s->goroutine)
		return GOROUTINE_TID | (s->goroutine & (GOROUTINE_TID - 1));
	return s->tid || !s->timed ? s->tid : IDLE_TID + s->cpu;
}

static struct track *track_of(struct output *o, const struct step *s)
{
	struct chrome *c = o->state;
	uint32_t tid = track_number(s);
	uint64_t *slot = map64__put(&c->tracks, s->goroutine ? step__thread_key(s) : tid);
	struct track *t;

	if (!*slot) {
		vec__push(&c->list,
			  (struct track){.pid = s->pid, .tid = tid, .now = o->options.start_time});
		*slot = c->list.len;
	}
	t = &c->list.data[*slot - 1];
	if (t->pid != s->pid) { /* the TID was reused */
		end_unseen(o, t, 0);
		t->pid = s->pid;
		t->comm[0] = 0;
	}
	if (s->comm && s->comm[0] && strncmp(t->comm, s->comm, sizeof(t->comm) - 1))
		name_track(o, t, s->comm);
	if (s->timed && s->time > t->now)
		t->now = s->time;
	return t;
}

/* ---- calls ---- */

/* Writes the registers as the event's arguments and ends it. */
static void put_regs(struct output *o, const struct step *s)
{
	struct json *j = json_of(o);
	union field_value v;

	json__key(j, "args");
	if (field__get(FIELD_REGS, o, s, &v)) {
		json__put_regs(o, j, &v);
	} else {
		json__open_object(j);
		json__close_object(j);
	}
	json__close_object(j);
}

static void entry(struct output *o, struct track *t, const struct step *s)
{
	struct json *j;

	/* a jump back to the first instruction doesn't start another call */
	if (s->call && t->open.len && vec__last(&t->open)->call == s->call) {
		put_instant(o, t, "entry", "entry again");
		put_regs(o, s);
		return;
	}
	end_unseen(o, t, min_of((size_t)s->depth, t->open.len));
	j = begin_event(o, t, "B");
	put_ts(j, t);
	json__member(j, string, "cat", "function");
	put_function(o, s->function);
	put_regs(o, s);
	vec__push(&t->open, (struct open_call){s->call, s->function});
}

static void return_(struct output *o, struct track *t, const struct step *s)
{
	size_t i = t->open.len;
	struct json *j;

	while (i && t->open.data[i - 1].call != s->call)
		i--;
	if (s->call && i) {
		end_unseen(o, t, i);
		j = begin_end(o, t);
	} else {
		j = begin_instant(o, t, "return", "return of a call whose entry was not seen");
	}
	if (s->has_value)
		json__member(j, hex, "value", s->value);
	end_event(j);
}

/* ---- instants ---- */

static void branch(struct output *o, struct track *t, const struct step *s)
{
	const struct plan_site *site = &o->plan->sites.data[s->site];
	bool conditional = site->kind == BRANCH_JCC || site->kind == BRANCH_LOOP;
	struct str name = {0};
	struct json *j;

	str__puts(&name, site->mnemonic ? site->mnemonic : "branch");
	if (conditional)
		str__puts(&name, s->taken ? " taken" : " not taken");
	j = begin_instant(o, t, "branch", name.data);
	str__free(&name);
	put_place(j, "at", &s->at);
	json__member(j, hex, "vaddr", s->at.vaddr);
	if (s->to_known)
		put_place(j, "to", &s->to);
	if (conditional)
		json__member(j, bool, "taken", s->taken);
	if (s->implied)
		json__member(j, bool, "implied", true);
	end_event(j);
}

static void lost(struct output *o, struct track *t, const struct step *s)
{
	struct json *j = begin_instant(o, t, "lost", "events lost");

	json__member(j, unsigned, "count", s->count);
	if (s->at_least)
		json__member(j, bool, "at_least", true);
	end_event(j);
}

static void omitted(struct output *o, struct track *t, const struct step *s)
{
	struct json *j = begin_instant(o, t, "omitted", "events not shown");

	json__member(j, unsigned, "count", s->count);
	end_event(j);
}

static void other(struct output *o, struct track *t, const struct step *s)
{
	bool unknown = s->type == STEP_UNKNOWN;
	union field_value v = {.string = "?"};

	(void)field__get(FIELD_EVENT, o, s, &v);
	if (s->type == STEP_EXIT || s->type == STEP_EXEC)
		end_unseen(o, t, 0);
	end_event(begin_instant(o, t, unknown ? "unknown" : "task",
				unknown ? "path unknown" : v.string));
	if (s->type == STEP_EXIT)
		t->comm[0] = 0;
}

/* ---- the format ---- */

static int chrome__begin(struct output *o)
{
	struct json *j = json_of(o);

	j->out = &o->buffer;
	json__open_object(j);
	json__member(j, string, "displayTimeUnit", "ns");
	json__key(j, "traceEvents");
	json__open_array(j);
	return 0;
}

/* An instant of the whole trace. A stop also ends the calls that are open. */
static void global_step(struct output *o, const struct step *s)
{
	struct chrome *c = o->state;
	struct track none = {.now = s->time}, *t;
	struct json *j;

	vec__each (t, &c->list)
		if (s->type == STEP_STOP)
			end_unseen(o, t, 0);
	j = begin_event(o, &none, "i");
	put_ts(j, &none);
	json__member(j, string, "s", "g");
	json__member(j, string, "cat", s->type == STEP_MARK ? "mark" : "recording");
	put_name(j, s->type == STEP_MARK   ? s->text
		    : s->type == STEP_STOP ? "recording stops"
					   : "recording starts");
	begin_args(j);
	end_event(j);
}

static void mark(struct output *o, struct track *t, const struct step *s)
{
	end_event(begin_instant(o, t, "mark", s->text));
}

static int chrome__step(struct output *o, const struct step *step)
{
	static void (*const by_type[STEP_TYPES])(struct output * o, struct track * t,
						 const struct step *s) = {
		[STEP_ENTRY] = entry, [STEP_BRANCH] = branch, [STEP_RETURN] = return_,
		[STEP_LOST] = lost,   [STEP_UNKNOWN] = other, [STEP_FORK] = other,
		[STEP_EXEC] = other,  [STEP_EXIT] = other,    [STEP_OMITTED] = omitted,
		[STEP_MARK] = mark,
	};

	if (step__is_global(step)) {
		global_step(o, step);
		return 0;
	}
	by_type[step->type](o, track_of(o, step), step);
	return 0;
}

static int chrome__end(struct output *o, const struct trace_totals *t)
{
	struct chrome *c = o->state;
	struct track *track;

	vec__each (track, &c->list)
		end_unseen(o, track, 0);
	str__putc(&o->buffer, '\n');
	json__close_array(&c->json);
	json__key(&c->json, "otherData");
	json__open_object(&c->json);
	json__member(&c->json, string, "producer", "bbtrace");
	totals__json(t, &c->json);
	json__close_object(&c->json);
	json__close_object(&c->json);
	str__putc(&o->buffer, '\n');
	return 0;
}

static void chrome__free(struct output *o)
{
	struct chrome *c = o->state;
	struct track *t;

	vec__each (t, &c->list)
		vec__free(&t->open);
	vec__free(&c->list);
	map64__free(&c->tracks);
	map64__free(&c->processes);
}

const struct output_format output_chrome = {
	.name = "chrome",
	.wants = {.events = OUTPUT_STEPS, .branch_times = true, .durations = true, .regs = true},
	.marks = true,
	.help = "trace events for Perfetto's UI and chrome://tracing",
	.size = sizeof(struct chrome),
	.begin = chrome__begin,
	.step = chrome__step,
	.end = chrome__end,
	.free = chrome__free,
};

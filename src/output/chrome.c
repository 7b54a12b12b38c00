// SPDX-License-Identifier: BSD-2-Clause
/*
 * The chrome format: trace events as JSON (the "Trace Event Format" of chrome://tracing, read by
 * Perfetto's UI too). A thread is a track; a call is a slice, from B to E; a branch, a loss or an
 * unknown path is an instant. Slices nest: a call that is left without a return ends when the next
 * step shows that. An untimed branch has the time of the previous step.
 */
#include "output/fields.h"

#define put(s, literal) str__put((s), literal, sizeof(literal) - 1)
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
	bool any;
};

/* ---- the pieces of an event ---- */

/* The format's unit is microseconds. */
static void put_us(struct str *s, uint64_t ns)
{
	str__printf(s, "%llu.%03u", (unsigned long long)(ns / 1000), (unsigned)(ns % 1000));
}

/* symbol+0xOFF or the address, as a JSON string */
static void put_place(struct str *s, const struct location *at)
{
	autofree char *text = NULL;

	if (at->symbol)
		text = xasprintf("%s+0x%llx", at->symbol, (unsigned long long)at->offset);
	else
		text = xasprintf("0x%llx", (unsigned long long)(at->object ? at->vaddr : at->addr));
	str__json(s, text);
}

static void put_hex_member(struct str *s, const char *key, uint64_t v)
{
	str__puts(s, key);
	str__putc(s, '"');
	str__hex(s, v);
	str__putc(s, '"');
}

static void put_ids(struct str *s, const struct track *t)
{
	put(s, ",\"pid\":");
	str__dec(s, t->pid);
	put(s, ",\"tid\":");
	str__dec(s, t->tid);
}

static void begin_event(struct output *o, const struct track *t, char phase)
{
	struct chrome *c = o->state;

	str__puts(&o->buffer, c->any ? ",\n" : "\n");
	c->any = true;
	put(&o->buffer, "{\"ph\":\"");
	str__putc(&o->buffer, phase);
	str__putc(&o->buffer, '"');
	put_ids(&o->buffer, t);
}

static void put_ts(struct output *o, const struct track *t)
{
	put(&o->buffer, ",\"ts\":");
	put_us(&o->buffer, t->now);
}

static void put_name(struct output *o, const char *name)
{
	put(&o->buffer, ",\"name\":");
	str__json(&o->buffer, name);
}

/* Starts an instant of this thread without closing it. */
static void put_instant(struct output *o, const struct track *t, const char *category,
			const char *name)
{
	begin_event(o, t, 'i');
	put_ts(o, t);
	put(&o->buffer, ",\"s\":\"t\",\"cat\":");
	str__json(&o->buffer, category);
	put_name(o, name);
}

/* Arguments follow, closed by "}}". */
static void begin_instant(struct output *o, const struct track *t, const char *category,
			  const char *name)
{
	put_instant(o, t, category, name);
	put(&o->buffer, ",\"args\":{");
}

/* ---- the ends of calls ---- */

static void put_function(struct output *o, uint32_t function)
{
	const struct plan *p = o->plan;

	put_name(o, function < p->functions.len ? p->functions.data[function].name : "?");
}

/* Ends the innermost call; arguments follow, closed by "}}". */
static void begin_end(struct output *o, struct track *t)
{
	begin_event(o, t, 'E');
	put_ts(o, t);
	put_function(o, vec__last(&t->open)->function);
	put(&o->buffer, ",\"args\":{");
	t->open.len--;
}

/* Ends calls whose return was not seen. */
static void end_unseen(struct output *o, struct track *t, size_t left)
{
	while (t->open.len > left) {
		begin_end(o, t);
		put(&o->buffer, "\"return\":\"not seen\"}}");
	}
}

/* ---- tracks ---- */

static void put_metadata(struct output *o, const struct track *t, const char *what,
			 const char *name)
{
	begin_event(o, t, 'M');
	put_name(o, what);
	put(&o->buffer, ",\"args\":{\"name\":");
	str__json(&o->buffer, name);
	put(&o->buffer, "}}");
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

/* Writes the registers as the event's arguments and closes it. */
static void put_regs(struct output *o, const struct step *s)
{
	union field_value v;

	put(&o->buffer, ",\"args\":");
	if (field__get(FIELD_REGS, o, s, &v))
		json__put_regs(o, &o->buffer, &v);
	else
		put(&o->buffer, "{}");
	str__putc(&o->buffer, '}');
}

static void entry(struct output *o, struct track *t, const struct step *s)
{
	/* a jump back to the first instruction doesn't start another call */
	if (s->call && t->open.len && vec__last(&t->open)->call == s->call) {
		put_instant(o, t, "entry", "entry again");
		put_regs(o, s);
		return;
	}
	end_unseen(o, t, min_of((size_t)s->depth, t->open.len));
	begin_event(o, t, 'B');
	put_ts(o, t);
	put(&o->buffer, ",\"cat\":\"function\"");
	put_function(o, s->function);
	put_regs(o, s);
	vec__push(&t->open, (struct open_call){s->call, s->function});
}

static void return_(struct output *o, struct track *t, const struct step *s)
{
	size_t i = t->open.len;

	while (i && t->open.data[i - 1].call != s->call)
		i--;
	if (s->call && i) {
		end_unseen(o, t, i);
		begin_end(o, t);
	} else {
		begin_instant(o, t, "return", "return of a call whose entry was not seen");
	}
	if (s->has_value)
		put_hex_member(&o->buffer, "\"value\":", s->value);
	put(&o->buffer, "}}");
}

/* ---- instants ---- */

static void branch(struct output *o, struct track *t, const struct step *s)
{
	const struct plan_site *site = &o->plan->sites.data[s->site];
	bool conditional = site->kind == BRANCH_JCC || site->kind == BRANCH_LOOP;
	struct str name = {0};

	str__puts(&name, site->mnemonic ? site->mnemonic : "branch");
	if (conditional)
		str__puts(&name, s->taken ? " taken" : " not taken");
	begin_instant(o, t, "branch", name.data);
	put(&o->buffer, "\"at\":");
	put_place(&o->buffer, &s->at);
	put_hex_member(&o->buffer, ",\"vaddr\":", s->at.vaddr);
	if (s->to_known) {
		put(&o->buffer, ",\"to\":");
		put_place(&o->buffer, &s->to);
	}
	if (conditional)
		str__puts(&o->buffer, s->taken ? ",\"taken\":true" : ",\"taken\":false");
	if (s->implied)
		put(&o->buffer, ",\"implied\":true");
	put(&o->buffer, "}}");
	str__free(&name);
}

static void lost(struct output *o, struct track *t, const struct step *s)
{
	begin_instant(o, t, "lost", "events lost");
	put(&o->buffer, "\"count\":");
	str__dec(&o->buffer, s->count);
	str__puts(&o->buffer, s->at_least ? ",\"at_least\":true}}" : "}}");
}

static void other(struct output *o, struct track *t, const struct step *s)
{
	union field_value v = {.string = "?"};

	(void)field__get(FIELD_EVENT, o, s, &v);
	if (s->type == STEP_EXIT || s->type == STEP_EXEC)
		end_unseen(o, t, 0);
	begin_instant(o, t, s->type == STEP_UNKNOWN ? "unknown" : "task",
		      s->type == STEP_UNKNOWN ? "path unknown" : v.string);
	put(&o->buffer, "}}");
	if (s->type == STEP_EXIT)
		t->comm[0] = 0;
}

/* ---- the format ---- */

static int chrome__begin(struct output *o)
{
	put(&o->buffer, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	return 0;
}

static int chrome__step(struct output *o, const struct step *step)
{
	static void (*const by_type[STEP_TYPES])(struct output * o, struct track * t,
						 const struct step *s) = {
		[STEP_ENTRY] = entry, [STEP_BRANCH] = branch, [STEP_RETURN] = return_,
		[STEP_LOST] = lost,   [STEP_UNKNOWN] = other, [STEP_FORK] = other,
		[STEP_EXEC] = other,  [STEP_EXIT] = other,
	};

	by_type[step->type](o, track_of(o, step), step);
	return 0;
}

static int chrome__end(struct output *o, const struct trace_totals *t)
{
	struct chrome *c = o->state;
	struct track *track;

	vec__each (track, &c->list)
		end_unseen(o, track, 0);
	put(&o->buffer, "\n],\"otherData\":{\"producer\":\"bbtrace\"");
	totals__json(t, &o->buffer);
	put(&o->buffer, "}}\n");
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
	.timed = true,
	.help = "trace events for Perfetto's UI and chrome://tracing",
	.size = sizeof(struct chrome),
	.begin = chrome__begin,
	.step = chrome__step,
	.end = chrome__end,
	.free = chrome__free,
};

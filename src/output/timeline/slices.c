// SPDX-License-Identifier: BSD-2-Clause
/* Steps as slices and instants of tracks: see slices.h. */
#include "slices.h"
#include "output/base/values.h"

/* All CPUs' idle tasks have TID 0: they get numbers above those of threads (PID_MAX_LIMIT is
 * 2^22). */
#define IDLE_TID      (1u << 24)
#define GOROUTINE_TID (1u << 30)

/* ---- an event: its arguments, then the event itself ---- */

static void add_arg(struct output *o, const char *key, enum slice_arg_type type, uint64_t number)
{
	struct slices *s = o->state;

	vec__push(&s->args, (struct slice_arg){.key = key, .type = type, .number = number});
}

static void add_text(struct output *o, const char *key, const char *text)
{
	struct slices *s = o->state;

	vec__push(&s->args, (struct slice_arg){.key = key, .type = ARG_TEXT, .text = text});
}

/* A copy, which is kept until the event is written. */
static void add_copy(void *ctx, const char *key, const char *text)
{
	struct output *o = ctx;
	struct slices *s = o->state;
	char *copy = xstrdup(text);

	vec__push(&s->texts, copy);
	add_text(o, key, copy);
}

/* symbol+0xOFF, or the address */
static void add_place(struct output *o, const char *key, const struct location *at,
		      struct str *text)
{
	str__clear(text);
	if (at->symbol) {
		str__puts(text, at->symbol);
		str__putc(text, '+');
	}
	str__hex(text, at->symbol ? at->offset : at->object ? at->vaddr : at->addr);
	add_text(o, key, text->data);
}

static void put_event(struct output *o, struct slice_event e)
{
	struct slices *s = o->state;

	e.args = s->args.data;
	e.nargs = s->args.len;
	s->writer->event(o, &e);
	s->args.len = 0;
	while (s->texts.len)
		free(s->texts.data[--s->texts.len]);
}

static void put_instant(struct output *o, const struct track *t, const char *category,
			const char *name)
{
	put_event(o, (struct slice_event){.phase = SLICE_INSTANT,
					  .track = t,
					  .time = t->now,
					  .category = category,
					  .name = name});
}

static const char *name_of(const struct output *o, uint32_t function)
{
	const struct plan *p = o->plan;

	return function < p->functions.len ? p->functions.data[function].name : "?";
}

/* Ends the innermost call. */
static void put_end(struct output *o, struct track *t)
{
	put_event(o, (struct slice_event){.phase = SLICE_END,
					  .track = t,
					  .time = t->now,
					  .name = name_of(o, vec__last(&t->open)->function)});
	t->open.len--;
}

/* Ends calls whose return was not seen. */
static void end_unseen(struct output *o, struct track *t, size_t left)
{
	while (t->open.len > left) {
		add_text(o, "return", "not seen");
		put_end(o, t);
	}
}

/* ---- tracks ---- */

/* Names the process after its main thread when that is known. */
static void name_track(struct output *o, struct track *t, const char *comm)
{
	struct slices *s = o->state;
	uint64_t *named = map64__put(&s->processes, t->pid);
	bool process = !*named || t->tid == t->pid;

	snprintf(t->comm, sizeof(t->comm), "%s", comm);
	*named = 1;
	s->writer->name(o, t, process);
}

static void exit_track(struct output *o, struct track *t)
{
	struct slices *s = o->state;

	t->comm[0] = 0;
	if (s->writer->exit)
		s->writer->exit(o, t);
}

static uint32_t track_number(const struct step *s)
{
	if (s->goroutine)
		return GOROUTINE_TID | (s->goroutine & (GOROUTINE_TID - 1));
	return s->tid || !s->timed ? s->tid : IDLE_TID + s->cpu;
}

static struct track *track_of(struct output *o, const struct step *s)
{
	struct slices *c = o->state;
	uint32_t tid = track_number(s);
	uint64_t *slot = map64__put(&c->tracks, s->goroutine ? step__thread_key(s) : tid);
	struct track *t;

	if (!*slot) {
		vec__push(&c->list, (struct track){.index = c->list.len,
						   .pid = s->pid,
						   .tid = tid,
						   .cpu = s->cpu,
						   .goroutine = s->goroutine,
						   .now = o->options.start_time});
		*slot = c->list.len;
	}
	t = &c->list.data[*slot - 1];
	if (t->pid != s->pid) { /* the TID was reused */
		end_unseen(o, t, 0);
		exit_track(o, t);
		t->pid = s->pid;
	}
	if (s->comm && s->comm[0] && strncmp(t->comm, s->comm, sizeof(t->comm) - 1))
		name_track(o, t, s->comm);
	if (s->timed && s->time > t->now)
		t->now = s->time;
	return t;
}

/* ---- calls ---- */

static void add_regs(struct output *o, const struct step *s)
{
	union field_value v;

	if (!field__get(FIELD_REGS, o, s, &v))
		return;
	for (unsigned i = 0; i < v.regs.shown->n; i++) {
		uint8_t reg = v.regs.shown->regs[i];

		add_arg(o, o->plan->arch->reg_names[reg], ARG_HEX, v.regs.values[reg]);
	}
}

/* By their types, or as registers. */
static void add_values(struct output *o, const struct step *s)
{
	union field_value v;

	if (field__get(FIELD_TYPED, o, s, &v))
		values__each_arg(o, s, add_copy, o);
	else if (s->type == STEP_ENTRY)
		add_regs(o, s);
}

static void add_result(struct output *o, const struct step *s)
{
	autofree struct str text = {0};
	union field_value v;

	if (s->has_value)
		add_arg(o, "value", ARG_HEX, s->value);
	if (!field__get(FIELD_RET, o, s, &v))
		return;
	values__put_result(o, s, &text);
	add_copy(o, "ret", text.data);
}

static void entry(struct output *o, struct track *t, const struct step *s)
{
	/* a jump back to the first instruction doesn't start another call */
	if (s->call && t->open.len && vec__last(&t->open)->call == s->call) {
		add_values(o, s);
		put_instant(o, t, "entry", "entry again");
		return;
	}
	end_unseen(o, t, min_of((size_t)s->depth, t->open.len));
	add_values(o, s);
	put_event(o, (struct slice_event){.phase = SLICE_BEGIN,
					  .track = t,
					  .time = t->now,
					  .category = "function",
					  .name = name_of(o, s->function)});
	vec__push(&t->open, (struct open_call){s->call, s->function});
}

static void return_(struct output *o, struct track *t, const struct step *s)
{
	size_t i = t->open.len;

	while (i && t->open.data[i - 1].call != s->call)
		i--;
	if (!s->call)
		i = 0;
	if (i)
		end_unseen(o, t, i);
	add_result(o, s);
	add_values(o, s);
	if (s->has_off)
		add_arg(o, "off_cpu_ns", ARG_NUMBER, s->off);
	if (i)
		put_end(o, t);
	else
		put_instant(o, t, "return", "return of a call whose entry was not seen");
}

/* ---- instants ---- */

static void branch(struct output *o, struct track *t, const struct step *s)
{
	const struct plan_site *site = &o->plan->sites.data[s->site];
	bool conditional = site->kind == BRANCH_JCC || site->kind == BRANCH_LOOP;
	autofree struct str why = {0};
	struct slices *c = o->state;
	union field_value v;

	str__clear(&c->name);
	str__puts(&c->name, site->mnemonic ? site->mnemonic : "branch");
	if (conditional)
		str__puts(&c->name, s->taken ? " taken" : " not taken");
	add_place(o, "at", &s->at, &c->at);
	add_arg(o, "vaddr", ARG_HEX, s->at.vaddr);
	if (s->to_known)
		add_place(o, "to", &s->to, &c->to);
	if (conditional)
		add_arg(o, "taken", ARG_FLAG, s->taken);
	if (field__get(FIELD_WHY, o, s, &v)) {
		why__put_text(o, &why, s);
		add_text(o, "why", why.data);
	}
	if (s->implied)
		add_arg(o, "implied", ARG_FLAG, true);
	put_instant(o, t, "branch", c->name.data);
}

static void lost(struct output *o, struct track *t, const struct step *s)
{
	add_arg(o, "count", ARG_NUMBER, s->count);
	if (s->at_least)
		add_arg(o, "at_least", ARG_FLAG, true);
	put_instant(o, t, "lost", "events lost");
}

static void omitted(struct output *o, struct track *t, const struct step *s)
{
	add_arg(o, "count", ARG_NUMBER, s->count);
	put_instant(o, t, "omitted", "events not shown");
}

static void mark(struct output *o, struct track *t, const struct step *s)
{
	autofree char *number = xasprintf("%lld", (long long)s->count);

	add_text(o, "number", number);
	put_instant(o, t, "mark", s->text);
}

static void named(struct output *o, struct track *t, const struct step *s)
{
	autofree struct str args = {0}, at = {0};

	if (s->has_at)
		add_place(o, "at", &s->at, &at);
	named__put_args(o, &args, s->named);
	if (args.len)
		add_text(o, "args", args.data);
	if (s->has_off)
		add_arg(o, "off_cpu_ns", ARG_NUMBER, s->off);
	if (s->named->count != 1)
		add_arg(o, "count", ARG_NUMBER, s->named->count);
	put_instant(o, t, named__kind(o, s), o->plan->named.data[s->named->which].name);
}

static void other(struct output *o, struct track *t, const struct step *s)
{
	bool unknown = s->type == STEP_UNKNOWN;
	union field_value v = {.string = "?"};

	(void)field__get(FIELD_EVENT, o, s, &v);
	if (s->type == STEP_EXIT || s->type == STEP_EXEC)
		end_unseen(o, t, 0);
	put_instant(o, t, unknown ? "unknown" : "task", unknown ? "path unknown" : v.string);
	if (s->type == STEP_EXIT)
		exit_track(o, t);
}

/* An instant of the whole trace. A stop also ends the calls that are open. */
static void global_step(struct output *o, const struct step *s)
{
	struct slice_event e = {.phase = SLICE_INSTANT, .time = s->time, .category = "recording"};

	if (s->type == STEP_STOP)
		slices__end(o);
	if (s->type == STEP_MARK)
		e.category = "mark";
	e.name = s->type == STEP_MARK	? s->text
		 : s->type == STEP_STOP ? "recording stops"
					: "recording starts";
	put_event(o, e);
}

int slices__step(struct output *o, const struct step *step)
{
	static void (*const by_type[STEP_TYPES])(struct output * o, struct track * t,
						 const struct step *s) = {
		[STEP_ENTRY] = entry, [STEP_BRANCH] = branch, [STEP_RETURN] = return_,
		[STEP_LOST] = lost,   [STEP_UNKNOWN] = other, [STEP_FORK] = other,
		[STEP_EXEC] = other,  [STEP_EXIT] = other,    [STEP_OMITTED] = omitted,
		[STEP_MARK] = mark,   [STEP_NAMED] = named,
	};

	if (step__is_global(step))
		global_step(o, step);
	else
		by_type[step->type](o, track_of(o, step), step);
	return 0;
}

void slices__end(struct output *o)
{
	struct slices *s = o->state;
	struct track *t;

	vec__each (t, &s->list)
		end_unseen(o, t, 0);
}

void slices__put_totals(struct output *o, uint64_t time, const struct trace_totals *t)
{
	for (const struct total *row = totals; row < totals + ntotals; row++) {
		uint64_t value = total__of(row, t);

		if (value || !(row->flag || row->nonzero))
			add_arg(o, row->name, row->flag ? ARG_FLAG : ARG_NUMBER, value);
	}
	put_event(o, (struct slice_event){.phase = SLICE_INSTANT,
					  .time = time,
					  .category = "summary",
					  .name = "summary"});
}

void slices__free(struct output *o)
{
	struct slices *s = o->state;
	struct track *t;

	vec__each (t, &s->list)
		vec__free(&t->open);
	vec__free(&s->list);
	vec__free(&s->args);
	vec__free(&s->texts);
	map64__free(&s->tracks);
	map64__free(&s->processes);
	str__free(&s->name);
	str__free(&s->at);
	str__free(&s->to);
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * The text format: one line per event, calls as a tree by indentation. A line is a row of cells; a
 * cell has a field of fields.c, how to show it, and what to show if the step doesn't have it.
 */
#include <stdlib.h>
#include "util/fit.h"
#include "text.h"
#include "output/base/values.h"

/* ---- how a field is shown ---- */

typedef void (*show_fn)(struct output *o, const struct step *step, const union field_value *v);
#define show_stack     text__show_stack
#define show_stack_end text__show_stack_end

static void show_string(struct output *o, const struct step *step, const union field_value *v)
{
	str__shown(&o->buffer, v->string);
}

static void show_returned(struct output *o, const struct step *step, const union field_value *v)
{
	put_untyped(&o->buffer, o->plan->arch, v->number);
}

static void show_duration(struct output *o, const struct step *step, const union field_value *v)
{
	put_duration(&o->buffer, v->number);
}

static void show_place(struct output *o, const struct step *step, const union field_value *v)
{
	text__put_place(o, step, v->place);
}

/* On a narrow terminal, a target in the same function is its offset alone. */
static void show_target(struct output *o, const struct step *step, const union field_value *v)
{
	const struct location *from = &step->at, *to = v->place;

	if (text__is_narrow(o) && to->symbol && from->symbol && !strcmp(to->symbol, from->symbol)) {
		str__putc(&o->buffer, '+');
		str__hex(&o->buffer, to->offset);
		return;
	}
	text__put_place(o, step, to);
}

/* A function that was requested by offset may start in the middle of another one. */
static void show_name(struct output *o, const struct step *step, const union field_value *v)
{
	if (!v->place->symbol) {
		str__hex(&o->buffer, v->place->vaddr);
		return;
	}
	fit__name(&o->buffer, v->place->symbol, text__most_name(o));
	if (!v->place->offset)
		return;
	str__putc(&o->buffer, '+');
	str__hex(&o->buffer, v->place->offset);
}

static void show_object(struct output *o, const struct step *step, const union field_value *v)
{
	text__put_object(&o->buffer, v->place->object);
}

static void show_taken(struct output *o, const struct step *step, const union field_value *v)
{
	paint(o, v->flag ? BRIGHT : DIM);
	str__puts(&o->buffer, v->flag ? "taken" : "not taken");
	paint(o, PLAIN);
}

static void show_regs(struct output *o, const struct step *step, const union field_value *v)
{
	const struct reg_list *l = v->regs.shown;

	for (unsigned i = 0; i < l->n; i++) {
		if (i)
			put(&o->buffer, ", ");
		str__puts(&o->buffer, o->plan->arch->reg_names[l->regs[i]]);
		str__putc(&o->buffer, '=');
		str__hex(&o->buffer, v->regs.values[l->regs[i]]);
	}
}

static void show_typed(struct output *o, const struct step *step, const union field_value *v)
{
	values__put_args(o, step, &o->buffer);
}

static void show_result(struct output *o, const struct step *step, const union field_value *v)
{
	values__put_result(o, step, &o->buffer);
}

static void show_values(struct output *o, const struct step *step, const union field_value *v)
{
	for (size_t i = 0; i < v->values.n; i++) {
		if (i)
			put(&o->buffer, ", ");
		str__hex(&o->buffer, v->values.at[i]);
	}
}

static void show_src(struct output *o, const struct step *step, const union field_value *v)
{
	struct text *t = o->state;

	str__clear(&t->src);
	src__put_text(&t->src, v->src, src__of_target(o, step));
	src__put_cell(o, t->line, columns__width(o), &t->src);
}

static void show_why(struct output *o, const struct step *step, const union field_value *v)
{
	why__put_text(o, &o->buffer, step);
}

static void show_nothing(struct output *o, const struct step *step, const union field_value *v)
{
}

static void show_hits(struct output *o, const struct step *step, const union field_value *v)
{
	str__dec(&o->buffer, v->number);
}

static void show_args(struct output *o, const struct step *step, const union field_value *v)
{
	named__put_args(o, &o->buffer, v->named);
}

static void show_events(struct output *o, const struct step *step, const union field_value *v)
{
	str__puts(&o->buffer, step->at_least ? "at least " : "");
	str__dec(&o->buffer, v->number);
	str__puts(&o->buffer, v->number == 1 ? " event" : " events");
}

/* A program's has a number. */
static void show_mark(struct output *o, const struct step *step, const union field_value *v)
{
	str__shown(&o->buffer, v->string);
	if (step->pid)
		str__printf(&o->buffer, " = %lld", (long long)step->count);
}

/* How long a start was not live after what asked for it. */
static void show_recording(struct output *o, const struct step *step, const union field_value *v)
{
	const union field_value asked = {.number = step->count};

	str__puts(&o->buffer, v->string);
	put(&o->buffer, "s");
	if (!step->text)
		return;
	str__puts(&o->buffer, step->type == STEP_START ? ", " : " at ");
	if (step->type == STEP_START) {
		show_duration(o, step, &asked);
		put(&o->buffer, " after ");
	}
	str__shown(&o->buffer, step->text);
}

/* ---- the lines ---- */

struct cell {
	enum field_id field;
	show_fn show;
	const char *before, *after;
	const char *absent; /* shown if the step doesn't have the field */
	enum colour colour;
	bool (*when)(const struct output *o, const struct step *step); /* NULL: always */
	bool time; /* folding ignores differences here */
};

static bool is_timed(const struct output *o, const struct step *step)
{
	return step->timed;
}

/* If invocations are left out, it is unknown whether an entry is the first one. */
static bool may_be_first(const struct output *o, const struct step *step)
{
	return step->timed && !o->plan->conditions.len;
}

/* What copies take of a time isn't worth a word. */
static bool took_tracing(const struct output *o, const struct step *s)
{
	return s->tracing;
}

static bool was_off(const struct output *o, const struct step *s)
{
	return s->off;
}

static bool is_untyped(const struct output *o, const struct step *step)
{
	return !values__has_args(o, step);
}

static bool is_typed_with_regs(const struct output *o, const struct step *step)
{
	return o->options.regs && values__has_args(o, step);
}

static bool has_plain_result(const struct output *o, const struct step *step)
{
	return values__result(o, step) == RESULT_UNTYPED;
}

static bool lacks_result(const struct output *o, const struct step *step)
{
	return values__result(o, step) == RESULT_NOT_RECORDED;
}

static bool regs_were_named(const struct output *o, const struct step *step)
{
	return o->options.regs;
}

static bool has_several_objects(const struct output *o, const struct step *step)
{
	return o->several_objects;
}

/* clang-format off */
#define CELL(name, how, ...) {.field = FIELD_##name, .show = show_##how, __VA_ARGS__}
#define LINE_END	     {.field = FIELDS}
#define SINCE_CELL	     CELL(SINCE, duration, .before = "  +", .after = " since last",                \
				  .absent = "  first entry", .colour = DIM, .when = may_be_first, .time = true)
#define STACK_CELLS                                                                               \
	CELL(STACK, stack, .colour = DIM), CELL(STACK_END, stack_end, .colour = YELLOW)

/* folding treats it as a time after another one: it is the same for the same instruction */
#define SRC_CELL(...)	     CELL(SRC, src, __VA_ARGS__)
#define CONTEXT_CELL	     CELL(CONTEXT, string, .before = "[", .after = "] ", .colour = YELLOW)

static const struct cell entry_cells[] = {
	CONTEXT_CELL,
	CELL(AT, name, .colour = GREEN),
	CELL(TYPED, typed, .before = "(", .after = ")"),
	CELL(REGS, regs, .before = "(", .after = ")", .absent = "(...)", .when = is_untyped),
	CELL(REGS, regs, .before = "  ", .when = is_typed_with_regs),
	CELL(AT, object, .before = " [", .after = "]", .when = has_several_objects),
	SINCE_CELL,
	SRC_CELL(.time = true),
	STACK_CELLS,
	LINE_END,
};

/* A syscall's arguments are in its caller's pt_regs, not in the wrapper's registers. */
static const struct cell syscall_cells[] = {
	CONTEXT_CELL,
	CELL(AT, name, .colour = GREEN),
	CELL(TYPED, typed, .before = "(", .after = ")"),
	CELL(SYSCALL_ARGS, values, .before = "(", .after = ")", .absent = "(...)", .when = is_untyped),
	CELL(REGS, regs, .before = "  ", .when = regs_were_named),
	SINCE_CELL,
	SRC_CELL(.time = true),
	STACK_CELLS,
	LINE_END,
};

static const struct cell branch_cells[] = {
	CONTEXT_CELL,
	CELL(AT, place, .colour = PLAIN),
	CELL(INSN, string, .before = "  ", .after = "  "),
	CELL(TAKEN, taken, .after = " "),
	CELL(TO, target, .before = "-> ", .absent = "-> ?"),
	CELL(WHY, why, .before = "  ", .colour = CYAN),
	SRC_CELL(),
	LINE_END,
};

static const struct cell return_cells[] = {
	CONTEXT_CELL,
	CELL(AT, name, .after = " returns", .colour = CYAN),
	CELL(VALUE, returned, .before = " ", .absent = " ?", .when = has_plain_result),
	CELL(RET, result, .before = " "),
	CELL(EVENT, nothing, .before = " (not recorded)", .when = lacks_result),
	CELL(TYPED, typed, .before = " "),
	CELL(DURATION, duration, .before = "  ", .colour = DIM, .when = is_timed, .time = true),
	CELL(NET, duration, .before = ", net ", .colour = DIM, .when = took_tracing, .time = true),
	CELL(OFF, duration, .before = ", off-CPU ", .colour = DIM, .when = was_off, .time = true),
	LINE_END,
};

static const struct cell lost_cells[] = {
	CELL(COUNT, events, .before = "-- ", .after = " lost here --", .colour = RED),
	LINE_END,
};

static const struct cell omitted_cells[] = {
	CELL(COUNT, events, .before = "-- ", .after = " not shown --", .colour = DIM),
	LINE_END,
};

static const struct cell mark_cells[] = {
	CELL(TEXT, mark, .before = "-- mark: ", .after = " --", .colour = CYAN),
	LINE_END,
};

static const struct cell recording_cells[] = {
	CELL(EVENT, recording, .before = "-- recording ", .after = " --", .colour = YELLOW),
	LINE_END,
};

static const struct cell named_cells[] = {
	CONTEXT_CELL,
	CELL(NAME, string, .colour = CYAN),
	CELL(COUNT, hits, .before = " ", .after = " times"),
	CELL(ARGS, args, .before = " "),
	CELL(OFF, duration, .before = " after ", .colour = DIM, .time = true),
	CELL(AT, place, .before = "  at ", .colour = DIM),
	SRC_CELL(.time = true),
	STACK_CELLS,
	LINE_END,
};

static const struct cell unknown_cells[] = {
	CELL(EVENT, string, .before = "-- path ", .after = " --", .colour = YELLOW),
	LINE_END,
};

static const struct cell task_cells[] = {
	CELL(EVENT, string, .before = "-- ", .after = " --", .colour = DIM),
	LINE_END,
};
/* clang-format on */

static const struct line {
	const struct cell *cells;
	unsigned indent; /* in addition to the call's depth */
} lines[STEP_TYPES] = {
	[STEP_ENTRY] = {.cells = entry_cells},
	[STEP_BRANCH] = {.cells = branch_cells, .indent = INDENT},
	[STEP_RETURN] = {.cells = return_cells},
	[STEP_LOST] = {.cells = lost_cells},
	[STEP_UNKNOWN] = {.cells = unknown_cells},
	[STEP_FORK] = {.cells = task_cells},
	[STEP_EXEC] = {.cells = task_cells},
	[STEP_EXIT] = {.cells = task_cells},
	[STEP_STOP] = {.cells = recording_cells},
	[STEP_START] = {.cells = recording_cells},
	[STEP_MARK] = {.cells = mark_cells},
	[STEP_NAMED] = {.cells = named_cells, .indent = INDENT},
};

static void put_text(struct str *s, const char *text)
{
	if (text)
		str__puts(s, text);
}

static void put_cell(struct output *o, const struct cell *cell, const struct step *step)
{
	union field_value v;
	bool has;

	if (cell->when && !cell->when(o, step))
		return;
	has = field__get(cell->field, o, step, &v);
	if (!has && !cell->absent)
		return;
	if (cell->colour)
		paint(o, cell->colour);
	put_text(&o->buffer, has ? cell->before : cell->absent);
	if (has) {
		cell->show(o, step, &v);
		put_text(&o->buffer, cell->after);
	}
	if (cell->colour)
		paint(o, PLAIN);
}

static const struct cell *cells_of(const struct step *s)
{
	return s->type == STEP_ENTRY && s->syscall_args ? syscall_cells : lines[s->type].cells;
}

/* Without newline. */
static void put_line(struct output *o, const struct cell *cell, const struct step *step)
{
	struct text *t = o->state;

	t->times = 0;
	for (; cell->field != FIELDS; cell++) {
		size_t start = o->buffer.len;

		put_cell(o, cell, step);
		if (cell->time) {
			t->times = t->times ? t->times : start;
			t->time_end = o->buffer.len;
		}
	}
}

/* ---- folding ---- */

#define KNOWN 1024

/*
 * A line of a branch by what its text is made of, so that it isn't rendered again. Strings count by
 * their address: they belong to the plan or the resolver.
 */
struct known {
	uint64_t key[KNOWN_KEYS];
	struct fold_line *line;
	uint64_t number; /* that line's; if it has another one now, it is another line */
	unsigned indent;
};

/* The columns are the buffer from start on: moves them to a new item. */
static struct fold_item *begin_item(struct output *o, const struct step *s, size_t start)
{
	const struct text *t = o->state;
	struct fold_item *item = fold__line(t->fold);

	item->columns = o->buffer.len - start;
	str__put(&item->text, o->buffer.data + start, item->columns);
	cut_back(&o->buffer, start);
	item->timed = s->timed;
	item->first = item->last = s->time;
	return item;
}

/* Renders the line and describes the item by it. */
static void describe(struct output *o, const struct step *s, struct fold_item *item)
{
	const struct line *line = &lines[s->type];
	struct text *t = o->state;
	size_t start = o->buffer.len, len;
	uint64_t key[FOLD_KEYS];

	t->line = start;
	item->indent = text__put_indent(o, s->depth, line->indent);
	put_line(o, cells_of(s), s);
	len = o->buffer.len - start;
	text__fill_key(key, s);
	fold__describe(t->fold, item, s->type > STEP_RETURN ? NULL : key, o->buffer.data + start,
		       len, t->times ? t->times - start : len,
		       t->times ? t->time_end - start : len);
	cut_back(&o->buffer, start);
}

static void describe_branch(struct output *o, const struct step *s, struct fold_item *item)
{
	struct text *t = o->state;
	uint64_t key[KNOWN_KEYS];
	struct known *k;

	text__fill_known_key(o, s, key);
	k = &t->known[text__known_slot(key)];
	if (k->line && k->line->number == k->number && !memcmp(k->key, key, sizeof(key))) {
		fold__share(item, k->line);
		item->indent = k->indent;
		return;
	}
	describe(o, s, item);
	memcpy(k->key, key, sizeof(key));
	k->line = item->line;
	k->number = item->line->number;
	k->indent = item->indent;
}

static void hold_line(struct output *o, const struct step *s, size_t start)
{
	const struct text *t = o->state;
	struct fold_item *item = begin_item(o, s, start);

	if (s->type == STEP_BRANCH && s->site < o->plan->sites.len)
		describe_branch(o, s, item);
	else
		describe(o, s, item);
	fold__push(t->fold, thread_key(s), item);
}

static int text__settle(struct output *o)
{
	struct text *t = o->state;

	if (t->fold)
		fold__settle(t->fold);
	return 0;
}

/* Nothing is folded across it. */
static int put_omitted(struct output *o, const struct step *step)
{
	text__settle(o);
	columns__blank(o);
	put_line(o, omitted_cells, step);
	str__putc(&o->buffer, '\n');
	return 0;
}

static int put_global(struct output *o, const struct step *step)
{
	text__settle(o);
	columns__put_global(o, step);
	put_line(o, lines[step->type].cells, step);
	str__putc(&o->buffer, '\n');
	return 0;
}

static int put_bare(struct output *o, const struct step *step)
{
	struct text *t = o->state;

	t->line = o->buffer.len;
	put_line(o, step->type == STEP_OMITTED ? omitted_cells : cells_of(step), step);
	str__putc(&o->buffer, '\n');
	return 0;
}

static int text__step(struct output *o, const struct step *step)
{
	struct text *t = o->state;
	size_t start = o->buffer.len;

	if (o->options.bare)
		return put_bare(o, step);
	if (step->type == STEP_OMITTED)
		return put_omitted(o, step);
	if (step__is_global(step))
		return put_global(o, step);
	columns__put(o, step);
	if (t->fold) {
		hold_line(o, step, start);
		return 0;
	}
	t->line = o->buffer.len;
	text__put_indent(o, step->depth, lines[step->type].indent);
	put_line(o, cells_of(step), step);
	str__putc(&o->buffer, '\n');
	return 0;
}

static int text__begin(struct output *o)
{
	struct text *t = o->state;

	if (!o->options.fold)
		return 0;
	t->fold = fold__new(repeats__put, o);
	t->known = xcalloc(KNOWN, sizeof(*t->known));
	return 0;
}

static int text__end(struct output *o, const struct trace_totals *t)
{
	return text__settle(o);
}

static void text__free(struct output *o)
{
	struct text *t = o->state;

	map64__free(&t->last);
	fold__free(t->fold);
	free(t->known);
	str__free(&t->src);
}

const struct output_format output_text = {
	.name = "text",
	.cuts = true,
	.form = FORM_TEXT,
	.wants = {.events = OUTPUT_STEPS,
		  .branch_times = true,
		  .durations = true,
		  .regs = true,
		  .tests = true,
		  .lines = true,
		  .scopes = true},
	.suffixes = ".txt",
	.marks = true,
	.counting = &output_text_counted,
	.time_column = true,
	.help = "one line per event, calls as a tree",
	.size = sizeof(struct text),
	.begin = text__begin,
	.step = text__step,
	.settle = text__settle,
	.end = text__end,
	.free = text__free,
};

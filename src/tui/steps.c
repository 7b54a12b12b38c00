// SPDX-License-Identifier: BSD-2-Clause
/* The path of a call, or all steps of a thread, step by step, beside the source. */
#include <errno.h>
#include "plan/lines/lines.h"
#include "screens.h"

enum time_column { OFFSET, DELTA, NO_TIME, TIME_COLUMNS };

struct steps {
	struct screen screen;
	const struct run *run;
	struct path path;
	bool of_thread;
	uint32_t thread;
	call_refs refs; /* the calls that this one was chosen from */
	size_t which;
	bool no_source;
	enum time_column time;
};

#define INDENT	   2
#define MOST_DEEP  24 /* levels that are indented */
#define STEP_ROOM  56 /* columns of a step in front of its source */
#define LEAST_PANE 5  /* lines */

static struct steps *of(const struct screen *s)
{
	return (struct steps *)s;
}

static const struct call *call_of(const struct steps *t)
{
	return run__call(t->run, t->refs.data[t->which].call);
}

static size_t steps__count(const struct screen *s)
{
	return of(s)->path.rows.len;
}

static void steps__title(const struct screen *s, struct str *out)
{
	const struct steps *t = of(s);
	const struct call *c;

	if (t->of_thread) {
		str__puts(out, "All steps of ");
		model__put_thread(t->run, t->thread, out);
		return;
	}
	c = call_of(t);
	str__puts(out, "Path of ");
	text__put_name(out, s->model->plan->functions.data[c->function].name, s->width / 2);
	if (s->model->nruns > 1)
		str__puts(out, t->run == &s->model->run[1] ? " in B" : " in A");
	if (t->refs.len > 1)
		str__printf(out, ", call %zu of %zu", t->which + 1, t->refs.len);
	if (c->flags & CALL_TIMED) {
		str__puts(out, ", ");
		put_duration(out, c->duration);
	}
}

/* ---- a row ---- */

static unsigned base_depth(const struct steps *t)
{
	return t->of_thread ? 0 : call_of(t)->depth;
}

static uint64_t time_of(const struct steps *t, size_t row)
{
	struct kept_step k;
	uint64_t at = row < t->path.rows.len ? t->path.rows.data[row].at : 0, time = 0;
	size_t len;
	const uint8_t *data = at ? run__next(t->run, &at, UINT64_MAX, &len) : NULL;

	if (data && record__get(&t->run->names, t->run->plan, data, len, &k)) {
		time = k.step.time;
		kept__free(&k);
	}
	return time;
}

/* The time since the first row, or since the one before. */
static void put_time(const struct steps *t, size_t row, const struct step *s, struct str *out)
{
	autofree struct str text = {0};
	uint64_t from;

	if (t->time == NO_TIME)
		return;
	from = time_of(t, t->time == DELTA && row ? row - 1 : 0);
	if (s->timed) {
		str__putc(&text, '+');
		put_duration(&text, s->time - min_of(s->time, from));
	}
	str__printf(out, "\033[2m%9s\033[0m ", text.data ? text.data : "");
}

static void put_indent(const struct steps *t, const struct row *r, bool inner, struct str *out)
{
	unsigned base = base_depth(t), depth = r->depth - min_of(r->depth, base);

	if (depth > MOST_DEEP)
		str__printf(out, "[%u] ", depth);
	depth = min_of(depth, (unsigned)MOST_DEEP) * INDENT + (inner ? INDENT : 0);
	for (; depth; depth--)
		str__putc(out, ' ');
}

/* A call that is one row: with its result, and what it took. */
static void put_folded(struct screen *s, const struct row *r, struct str *out)
{
	const struct call *c = run__call(of(s)->run, r->call - 1);

	str__puts(out, "\033[1m+\033[0m ");
	model__put_call(s->model, of(s)->run, r->call - 1, out);
	str__puts(out, "  \033[2m");
	if (c->flags & CALL_TIMED) {
		put_duration(out, c->duration);
		str__puts(out, ", ");
	}
	str__printf(out, "%llu branch%s\033[0m", (unsigned long long)c->branches,
		    c->branches == 1 ? "" : "es");
	model__put_state(c, out);
}

static void put_source(const struct model *m, const struct step *s, size_t start, struct str *out)
{
	struct source_place at;
	const char *text;

	if (!model__source(m, s, &at))
		return;
	text__pad(out, start, STEP_ROOM);
	str__puts(out, "  \033[2m");
	src__put_line(out, m->plan, m->plan->functions.data[s->function].object, s->at.vaddr);
	text = model__source_line(m, &at, at.line);
	if (text) {
		str__puts(out, "\033[0m  \033[36m");
		str__shown(out, text + strspn(text, " \t"));
	}
	str__puts(out, "\033[0m");
}

static void put_rest(const struct row *r, struct str *out)
{
	str__printf(out, "\033[33m-- more steps follow: Enter shows them --\033[0m");
}

static void put_step(struct screen *s, size_t row, struct str *out)
{
	const struct steps *t = of(s);
	const struct row *r = &t->path.rows.data[row];
	autofree struct str text = {0};
	struct kept_step k;
	size_t start;

	if (!model__put_step(s->model, t->run, r->at, LINE_STEP, &k, &text))
		return;
	put_time(t, row, &k.step, out);
	if (s->model->nruns > 1)
		str__puts(out, model__is_only_here(s->model, t->run, &k.step)
				       ? t->run == s->model->run ? "\033[1;31mA\033[0m "
								 : "\033[1;31mB\033[0m "
				       : "  ");
	start = out->len;
	put_indent(t, r, k.step.type == STEP_BRANCH || k.step.type == STEP_NAMED, out);
	if (r->kind == ROW_FOLDED) {
		put_folded(s, r, out);
	} else {
		str__puts(out, r->kind == ROW_EXPANDED ? "\033[1m-\033[0m " : "");
		str__put(out, text.data ? text.data : "", text.len);
	}
	put_source(s->model, &k.step, start, out);
	kept__free(&k);
}

static void steps__row(struct screen *s, size_t row, unsigned width, struct str *out)
{
	const struct row *r = &of(s)->path.rows.data[row];

	if (r->kind == ROW_REST)
		put_rest(r, out);
	else
		put_step(s, row, out);
}

/* ---- where it leads ---- */

static struct screen *steps__enter(struct screen *s, size_t row)
{
	struct steps *t = of(s);
	const struct row *r = &t->path.rows.data[row];
	call_refs refs = {0};

	if (r->kind == ROW_REST) {
		path__expand(&t->path, row, 1);
		screen__changed(s, NULL);
		return NULL;
	}
	if (!r->call) {
		err__set(ENOENT, "this step is no call; s shows the source, Left goes back");
		return NULL;
	}
	vec__push(&refs, (struct call_ref){(uint32_t)(t->run - s->model->run), r->call - 1});
	return steps__open_call(s->model, refs, 0);
}

/* The call in which this one was made, with the cursor on it. */
static struct screen *caller(struct screen *s)
{
	struct steps *t = of(s), *outer;
	uint32_t call = t->of_thread ? 0 : t->refs.data[t->which].call;
	const struct call *c = t->of_thread ? NULL : call_of(t);
	call_refs refs = {0};

	if (!c || !c->outer) {
		err__set(ENOENT, "no traced function is known to have called it");
		return NULL;
	}
	vec__push(&refs, (struct call_ref){(uint32_t)(t->run - s->model->run), c->outer - 1});
	outer = of(steps__open_call(s->model, refs, 0));
	for (size_t i = 0; i < outer->path.rows.len; i++)
		if (outer->path.rows.data[i].call == call + 1)
			outer->screen.cursor = i;
	return &outer->screen;
}

/* ---- keys ---- */

static void show_call(struct steps *t, size_t which)
{
	path__free(&t->path);
	t->which = which;
	t->run = &t->screen.model->run[t->refs.data[which].run];
	path__of_call(&t->path, t->run, t->refs.data[which].call);
	t->screen.cursor = t->screen.top = 0;
}

static void next_call(struct steps *t, int step)
{
	if (t->of_thread || (step < 0 ? !t->which : t->which + 1 >= t->refs.len))
		err__set(ENOENT, "there is no %s call in the list", step < 0 ? "earlier" : "later");
	else
		show_call(t, t->which + step);
}

static void fold(struct screen *s, size_t row)
{
	size_t at = path__fold(&of(s)->path, row);

	if (at == SIZE_MAX)
		err__set(ENOENT, "no call to fold here");
	else
		s->cursor = at; /* a filter moves it after that */
}

static void toggle(struct screen *s, size_t row)
{
	struct steps *t = of(s);

	if (!path__expand(&t->path, row, 1))
		fold(s, row);
}

/* The step under the cursor stays there, or the row in front of it. */
static void change_all(struct screen *s, size_t row, void (*change)(struct path *p))
{
	struct path *p = &of(s)->path;
	uint64_t at = row < p->rows.len ? p->rows.data[row].at : 0, time = time_of(of(s), row);
	size_t best = 0;

	change(p);
	for (size_t i = 0; i < p->rows.len && p->rows.data[i].kind != ROW_REST; i++) {
		if (p->rows.data[i].at == at) {
			best = i;
			break;
		}
		if (p->rows.data[i].call &&
		    run__call(p->run, p->rows.data[i].call - 1)->time <= time)
			best = i;
	}
	s->cursor = best;
}

static bool fold_key(struct screen *s, size_t row, int key)
{
	switch (key) {
	case 'e':
	case '+':
	case '\t':
		toggle(s, row);
		break;
	case '-':
		fold(s, row);
		break;
	case 'E':
		change_all(s, row, path__expand_all);
		break;
	case 'C':
		change_all(s, row, path__fold_all);
		break;
	default:
		return false;
	}
	screen__changed(s, NULL);
	if (s->filters)
		screen__go_to_row(s, s->cursor);
	return true;
}

static bool steps__key(struct screen *s, size_t row, int key, struct screen **next)
{
	struct steps *t = of(s);

	if (fold_key(s, row, key))
		return true;
	switch (key) {
	case 's':
		t->no_source = !t->no_source;
		return true;
	case 't':
		t->time = (t->time + 1) % TIME_COLUMNS;
		return true;
	case 'u':
	case '^':
		*next = caller(s);
		return true;
	case ']':
	case '[':
		next_call(t, key == ']' ? 1 : -1);
		return true;
	default:
		return false;
	}
}

/* ---- the source ---- */

static void draw_line(const struct steps *t, struct grid *g, const struct span *at,
		      const struct source_place *place, unsigned line)
{
	const char *text = model__source_line(t->screen.model, place, line);
	autofree struct str out = {0};

	if (!text)
		return;
	str__printf(&out, "%s%6u ", line == place->line ? "\033[1;36m>" : "\033[2m ", line);
	if (line != place->line)
		str__puts(&out, "\033[0m");
	str__expand_tabs(&out, text);
	grid__put(g, at, out.data, 0);
}

static void draw_source(const struct steps *t, struct grid *g, const struct span *at,
			unsigned lines, const struct source_place *place)
{
	autofree struct str head = {0};
	struct span line = *at;
	unsigned first;

	str__printf(&head, "-- ");
	str__shown(&head, place->file);
	str__printf(&head, ":%u --", place->line);
	grid__put(g, &line, head.data, LOOK_DIM);
	first = place->line - min_of(place->line - 1, (lines - 1) / 2);
	if (!model__source_line(t->screen.model, place, place->line)) {
		line.row++;
		grid__put(g, &line, "(the file can't be read here, or is newer than the program)",
			  LOOK_DIM);
		return;
	}
	for (unsigned i = 0; i + 1 < lines; i++) {
		line.row++;
		draw_line(t, g, &line, place, first + i);
	}
}

static unsigned steps__pane(struct screen *s, size_t row, struct grid *g, const struct span *at,
			    unsigned most)
{
	const struct steps *t = of(s);
	struct source_place place;
	struct kept_step k;
	autofree struct str text = {0};

	if (t->no_source || most < LEAST_PANE || (!s->model->plan->lines.len))
		return 0;
	if (!g || row >= t->path.rows.len || t->path.rows.data[row].kind == ROW_REST)
		return most;
	if (!model__put_step(s->model, t->run, t->path.rows.data[row].at, LINE_STEP, &k, &text))
		return most;
	if (model__source(s->model, &k.step, &place))
		draw_source(t, g, at, most, &place);
	else
		grid__put(g, at, "-- the source of this step isn't known --", LOOK_DIM);
	kept__free(&k);
	return most;
}

static void steps__free(struct screen *s)
{
	path__free(&of(s)->path);
	vec__free(&of(s)->refs);
}

static const struct screen_ops ops = {
	.keys = "Enter, Right  into the call of this row, as a screen of its own\n"
		"e, +, Tab     unfold the call of this row here, or fold it\n"
		"-             fold the call that this step is in\n"
		"E, C          unfold all calls, fold all\n"
		"u, ^          the call that made this one\n"
		"], [          the next, the previous call of the list\n"
		"s             with or without the source below\n"
		"t             times: since the first step, since the row before, none\n"
		"A, B          in front of a branch: only A, or only B, ever took it so\n",
	.count = steps__count,
	.title = steps__title,
	.row = steps__row,
	.enter = steps__enter,
	.key = steps__key,
	.pane = steps__pane,
	.free = steps__free,
};

struct screen *steps__open_call(struct model *m, call_refs refs, size_t which)
{
	struct steps *t = screen__new(&ops, m, sizeof(*t));

	t->refs = refs;
	show_call(t, which);
	return &t->screen;
}

struct screen *steps__open_thread(struct model *m, uint32_t run, uint32_t thread)
{
	struct steps *t = screen__new(&ops, m, sizeof(*t));

	t->of_thread = true;
	t->run = &m->run[run];
	t->thread = thread;
	path__of_thread(&t->path, t->run, thread);
	return &t->screen;
}

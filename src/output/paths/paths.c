// SPDX-License-Identifier: BSD-2-Clause
/* The format paths: which paths through each function ran, and what they cost. For paths with the
 * same beginning, only the parts are listed in which they differ. */
#include <stdlib.h>
#include "output/listing/listing.h"
#include "paths.h"
#include "output/base/paint.h"
#include "output/base/src.h"

/* Paths of a function that are shown. */
#define SHOWN	    64
#define PATH_INDENT 6

/* ---- parts ---- */

struct shown {
	const struct path_row *row;
	path_parts parts;
	struct path_end end;
};

struct table {
	struct output *o;
	struct path_counts *p;
	const struct plan_function *fn;
	struct shown rows[SHOWN];
	size_t n;
	struct map64 same;  /* beginning, site and way -> in how many rows */
	struct map64 group; /* beginning -> its rows */
	struct map64 lines; /* file and line -> site + 1; UINT64_MAX: several */
	bool has_net;
};

static uint64_t group_of(const struct path_row *r)
{
	return (uint64_t)r->start << 1 | r->is_entry;
}

static uint64_t key_of(const struct path_row *r, const struct path_part *part)
{
	const uint64_t words[] = {group_of(r), part->site, part->way};

	return map64__hash(words, sizeof(words));
}

static uint64_t line_key(const struct plan_frame *f)
{
	const uint64_t words[] = {(uintptr_t)f->file, f->line};

	return map64__hash(words, sizeof(words));
}

static void note_line(struct table *t, uint32_t site)
{
	const struct plan_site *s = &t->p->plan->sites.data[site];
	struct plan_frame f;
	uint64_t *slot;

	if (!src__own_line(t->o, s->object, s->vaddr, &f))
		return;
	slot = map64__put(&t->lines, line_key(&f));
	*slot = *slot && *slot != site + 1 ? UINT64_MAX : site + 1;
}

static void take_row(struct table *t, const struct path_row *r)
{
	struct shown *w = &t->rows[t->n++];
	const struct path_part *part;
	uint64_t ns;

	*w = (struct shown){.row = r};
	path__parts(t->p, r, &w->parts, &w->end);
	t->has_net |= stats_net__state(&r->net, &ns) != NET_UNKNOWN;
	++*map64__put(&t->group, group_of(r));
	vec__each (part, &w->parts) {
		++*map64__put(&t->same, key_of(r, part));
		note_line(t, part->site);
	}
}

static void free_table(struct table *t)
{
	for (size_t i = 0; i < t->n; i++)
		vec__free(&t->rows[i].parts);
	map64__free(&t->same);
	map64__free(&t->group);
	map64__free(&t->lines);
}

/* Returns true if another path with the same beginning doesn't have it. */
static bool differs(const struct table *t, const struct path_row *r, const struct path_part *part)
{
	uint64_t all = *map64__get(&t->group, group_of(r));

	return all == 1 || *map64__get(&t->same, key_of(r, part)) < all;
}

/* ---- places ---- */

static void put_offset(const struct table *t, struct str *s, uint32_t function, uint64_t vaddr)
{
	uint64_t offset;
	const char *name = plan__name_at(t->p->plan, function, vaddr, &offset);

	if (name && strcmp(name, t->fn->name) != 0)
		str__shown(s, name);
	str__printf(s, "+0x%llx", (unsigned long long)offset);
}

/* Puts "main.c:44", or "44" after the same file's, or "+0x1f" without a line, or both if that isn't
 * enough. */
static void put_place(const struct table *t, struct str *s, uint32_t function, uint32_t object,
		      uint64_t vaddr, bool exact, const char **file)
{
	struct plan_frame f;

	if (!src__own_line(t->o, object, vaddr, &f)) {
		put_offset(t, s, function, vaddr);
		return;
	}
	if (f.file != *file) {
		str__shown(s, path__base_name(f.file));
		str__putc(s, ':');
	}
	*file = f.file;
	str__dec(s, f.line);
	if (exact)
		put_offset(t, s, function, vaddr);
}

static void put_block(const struct table *t, struct str *s, uint32_t block)
{
	const struct plan_block *b = &t->p->plan->blocks.data[block];
	const char *file = NULL;

	put_place(t, s, b->function, b->object, b->start, false, &file);
}

static void put_site(const struct table *t, struct str *s, const struct plan_site *ps,
		     const char **file)
{
	struct plan_frame f;
	bool several = src__own_line(t->o, ps->object, ps->vaddr, &f) &&
		       *map64__get(&t->lines, line_key(&f)) == UINT64_MAX;

	put_place(t, s, ps->function, ps->object, ps->vaddr, several, file);
}

static void put_target(const struct table *t, struct str *s, uint32_t block, const char **file)
{
	const struct plan_block *b = &t->p->plan->blocks.data[block];

	put_place(t, s, b->function, b->object, b->start, true, file);
}

static void put_callee(const struct table *t, struct str *s, const struct plan_site *ps)
{
	const uint64_t *called = map64__get(&t->p->callees, ps - t->p->plan->sites.data);

	str__puts(s, " call ");
	str__shown(s, called ? (const char *)(uintptr_t)*called : "*");
}

static void put_part(const struct table *t, struct str *s, const struct path_part *part,
		     const char **file)
{
	const struct plan_site *ps = &t->p->plan->sites.data[part->site];

	put_site(t, s, ps, file);
	if (plan_site__is_conditional(ps)) {
		str__puts(s, part->way == WAY_TAKEN ? " taken" : " not taken");
	} else if (ps->kind != BRANCH_IJMP) {
		put_callee(t, s, ps);
	} else if (part->way == WAY_OUT) {
		str__puts(s, " -> elsewhere");
	} else {
		str__puts(s, " -> ");
		put_target(t, s, WAY_BLOCK(part->way), file);
	}
}

static void put_parts(const struct table *t, const struct shown *w)
{
	struct str *s = &t->o->buffer, text = {0};
	unsigned width = t->o->options.width ? t->o->options.width : 100, column = 0;
	const struct path_part *part;
	const char *file = NULL;

	vec__each (part, &w->parts) {
		if (!differs(t, w->row, part))
			continue;
		str__clear(&text);
		put_part(t, &text, part, &file);
		if (column && column + text.len + 3 > width) {
			str__puts(s, ",\n");
			column = 0;
		} else if (column) {
			column += 2;
			str__puts(s, ", ");
		}
		if (!column)
			put_spaces(s, column = PATH_INDENT);
		str__put(s, text.data, text.len);
		column += text.len;
	}
	if (column)
		str__putc(s, '\n');
	str__free(&text);
}

static void put_way(const struct table *t, struct str *s, const struct shown *w)
{
	const struct path_row *r = w->row;
	bool loops = w->end.edge == PATH_LOOPS;

	if (r->number)
		str__printf(s, "#%llu ", (unsigned long long)r->number);
	if (!r->is_entry && loops && w->end.to == r->start) {
		str__puts(s, "around the loop at ");
		put_block(t, s, r->start);
		return;
	}
	str__puts(s, r->is_entry ? "entry" : "loop at ");
	if (!r->is_entry)
		put_block(t, s, r->start);
	str__puts(s, " to ");
	if (loops) {
		str__puts(s, "the loop at ");
		put_block(t, s, w->end.to);
	} else {
		bool ret = w->end.site != NO_SITE &&
			   t->p->plan->sites.data[w->end.site].kind == BRANCH_RET;

		str__puts(s, ret ? "return" : "a tail call");
	}
}

/* ---- cells ---- */

typedef void (*cell_fn)(const struct table *t, struct str *s, const struct path_row *r);

static void put_count(const struct table *t, struct str *s, const struct path_row *r)
{
	str__dec(s, r->count);
	str__puts(s, t->o->more);
}

static void put_time(const struct path_row *r, struct str *s, uint64_t ns)
{
	if (!r->timed) {
		str__putc(s, '-');
		return;
	}
	str__puts(s, r->near ? "~" : "");
	put_duration(s, ns);
}

static void put_total(const struct table *t, struct str *s, const struct path_row *r)
{
	str__puts(s, r->timed && r->timed < r->count ? ">" : "");
	put_time(r, s, r->ns);
	str__puts(s, r->timed ? t->o->more : "");
}

static void put_share(const struct table *t, struct str *s, const struct path_row *r)
{
	uint64_t all = t->p->functions[r->function].ns;
	unsigned permille = all ? (unsigned __int128)r->ns * 1000 / all : 0;

	if (r->timed && all)
		str__printf(s, "%u.%u%%", permille / 10, permille % 10);
	else
		str__putc(s, '-');
}

static void put_net(const struct table *t, struct str *s, const struct path_row *r)
{
	const bool some = r->net.calls < r->count;

	put_net_time(s, &r->net, some ? r->near ? ">~" : ">" : r->near ? "~" : "", t->o->more);
}

static void put_min(const struct table *t, struct str *s, const struct path_row *r)
{
	put_time(r, s, r->min);
}

static void put_avg(const struct table *t, struct str *s, const struct path_row *r)
{
	put_time(r, s, r->ns / max_of(r->timed, (uint64_t)1));
}

static void put_max(const struct table *t, struct str *s, const struct path_row *r)
{
	put_time(r, s, r->max);
}

static const struct {
	const char *head;
	cell_fn cell;
	bool net;
} columns[] = {
	{"count", put_count}, {"total", put_total}, {"share", put_share}, {"net", put_net, true},
	{"min", put_min},     {"avg", put_avg},	    {"max", put_max},
};
#define WIDTH 9

static void put_cell(struct str *s, const char *text)
{
	put_right(s, text, WIDTH);
	str__putc(s, ' ');
}

static void put_row(const struct table *t, const struct shown *w)
{
	struct str *s = &t->o->buffer, cell = {0};

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		if (columns[i].net && !t->has_net)
			continue;
		str__clear(&cell);
		columns[i].cell(t, &cell, w->row);
		put_cell(s, cell.data);
	}
	str__free(&cell);
	str__putc(s, ' ');
	put_way(t, s, w);
	str__putc(s, '\n');
	put_parts(t, w);
}

/* ---- a function ---- */

static void put_head(const struct table *t, const struct paths_function *f)
{
	struct str *s = &t->o->buffer;
	uint32_t function = t->fn - t->p->plan->functions.data;
	uint64_t all = acyclic__paths(t->p->ways, function);

	str__shown(s, t->fn->name);
	if (t->o->several_objects) {
		str__puts(s, "  ");
		str__shown(s, t->p->plan->objects.data[t->fn->object].path);
	}
	str__printf(s, ": %u of ", f->n);
	if (all == PATHS_MANY)
		str__puts(s, "more than 2^64");
	else
		str__printf(s, "%s%llu", acyclic__is_open(t->p->ways, function) ? "at least " : "",
			    (unsigned long long)all);
	str__printf(s, " paths ran: %llu%s from the entry, %llu%s from a loop's start\n",
		    (unsigned long long)f->calls, t->o->more, (unsigned long long)f->loops,
		    t->o->more);
}

static const char *const apart_text[APARTS] = {
	[APART_BEFORE] = "whose beginning was not seen",
	[APART_UNKNOWN] = "with a part that is lost or unknown",
	[APART_LEFT] = "left for elsewhere in the call (an exception, longjmp)",
	[APART_OPEN] = "whose end was not seen",
	[APART_MORE] = "beyond as many different ones as are kept",
};

static void put_apart(struct str *s, const struct paths_function *f)
{
	const char *between = "  not counted: ";

	for (int i = APART_NOT + 1; i < APARTS; i++) {
		if (!f->apart[i])
			continue;
		str__printf(s, "%s%llu %s", between, (unsigned long long)f->apart[i],
			    apart_text[i]);
		between = "; ";
	}
	if (*between == ';')
		str__putc(s, '\n');
}

static void put_table(struct output *o, struct path_counts *p, uint32_t function)
{
	struct paths_function *f = &p->functions[function];
	struct table t = {.o = o, .p = p, .fn = &p->plan->functions.data[function]};
	struct str *s = &o->buffer;

	for (uint32_t i = 0; i < min_of(f->n, (uint32_t)SHOWN); i++)
		take_row(&t, &p->rows.data[f->first + i]);
	put_head(&t, f);
	for (size_t i = 0; t.n && i < ARRAY_SIZE(columns); i++)
		if (!columns[i].net || t.has_net)
			put_cell(s, columns[i].head);
	if (t.n)
		str__puts(s, " path\n");
	for (size_t i = 0; i < t.n; i++)
		put_row(&t, &t.rows[i]);
	if (f->n > t.n)
		str__printf(s, "  (%zu more are in paths:json)\n", f->n - t.n);
	put_apart(s, f);
	str__putc(s, '\n');
	free_table(&t);
}

/* ---- all of them ---- */

static int costliest_first(const void *a, const void *b, void *ctx)
{
	const struct path_counts *p = ctx;
	const uint32_t *i = a, *j = b;
	const struct paths_function *x = &p->functions[*i], *y = &p->functions[*j];

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	if (x->calls + x->loops != y->calls + y->loops)
		return x->calls + x->loops < y->calls + y->loops ? 1 : -1;
	return *i < *j ? -1 : *i > *j;
}

static bool has_any(const struct paths_function *f)
{
	uint64_t apart = 0;

	for (int i = 0; i < APARTS; i++)
		apart += f->apart[i];
	return f->n || apart;
}

void paths_format__functions(const struct output *o, id_vec *out)
{
	struct path_counts *p = o->state;

	for (uint32_t i = 0; i < p->nfunctions; i++)
		if (has_any(&p->functions[i]) && (!o->options.functions || o->options.functions[i]))
			vec__push(out, i);
	vec__sort_by(out, costliest_first, p);
}

static void put_notes(struct output *o, const struct trace_totals *t)
{
	const struct path_counts *p = o->state;
	uint64_t near = 0, untimed = 0;
	struct str *s = &o->buffer, text = {0};
	const struct path_row *r;

	vec__each (r, &p->rows) {
		near += r->near;
		untimed += r->count - r->timed;
	}
	if (near)
		str__printf(s,
			    "~: %llu began or ended where there is no event: by the time of the "
			    "thread's next one.\n",
			    (unsigned long long)near);
	if (untimed)
		str__printf(s, "The times of %llu are not known: no event distinguishes them.\n",
			    (unsigned long long)untimed);
	if (totals__tracing(t, &text))
		str__printf(s, "Times include %s.\n", text.data);
	str__free(&text);
	if (totals__are_low(t))
		str__puts(s, "Events are missing: counts may be too low.\n");
}

static int paths_format__put_all(struct output *o, const struct trace_totals *t)
{
	struct path_counts *p = o->state;
	id_vec functions = {0};
	int err = 0;

	path_counts__end(p);
	paths_format__functions(o, &functions);
	for (size_t i = 0; i < functions.len && !err; i++) {
		put_table(o, p, functions.data[i]);
		err = aggregate__flush_full(o);
	}
	if (!functions.len)
		str__puts(&o->buffer,
			  "No path of a function was seen from its beginning to its end.\n");
	put_notes(o, t);
	vec__free(&functions);
	return err;
}

int paths_format__begin(struct output *o)
{
	path_counts__init(o->state, o->plan);
	return 0;
}

void paths_format__extend(struct output *o)
{
	path_counts__plan_extended(o->state);
}

int paths_format__take(struct output *o, const struct step *s)
{
	path_counts__step(o->state, s);
	return 0;
}

void paths_format__drop(struct output *o)
{
	path_counts__free(o->state);
}

const struct output_format output_paths = {
	.name = "paths",
	.cuts = true,
	.help = "which ways through each function ran, how often and how long",
	PATHS_FORMAT,
	.end = paths_format__put_all,
};

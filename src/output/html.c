// SPDX-License-Identifier: BSD-2-Clause
/*
 * The html format: one self-contained page with a sortable, searchable table of functions, a flame
 * graph, each function's code with branch counts, and histograms of durations. The page contains
 * the figures as JSON and each function's code in its own element; its script (html/page.js) shows
 * them. All text of the traced program is escaped by str__json() or str__xml().
 */
#include "output/fields.h"
#include "output/flame.h"
#include "output/listing.h"
#include "output/pages.h"
#include "output/runs.h"

#define put(s, literal) str__put((s), literal, sizeof(literal) - 1)
#define MOST_TARGETS	16 /* of an indirect branch; the others are one row */
#define TITLE_NAMES	3

struct html {
	struct stats stats; /* the first: see AGGREGATES */
	struct runs runs;
	/* of the current function */
	struct output *o;
	bool any;
};

/* ---- JSON within a <script>: no < that could end it ---- */

/* Is it an escaped bidirectional control? The page shows the escape instead of obeying it. */
static bool is_control_escape(const char *escape)
{
	return escape[1] == 'u' && strncmp(escape, "\\u00", 4);
}

static void put_json(struct str *s, const char *text)
{
	struct str json = {0};

	str__json(&json, text);
	for (const char *p = json.data; *p; p++) {
		if (*p == '<') {
			put(s, "\\u003c");
			continue;
		}
		str__putc(s, *p);
		if (*p == '\\')
			str__putc(s, is_control_escape(p) ? '\\' : *++p);
	}
	str__free(&json);
}

static void put_number(struct str *s, const char *key, uint64_t n)
{
	str__puts(s, key);
	str__dec(s, n);
}

/* A count, or null if unknown. */
static void put_count(struct str *s, uint64_t n)
{
	str__putc(s, ',');
	if (n == RUNS_UNKNOWN)
		put(s, "null");
	else
		str__dec(s, n);
}

/* ---- the table of functions ---- */

static void put_times(struct str *s, const struct stats_function *pf)
{
	static const struct {
		const char *key;
		unsigned permille;
	} rows[] = {{",\"p50\":", 500}, {",\"p99\":", 990}};
	const struct histogram *h = &pf->time;
	uint64_t counts[64];
	const char *between = "";

	put_number(s, ",\"timed\":", h->n);
	put_number(s, ",\"open\":", pf->open);
	if (!h->n)
		return;
	put_number(s, ",\"total\":", pf->total);
	put_number(s, ",\"self\":", pf->self);
	put_number(s, ",\"min\":", h->min);
	put_number(s, ",\"avg\":", h->sum / h->n);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		put_number(s, rows[i].key, histogram__quantile(h, rows[i].permille));
	put_number(s, ",\"max\":", h->max);
	put(s, ",\"hist\":[");
	histogram__log2(h, counts);
	for (int i = 0; i < 64; i++) {
		if (!counts[i])
			continue;
		str__printf(s, "%s[%d,%llu]", between, i, (unsigned long long)counts[i]);
		between = ",";
	}
	str__putc(s, ']');
}

static void put_function(struct html *h, uint32_t function)
{
	const struct plan_function *f = &h->o->plan->functions.data[function];
	const struct stats_function *pf = &h->stats.functions[function];
	struct str *s = &h->o->buffer;

	put_number(s, h->any ? ",\n{\"id\":" : "\n{\"id\":", function);
	h->any = true;
	put(s, ",\"name\":");
	put_json(s, f->name);
	put_number(s, ",\"object\":", f->object);
	str__printf(s, ",\"entry\":\"0x%llx\"",
		    (unsigned long long)address__shown(h->o, f->object, plan__start(f)));
	put_number(s, ",\"calls\":", pf->calls);
	put_number(s, ",\"branches\":", pf->branches);
	put_number(s, ",\"conditional\":", pf->conditional);
	put_number(s, ",\"taken\":", pf->taken);
	put_number(s, ",\"most\":", h->runs.most[function]);
	put_times(s, pf);
	str__putc(s, '}');
}

static bool is_shown(const struct html *h, uint32_t function)
{
	return !(h->o->plan->functions.data[function].flags & FUNCTION_HELPER) &&
	       runs__ran(&h->runs, function);
}

static void put_objects(struct html *h)
{
	struct str *s = &h->o->buffer;
	const struct plan_object *o;

	put(s, "\"objects\":[");
	vec__each (o, &h->o->plan->objects) {
		if (o > h->o->plan->objects.data)
			str__putc(s, ',');
		put_json(s, o->path);
	}
	str__putc(s, ']');
}

static int put_data(struct html *h, const struct trace_totals *t)
{
	struct str *s = &h->o->buffer;
	int err = 0;

	put(s, "<script type=\"application/json\" id=\"data\">{");
	put_objects(h);
	put_number(s, ",\"threads\":", h->stats.threads.len);
	put_number(s, ",\"span\":", h->stats.last - h->stats.first);
	str__puts(s, h->runs.known ? ",\"branches\":true" : ",\"branches\":false");
	str__printf(s, ",\"more\":\"%s\"", h->o->more);
	put(s, ",\"totals\":{\"format\":\"bbtrace\"");
	totals__json(t, s);
	put(s, "},\"functions\":[");
	for (uint32_t i = 0; !err && i < h->o->plan->functions.len; i++) {
		if (is_shown(h, i))
			put_function(h, i);
		err = aggregate__flush_full(h->o);
	}
	put(s, "\n]}</script>\n");
	return err;
}

/* ---- code ---- */

static void put_target(struct html *h, const char *between, uint64_t count, const char *text)
{
	struct str *s = &h->o->buffer;

	str__puts(s, between);
	str__putc(s, '[');
	str__dec(s, count);
	str__putc(s, ',');
	put_json(s, text);
	str__putc(s, ']');
}

static void put_targets(struct html *h, const struct listing_row *row)
{
	struct stats_site *ps = &h->stats.sites[row->site];
	uint64_t rest = ps->more;
	const struct stats_target *t;
	struct str text = {0};
	const char *between = "";

	put(&h->o->buffer, ",[");
	listing__sort_targets(ps);
	vec__each (t, &ps->targets) {
		if (t - ps->targets.data >= MOST_TARGETS) {
			rest += t->count;
			continue;
		}
		str__clear(&text);
		listing__location(h->o->plan, row->object, &t->to, &text);
		put_target(h, between, t->count, text.data);
		between = ",";
	}
	if (rest)
		put_target(h, between, rest, "(other places)");
	if (ps->unknown_target)
		put_target(h, rest ? "," : between, ps->unknown_target, "?");
	str__putc(&h->o->buffer, ']');
	str__free(&text);
}

/* ["b",vaddr,offset,text,runs,taken,not taken or null,targets,where to or ""] */
static void put_branch(struct html *h, const struct listing_row *row)
{
	const struct plan_site *site = &h->o->plan->sites.data[row->site];
	const struct stats_site *ps = &h->stats.sites[row->site];
	bool conditional = site->kind == BRANCH_JCC || site->kind == BRANCH_LOOP;
	struct str *s = &h->o->buffer;

	put_count(s, h->runs.known ? ps->taken : RUNS_UNKNOWN);
	put_count(s, h->runs.known && conditional ? ps->not_taken : RUNS_UNKNOWN);
	put_targets(h, row);
	if (site->target)
		str__printf(s, ",\"0x%llx\"",
			    (unsigned long long)address__shown(h->o, site->object, site->target));
	else
		put(s, ",\"\"");
}

static void put_place(struct str *s, const struct listing_row *row)
{
	autofree char *place = xasprintf("%s:%u", listing__base(row->file), row->line);

	put_json(s, place);
}

/* ["i",vaddr,offset,text,runs]; runs: "" or "0" but in a block's first row, null: not known. Of
 * both the tenth member is the source line that begins here. */
static void put_insn(struct html *h, const struct listing_row *row)
{
	struct str *s = &h->o->buffer, text = {0};
	bool branch = row->site != NO_SITE && h->o->plan->sites.data[row->site].kind;
	uint64_t runs = h->runs.blocks[row->block];

	str__printf(s, "[\"%c\",\"0x%llx\",\"+0x%llx\",", branch ? 'b' : 'i',
		    (unsigned long long)address__shown(h->o, row->object, row->vaddr),
		    (unsigned long long)(row->vaddr - row->start));
	listing__insn(h->o->plan, row, &text);
	put_json(s, text.data);
	if (row->first)
		put_count(s, runs);
	else
		str__puts(s, runs ? ",\"\"" : ",\"0\"");
	if (branch)
		put_branch(h, row);
	else if (row->file)
		put(s, ",0,0,0,0");
	if (row->file) {
		str__putc(s, ',');
		put_place(s, row);
	}
	str__putc(s, ']');
	str__free(&text);
}

static void put_source(struct str *s, const struct listing_row *row)
{
	put(s, "[\"s\",");
	put_place(s, row);
	str__putc(s, ',');
	put_json(s, row->source);
	str__putc(s, ']');
}

static void put_row(void *ctx, const struct listing_row *row)
{
	struct html *h = ctx;
	struct str *s = &h->o->buffer;

	str__puts(s, h->any ? ",\n" : "\n");
	h->any = true;
	switch (row->kind) {
	case LISTING_PART:
		put(s, "[\"p\",");
		put_json(s, row->name);
		str__putc(s, ']');
		return;
	case LISTING_SOURCE:
		return put_source(s, row);
	case LISTING_INSN:
		return put_insn(h, row);
	case LISTING_GAP:
		str__printf(s, "[\"g\",\"+0x%llx\",%llu]",
			    (unsigned long long)(row->vaddr - row->start),
			    (unsigned long long)row->len);
	}
}

static int put_code(struct html *h, uint32_t function)
{
	h->any = false;
	str__printf(&h->o->buffer, "<script type=\"application/json\" id=\"code%u\">[", function);
	listing__function(h->o, function, put_row, h);
	put(&h->o->buffer, "\n]</script>\n");
	return aggregate__flush_full(h->o);
}

/* ---- the page ---- */

/* "malloc, free, calloc and 4 more in libc.so.6" */
static int put_title(struct html *h, const struct trace_totals *t)
{
	struct str *s = &h->o->buffer;
	uint32_t n = 0, object = UINT32_MAX;

	for (uint32_t i = 0; i < h->o->plan->functions.len; i++) {
		const struct plan_function *f = &h->o->plan->functions.data[i];

		if (!is_shown(h, i))
			continue;
		object = object == UINT32_MAX || object == f->object ? f->object : UINT32_MAX - 1;
		if (++n > TITLE_NAMES)
			continue;
		str__puts(s, n > 1 ? ", " : "");
		str__xml(s, f->name);
	}
	if (n > TITLE_NAMES)
		str__printf(s, " and %u more", n - TITLE_NAMES);
	if (!n)
		put(s, "nothing ran");
	if (object < h->o->plan->objects.len) {
		put(s, " in ");
		str__xml(s, listing__base(h->o->plan->objects.data[object].path));
	}
	return 0;
}

static int put_missing(struct html *h, const struct trace_totals *t)
{
	struct str *s = &h->o->buffer, text = {0};

	if (stats__missing(&h->stats, t, &text)) {
		put(s, "<p class=\"missing\">Missing: ");
		str__xml(s, text.data);
		put(s, "</p>\n");
	}
	str__free(&text);
	return 0;
}

static int put_flame(struct html *h, const struct trace_totals *t)
{
	struct flame_options options = {
		.title = "Where the time went", .more = h->o->more, .embedded = true};
	const struct stats_node *n;
	uint64_t ns = 0;

	vec__each (n, &h->stats.nodes)
		ns += n->parent == NO_NODE ? n->ns : 0;
	if (!ns) {
		options.value = FLAME_CALLS;
		options.title = "How often was called what";
	}
	put(&h->o->buffer, "<section id=\"flame\">\n");
	flame__put(&h->o->buffer, &h->stats, &options);
	put(&h->o->buffer, "</section>\n");
	return 0;
}

static int put_codes(struct html *h, const struct trace_totals *t)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < h->o->plan->functions.len; i++)
		if (is_shown(h, i))
			err = put_code(h, i);
	return err;
}

/* A placeholder {{name}} of page.html: an embedded text or a computed value. */
struct hole {
	const char *name;
	const char *text;
	int (*fill)(struct html *h, const struct trace_totals *t);
};

static const struct hole holes[] = {
	{"title", NULL, put_title}, {"style", page_css},      {"missing", NULL, put_missing},
	{"flame", NULL, put_flame}, {"data", NULL, put_data}, {"code", NULL, put_codes},
	{"script", page_js},
};

/* name: the text after the braces. */
static int fill_hole(struct html *h, const struct trace_totals *t, const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(holes); i++) {
		const struct hole *hole = &holes[i];

		if (strncmp(hole->name, name, len) || hole->name[len])
			continue;
		if (hole->fill)
			return hole->fill(h, t);
		str__puts(&h->o->buffer, hole->text);
		return 0;
	}
	str__put(&h->o->buffer, name - 2, len + 4); /* no such row: leaves it visible */
	return 0;
}

static int put_page(struct html *h, const struct trace_totals *t)
{
	const char *rest = page_html, *hole;

	while ((hole = strstr(rest, "{{"))) {
		const char *end = strstr(hole, "}}");
		int err;

		str__put(&h->o->buffer, rest, hole - rest);
		err = fill_hole(h, t, hole + 2, end - hole - 2);
		if (err)
			return err;
		rest = end + 2;
	}
	str__puts(&h->o->buffer, rest);
	return 0;
}

static int html__end(struct output *o, const struct trace_totals *t)
{
	struct html *h = o->state;

	stats__end(&h->stats);
	runs__init(&h->runs, &h->stats, &o->options);
	h->o = o;
	return put_page(h, t);
}

static void html__free(struct output *o)
{
	struct html *h = o->state;

	runs__free(&h->runs);
	stats__free(&h->stats);
}

const struct output_format output_html = {
	.name = "html",
	.help = "a page to send: table, flame graph, code with counts",
	.size = sizeof(struct html),
	.lines = true,
	.begin = aggregate__begin,
	.step = aggregate__step,
	.end = html__end,
	.free = html__free,
};

// SPDX-License-Identifier: BSD-2-Clause
/*
 * The html format: one page with all that it needs: timeline, table, flame graph, code, histograms.
 * The figures are JSON, code is elements; html/page.js shows them. json__string() and str__xml()
 * escape all text of the traced program.
 */
#include "about.h"
#include "flame.h"
#include "output/base/fields.h"
#include "output/base/values.h"
#include "output/coverage/coverage.h"
#include "output/listing/listing.h"
#include "pages.h"
#include "timeline.h"

#define MOST_TARGETS 16 /* of an indirect branch; the others are one row */
#define TITLE_NAMES  3
#define MOST_CODE    (16u << 20) /* bytes: a page has to load at once */

struct html {
	struct stats stats; /* the first: see AGGREGATES */
	struct coverage c;
	struct timeline timeline;
	/* of the current function */
	struct output *o;
	struct json json;
	struct str values;
	size_t code; /* bytes of all functions' code so far */
};

/* Begins an element of JSON; its value, and "</script>", follow. */
static void begin_script(struct html *h)
{
	put(&h->o->buffer, "<script type=\"application/json\" id=\"");
	h->json = (struct json){.out = &h->o->buffer, .in_script = true};
}

/* A count, or null if unknown. */
static void put_count(struct json *j, uint64_t n)
{
	if (n == RUNS_UNKNOWN)
		json__null(j);
	else
		json__unsigned(j, n);
}

/* ---- the table of functions ---- */

static void put_histogram(struct json *j, const struct histogram *h)
{
	uint64_t counts[64];

	json__key(j, "hist");
	json__open_array(j);
	histogram__log2(h, counts);
	for (int i = 0; i < 64; i++) {
		if (!counts[i])
			continue;
		json__open_array(j);
		json__unsigned(j, i);
		json__unsigned(j, counts[i]);
		json__close_array(j);
	}
	json__close_array(j);
}

static void put_net(struct json *j, const struct stats_net *net)
{
	uint64_t ns;
	enum net state = stats_net__state(net, &ns);

	if (state == NET_KNOWN)
		json__member(j, unsigned, "net", ns);
	else if (state == NET_NOISE)
		json__member(j, bool, "noise", true);
}

static void put_times(struct json *j, const struct stats_function *pf)
{
	const struct histogram *h = &pf->time;

	json__member(j, unsigned, "timed", h->n);
	json__member(j, unsigned, "open", pf->open);
	if (!h->n)
		return;
	json__member(j, unsigned, "total", pf->total);
	put_net(j, &pf->net);
	if (pf->net.off_calls)
		json__member(j, unsigned, "off", pf->net.off);
	json__member(j, unsigned, "self", pf->self);
	json__member(j, unsigned, "min", h->min);
	json__member(j, unsigned, "avg", h->sum / h->n);
	json__member(j, unsigned, "p50", histogram__quantile(h, 500));
	json__member(j, unsigned, "p99", histogram__quantile(h, 990));
	json__member(j, unsigned, "max", h->max);
	put_histogram(j, h);
}

/* How much of it ran: [ran,all] */
static void put_ratio(struct json *j, const struct coverage_ratio *r)
{
	json__open_array(j);
	json__unsigned(j, r->ran);
	json__unsigned(j, r->all);
	json__close_array(j);
}

static void put_function(struct html *h, uint32_t function)
{
	const struct plan_function *f = &h->o->plan->functions.data[function];
	const struct stats_function *pf = &h->stats.functions[function];
	struct json *j = &h->json;

	json__begin_line(j);
	json__open_object(j);
	json__member(j, unsigned, "id", function);
	json__member(j, string, "name", f->name);
	json__member(j, unsigned, "object", f->object);
	json__member(j, hex, "entry", address__shown(h->o, f->object, plan__start(f)));
	if (pf->calls != COUNT_UNKNOWN)
		json__member(j, unsigned, "calls", pf->calls);
	json__member(j, unsigned, "branches", pf->branches);
	json__member(j, unsigned, "conditional", pf->conditional);
	json__member(j, unsigned, "taken", pf->taken);
	json__member(j, unsigned, "most", h->c.runs.most[function]);
	json__key(j, "blocks");
	put_ratio(j, &h->c.code[function].blocks);
	json__key(j, "sides");
	put_ratio(j, &h->c.code[function].sides);
	put_times(j, pf);
	json__close_object(j);
}

static bool is_shown(const struct html *h, uint32_t function)
{
	return !(h->o->plan->functions.data[function].flags & FUNCTION_HELPER) &&
	       runs__ran(&h->c.runs, function);
}

static struct coverage_ratio functions_that_ran(const struct html *h)
{
	struct coverage_ratio r = {0};

	for (uint32_t i = 0; i < h->o->plan->functions.len; i++) {
		r.all += coverage__has_function(&h->c, i);
		r.ran += is_shown(h, i) && h->stats.functions[i].calls != COUNT_UNKNOWN;
	}
	return r;
}

static void put_objects(struct html *h)
{
	const struct plan_object *o;

	json__key(&h->json, "objects");
	json__open_array(&h->json);
	vec__each (o, &h->o->plan->objects)
		json__string(&h->json, o->path);
	json__close_array(&h->json);
}

static void put_totals(struct json *j, const struct trace_totals *t)
{
	json__key(j, "totals");
	json__open_object(j);
	json__member(j, string, "format", "bbtrace");
	totals__json(t, j);
	json__close_object(j);
}

static int put_functions(struct html *h)
{
	int err = 0;

	json__key(&h->json, "functions");
	json__open_array(&h->json);
	for (uint32_t i = 0; !err && i < h->o->plan->functions.len; i++) {
		if (is_shown(h, i))
			put_function(h, i);
		err = aggregate__flush_full(h->o);
	}
	put(&h->o->buffer, "\n");
	json__close_array(&h->json);
	return err;
}

static int put_data(struct html *h, const struct trace_totals *t)
{
	struct coverage_ratio ran = functions_that_ran(h);
	struct json *j = &h->json;
	int err;

	begin_script(h);
	put(&h->o->buffer, "data\">");
	json__open_object(j);
	put_objects(h);
	json__member(j, unsigned, "threads", h->stats.threads.len);
	json__member(j, unsigned, "span", h->stats.last - h->stats.first);
	json__member(j, bool, "branches", h->c.runs.known);
	json__member(j, string, "more", h->o->more);
	json__key(j, "ran");
	put_ratio(j, &ran);
	put_totals(j, t);
	err = put_functions(h);
	json__close_object(j);
	put(&h->o->buffer, "</script>\n");
	return err;
}

static int put_timeline(struct html *h, const struct trace_totals *t)
{
	begin_script(h);
	put(&h->o->buffer, "timeline-data\">");
	timeline__json(&h->timeline, h->o->options.start_time, &h->json);
	put(&h->o->buffer, "</script>\n");
	return aggregate__flush_full(h->o);
}

/* ---- code ---- */

static void put_target(struct json *j, uint64_t count, const char *text)
{
	json__open_array(j);
	json__unsigned(j, count);
	json__string(j, text);
	json__close_array(j);
}

static void put_targets(struct html *h, const struct listing_row *row)
{
	struct stats_site *ps = &h->stats.sites[row->site];
	uint64_t rest = ps->more;
	const struct stats_target *t;
	struct str text = {0};

	json__open_array(&h->json);
	listing__sort_targets(ps);
	vec__each (t, &ps->targets) {
		if (t - ps->targets.data >= MOST_TARGETS) {
			rest += t->count;
			continue;
		}
		str__clear(&text);
		listing__location(h->o->plan, row->object, &t->to, &text);
		put_target(&h->json, t->count, text.data);
	}
	if (rest)
		put_target(&h->json, rest, "(other places)");
	if (ps->unknown_target)
		put_target(&h->json, ps->unknown_target, "?");
	json__close_array(&h->json);
	str__free(&text);
}

/* ["b",vaddr,offset,text,runs,taken,not taken or null,targets,where to or ""] */
static void put_branch(struct html *h, const struct listing_row *row)
{
	const struct plan_site *site = &h->o->plan->sites.data[row->site];
	const struct stats_site *ps = &h->stats.sites[row->site];
	bool conditional = site->kind == BRANCH_JCC || site->kind == BRANCH_LOOP;

	put_count(&h->json, h->c.runs.known ? ps->taken : RUNS_UNKNOWN);
	put_count(&h->json, h->c.runs.known && conditional ? ps->not_taken : RUNS_UNKNOWN);
	put_targets(h, row);
	if (site->target)
		json__hex(&h->json, address__shown(h->o, site->object, site->target));
	else
		json__string(&h->json, "");
}

static void put_place(struct json *j, const struct listing_row *row)
{
	autofree char *place = xasprintf("%s:%u", path__base_name(row->file), row->line);

	json__string(j, place);
}

/* "+0x1f": from the start of the function */
static void put_offset(struct json *j, const struct listing_row *row)
{
	char text[20];

	snprintf(text, sizeof(text), "+0x%llx", (unsigned long long)(row->vaddr - row->start));
	json__string(j, text);
}

/* ["i",vaddr,offset,text,runs]; runs is "", or "0", except in a block's first row; null if not
 * known. Of both, the tenth member is the source line that begins here. */
static void put_insn(struct html *h, const struct listing_row *row)
{
	bool branch = row->site != NO_SITE && h->o->plan->sites.data[row->site].kind;
	uint64_t runs = h->c.runs.blocks[row->block];
	struct json *j = &h->json;
	struct str text = {0};

	json__string(j, branch ? "b" : "i");
	json__hex(j, address__shown(h->o, row->object, row->vaddr));
	put_offset(j, row);
	listing__insn(h->o->plan, row, &text);
	json__string(j, text.data);
	str__free(&text);
	if (row->first)
		put_count(j, runs);
	else
		json__string(j, runs ? "" : "0");
	if (branch)
		put_branch(h, row);
	for (int i = 0; !branch && row->file && i < 4; i++)
		json__unsigned(j, 0);
	if (row->file)
		put_place(j, row);
}

static void put_row(void *ctx, const struct listing_row *row)
{
	struct html *h = ctx;
	struct json *j = &h->json;

	json__begin_line(j);
	json__open_array(j);
	switch (row->kind) {
	case LISTING_PART:
		json__string(j, "p");
		json__string(j, row->name);
		break;
	case LISTING_SOURCE:
		json__string(j, "s");
		put_place(j, row);
		json__string(j, row->source);
		break;
	case LISTING_INSN:
		put_insn(h, row);
		break;
	case LISTING_GAP:
		json__string(j, "g");
		put_offset(j, row);
		json__unsigned(j, row->len);
		break;
	}
	json__close_array(j);
}

static int put_code(struct html *h, uint32_t function)
{
	size_t start = h->o->buffer.len;

	begin_script(h);
	str__printf(&h->o->buffer, "code%u\">", function);
	json__open_array(&h->json);
	listing__function(h->o, function, put_row, h);
	put(&h->o->buffer, "\n");
	json__close_array(&h->json);
	put(&h->o->buffer, "</script>\n");
	h->code += h->o->buffer.len - start;
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
	if (h->stats.samples)
		put(s, "where samples were taken");
	else if (!n)
		put(s, "nothing ran");
	if (object < h->o->plan->objects.len) {
		put(s, " in ");
		str__xml(s, path__base_name(h->o->plan->objects.data[object].path));
	}
	return 0;
}

static int put_about(struct html *h, const struct trace_totals *t)
{
	about__put(&h->o->buffer, &h->o->options, t);
	about__put_missing(&h->o->buffer, &h->stats, t);
	return 0;
}

static int put_tracing(struct html *h, const struct trace_totals *t)
{
	struct str *s = &h->o->buffer, text = {0};

	if (totals__tracing(t, &text)) {
		put(s, "<p class=\"tracing\">Times include ");
		str__xml(s, text.data);
		put(s, ".</p>\n");
	}
	str__free(&text);
	return 0;
}

static const struct flame_view *flame_view(const struct stats *p)
{
	static const struct flame_view calls = {FLAME_CALLS, "how often was called what"};
	const struct stats_node *n;
	uint64_t ns = 0;

	vec__each (n, &p->nodes)
		ns += n->parent == NO_NODE ? n->ns : 0;
	return ns || p->samples ? flame__view(p) : &calls;
}

static bool has_calls(const struct stats *p)
{
	const struct stats_node *n;

	vec__each (n, &p->nodes)
		if (n->calls)
			return true;
	return false;
}

/* Within <noscript>, which is text where scripts run: thousands of frames would delay the page, so
 * its script shows them when they are about to be seen. */
static int put_flame(struct html *h, const struct trace_totals *t)
{
	const struct flame_view *view = flame_view(&h->stats);
	autofree char *title = xasprintf("%c%s", *view->title - 'a' + 'A', view->title + 1);
	const struct flame_options options = {
		.value = view->value, .title = title, .more = h->o->more, .embedded = true};

	if (!has_calls(&h->stats))
		return 0;
	put(&h->o->buffer, "<section id=\"flame\"><noscript>\n");
	flame__put(&h->o->buffer, &h->stats, &options);
	put(&h->o->buffer, "</noscript></section>\n");
	return 0;
}

struct ranked {
	uint32_t function;
	uint64_t branches;
};

static int most_first(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->branches != y->branches)
		return x->branches < y->branches ? 1 : -1;
	return x->function < y->function ? -1 : 1;
}

/* Puts the functions with most branches, until the page has enough. */
static int put_codes(struct html *h, const struct trace_totals *t)
{
	autofree struct ranked *shown = xcalloc(h->o->plan->functions.len + 1, sizeof(*shown));
	size_t n = 0;
	int err = 0;

	for (uint32_t i = 0; i < h->o->plan->functions.len; i++)
		if (is_shown(h, i))
			shown[n++] = (struct ranked){i, h->stats.functions[i].branches};
	qsort(shown, n, sizeof(*shown), most_first);
	for (size_t i = 0; !err && i < n && h->code < MOST_CODE; i++)
		err = put_code(h, shown[i].function);
	return err;
}

/* A placeholder {{name}} of page.html: an embedded text or a computed value. */
struct hole {
	const char *name;
	const char *text;
	int (*fill)(struct html *h, const struct trace_totals *t);
};

static const struct hole holes[] = {
	{"title", NULL, put_title},	  {"style", page_css},
	{"about", NULL, put_about},	  {"tracing", NULL, put_tracing},
	{"flame", NULL, put_flame},	  {"data", NULL, put_data},
	{"code", NULL, put_codes},	  {"timeline", NULL, put_timeline},
	{"flame_style", flame_css},	  {"timeline_style", timeline_css},
	{"timeline_script", timeline_js}, {"script", page_js},
};

static int fill_hole(struct html *h, const struct trace_totals *t, const struct page_hole *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(holes); i++) {
		const struct hole *hole = &holes[i];

		if (!page_hole__is(name, hole->name))
			continue;
		if (hole->fill)
			return hole->fill(h, t);
		str__puts(&h->o->buffer, hole->text);
		return 0;
	}
	str__put(&h->o->buffer, name->name - 2, name->len + 4); /* no such row: leaves it visible */
	return 0;
}

static int put_page(struct html *h, const struct trace_totals *t)
{
	struct page_hole hole;
	int err = 0;

	for (const char *rest = page_html; !err && (rest = page__copy(&h->o->buffer, rest, &hole));)
		err = fill_hole(h, t, &hole);
	return err;
}

/* "(fd=3, path="x")" of an entry, "-2 ENOENT" of a return; nothing: its types aren't known. */
static void put_values(const struct output *o, const struct step *s, struct str *out)
{
	enum result_known known = s->type == STEP_RETURN ? values__result(o, s) : RESULT_UNTYPED;

	if (s->type == STEP_ENTRY && values__has_args(o, s)) {
		str__putc(out, '(');
		values__put_args(o, s, out);
		str__putc(out, ')');
	}
	if (known == RESULT_TYPED || known == RESULT_NOT_RECORDED)
		values__put_result(o, s, out);
}

static int html__step(struct output *o, const struct step *step)
{
	struct html *h = o->state;

	str__clear(&h->values);
	put_values(o, step, &h->values);
	timeline__step(&h->timeline, step, h->values.len ? h->values.data : NULL);
	return aggregate__step(o, step);
}

static int html__end(struct output *o, const struct trace_totals *t)
{
	struct html *h = o->state;

	stats__end(&h->stats);
	timeline__end(&h->timeline);
	coverage__init(&h->c, &h->stats, &o->options);
	h->o = o;
	return put_page(h, t);
}

static void html__free(struct output *o)
{
	struct html *h = o->state;

	coverage__free(&h->c);
	timeline__free(&h->timeline);
	free(h->values.data);
	stats__free(&h->stats);
}

static const struct output_format html_counted = {
	.name = "html",
	.form = FORM_PAGE,
	.wants = {.events = OUTPUT_EDGES, .lines = true, .source_text = true},
	.help = "a page to send: table, code with counts",
	.size = sizeof(struct html),
	.covers = COVERS,
	.at_end = true,
	.begin = aggregate__begin,
	.plan_extended = aggregate__plan_extended,
	.step = html__step,
	ADDS_UP,
	.count = aggregate__count,
	.end = html__end,
	.free = html__free,
};

const struct output_format output_html = {
	.name = "html",
	.form = FORM_PAGE,
	.wants = {.events = OUTPUT_STEPS, .durations = true, .lines = true, .source_text = true},
	.suffixes = ".html",
	.counting = &html_counted,
	.help = "a page to send: timeline, table, flame graph, code with counts",
	.size = sizeof(struct html),
	.covers = COVERS,
	.marks = true,
	.at_end = true,
	.begin = aggregate__begin,
	.plan_extended = aggregate__plan_extended,
	.step = html__step,
	.end = html__end,
	.free = html__free,
};

/* Of counts: without times, stacks and a timeline. */

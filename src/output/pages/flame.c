// SPDX-License-Identifier: BSD-2-Clause
/*
 * The flame graph: one SVG element with all that it needs, after Brendan Gregg's. The outermost
 * calls are on top. A frame is an <svg> with its position in percent, so the picture is as wide as
 * the page, clips its text, and can be viewed without a script. flame.css has the colours; flame.js
 * searches and zooms.
 */
#include "flame.h"
#include "pages.h"

#define ROW	   18 /* px */
#define TOP	   62 /* px: title, details */
#define MAX_FRAMES 8192
#define COLOURS	   12
/* A frame narrower than this share of the width shows no name until it is zoomed in. */
#define NAME_SHARE 0.02

struct flame {
	struct str *s;
	const struct stats *p;
	const struct flame_options *options;
	stats_nodes nodes;
	double *x;	    /* by node: its start in percent */
	double *used;	    /* by node: the part that its children use so far */
	uint32_t *frame;    /* by node: its number among the drawn frames; NO_NODE: not drawn */
	uint64_t total;	    /* the value of 100 % */
	uint64_t threshold; /* frames of no more than this are not drawn */
	uint32_t frames;    /* number drawn so far; the first is the root */
	uint32_t deepest;
};

static uint64_t value_of(const struct flame *f, size_t i)
{
	const struct stats_node *n = &f->nodes.data[i];

	switch (f->options->value) {
	case FLAME_NS:
		return n->ns;
	case FLAME_NET:
		return n->net;
	default:
		return n->count;
	}
}

const struct flame_view *flame__view(const struct stats *p)
{
	static const struct flame_view views[] = {
		[NET_UNKNOWN] = {FLAME_NS, "where the time went"},
		[NET_NOISE] = {FLAME_CALLS, "how often was called what (all times are below the "
					    "tracer's noise)"},
		[NET_KNOWN] = {FLAME_NET, "where the time went, without tracing"},
	};
	static const struct flame_view samples = {FLAME_CALLS, "where samples were taken"};
	enum net best = NET_UNKNOWN;
	const struct stats_node *n;
	uint64_t ns;

	if (p->samples)
		return &samples;
	vec__each (n, &p->nodes)
		best = max_of(best, stats_net__state(&n->self_net, &ns));
	return &views[best];
}

static double percent(const struct flame *f, uint64_t value)
{
	return f->total ? 100.0 * value / f->total : 0;
}

/* ---- which frames, and where ---- */

static int descending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* A frame is at most as large as its parent, so omitting the smallest frames leaves no holes. */
static uint64_t smallest(const struct flame *f)
{
	autofree uint64_t *values = xcalloc(f->nodes.len, sizeof(*values));

	if (f->nodes.len <= MAX_FRAMES)
		return 0;
	for (size_t i = 0; i < f->nodes.len; i++)
		values[i] = value_of(f, i);
	qsort(values, f->nodes.len, sizeof(*values), descending);
	return values[MAX_FRAMES];
}

static void place_all(struct flame *f)
{
	double roots = 0;

	for (size_t i = 0; i < f->nodes.len; i++) {
		const struct stats_node *n = &f->nodes.data[i];
		double *used = n->parent == NO_NODE ? &roots : &f->used[n->parent];

		f->x[i] = (n->parent == NO_NODE ? 0 : f->x[n->parent]) + *used;
		*used += percent(f, value_of(f, i));
		if (value_of(f, i) > f->threshold)
			f->deepest = max_of(f->deepest, n->depth + 1);
	}
}

/* ---- text ---- */

/* 1234567 as 1,234,567 */
static void put_grouped(struct str *s, uint64_t v)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)v);

	for (int i = 0; i < n; i++) {
		str__putc(s, digits[i]);
		if ((n - i) % 3 == 1 && i + 1 < n)
			str__putc(s, ',');
	}
}

static void put_time(struct str *s, uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *unit;
	} units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "µs"}, {1, "ns"}};
	size_t i = 0;

	while (ns < units[i].ns && i + 1 < ARRAY_SIZE(units))
		i++;
	if (units[i].ns == 1)
		str__printf(s, "%llu ns", (unsigned long long)ns);
	else
		str__printf(s, "%.3g %s", (double)ns / units[i].ns, units[i].unit);
}

static void put_sum(struct flame *f, uint64_t ns)
{
	put_time(f->s, ns);
	str__puts(f->s, f->options->more);
}

static void put_calls(struct flame *f, uint64_t n)
{
	put_grouped(f->s, n);
	str__printf(f->s, "%s %s%s", f->options->more, f->p->samples ? "sample" : "call",
		    n == 1 ? "" : "s");
}

static void put_value(struct flame *f, uint64_t value)
{
	if (f->options->value == FLAME_CALLS)
		put_calls(f, value);
	else
		put_sum(f, value);
}

static void put_self(struct flame *f, const struct stats_node *n)
{
	enum net state = NET_UNKNOWN;
	uint64_t ns = n->self;

	if (f->options->value == FLAME_NET && n->timed)
		state = stats_net__state(&n->self_net, &ns);
	if (state == NET_NOISE)
		str__puts(f->s, "below the tracer's noise");
	else
		put_sum(f, ns);
}

static void put_details(struct flame *f, const struct stats_node *n)
{
	if (f->options->value != FLAME_CALLS && n->parent != NO_NODE) {
		str__puts(f->s, "; itself ");
		put_self(f, n);
		str__puts(f->s, "; ");
		put_calls(f, n->calls);
		if (n->timed < n->calls)
			str__printf(f->s, ", %llu of them not timed",
				    (unsigned long long)(n->calls - n->timed));
	} else if (n->count != n->calls && n->parent != NO_NODE) {
		str__puts(f->s, "; itself ");
		put_grouped(f->s, n->calls);
		str__puts(f->s, f->options->more);
	}
}

/* FNV-1a: a function has the same colour in every picture. */
static unsigned colour_of(const char *name)
{
	uint32_t h = 2166136261;

	while (*name)
		h = (h ^ (unsigned char)*name++) * 16777619;
	return (h ^ h >> 15) % COLOURS;
}

/* ---- frames ---- */

static void open_frame(struct flame *f, const char *class, uint32_t parent, double x, double width,
		       unsigned row)
{
	str__printf(f->s,
		    "<svg class=\"f %s\" data-p=\"%d\" x=\"%.7g%%\" y=\"%u\" width=\"%.7g%%\" "
		    "height=\"%u\" tabindex=\"-1\"><title>",
		    class, parent == NO_NODE ? -1 : (int)parent, x, TOP + row * ROW, width,
		    ROW - 1);
}

static void close_frame(struct flame *f, const char *name, double width)
{
	str__puts(f->s, "</title><rect width=\"100%\" height=\"100%\" rx=\"2\"/><text x=\"4\" "
			"y=\"12.5\">");
	if (width >= 100 * NAME_SHARE)
		str__xml(f->s, name);
	str__puts(f->s, "</text></svg>\n");
}

static void put_all(struct flame *f)
{
	open_frame(f, "t", NO_NODE, 0, 100, 0);
	str__puts(f->s, "all\n");
	put_value(f, f->total);
	close_frame(f, "all", 100);
	f->frames = 1;
}

static void put_frame(struct flame *f, size_t i)
{
	const struct stats_node *n = &f->nodes.data[i];
	const char *name = stats__name(f->p, n);
	double width = percent(f, value_of(f, i));
	char class[8];

	f->frame[i] = NO_NODE;
	if (value_of(f, i) <= f->threshold)
		return;
	if (n->function == STATS_THREAD)
		strcpy(class, "t");
	else if (n->function >= f->p->plan->functions.len && *name == '[')
		strcpy(class, "u");
	else
		snprintf(class, sizeof(class), "c%u", colour_of(name));
	open_frame(f, class, n->parent == NO_NODE ? 0 : f->frame[n->parent], f->x[i], width,
		   n->depth + 1);
	str__xml(f->s, name);
	str__putc(f->s, '\n');
	put_value(f, value_of(f, i));
	str__printf(f->s, ", %.3g %%", width);
	put_details(f, n);
	close_frame(f, name, width);
	f->frame[i] = f->frames++;
}

/* ---- the whole ---- */

/* Frames that have no width since their net time is this. */
static size_t count_below(const struct flame *f, enum net state)
{
	const struct stats_node *n;
	size_t found = 0;
	uint64_t ns;

	vec__each (n, &f->nodes)
		found += f->options->value == FLAME_NET && n->timed && !n->net &&
			 stats_net__state(&n->self_net, &ns) == state;
	return found;
}

static void put_left_out(struct flame *f, size_t n, const char *why)
{
	if (!n)
		return;
	put_grouped(f->s, n);
	str__printf(f->s, " frame%s %s %s left out. ", n == 1 ? "" : "s", why,
		    n == 1 ? "is" : "are");
}

static void put_note(struct flame *f)
{
	size_t noise = count_below(f, NET_NOISE), unknown = count_below(f, NET_UNKNOWN);
	size_t left_out = 0;

	for (size_t i = 0; i < f->nodes.len; i++)
		left_out += value_of(f, i) && value_of(f, i) <= f->threshold;
	if (!f->options->note && !f->options->tracing && !left_out && !noise && !unknown &&
	    f->total)
		return;
	str__printf(f->s, "<text class=\"note\" x=\"6\" y=\"%u\">",
		    TOP + (f->deepest + 1) * ROW + 16);
	if (!f->total)
		str__puts(f->s, f->options->value == FLAME_NS
					? "No call was seen from its entry to its return. "
					: "No call was seen. ");
	if (f->options->note) {
		str__puts(f->s, "Missing: ");
		str__xml(f->s, f->options->note);
		str__puts(f->s, ". ");
	}
	if (f->options->tracing) {
		str__puts(f->s, "Times include ");
		str__xml(f->s, f->options->tracing);
		str__puts(f->s, ". ");
	}
	put_left_out(f, noise, "below the tracer's noise");
	put_left_out(f, unknown, "whose time without tracing is not known");
	if (left_out) {
		put_grouped(f->s, left_out);
		str__puts(f->s, " frames too small to see are left out.");
	}
	str__puts(f->s, "</text>\n");
}

static void put_head(struct flame *f)
{
	unsigned height = TOP + (f->deepest + 1) * ROW + 28;

	str__printf(f->s,
		    "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"bbtrace-flame\" "
		    "width=\"100%%\" height=\"%u\" role=\"group\" aria-label=\"",
		    height);
	str__xml(f->s, f->options->title);
	str__puts(f->s, "\">\n<style>\n");
	str__puts(f->s, flame_css);
	str__puts(f->s, "</style>\n<rect class=\"back\" width=\"100%\" height=\"100%\"/>\n");
	str__puts(f->s, "<text class=\"title\" x=\"6\" y=\"24\">");
	str__xml(f->s, f->options->title);
	str__puts(f->s, "</text>\n");
	str__puts(f->s, flame_svg);
}

void flame__put(struct str *s, const struct stats *p, const struct flame_options *options)
{
	struct flame f = {.s = s, .p = p, .options = options};

	stats__by_name(p, &f.nodes);
	for (size_t i = 0; i < f.nodes.len; i++)
		f.total += f.nodes.data[i].parent == NO_NODE ? value_of(&f, i) : 0;
	f.x = xcalloc(f.nodes.len, sizeof(*f.x));
	f.used = xcalloc(f.nodes.len, sizeof(*f.used));
	f.frame = xcalloc(f.nodes.len, sizeof(*f.frame));
	f.threshold = smallest(&f);
	place_all(&f);
	if (!options->embedded)
		str__puts(s, "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n");
	put_head(&f);
	put_all(&f);
	for (size_t i = 0; i < f.nodes.len; i++)
		put_frame(&f, i);
	put_note(&f);
	str__puts(s, "<script><![CDATA[\n");
	str__puts(s, flame_js);
	str__puts(s, "]]></script>\n</svg>\n");
	free(f.x);
	free(f.used);
	free(f.frame);
	vec__free(&f.nodes);
}

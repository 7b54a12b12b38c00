// SPDX-License-Identifier: BSD-2-Clause
/*
 * The trace file's reader, and the replay and rendering of its items. The first byte modulo 3
 * selects the input. 0: blocks of type (1 byte), length (2 bytes) and contents; without checksums,
 * which would reject nearly all inputs. 1: a file; of an odd length,
 * its checksums are mended first. 2: armored text; if that begins with byte 1, it
 * is what 0 is, armored, and the next byte says which lines are damaged. The first byte divided by
 * 3 selects the format to render, from 1 on; 0: all formats; DIFF: the steps are compared with a
 * part of themselves.
 */
#include <errno.h>
#include "plan/join/join.h"
#include "blocks.h"
#include "json_check.h"
#include "perfetto_check.h"
#include "replayed.h"
#include "diff/diff.h"
#include "output/output.h"
#include "util/scratch.h"

#define STEPS	4096 /* enough of an input that repeats itself */
#define RECORDS 65536

/* ---- a file ---- */

/* Drops some lines of armor, repeats others, or changes a byte in them. */
static void hurt(struct str *text, uint8_t how)
{
	struct str out = {0};
	uint64_t line = how;

	for (const char *p = text->data, *end = p + text->len; p < end; line += 256) {
		const char *next = (const char *)memchr(p, '\n', end - p) + 1;
		uint64_t h = how ? map64__hash(&line, sizeof(line)) % 32 : 32;
		size_t at = out.len;

		if (h)
			str__put(&out, p, next - p);
		if (h == 1)
			str__put(&out, p, next - p);
		if (h == 2)
			out.data[at + 20] ^= 1;
		if (h == 3)
			str__puts(&out, "[ 1.0] a message\r\n");
		p = next;
	}
	str__free(text);
	*text = out;
}

static void make_armored(struct str *text, const uint8_t *data, size_t size)
{
	struct armor *a = armor__new(data[0] & 1);
	struct str file = {0};

	make_file(&file, data + 1, size - 1);
	armor__put(a, file.data, file.len, text);
	armor__end_line(a, text);
	armor__end_groups(a, text);
	armor__free(a);
	str__free(&file);
	hurt(text, data[0]);
}

/* ---- damage ---- */

static void on_damage(void *ctx, const char *text)
{
	CHECK(*text);
}

/* ---- what comes out of it ---- */

#define FORMATS 32
#define DIFF	64

struct rendered {
	struct output *out;
	struct str text; /* without tabs, which are layout in text */
};

struct run {
	struct replayed replay;
	struct rendered rendered[FORMATS];
	unsigned nformats, only; /* only: 0: all */
	bool color, adds_up;
	const struct plan *plan;
	unsigned steps, counted;
	struct plan *joined; /* plans of the file, as those of several */
	struct plan_counts sum;
	VEC(struct range *) ranges;
	struct scratch *scratch; /* DIFF */
	struct outcomes outcomes;
	struct paths paths[SIDES];
};

static int on_step(void *ctx, const struct step *s)
{
	struct run *r = ctx;

	CHECK(s->type < STEP_TYPES && s->comm);
	CHECK(s->site == NO_SITE || s->site < r->plan->sites.len);
	for (unsigned i = 0; i < r->nformats; i++)
		CHECK(!output__step(r->rendered[i].out, s));
	if (r->scratch) {
		CHECK(!paths__step(&r->paths[SIDE_A], s));
		if (map64__hash(&r->steps, sizeof(r->steps)) % 16) /* some are missing */
			CHECK(!paths__step(&r->paths[SIDE_B], s));
	}
	return ++r->steps > STEPS;
}

static int take_text(void *ctx, const void *data, size_t len)
{
	struct rendered *to = ctx;

	for (const char *p = data, *end = p + len; p < end; p++)
		if (*p != '\t' || to->out->format->binary)
			str__putc(&to->text, *p);
	return 0;
}

static const char *source_line(void *ctx, const char *object, const char *file, unsigned line)
{
	return line % 2 ? "if (a < b) /* \x1b[31m \xe2\x80\xae */" : NULL;
}

/* What is decided when a trace is shown; the seed is the file's. */
static struct output_options options_of(const struct trace_meta *meta)
{
	unsigned seed = meta->cpus;

	return (struct output_options){
		.time = meta->time_style % (TIME_NONE + 1),
		.fold = !(seed & 1),
		.color = seed & 2,
		.regs = seed & 4 ? ~0ull : 0,
		.show_regs = seed & 8,
		.width = seed & 16 ? 80 : 0,
		.hide_addresses = seed & 32,
		.line_buffered = seed & 64,
		.events = meta->events & 7,
		.source = source_line,
	};
}

static void begin_output(struct run *r, const struct output_options *o)
{
	for (unsigned i = 0; output_formats[i]; i++) {
		struct rendered *to = &r->rendered[r->nformats];

		CHECK(i < FORMATS);
		if (r->only && r->only != i + 1)
			continue;
		to->out = output__new(output_formats[i], o, r->plan, take_text, to);
		r->nformats++;
	}
}

/* ---- two runs ---- */

static void begin_diff(struct run *r)
{
	r->scratch = scratch__new();
	CHECK(r->scratch);
	outcomes__init(&r->outcomes, r->plan);
	paths__init(&r->paths[SIDE_A], &r->outcomes, r->scratch);
	paths__init(&r->paths[SIDE_B], &r->outcomes, r->scratch);
}

static void check_diff(struct run *r)
{
	static const struct trace_totals none;
	struct diff d = {.outcomes = &r->outcomes,
			 .runs = {&r->paths[SIDE_A], &r->paths[SIDE_B]},
			 .most = 8};
	struct diff_view v = {.d = &d,
			      .names = {"a", "b"},
			      .totals = {&none, &none},
			      .context = 2,
			      .source = source_line};
	struct str text = {0}, json = {0}, page = {0};

	CHECK(!paths__end(&r->paths[SIDE_A]) && !paths__end(&r->paths[SIDE_B]));
	outcomes__settle(&r->outcomes, r->steps & 3);
	CHECK(!diff__find(&d));
	CHECK(d.matched <= r->paths[SIDE_A].steps && d.matched <= r->paths[SIDE_B].steps);
	counts__compare(&r->outcomes, d.runs[0], d.runs[1], &v.functions, &v.branches);
	diff__text(&v, &text);
	diff__json(&v, &json);
	diff__html(&v, &page);
	CHECK(is_safe(text.data, text.len));
	CHECK(json_check__lines_ok(json.data));
	vec__free(&v.functions);
	vec__free(&v.branches);
	str__free(&text);
	str__free(&json);
	str__free(&page);
	diff__free(&d);
	paths__free(&r->paths[SIDE_A]);
	paths__free(&r->paths[SIDE_B]);
	outcomes__free(&r->outcomes);
	scratch__free(r->scratch);
}

static int on_begin(void *ctx, const struct plan *plan, const struct trace_meta *meta)
{
	struct run *r = ctx;
	struct output_options o = options_of(meta);

	r->plan = plan;
	r->color = o.color;
	if (r->only == DIFF)
		begin_diff(r);
	begin_output(r, &o);
	r->replay.most = RECORDS;
	replayed__begin(&r->replay, plan, meta, on_step);
	return 0;
}

static int on_object(void *ctx, const struct object *o)
{
	CHECK(o->path);
	return 0;
}

static int on_plan(void *ctx, const struct plan *plan)
{
	struct run *r = ctx;

	trace__plan_extended(r->replay.t);
	for (unsigned i = 0; i < r->nformats; i++)
		output__plan_extended(r->rendered[i].out);
	return 0;
}

static int on_damage_of(void *ctx, const struct trace_damage *d)
{
	struct run *r = ctx;
	char text[160];

	trace_damage__text(d, text, sizeof(text));
	CHECK(*text);
	if (d->sideband || d->unknown)
		spaces__forget(r->replay.spaces);
	trace__maps_changed(r->replay.t);
	return trace__hole(r->replay.t, d->events, d->sideband || d->unknown);
}

static int on_lost(void *ctx, uint32_t pid, uint32_t tid, uint64_t count)
{
	struct run *r = ctx;

	return trace__lost(r->replay.t, pid, tid, count);
}

/* One value on several lines; none lies within a string. */
static bool is_json(struct str *text)
{
	const char *p = text->data;
	char *to = text->data;

	for (; *p; p++)
		if (*p != '\n')
			*to++ = *p;
	*to = 0;
	p = text->data;
	return json_check__value(&p, 0) && !*p;
}

static void check_rendered(const struct run *r, struct rendered *x)
{
	const struct output_format *f = x->out->format;

	if (!f->binary && !r->color)
		CHECK(is_safe(x->text.data, x->text.len));
	if (!strcmp(f->name, "json"))
		CHECK(json_check__lines_ok(x->text.data));
	if (!strcmp(f->name, "chrome"))
		CHECK(is_json(&x->text));
	if (!strcmp(f->name, "perfetto"))
		CHECK(perfetto_check__is_trace(&x->text));
}

/* ---- counts, joined and rendered ---- */

static int join(struct run *r, struct plan_numbers *n)
{
	struct plan *all = r->joined;
	size_t sites = all->sites.len, blocks = all->blocks.len, table = all->table.len;
	struct plan_increment more;
	int err = plan__join(all, r->plan, r->counted & 1, &more, n);

	all->arch = r->plan->arch;
	if (!err && !plan_increment__is_empty(&more)) {
		plan__extend(all, &more);
		plan_counts__extend(&r->sum, sites, blocks, table, all, n);
	}
	vec__append(&r->ranges, &n->ranges);
	n->ranges.len = 0;
	plan_increment__free(&more);
	return err;
}

static void render_counts(struct run *r, const struct edge_counts *c)
{
	static const struct output_options none;
	static const struct trace_totals totals;

	for (unsigned i = 0; output_formats[i]; i++) {
		const struct output_format *f = output_formats[i];
		struct rendered to = {0};

		if (r->only && r->only != i + 1)
			continue;
		f = f->count || f->tagged ? f : f->counting;
		if (!f)
			continue;
		to.out = output__new(f, &none, r->joined, take_text, &to);
		if (f->tagged)
			f->tagged(to.out, "a test", c);
		else
			output__count(to.out, c);
		CHECK(!output__end(to.out, &totals));
		check_rendered(r, &to);
		output__free(to.out);
		str__free(&to.text);
	}
}

static int on_counts(void *ctx, const struct trace_counts *c)
{
	struct run *r = ctx;
	struct plan_numbers n = {0};
	struct edge_counts sum = {.edges = &r->sum};

	if (++r->counted > 4)
		return 1;
	if (!r->joined) {
		r->joined = xcalloc(1, sizeof(*r->joined));
		plan_counts__init(&r->sum, r->joined);
	}
	if (!join(r, &n)) {
		plan_counts__add(&r->sum, r->joined, c->counts.edges, r->plan, &n);
		for (size_t i = 0; i < c->counts.ntargets; i++)
			CHECK(c->counts.targets[i].site < r->plan->sites.len);
		render_counts(r, &sum);
	}
	plan_numbers__free(&n);
	return 0;
}

static void free_joined(struct run *r)
{
	struct range **range;

	vec__each (range, &r->ranges)
		free(*range);
	vec__free(&r->ranges);
	plan_counts__free(&r->sum);
	plan__free(r->joined);
}

static void finish(struct run *r)
{
	if (r->replay.t)
		trace__finish(r->replay.t);
	for (unsigned i = 0; i < r->nformats; i++) {
		struct rendered *x = &r->rendered[i];

		CHECK(!output__end(x->out, trace__totals(r->replay.t)));
		check_rendered(r, x);
		output__free(x->out);
		str__free(&x->text);
	}
	if (r->scratch)
		check_diff(r);
	replayed__end(&r->replay);
	free_joined(r);
}

/* Takes what it can of a run, as a report does. */
static int take_run(struct run *r, struct trace_reader *reader, const struct event_run *run)
{
	const struct run_sink sink = {.ctx = r};
	struct run_taken taken;
	int err = trace__feed_run(r->replay.t, run, &sink, &taken);

	CHECK(taken.words <= run->n);
	trace_reader__took(reader, taken.words);
	r->replay.records += taken.words;
	return err || r->replay.records > r->replay.most;
}

static void on_branch(void *ctx, uint32_t site, bool taken, const struct location *to, uint64_t n)
{
	const struct run *r = ctx;

	CHECK(site < r->plan->sites.len && n);
}

static int read_all(struct run *r, struct trace_reader *reader, const struct trace_calls *calls)
{
	struct trace_item item;
	int n, err = 0;

	trace_reader__offer_runs(reader);
	while (!err && (n = trace_reader__next(reader, &item)) > 0)
		err = item.type == TRACE_RUN ? take_run(r, reader, item.run)
					     : trace_reader__pass(reader, &item, calls, r);
	if (r->replay.t)
		trace__each_branch(r->replay.t, &(struct run_counts){r, on_branch});
	return err ? err : n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct trace_calls calls = {
		on_begin,	    on_plan, on_object, replayed__mapped, replayed__event,
		replayed__sideband, on_lost, on_counts, on_damage_of};
	struct bytes in = {(const char *)data + 1, size - 1};
	struct dearmor *d = NULL;
	struct trace_reader *reader;
	struct str file = {0};
	struct run run = {0};
	int err;

	if (!size)
		return 0;
	run.only = data[0] / 3;
	if (data[0] % 3 == 0) {
		make_file(&file, data + 1, size - 1);
		in = (struct bytes){file.data, file.len};
	} else if (data[0] % 3 == 1 && size % 2) {
		str__put(&file, in.data, in.left);
		mend_file(&file);
		in.data = file.data;
	} else if (data[0] % 3 == 2) {
		if (size > 2 && data[1] == 1) {
			make_armored(&file, data + 2, size - 2);
			in = (struct bytes){file.data, file.len};
		}
		d = dearmor__new(read_bytes, &in, on_damage, NULL);
	}
	reader = d ? trace_reader__new(dearmor__read, d) : trace_reader__new(read_bytes, &in);
	/* what is rendered needs all steps */
	run.adds_up = data[0] % 3 == 0 && size > 4 && data[0] / 3 % 8 == 7;
	err = run.adds_up ? read_all(&run, reader, &calls)
			  : trace_reader__run(reader, &calls, &run);
	CHECK(err >= 0 || *err__text());
	CHECK(data[0] % 3 || err != -ENOTSUP || !strstr(err__text(), "is of format"));
	finish(&run);
	if (d)
		dearmor__finish(d);
	trace_reader__free(reader);
	dearmor__free(d);
	str__free(&file);
	return 0;
}

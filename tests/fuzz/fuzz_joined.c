// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two trace files as one: plans that are joined, steps and counts in the joined plan's numbers. The
 * first byte says how, the next two how long the first file is; each is blocks, as blocks.h has
 * them. Steps are kept beyond their file, and rendered when all files are freed that may be.
 */
#include "blocks.h"
#include "cmd/joined.h"
#include "output/output.h"
#include "process/process.h"

#define RECORDS 4096
#define FORMATS 32

struct run {
	struct joined *joined;
	unsigned only;
	struct output *out[FORMATS];
	unsigned nout;
	VEC(struct kept_step *) kept;
	/* of the file */
	struct trace *t;
	struct spaces *spaces;
	struct resolver resolver;
	unsigned records;
	const struct plan *plan;
};

static void locate(void *ctx, uint32_t pid, uint64_t time, uint64_t addr, struct location *out)
{
	struct run *r = ctx;
	const struct symbol *s;
	struct mapped_place p;

	spaces__find(r->spaces, pid, addr, &p);
	out->object = p.path;
	out->vaddr = p.vaddr;
	s = p.object ? object__symbol_at(p.object, p.vaddr) : NULL;
	out->symbol = s ? s->shown : NULL;
	out->offset = s ? p.vaddr - s->vaddr : 0;
	out->inlined = p.object ? object__inlined_at(p.object, p.vaddr) : NULL;
}

static int on_step(void *ctx, const struct step *own)
{
	struct run *r = ctx;
	struct step room;
	const struct step *s = joined__step(r->joined, own, &room);
	const struct plan *all = joined__plan(r->joined);

	CHECK(s->site == NO_SITE || s->site < all->sites.len);
	CHECK(!s->named || s->named->which < all->named.len);
	for (unsigned i = 0; i < r->nout; i++)
		CHECK(!output__step(r->out[i], s));
	vec__push(&r->kept, xcalloc(1, sizeof(struct kept_step)));
	kept__take(*vec__last(&r->kept), s);
	return r->kept.len > RECORDS;
}

static int take_text(void *ctx, const void *data, size_t len)
{
	return 0;
}

static int on_extended(void *ctx, const struct plan_increment *i)
{
	struct run *r = ctx;

	for (unsigned k = 0; k < r->nout; k++)
		output__plan_extended(r->out[k]);
	return 0;
}

static void begin_output(struct run *r)
{
	static const struct output_options none;

	for (unsigned i = 0; !r->nout && output_formats[i] && i < FORMATS; i++)
		if (i == r->only || !strcmp(output_formats[i]->name, "json"))
			r->out[r->nout++] = output__new(output_formats[i], &none,
							joined__plan(r->joined), take_text, NULL);
}

static int on_begin(void *ctx, const struct plan *plan, const struct trace_meta *meta)
{
	struct run *r = ctx;
	struct trace_options t = {.events = meta->events & 7, .max_depth = meta->max_depth};

	joined__begin_file(r->joined, meta->realtime_offset);
	if (joined__take_plan(r->joined, plan))
		return 1;
	begin_output(r);
	r->plan = plan;
	r->spaces = spaces__recorded();
	r->resolver = (struct resolver){r, locate};
	r->t = trace__new(plan, &t, &r->resolver, on_step, r);
	return 0;
}

static int on_plan(void *ctx, const struct plan *plan)
{
	struct run *r = ctx;

	if (joined__take_plan(r->joined, plan))
		return 1;
	trace__plan_extended(r->t);
	return 0;
}

static int on_mapped(void *ctx, uint64_t dev, uint64_t ino, const char *path,
		     const struct object *o)
{
	struct run *r = ctx;

	if (r->spaces)
		spaces__know(r->spaces, dev, ino, path, o);
	return 0;
}

static int on_event(void *ctx, const struct event *e)
{
	struct run *r = ctx;

	return ++r->records > RECORDS ? 1 : trace__feed(r->t, e);
}

static int on_sideband(void *ctx, const struct sideband_event *e)
{
	struct run *r = ctx;
	struct map m = {.start = e->start,
			.end = e->start + e->len,
			.offset = e->offset,
			.dev = e->minor,
			.ino = e->ino,
			.path = (char *)e->text,
			.exec = true};

	if (e->type == SIDEBAND_MAP && ++r->records < RECORDS)
		spaces__map(r->spaces, e->pid, &m);
	return 0;
}

static int on_counts(void *ctx, const struct trace_counts *c)
{
	struct run *r = ctx;
	struct edge_counts sum;

	if (++r->records > 8)
		return 1;
	joined__add(r->joined, r->plan, &c->counts);
	sum = joined__counts(r->joined);
	for (size_t i = 0; i < sum.ntargets; i++)
		CHECK(sum.targets[i].site < joined__plan(r->joined)->sites.len);
	if (r->only & 1)
		joined__clear(r->joined);
	return 0;
}

/* The reader, if the joined plan borrows from it. */
static struct trace_reader *read_file(struct run *r, const uint8_t *data, size_t size)
{
	static const struct trace_calls calls = {.begin = on_begin,
						 .plan = on_plan,
						 .mapped = on_mapped,
						 .event = on_event,
						 .sideband = on_sideband,
						 .counts = on_counts};
	struct trace_reader *reader;
	struct str file = {0};
	struct bytes in;

	make_file(&file, data, size);
	in = (struct bytes){file.data, file.len};
	reader = trace_reader__new(read_bytes, &in);
	r->records = 0;
	trace_reader__run(reader, &calls, r);
	if (r->t)
		trace__finish(r->t);
	trace__free(r->t);
	spaces__free(r->spaces);
	r->t = NULL;
	r->spaces = NULL;
	str__free(&file);
	if (joined__end_file(r->joined))
		return reader;
	trace_reader__free(reader);
	return NULL;
}

static void finish(struct run *r)
{
	static const struct trace_totals totals;
	struct kept_step **k;

	vec__each (k, &r->kept) {
		for (unsigned i = 0; i < r->nout; i++)
			CHECK(!output__step(r->out[i], kept__step(*k)));
		kept__free(*k);
		free(*k);
	}
	vec__free(&r->kept);
	for (unsigned i = 0; i < r->nout; i++) {
		CHECK(!output__end(r->out[i], &totals));
		output__free(r->out[i]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace_reader *readers[2] = {NULL, NULL};
	struct run r = {0};
	size_t first;

	if (size < 3)
		return 0;
	r.joined = joined__new(data[0] & 1);
	r.only = data[0] >> 1;
	joined__tell(r.joined, on_extended, &r);
	first = min_of((size_t)(data[1] | data[2] << 8), size - 3);
	readers[0] = read_file(&r, data + 3, first);
	readers[1] = read_file(&r, data + 3 + first, size - 3 - first);
	finish(&r);
	joined__free(r.joined);
	for (int i = 0; i < 2; i++)
		trace_reader__free(readers[i]);
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two trace files as one: plans that are joined, steps and counts in the joined plan's numbers. The
 * first byte says how, the next two how long the first file is; each is blocks, as blocks.h has
 * them. Steps are kept beyond their file, and rendered when all files are freed that may be.
 */
#include "blocks.h"
#include "replayed.h"
#include "pipeline/read/merged_plan.h"
#include "output/output.h"

#define RECORDS 4096
#define FORMATS 32

struct run {
	struct replayed replay; /* of the file */
	struct merged_plan *joined;
	unsigned only;
	struct output *out[FORMATS];
	unsigned nout;
	VEC(struct kept_step *) kept;
	const struct plan *plan; /* of the file */
};

static int on_step(void *ctx, const struct step *own)
{
	struct run *r = ctx;
	struct step room;
	const struct step *s = merged_plan__step(r->joined, own, &room);
	const struct plan *all = merged_plan__plan(r->joined);

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
		if (i == r->only || output_formats[i]->form == FORM_JSON)
			r->out[r->nout++] =
				output__new(output_formats[i], &none, merged_plan__plan(r->joined),
					    take_text, NULL);
}

static int on_begin(void *ctx, const struct plan *plan, const struct trace_meta *meta)
{
	struct run *r = ctx;

	merged_plan__begin_file(r->joined, meta->realtime_offset);
	if (merged_plan__take_plan(r->joined, plan))
		return 1;
	begin_output(r);
	r->plan = plan;
	replayed__begin(&r->replay, plan, meta, on_step);
	return 0;
}

static int on_plan(void *ctx, const struct plan *plan)
{
	struct run *r = ctx;

	if (merged_plan__take_plan(r->joined, plan))
		return 1;
	trace__plan_extended(r->replay.t);
	return 0;
}

static int on_counts(void *ctx, const struct trace_counts *c)
{
	struct run *r = ctx;
	struct edge_counts sum;

	if (++r->replay.records > 8)
		return 1;
	merged_plan__add(r->joined, r->plan, &c->counts);
	sum = merged_plan__counts(r->joined);
	for (size_t i = 0; i < sum.ntargets; i++)
		CHECK(sum.targets[i].site < merged_plan__plan(r->joined)->sites.len);
	if (r->only & 1)
		merged_plan__clear(r->joined);
	return 0;
}

/* The reader, if the joined plan borrows from it. */
static struct trace_reader *read_file(struct run *r, const uint8_t *data, size_t size)
{
	static const struct trace_calls calls = {.begin = on_begin,
						 .plan = on_plan,
						 .mapped = replayed__mapped,
						 .event = replayed__event,
						 .sideband = replayed__sideband,
						 .counts = on_counts};
	struct trace_reader *reader;
	struct str file = {0};
	struct bytes in;

	make_file(&file, data, size);
	in = (struct bytes){file.data, file.len};
	reader = trace_reader__new(read_bytes, &in);
	r->replay.records = 0;
	r->replay.most = RECORDS;
	trace_reader__run(reader, &calls, r);
	if (r->replay.t)
		trace__finish(r->replay.t);
	replayed__end(&r->replay);
	str__free(&file);
	if (merged_plan__end_file(r->joined))
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
	r.joined = merged_plan__new(data[0] & 1);
	r.only = data[0] >> 1;
	merged_plan__report(r.joined, on_extended, &r);
	first = min_of((size_t)(data[1] | data[2] << 8), size - 3);
	readers[0] = read_file(&r, data + 3, first);
	readers[1] = read_file(&r, data + 3 + first, size - 3 - first);
	finish(&r);
	merged_plan__free(r.joined);
	for (int i = 0; i < 2; i++)
		trace_reader__free(readers[i]);
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * The browser of traces, with what any trace file makes of it: the steps of all threads and calls
 * are decoded and drawn. The first byte modulo 2 selects the input: 0: blocks of type (1 byte),
 * length (2 bytes) and contents, without checksums; 1: a file, whose checksums are mended. The rest
 * of it chooses the keys.
 */
#include "blocks.h"
#include "replayed.h"
#include "tui/browser.h"

#define STEPS	2048
#define RECORDS 32768
#define KEYS	60

struct browsed {
	struct replayed replay;
	struct model model;
	unsigned steps;
	bool begun;
};

static const char *source_line(void *ctx, const char *object, const char *file, unsigned line)
{
	return line % 2 ? "if (a < b) /* \x1b[31m \xe2\x80\xae */" : NULL;
}

static int on_step(void *ctx, const struct step *s)
{
	struct browsed *b = ctx;

	CHECK(!model__step(&b->model, s));
	return ++b->steps > STEPS;
}

static int on_begin(void *ctx, const struct plan *plan, const struct trace_meta *meta)
{
	struct browsed *b = ctx;
	const struct output_options o = {
		.start_time = meta->start_time, .show_regs = meta->cpus & 1, .source = source_line};

	CHECK(!model__begin_run(&b->model, "a file", plan, &o));
	b->begun = true;
	b->replay.most = RECORDS;
	replayed__begin(&b->replay, plan, meta, on_step);
	return 0;
}

static int on_plan(void *ctx, const struct plan *plan)
{
	struct browsed *b = ctx;

	trace__plan_extended(b->replay.t);
	model__plan_extended(&b->model);
	return 0;
}

static int on_damage(void *ctx, const struct trace_damage *d)
{
	struct browsed *b = ctx;

	trace__maps_changed(b->replay.t);
	return trace__hole(b->replay.t, d->events, true);
}

static int on_lost(void *ctx, uint32_t pid, uint32_t tid, uint64_t count)
{
	struct browsed *b = ctx;

	return trace__lost(b->replay.t, pid, tid, count);
}

static bool never(void *ctx)
{
	return false;
}

/* Nothing that a terminal would interpret is in a cell. */
static void check_cells(const struct grid *g)
{
	for (size_t i = 0; i < (size_t)g->width * g->height; i++) {
		wchar_t c = g->cells[i].ch;

		CHECK(!c || (c >= 0x20 && c != 0x7f && !(c >= 0x80 && c < 0xa0)));
	}
}

static void browse(struct browsed *b, uint64_t seed)
{
	static const char keys[] = "\n\n\njkGgqTeECu[]tsprR/e\n&e\n&\x15\nnN<>h b";
	struct browser browser;
	struct grid grid = {0};

	grid__resize(&grid, 20 + seed % 100, 3 + seed / 7 % 40);
	browser__init(&browser, &b->model, &(struct patience){never, NULL});
	for (unsigned i = 0; i < KEYS && !browser.ends; i++) {
		browser__draw(&browser, &grid);
		check_cells(&grid);
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		browser__key(&browser, i < 3 ? "T\nE"[i] : keys[(seed >> 33) % (sizeof(keys) - 1)]);
	}
	browser__free(&browser);
	grid__free(&grid);
}

static void finish(struct browsed *b, uint64_t seed)
{
	if (b->begun) {
		trace__finish(b->replay.t);
		model__end_run(&b->model, trace__totals(b->replay.t));
		model__end(&b->model);
		browse(b, seed);
	}
	model__free(&b->model);
	replayed__end(&b->replay);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct trace_calls calls = {
		on_begin,	    on_plan, NULL, replayed__mapped, replayed__event,
		replayed__sideband, on_lost, NULL, on_damage};
	struct bytes in = {(const char *)data + 1, size - 1};
	struct trace_reader *reader;
	struct str file = {0};
	struct browsed b = {0};

	if (!size)
		return 0;
	if (data[0] % 2) {
		str__put(&file, in.data, in.left);
		mend_file(&file);
		in.data = file.data;
	} else {
		make_file(&file, data + 1, size - 1);
		in = (struct bytes){file.data, file.len};
	}
	reader = trace_reader__new(read_bytes, &in);
	trace_reader__run(reader, &calls, &b);
	finish(&b, data[0] / 2 + 1);
	trace_reader__free(reader);
	str__free(&file);
	return 0;
}

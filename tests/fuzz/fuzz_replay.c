// SPDX-License-Identifier: BSD-2-Clause
/*
 * The replay: records and side events in any order on a plan made of bytes (made.h: two bytes say
 * how many), and the steps rendered by one of the formats.
 */
#include "json_check.h"
#include "made.h"
#include "output/output.h"

#define BIAS  0x550000000000u
#define STEPS 4096 /* enough of an input that repeats itself */

struct run {
	struct made m;
	struct trace *t;
	struct output *out;
	struct str text;
	uint64_t time;
	unsigned steps;
};

/* Running addresses: of the object, of another, of none. */
static void locate(void *ctx, uint32_t pid, uint64_t time, uint64_t addr, struct location *out)
{
	struct run *r = ctx;

	out->addr = addr;
	if (addr & 1)
		return;
	out->object = addr & 2 ? "/other" : r->m.o.path;
	out->symbol = addr & 4 ? "\x1b[1msym\xff" : NULL;
	out->vaddr = addr - BIAS;
}

static int on_step(void *ctx, const struct step *s)
{
	struct run *r = ctx;

	CHECK(s->type < STEP_TYPES && s->comm);
	CHECK(s->site == NO_SITE || s->site < r->m.plan->sites.len);
	CHECK(s->type > STEP_RETURN || s->function < r->m.plan->functions.len);
	return ++r->steps > STEPS ? 1 : output__step(r->out, s);
}

static int take_text(void *ctx, const void *data, size_t len)
{
	str__put(ctx, data, len);
	return 0;
}

/* ---- records ---- */

static uint64_t some_address(struct run *r, struct input *in)
{
	uint8_t how = input__number(in, 1);
	const struct plan *p = r->m.plan;

	if (how < 128)
		return BIAS + p->blocks.data[how % p->blocks.len].start;
	if (how < 160)
		return BIAS + CODE + input__number(in, 2);
	return input__number(in, 8);
}

static size_t natural_size(const struct plan_site *s, uint32_t *type)
{
	*type = s->entry ? WIRE_ENTRY
		: s->kind == BRANCH_JCC || s->kind == BRANCH_JMP || s->kind == BRANCH_CALL ||
				s->kind == BRANCH_NONE
			? WIRE_BRANCH
			: WIRE_VALUE;
	return *type == WIRE_ENTRY    ? sizeof(struct wire_entry)
	       : *type == WIRE_BRANCH ? sizeof(struct wire_event)
				      : sizeof(struct wire_value);
}

/* As the kernel side writes it for this site. */
static int feed_natural(struct run *r, struct input *in)
{
	struct wire_entry_stack w = {0};
	struct wire_event *e = &w.entry.event;
	uint32_t site = input__number(in, 1) % r->m.plan->sites.len, type;
	const struct plan_site *s = &r->m.plan->sites.data[site];
	size_t size = natural_size(s, &type);
	uint8_t who = input__number(in, 1);

	e->time = r->time += 10;
	e->pid = 1 + (who & 1);
	e->tid = who >> 1 & 3;
	e->cpu = who >> 3 & 1;
	e->missing = who >> 4;
	e->sp = 0x7ff000 - 8 * (input__number(in, 1) & 15);
	e->flags = input__number(in, 2);
	e->site_type = site | type << WIRE_SITE_BITS;
	w.entry.value[0] = type == WIRE_BRANCH ? 0 : some_address(r, in);
	w.entry.value[1] = 42;
	if (type == WIRE_ENTRY) {
		w.entry.caller = some_address(r, in);
		w.entry.regs[16] = BIAS + s->vaddr;
		memcpy(w.entry.comm, "c\x1bmm", 4);
	}
	if (who & 128 && type == WIRE_ENTRY) {
		size = sizeof(w);
		w.frames = input__number(in, 1);
		for (unsigned i = 0; i < WIRE_STACK && i < w.frames; i++)
			w.stack[i] = BIAS + CODE + i;
	}
	return trace__feed(r->t, &w, size);
}

/* Anything, of any size. */
static int feed_raw(struct run *r, struct input *in)
{
	struct input part = input__part(in, input__number(in, 2) % 2048);
	size_t size = input__left(&part);
	void *record = xmalloc(size);
	int err;

	input__bytes(&part, record, size);
	err = trace__feed(r->t, record, size);
	free(record);
	CHECK(err <= 1);
	return err == 1;
}

static int one_event(struct run *r, struct input *in)
{
	uint8_t op = input__number(in, 1), who = input__number(in, 1);
	uint32_t pid = 1 + (who & 3), tid = who >> 2 & 3;

	switch (op & 15) {
	case 0:
		return feed_raw(r, in);
	case 1:
		return trace__fork(r->t, r->time, pid, tid, 1 + (op >> 4 & 3), op >> 6);
	case 2:
		return trace__exec(r->t, r->time, pid, tid, made__name(op >> 4));
	case 3:
		return trace__comm(r->t, pid, tid, made__name(op >> 4));
	case 4:
		return trace__exit(r->t, r->time, pid, tid);
	case 5:
		return trace__lost(r->t, pid, tid, input__number(in, 4));
	case 6:
		return trace__gap(r->t, pid, tid);
	default:
		return feed_natural(r, in);
	}
}

/* ---- all of it ---- */

static const struct output_format *choose_format(uint8_t n)
{
	size_t count = 0;

	while (output_formats[count])
		count++;
	return output_formats[n % count];
}

static void check_text(const struct run *r)
{
	const char *name = r->out->format->name;

	if (!strcmp(name, "json"))
		CHECK(json__lines_ok(r->text.data));
	if (!strcmp(name, "json") || !strcmp(name, "text"))
		CHECK(is_safe(r->text.data, r->text.len));
}

static void run(struct run *r, struct input *in)
{
	struct resolver resolver = {r, locate};
	uint8_t how = input__number(in, 1), what = input__number(in, 1);
	struct trace_options options = {.events = r->m.options.events,
					.max_depth = how >> 5 & 1,
					.min_duration = how >> 6 & 1 ? 30 : 0};
	struct output_options show = {
		.time = what & 3, .show_regs = what & 4, .regs = what & 8 ? ~0ull : 0};
	int err = 0;

	r->out = output__new(choose_format(how & 31), &show, r->m.plan, take_text, &r->text);
	r->t = trace__new(r->m.plan, &options, &resolver, on_step, r);
	while (!err && input__left(in))
		err = one_event(r, in);
	CHECK(err == 0 || err == 1);
	err = err ? err : trace__finish(r->t);
	if (!err) {
		CHECK(!output__end(r->out, trace__totals(r->t)));
		check_text(r);
	}
	trace__free(r->t);
	output__free(r->out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, data + size};
	struct input plan = input__part(&in, input__number(&in, 2));
	struct run r = {0};

	if (!made__build(&r.m, &plan))
		return 0;
	str__puts(&r.text, "");
	if (r.m.plan)
		run(&r, &in);
	made__free(&r.m);
	str__free(&r.text);
	return 0;
}

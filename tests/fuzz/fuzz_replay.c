// SPDX-License-Identifier: BSD-2-Clause
/*
 * The replay: records and sideband events in any order on a plan made of bytes (made.h; preceded by
 * their length in two bytes), with the steps rendered in one of the formats.
 */
#include "event/event.h"
#include "json_check.h"
#include "made.h"
#include "output/output.h"

#define BIAS  0x550000000000u
#define STEPS 4096 /* enough of an input that repeats itself */

struct run {
	struct made m;
	struct trace *t;
	struct decoder *decoder;
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

static enum event_type natural_type(const struct plan_site *s, uint8_t how)
{
	if (!s->entry)
		return EVENT_BRANCH;
	return how & 1 ? EVENT_RETURN : EVENT_ENTRY;
}

/* As the kernel side tells it for this site. */
static int feed_natural(struct run *r, struct input *in)
{
	uint32_t site = input__number(in, 1) % r->m.plan->sites.len;
	const struct plan_site *s = &r->m.plan->sites.data[site];
	uint8_t who = input__number(in, 1), how = input__number(in, 1);
	uint64_t stack[STACK_FRAMES], regs[EVENT_REGS] = {0}, args[EVENT_ARGS] = {1, 2, 3};
	struct event_entry entry = {.ip = BIAS + s->vaddr, .comm = "c\x1bmm"};
	struct event e = {.time = r->time += 10,
			  .pid = 1 + (who & 1),
			  .tid = who >> 1 & 3,
			  .cpu = who >> 3 & 1,
			  .site = site,
			  .type = natural_type(s, how),
			  .sp = 0x7ff000 - 8 * (input__number(in, 1) & 15),
			  .interrupt = how >> 1 & 7,
			  .taken = who >> 4 & 1,
			  .has_target = who >> 5 & 1,
			  .has_value = who >> 6 & 1,
			  .target = some_address(r, in),
			  .value = 42};

	if (e.type != EVENT_ENTRY)
		return trace__feed(r->t, &e);
	e.entry = &entry;
	entry.caller = some_address(r, in);
	entry.pending = how >> 4 & 1;
	entry.regs = how >> 5 & 1 ? regs : NULL;
	entry.nregs = EVENT_REGS;
	entry.args = how >> 6 & 1 ? args : NULL;
	if (how & 128) {
		entry.stack = stack;
		entry.nstack = input__number(in, 1) % (STACK_FRAMES + 1);
		entry.stack_end = input__number(in, 1) % STACK_ENDS;
		for (unsigned i = 0; i < entry.nstack; i++)
			stack[i] = BIAS + CODE + i;
	}
	return trace__feed(r->t, &e);
}

/* Of no site, or of one that it doesn't suit. */
static int feed_raw(struct run *r, struct input *in)
{
	struct event_entry entry = {.comm = "", .caller = some_address(r, in)};
	struct event e = {.time = input__number(in, 8),
			  .pid = input__number(in, 1),
			  .tid = input__number(in, 1),
			  .sp = input__number(in, 8),
			  .site = input__number(in, 4),
			  .type = input__number(in, 1),
			  .count = input__number(in, 8),
			  .hits = input__number(in, 1) & 1,
			  .goroutine = input__number(in, 8)};
	int err;

	e.entry = e.type == EVENT_ENTRY ? &entry : NULL;
	err = trace__feed(r->t, &e);
	CHECK(err <= 1);
	return err == 1;
}

/* A record of the ring, of any size and of any bytes. */
static int feed_record(struct run *r, struct input *in)
{
	struct input part = input__part(in, input__number(in, 2) % 2048);
	size_t size = input__left(&part);
	void *record = xmalloc(size);
	const struct event *e;
	int err = 0;

	input__bytes(&part, record, size);
	e = decoder__event(r->decoder, record, size, r->time);
	CHECK(e || *err__text());
	if (e)
		err = trace__feed(r->t, e);
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
		return op & 16 ? feed_raw(r, in) : feed_record(r, in);
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
		CHECK(json_check__lines_ok(r->text.data));
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
	r->decoder = decoder__new(r->m.plan);
	while (!err && input__left(in))
		err = one_event(r, in);
	CHECK(err == 0 || err == 1);
	if (!err)
		err = trace__finish(r->t);
	if (!err) {
		CHECK(!output__end(r->out, trace__totals(r->t)));
		check_text(r);
	}
	trace__free(r->t);
	decoder__free(r->decoder);
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

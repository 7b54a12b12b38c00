// SPDX-License-Identifier: BSD-2-Clause
/* Values as they are found in a hit: numbers by their types, and texts; and whether they meet the
 * conditions of --if. */
#include "arch/arch.h"
#include "event/event.h"
#include "plan/plan.h"

static uint64_t by_type(const struct plan *p, const struct plan_value *v, uint64_t number)
{
	unsigned width = plan_value__width(v);

	number = value__lowest(number >> (v->bits ? v->bit_at : 0), width);
	if (width && width < 64 && number >> (width - 1) && plan__is_signed(p, v))
		number |= UINT64_MAX << width;
	return number;
}

/* Text has at most v->size bytes; of an array it may end without a 0. */
static void take_text(const struct plan_value *v, const struct fetched *f, struct value_read *out)
{
	size_t most = min_of((size_t)v->size, (size_t)VALUE_TEXT_MAX);

	out->text = f->bytes;
	out->len = strnlen((const char *)f->bytes, min_of((size_t)f->len, (size_t)FETCHED_ROOM));
	if (out->len > most) {
		out->len = most;
		out->cut = true;
	}
}

/* What is at an offset in what was loaded. */
static void take_bytes(const struct plan *p, const struct plan_value *v, const struct fetched *f,
		       struct value_read *out)
{
	size_t len = min_of((size_t)f->len, (size_t)FETCHED_ROOM), at = min_of((size_t)v->at, len);

	memcpy(&out->number, f->bytes + at, min_of(len - at, sizeof(out->number)));
	if (v->size > 8 && len - at > 8)
		memcpy(&out->upper, f->bytes + at + 8, min_of(len - at - 8, (size_t)v->size - 8));
	out->number = by_type(p, v, out->number);
}

static void take_fetched(const struct plan *p, const struct value_source *s,
			 const struct plan_value *v, struct value_read *out)
{
	const struct fetched *f;

	out->known = VALUE_NOT_RECORDED;
	if (!s->fetched || v->fetched > s->nfetched)
		return;
	f = &s->fetched[v->fetched - 1];
	if (f->len == FETCHED_NONE)
		return;
	out->known = f->len < 0 ? VALUE_NOT_READABLE : VALUE_KNOWN;
	if (f->len == FETCHED_ABSENT) {
		memcpy(&out->number, f->bytes, sizeof(out->number));
		out->has_address = true;
	}
	if (f->len < 0)
		return;
	if (v->kind == KIND_TEXT)
		return take_text(v, f, out);
	take_bytes(p, v, f, out);
}

static bool take_word(const struct value_source *s, const struct plan_value *v, uint64_t *out)
{
	switch (v->from) {
	case FROM_REGISTER:
		*out = s->regs && v->reg < EVENT_REGS ? s->regs[v->reg] : 0;
		return s->regs && v->reg < EVENT_REGS;
	case FROM_SYSCALL:
		*out = s->syscall_args && v->reg < EVENT_ARGS ? s->syscall_args[v->reg] : 0;
		return s->syscall_args && v->reg < EVENT_ARGS;
	case FROM_RESULT:
		*out = s->result;
		return s->has_result;
	}
	return false;
}

struct value_read value__read(const struct plan *p, const struct plan_value *v,
			      const struct value_source *s)
{
	struct value_read out = {.known = VALUE_NOT_RECORDED};
	uint64_t word;

	if (v->from == FROM_NOWHERE)
		return out;
	if (v->fetched) {
		take_fetched(p, s, v, &out);
		return out;
	}
	if (v->kind == KIND_TEXT || !take_word(s, v, &word))
		return out;
	out.known = VALUE_KNOWN;
	if (v->second != REG_NONE) {
		if (!s->regs || v->second >= EVENT_REGS)
			out.known = VALUE_NOT_RECORDED;
		else if (p->arch->word == 4)
			word |= s->regs[v->second] << 32;
		else
			out.upper = value__lowest(s->regs[v->second], 8u * (v->size - 8u));
	}
	out.number = v->kind == KIND_PAIR ? word : by_type(p, v, word);
	return out;
}

/* ---- conditions ---- */

/* The null pointer, from which nothing could be loaded. */
static bool is_null(const struct value_read *r)
{
	return r->known == VALUE_NOT_READABLE && r->has_address && !r->number;
}

static enum judgement judged(bool holds)
{
	return holds ? JUDGED_HOLDS : JUDGED_FAILS;
}

/* A pointer to text, or its place, with a number: only null is distinguished from others. */
static enum judgement judge_pointer(const struct plan_condition *c, const struct value_read *r)
{
	if (r->known == VALUE_NOT_RECORDED || (r->known == VALUE_NOT_READABLE && !r->has_address))
		return JUDGED_UNKNOWN;
	return judged(is_null(r) == (c->how == COMPARE_EQ));
}

static enum judgement judge_text(const struct plan_condition *c, const struct value_read *r)
{
	bool same;

	if (r->known != VALUE_KNOWN)
		return JUDGED_UNKNOWN;
	same = !r->cut && r->len == strlen(c->text) && !memcmp(r->text, c->text, r->len);
	return judged(same == (c->how == COMPARE_EQ));
}

static enum judgement judge_one(const struct plan *p, const struct plan_condition *c,
				const struct value_source *s)
{
	const struct plan_value *v = &p->values.data[c->value];
	struct value_read r = value__read(p, v, s);

	if (c->of_text)
		return judge_text(c, &r);
	if (v->kind == KIND_TEXT)
		return judge_pointer(c, &r);
	if (r.known != VALUE_KNOWN)
		return JUDGED_UNKNOWN;
	return judged(comparison__holds(c->how, r.number, plan_value__compared(p, v), c->with));
}

/* One that fails decides. */
enum judgement plan__judge(const struct plan *p, uint32_t function, bool of_return,
			   const struct value_source *s)
{
	enum judgement all = JUDGED_HOLDS;
	size_t n;
	const struct plan_condition *c = plan__conditions(p, function, &n);

	for (size_t i = 0; i < n && all != JUDGED_FAILS; i++) {
		enum judgement one = p->values.data[c[i].value].of_return == of_return
					     ? judge_one(p, &c[i], s)
					     : JUDGED_HOLDS;

		all = one == JUDGED_HOLDS ? all : one;
	}
	return all;
}

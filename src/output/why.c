// SPDX-License-Identifier: BSD-2-Clause
/* Why a conditional went where it did: what it tested, as values. */
#include "output/text.h"

static unsigned bits_of(const struct tested *t)
{
	return 8u << (t->flags >> TESTED_SIZE_SHIFT & 3);
}

/* Of -1 and error numbers no one writes all digits. */
#define ERROR_MOST 4095

static void put_number(struct str *s, uint64_t v, unsigned bits, bool is_unsigned)
{
	int64_t number = (int64_t)(v << (64 - bits)) >> (64 - bits);

	if (!is_unsigned && number < 0 && number >= -ERROR_MOST)
		str__printf(s, "%lld", (long long)number);
	else if (v < 10)
		str__dec(s, v);
	else
		str__hex(s, v);
}

/* Is the comparison one of unsigned numbers? */
static bool compares_unsigned(const struct output *o, const struct step *step)
{
	autofree struct str text = {0};

	return plan__condition(o->plan, step->site, step->taken, &text) && text.data &&
	       strstr(text.data, "(unsigned");
}

/* "cmp rax, rdx: 0x10 vs 0x40" */
void show_why(struct output *o, const struct step *step, const union field_value *v)
{
	struct str *s = &o->buffer;
	const struct tested *t = &step->tested;
	bool is_unsigned = compares_unsigned(o, step);

	str__puts(s, o->plan->sites.data[step->site].compare);
	str__puts(s, t->flags & TESTED_RESULT ? " gave " : ": ");
	put_number(s, t->value[0], bits_of(t), is_unsigned);
	if (t->flags & TESTED_TWO) {
		str__puts(s, " vs ");
		put_number(s, t->value[1], bits_of(t), is_unsigned);
	}
	str__puts(s, t->flags & TESTED_AGAIN ? " (read again)" : "");
}

void why__put_json(const struct output *o, struct json *j, const struct step *step)
{
	const struct tested *t = &step->tested;
	autofree struct str proves = {0};

	json__open_object(j);
	json__member(j, string, "compare", o->plan->sites.data[step->site].compare);
	json__key(j, "values");
	json__open_array(j);
	json__hex(j, t->value[0]);
	if (t->flags & TESTED_TWO)
		json__hex(j, t->value[1]);
	json__close_array(j);
	if (t->flags & TESTED_RESULT)
		json__member(j, bool, "result", true);
	json__member(j, unsigned, "bits", bits_of(t));
	if (t->flags & TESTED_AGAIN)
		json__member(j, bool, "read_again", true);
	if (plan__condition(o->plan, step->site, step->taken, &proves))
		json__member(j, string, "proves", proves.data);
	json__close_object(j);
}

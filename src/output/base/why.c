// SPDX-License-Identifier: BSD-2-Clause
/* Why a conditional went where it did: what it tested, as values. */
#include <ctype.h>
#include "paint.h"

static unsigned bits_of(const struct tested *t)
{
	return 8u << (t->flags >> TESTED_SIZE_SHIFT & 3);
}

/* Nobody writes out all digits of -1 and of error numbers. */
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

/* Returns true if the branch compares them as unsigned numbers. */
static bool compares_unsigned(const struct output *o, const struct step *step)
{
	const struct plan_site *s = &o->plan->sites.data[step->site];

	return o->plan->arch->is_unsigned && o->plan->arch->is_unsigned(s->kind, s->cond);
}

/* ---- the operands, in the instruction's text ---- */

struct operands {
	const char *name[2]; /* in the source; NULL: not known */
	const char *text[2]; /* in the instruction */
	size_t len[2];
	unsigned n;
};

static void split(const char *compare, struct operands *o)
{
	const char *at = strchr(compare, ' ');

	while (at && *at && o->n < 2) {
		const char *end;

		at += strspn(at, ", ");
		end = strstr(at, ", ");
		o->text[o->n] = at;
		o->len[o->n++] = end ? (size_t)(end - at) : strlen(at);
		at = end;
	}
}

static struct operands operands_of(const struct plan_site *s)
{
	struct operands o = {.name = {s->variable_a, s->variable_b}};

	split(s->compare, &o);
	return o;
}

static bool is_of_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Returns the operand that the text begins with, and that ends there; o->n if there is none. before
 * is the character before it. */
static unsigned find_operand(const struct operands *o, char before, const char *text)
{
	unsigned i = 0;

	while (i < o->n && (!o->name[i] || strncmp(text, o->text[i], o->len[i]) != 0 ||
			    (is_of_word(before) && is_of_word(*text)) ||
			    (is_of_word(o->text[i][o->len[i] - 1]) && is_of_word(text[o->len[i]]))))
		i++;
	return i;
}

/* Text about the operands in terms of the source. What an address is made of is no operand. */
static void put_named(struct str *s, const struct operands *o, const char *text)
{
	unsigned brackets = 0;
	char before = ' ';

	while (*text) {
		unsigned i = brackets ? o->n : find_operand(o, before, text);
		size_t len = i < o->n ? o->len[i] : 1;

		if (i < o->n) {
			str__shown(s, o->name[i]);
		} else {
			brackets += *text == '[';
			brackets -= *text == ']' && brackets;
			str__putc(s, *text);
		}
		before = text[len - 1];
		text += len;
	}
}

static void put_variable(struct str *s, const char *name, uint8_t type, uint64_t v, unsigned bits)
{
	str__shown(s, name);
	str__puts(s, " = ");
	if (type == VARIABLE_SIGNED)
		str__printf(s, "%lld", (long long)((int64_t)(v << (64 - bits)) >> (64 - bits)));
	else if (type == VARIABLE_UNSIGNED)
		str__dec(s, v);
	else
		str__hex(s, v);
}

/* Puts "n = -5: n < 0". Returns false if nothing is known of the source, or if there are no words
 * for it. */
static bool put_source(const struct output *o, struct str *s, const struct step *step)
{
	const struct plan_site *site = &o->plan->sites.data[step->site];
	const struct tested *t = &step->tested;
	struct operands operands = operands_of(site);
	autofree struct str proves = {0};
	bool first = true;

	if ((!site->variable_a && !site->variable_b) ||
	    !plan__condition(o->plan, step->site, step->taken, &proves))
		return false;
	for (unsigned i = 0; i < (t->flags & TESTED_TWO ? 2 : 1); i++) {
		const char *name = operands.name[i];

		if (!name && (i >= operands.n || strchr("#-0", operands.text[i][0])))
			continue; /* a constant is in the condition */
		str__puts(s, first ? "" : ", ");
		first = false;
		if (name) {
			put_variable(s, name, site->variable_types >> 4 * i & 15, t->value[i],
				     bits_of(t));
			continue;
		}
		str__put(s, operands.text[i], operands.len[i]);
		str__puts(s, " = ");
		put_number(s, t->value[i], bits_of(t), false);
	}
	str__puts(s, ": ");
	put_named(s, &operands, proves.data);
	return true;
}

static void put_compared(const struct output *o, struct str *s, const struct step *step)
{
	const struct tested *t = &step->tested;
	bool is_unsigned = compares_unsigned(o, step);

	str__puts(s, o->plan->sites.data[step->site].compare);
	str__puts(s, t->flags & TESTED_RESULT ? " gave " : ": ");
	put_number(s, t->value[0], bits_of(t), is_unsigned);
	if (t->flags & TESTED_TWO) {
		str__puts(s, " vs ");
		put_number(s, t->value[1], bits_of(t), is_unsigned);
	}
}

/* Puts "cmp A, B: 0x10 vs 0x40". */
void why__put_text(const struct output *o, struct str *s, const struct step *step)
{
	if (!put_source(o, s, step))
		put_compared(o, s, step);
	str__puts(s, step->tested.flags & TESTED_AGAIN ? " (read again)" : "");
}

static void put_variables(struct json *j, const struct plan_site *s)
{
	json__key(j, "variables");
	json__open_array(j);
	json__string(j, s->variable_a ? s->variable_a : "");
	if (s->variable_b)
		json__string(j, s->variable_b);
	json__close_array(j);
}

void why__put_json(const struct output *o, struct json *j, const struct step *step)
{
	const struct plan_site *site = &o->plan->sites.data[step->site];
	const struct tested *t = &step->tested;
	autofree struct str proves = {0};

	json__open_object(j);
	json__member(j, string, "compare", site->compare);
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
	if (site->variable_a || site->variable_b)
		put_variables(j, site);
	if (plan__condition(o->plan, step->site, step->taken, &proves))
		json__member(j, string, "proves", proves.data);
	json__close_object(j);
}

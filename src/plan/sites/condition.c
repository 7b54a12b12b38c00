// SPDX-License-Identifier: BSD-2-Clause
/* What conditional branches test: the instruction that set the flags, and what an outcome proves.
 */
#include <stdlib.h>
#include "plan/plan_private.h"

#define TEXT_MAX       128 /* of an instruction */
#define ADDRESS_DIGITS 8   /* a constant of this many digits may be one of the kernel's addresses */

/* ---- texts ---- */

static const char *texts__add(struct texts *t, const char *text)
{
	uint64_t *number = map64__put(&t->known, map64__hash(text, strlen(text)));

	if (!*number || strcmp(t->all.data[*number - 1], text) != 0) {
		vec__push(&t->all, xstrdup(text));
		*number = t->all.len;
	}
	return t->all.data[*number - 1];
}

/* Returns the encoding of an instruction whose text was asked for; a new one is without a text.
 * NULL: it is too long, or two have one hash. */
static struct encoding *find_encoding(struct texts *t, const uint8_t *bytes, size_t len)
{
	struct encoding new = {.len = len};
	uint64_t *number;

	if (len > sizeof(new.bytes))
		return NULL;
	memcpy(new.bytes, bytes, len);
	number = map64__put(&t->encoded, map64__hash(bytes, len));
	if (!*number) {
		vec__push(&t->encodings, new);
		*number = t->encodings.len;
	}
	new.text = t->encodings.data[*number - 1].text;
	return memcmp(&new, &t->encodings.data[*number - 1], sizeof(new))
		       ? NULL
		       : &t->encodings.data[*number - 1];
}

bool condition__names_address(const char *text)
{
	static const char digits[] = "0123456789abcdef";

	if (strstr(text, "[0x"))
		return true;
	while ((text = strstr(text, "0x"))) {
		text += strlen("0x");
		if (strspn(text, digits) >= ADDRESS_DIGITS)
			return true;
	}
	return false;
}

/* Returns NULL if it can't be formatted. */
static const char *text_of(struct texts *t, const struct arch *arch, const uint8_t *bytes,
			   size_t len, uint64_t addr)
{
	struct encoding *known = find_encoding(t, bytes, len);
	char buffer[TEXT_MAX];
	const char *text;

	if (known && known->text)
		return known->text;
	if (!arch->format(bytes, len, addr, buffer, sizeof(buffer)))
		return NULL;
	text = texts__add(t, buffer);
	if (known && !condition__names_address(text))
		known->text = text;
	return text;
}

void texts__free(struct texts *t)
{
	char **text;

	vec__each (text, &t->all)
		free(*text);
	vec__free(&t->all);
	vec__free(&t->encodings);
	map64__free(&t->known);
	map64__free(&t->encoded);
}

/* ---- the instruction that set the flags ---- */

/* Returns the instruction in front of one that doesn't begin its block; 0 if not known. */
static uint32_t before(const struct graph *g, uint32_t node)
{
	struct preds it = graph__preds(g, node);
	uint32_t p = preds__next(g, &it);

	return p && node__next(&g->nodes.data[p]) == g->nodes.data[node].addr ? p : 0;
}

static const uint8_t *bytes_of(const struct graph *g, uint32_t node, size_t *len)
{
	const struct node *n = &g->nodes.data[node];
	const uint8_t *bytes = object__bytes(g->object, n->addr, len);

	*len = min_of(*len, (size_t)n->len);
	return bytes;
}

/* Code outside of the plan may jump to what has a name. */
static bool has_name(const struct object *o, uint64_t from, uint64_t to)
{
	size_t i = object__symbols_from(o, from);

	return i < o->symbols.len && o->symbols.data[i].vaddr <= to;
}

/* The instruction that set the flags of a conditional; node 0 if there is none in the block, or if
 * it is not known. */
struct setter {
	uint32_t node;
	uint32_t kills; /* registers that are written between the two */
	bool stores;	/* memory is written between the two */
};

static void pass(struct setter *s, const struct arch *arch, const uint8_t *bytes, size_t len,
		 uint64_t addr)
{
	struct insn_detail d;
	bool known = arch->detail && arch->detail(bytes, len, addr, &d);

	s->kills |= known ? d.writes : UINT32_MAX;
	s->stores |= !known || d.writes_memory;
}

static struct setter find_setter(const struct graph *g, uint32_t first, uint32_t last, bool tests)
{
	const struct insn *branch = graph__branch(g, &g->nodes.data[last]);
	enum flags_effect effect = FLAGS_KEPT;
	struct setter s = {.node = last};

	while (effect == FLAGS_KEPT && s.node != first) {
		const uint8_t *bytes;
		size_t len;

		s.node = before(g, s.node);
		bytes = s.node ? bytes_of(g, s.node, &len) : NULL;
		if (!bytes || g->nodes.data[s.node].flags & NODE_UNCERTAIN)
			return (struct setter){0};
		effect = g->arch->flags_effect(bytes, len, branch->kind, branch->cond);
		if (tests && effect == FLAGS_KEPT)
			pass(&s, g->arch, bytes, len, g->nodes.data[s.node].addr);
	}
	if (effect != FLAGS_SET ||
	    has_name(g->object, node__next(&g->nodes.data[s.node]), branch->addr))
		return (struct setter){0};
	return s;
}

/* ---- its operands ---- */

static uint32_t registers_of(const struct test_operand *o)
{
	uint32_t regs = 0;

	if (o->kind != OPERAND_NONE && o->at.base < 32)
		regs |= 1u << o->at.base;
	if (o->kind == OPERAND_MEM && o->at.index < 32)
		regs |= 1u << o->at.index;
	return regs;
}

/* Returns true if the operand is still there, or may be read again, when the branch is executed. */
static bool survives(const struct test *t, unsigned i, const struct setter *s)
{
	const struct test_operand *o = &t->operand[i];
	bool is_result = !i && o->kind == OPERAND_REG && (t->result || t->n == 1);
	uint32_t kills = s->kills | (is_result ? 0 : t->kills);

	return !(registers_of(o) & kills) && !(o->kind == OPERAND_MEM && s->stores);
}

static const struct test *find_test(struct emit *e, const struct setter *s, const uint8_t *bytes,
				    size_t len, const struct plan_site *site)
{
	struct plan_data *data = e->plan->priv;
	const struct node *n = &e->g->nodes.data[s->node];
	struct test t, *kept;

	if (!e->options->tests || !e->g->arch->test || !e->g->arch->test(bytes, len, n->addr, &t) ||
	    site->kind != BRANCH_JCC)
		return NULL;
	for (unsigned i = 0; i < t.n; i++) {
		struct operand *at = &t.operand[i].at;

		if (!survives(&t, i, s))
			return NULL;
		if (t.operand[i].kind == OPERAND_MEM && at->base == REG_IP)
			at->disp += (int32_t)(node__next(n) - site->vaddr);
	}
	t.vaddr = n->addr;
	kept = xcalloc(1, sizeof(*kept));
	*kept = t;
	vec__push(&data->tests, kept);
	return kept;
}

/* The test of a branch that compares registers itself: its own text, without its target. */
static void find_own_test(struct emit *e, uint32_t last, struct plan_site *s)
{
	struct plan_data *data = e->plan->priv;
	const struct setter none = {.node = last};
	size_t len;
	const uint8_t *bytes = bytes_of(e->g, last, &len);
	const char *text;
	char *end;

	s->test = find_test(e, &none, bytes, len, s);
	if (!s->test)
		return;
	text = text_of(&data->compares, e->g->arch, bytes, len, s->vaddr);
	autofree char *own = xstrdup(text ? text : s->mnemonic);
	end = strrchr(own, ',');
	if (end)
		*end = 0;
	s->compare = texts__add(&data->compares, own);
}

void condition__find(struct emit *e, uint32_t first, uint32_t last, struct plan_site *s)
{
	struct plan_data *data = e->plan->priv;
	const struct graph *g = e->g;
	struct setter setter;
	const uint8_t *bytes;
	size_t len;

	if (!g->arch->format)
		return;
	if (e->options->tests)
		find_own_test(e, last, s);
	if (s->test || !g->arch->flags_effect)
		return;
	setter = find_setter(g, first, last, e->options->tests);
	bytes = setter.node ? bytes_of(g, setter.node, &len) : NULL;
	if (!bytes)
		return;
	s->compare = text_of(&data->compares, g->arch, bytes, len, g->nodes.data[setter.node].addr);
	s->test = find_test(e, &setter, bytes, len, s);
}

/* A copy has lowered the stack pointer. */
unsigned plan__logged_values(const struct plan *p, const struct plan_site *s,
			     struct operand values[2])
{
	unsigned n = 0;

	for (unsigned i = 0; s->test && !s->entry && i < s->test->n; i++) {
		const struct test_operand *o = &s->test->operand[i];

		if (o->kind == OPERAND_REG && o->at.base == p->arch->sp_reg)
			return 0;
		if (o->kind == OPERAND_NONE)
			continue;
		values[n] = o->at;
		if (o->kind == OPERAND_MEM && o->at.base == REG_IP)
			values[n].disp -= s->len;
		n++;
	}
	return n;
}

bool plan__logs_values(const struct plan *p)
{
	struct operand values[2];
	const struct plan_site *s;

	vec__each (s, &p->sites)
		if (plan__logged_values(p, s, values))
			return true;
	return false;
}

/* ---- what an outcome proves ---- */

bool plan__condition(const struct plan *p, uint32_t site, bool taken, struct str *out)
{
	const struct plan_site *s = &p->sites.data[site];

	return plan_site__is_conditional(s) && p->arch->proves &&
	       p->arch->proves(s->kind, s->cond, taken, s->compare, out);
}

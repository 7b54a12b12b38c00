// SPDX-License-Identifier: BSD-2-Clause
/* What conditional branches test: the instruction that set the flags, and what an outcome proves.
 */
#include <stdlib.h>
#include "plan/build.h"

#define TEXT_MAX       128 /* of an instruction */
#define ADDRESS_DIGITS 8   /* a constant of so many may be one of the kernel's addresses */

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

/* The encoding of an instruction whose text was asked for; new ones are without a text. NULL: too
 * long, or two have one hash. */
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

/* NULL: it can't be formatted. */
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

/* The instruction in front of one that doesn't begin its block; 0: not known. */
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

/* What has a name may be jumped to from outside of the plan. */
static bool has_name(const struct object *o, uint64_t from, uint64_t to)
{
	size_t i = object__symbols_from(o, from);

	return i < o->symbols.len && o->symbols.data[i].vaddr <= to;
}

/* 0: none in the block, or not known. */
static uint32_t find_setter(const struct graph *g, uint32_t first, uint32_t last)
{
	const struct insn *branch = graph__branch(g, &g->nodes.data[last]);
	enum flags_effect effect = FLAGS_KEPT;
	uint32_t node = last;

	while (effect == FLAGS_KEPT && node != first) {
		const uint8_t *bytes;
		size_t len;

		node = before(g, node);
		bytes = node ? bytes_of(g, node, &len) : NULL;
		if (!bytes || g->nodes.data[node].flags & NODE_DOUBTFUL)
			return 0;
		effect = g->arch->flags_effect(bytes, len, branch->kind, branch->cond);
	}
	if (effect != FLAGS_SET ||
	    has_name(g->object, node__next(&g->nodes.data[node]), branch->addr))
		return 0;
	return node;
}

const char *condition__find(struct emit *e, uint32_t first, uint32_t last)
{
	struct plan_data *data = e->plan->priv;
	const struct graph *g = e->g;
	const uint8_t *bytes;
	uint32_t node;
	size_t len;

	if (!g->arch->flags_effect || !g->arch->format)
		return NULL;
	node = find_setter(g, first, last);
	bytes = node ? bytes_of(g, node, &len) : NULL;
	return bytes ? text_of(&data->compares, g->arch, bytes, len, g->nodes.data[node].addr)
		     : NULL;
}

/* ---- what an outcome proves ---- */

bool plan__condition(const struct plan *p, uint32_t site, bool taken, struct str *out)
{
	const struct plan_site *s = &p->sites.data[site];

	return plan_site__is_conditional(s) && p->arch->proves &&
	       p->arch->proves(s->kind, s->cond, taken, s->compare, out);
}

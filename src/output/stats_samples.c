// SPDX-License-Identifier: BSD-2-Clause
/*
 * Samples in the tree of calls: a node for each chain of frames, which counts the samples that were
 * taken in its innermost one. Only of traces without functions, whose calls the tree has else.
 */
#include <stdlib.h>
#include "output/stats_stack.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static uint32_t number_of(struct stats *p, const char *name)
{
	struct stats_priv *priv = p->priv;
	uint64_t *slot = map64__put(&priv->name_hashes, map64__hash(name, strlen(name)));

	if (!*slot) {
		vec__push(&priv->names, xstrdup(name));
		*slot = priv->names.len;
	}
	return STATS_SAMPLED + *slot - 1;
}

/* As flame graphs mark them: _[k] is the kernel's. */
static uint32_t function_of(struct stats *p, const struct location *l, bool kernel)
{
	autofree char *name = NULL;

	if (l->symbol)
		name = xasprintf("%s%s", l->symbol, kernel ? "_[k]" : "");
	else
		name = xasprintf("[%s]", l->object ? base_name(l->object) : "unknown");
	return number_of(p, name);
}

/* In place of the callers that a stack lacks. */
static const char *missing(enum stack_end end)
{
	return end == STACK_WHOLE			? NULL
	       : end == STACK_LIMIT || end == STACK_CUT ? "[more callers]"
							: "[callers not known]";
}

void samples__add(struct stats *p, const struct step *s)
{
	const struct plan_named *named = &p->plan->named.data[s->named->which];
	const char *lacks = s->stack && s->named->nuser ? missing(s->stack_end) : NULL;
	uint32_t node;

	if (named->kind != NAMED_SAMPLE)
		return;
	node = stack__thread_node(p, s);
	if (lacks)
		node = stack__node_below(p, node, number_of(p, lacks));
	for (size_t i = s->nstack; s->stack && i-- > 0;)
		node = stack__node_below(p, node,
					 function_of(p, &s->stack[i], i < s->named->nkernel));
	p->nodes.data[node].calls += s->named->count;
	p->samples += s->named->count;
	p->deeper += p->nodes.data[node].function == STATS_DEEPER;
}

const char *samples__name(const struct stats *p, uint32_t function)
{
	return p->priv->names.data[function - STATS_SAMPLED];
}

void samples__free(struct stats_priv *priv)
{
	char **name;

	vec__each (name, &priv->names)
		free(*name);
	vec__free(&priv->names);
	map64__free(&priv->name_hashes);
}

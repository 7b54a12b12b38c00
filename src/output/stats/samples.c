// SPDX-License-Identifier: BSD-2-Clause
/*
 * Samples in the tree of calls: a node for each chain of frames, which counts the samples that were
 * taken in its innermost one. Only of traces without functions, whose calls the tree has else.
 */
#include <stdlib.h>
#include "stack.h"

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
		name = xasprintf("[%s]", l->object ? path__base_name(l->object) : "unknown");
	return number_of(p, name);
}

/* Adds what was inlined in a frame, outermost first, each a node below the last. As flame graphs
 * mark them: _[i]. */
static uint32_t add_inlined(struct stats *p, uint32_t node, const char *names)
{
	size_t start, end = names ? strlen(names) : 0;

	for (; end; end = start ? start - 1 : 0) {
		autofree char *name = NULL;

		for (start = end; start && names[start - 1] != '\n'; start--)
			;
		name = xasprintf("%.*s_[i]", (int)(end - start), names + start);
		node = stack__node_below(p, node, number_of(p, name));
	}
	return node;
}

/* Returns what stands for the callers that a stack lacks. */
static const char *missing(enum stack_end end)
{
	return end == STACK_WHOLE			? NULL
	       : end == STACK_LIMIT || end == STACK_CUT ? "[more callers]"
							: "[callers not known]";
}

/* What was added up has the time at which that ended; several have the same. */
static void add_interval(struct stats *p, struct stats_cpu *c, const struct step *s)
{
	p->added_up |= s->named->count > 1 || s->time == c->last;
	if (!p->added_up && s->timed && c->last && s->time > c->last)
		histogram__add(&c->intervals, s->time - c->last);
	c->last = s->time;
}

static struct stats_on_cpu *on_cpu(struct stats *p, uint32_t function, uint32_t cpu)
{
	uint64_t *slot = map64__put(&p->priv->on_cpu, (uint64_t)cpu << 32 | function);

	if (!*slot) {
		vec__push(&p->on_cpu, (struct stats_on_cpu){.function = function, .cpu = cpu});
		*slot = p->on_cpu.len;
	}
	return &p->on_cpu.data[*slot - 1];
}

/* A function counts once in a stack. */
static void add_to_cpu(struct stats *p, uint32_t node, const struct step *s)
{
	const struct stats_node *n = &p->nodes.data[node];
	uint64_t *slot, count = s->named->count;

	if (s->cpu == EVENT_NO_CPU)
		return;
	slot = map64__put(&p->priv->cpus, s->cpu);
	if (!*slot) {
		vec__push(&p->cpus, (struct stats_cpu){.cpu = s->cpu});
		*slot = p->cpus.len;
	}
	p->cpus.data[*slot - 1].samples += count;
	add_interval(p, &p->cpus.data[*slot - 1], s);
	on_cpu(p, n->function, s->cpu)->self += count;
	for (; n->parent != NO_NODE; n = &p->nodes.data[n->parent])
		if (!n->recursive)
			on_cpu(p, n->function, s->cpu)->total += count;
}

/* Adds what the samples stand for: ns, or what else is counted. */
static void add_period(struct stats *p, uint32_t node, const struct step *s)
{
	size_t n;
	const struct plan_field *f = plan__fields(p->plan, s->named->which, &n);
	struct named_value v;

	if (!n || !named__value(f, 0, s->named->data, s->named->len, &v))
		v.number = 0;
	p->nodes.data[node].self += v.number * s->named->count;
	p->period = !p->samples || p->period == v.number ? v.number : 0;
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
	for (size_t i = s->nstack; s->stack && i-- > 0;) {
		node = stack__node_below(p, node,
					 function_of(p, &s->stack[i], i < s->named->nkernel));
		node = add_inlined(p, node, s->stack[i].inlined);
	}
	p->nodes.data[node].calls += s->named->count;
	add_period(p, node, s);
	add_to_cpu(p, node, s);
	p->samples += s->named->count;
	p->deeper += p->nodes.data[node].function == STATS_DEEPER;
}

const char *samples__name(const struct stats *p, uint32_t function)
{
	return p->priv->names.data[function - STATS_SAMPLED];
}

void samples__free(struct stats *p)
{
	struct stats_priv *priv = p->priv;
	struct stats_cpu *c;
	char **name;

	vec__each (c, &p->cpus)
		map64__free(&c->intervals.buckets);
	vec__free(&p->cpus);
	vec__free(&p->on_cpu);
	map64__free(&priv->cpus);
	map64__free(&priv->on_cpu);
	vec__each (name, &priv->names)
		free(*name);
	vec__free(&priv->names);
	map64__free(&priv->name_hashes);
}

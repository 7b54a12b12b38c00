// SPDX-License-Identifier: BSD-2-Clause
/* Copies of steps that outlive the callback. */
#include <stdlib.h>
#include "trace/trace.h"

/* The frames are in the step's stack. */
static void take_named(struct kept_step *k, const struct step *s)
{
	k->named = *s->named;
	k->named.stack = NULL;
	k->data = xmalloc(s->named->len + 1);
	memcpy(k->data, s->named->data, s->named->len);
}

void kept__take(struct kept_step *k, const struct step *s)
{
	*k = (struct kept_step){.step = *s};
	snprintf(k->comm, sizeof(k->comm), "%s", s->comm);
	k->text = s->text ? xstrdup(s->text) : NULL;
	if (s->regs)
		memcpy(k->regs, s->regs, sizeof(k->regs));
	if (s->syscall_args)
		memcpy(k->syscall_args, s->syscall_args, sizeof(k->syscall_args));
	if (s->nfetched) {
		k->fetched = xcalloc(s->nfetched, sizeof(*k->fetched));
		memcpy(k->fetched, s->fetched, s->nfetched * sizeof(*k->fetched));
	}
	if (s->nstack) {
		k->stack = xcalloc(s->nstack, sizeof(*k->stack));
		memcpy(k->stack, s->stack, s->nstack * sizeof(*k->stack));
	}
	if (s->named)
		take_named(k, s);
}

const struct step *kept__step(struct kept_step *k)
{
	k->step.comm = k->comm;
	k->step.regs = k->step.regs ? k->regs : NULL;
	k->step.syscall_args = k->step.syscall_args ? k->syscall_args : NULL;
	k->step.stack = k->stack;
	k->step.fetched = k->fetched;
	k->step.text = k->text;
	if (k->step.named) {
		k->step.named = &k->named;
		k->named.data = k->data;
		k->named.comm = k->comm;
	}
	return &k->step;
}

void kept__free(struct kept_step *k)
{
	free(k->stack);
	free(k->fetched);
	free(k->text);
	free(k->data);
	k->data = NULL;
	k->stack = NULL;
	k->fetched = NULL;
	k->text = NULL;
}

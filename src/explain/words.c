// SPDX-License-Identifier: BSD-2-Clause
/* Words that text and JSON share. */
#include <stdlib.h>
#include "explain/libraries.h"
#include "explain/show.h"

const char *show__errno_name(int64_t number)
{
	return number > 0 && number < 4096 ? strerrorname_np((int)number) : NULL;
}

const char *show__syscall_of(const struct plan *p, uint32_t function)
{
	const struct plan_function *f = &p->functions.data[function];
	const struct arch_kernel *k = p->arch->kernel;

	if (!k || !f->raw || !plan__is_kernel_function(p, function))
		return NULL;
	for (const struct syscall_wrapper *w = k->syscalls; w && w->prefix; w++)
		if (!strncmp(f->raw, w->prefix, strlen(w->prefix)))
			return f->raw + strlen(w->prefix);
	return NULL;
}

struct explained *failure__in_kernel(struct output *o, const struct outcome *f)
{
	const struct explaining *e = o->options.explaining;
	const char *name = e->syscall_name ? e->syscall_name(f->number) : NULL, *of;
	struct explained *x, *found = NULL;

	vec__each (x, &((struct explain_state *)o->state)->failures) {
		of = show__syscall_of(o->plan, x->verdict->function);
		if (name && of && !strcmp(of, name) && x->pid == f->pid &&
		    (int32_t)x->verdict->value == (int32_t)f->result)
			found = x; /* the last one */
	}
	return found;
}

void show__read_source(const struct output *o, uint32_t object)
{
	if (o->options.read_source)
		o->options.read_source(o->options.read_ctx, object);
}

struct step show__step_of(const struct output *o, const struct verdict *v)
{
	show__read_source(o, o->plan->sites.data[v->branch.site].object);
	return (struct step){.type = STEP_BRANCH,
			     .plan = o->plan,
			     .site = v->branch.site,
			     .function = v->function,
			     .taken = v->branch.taken,
			     .tested = v->branch.tested};
}

bool show__is_planned(const struct plan *p, const struct verdict *v)
{
	bool kernel = plan__is_kernel_function(p, v->function);

	for (uint32_t i = 0; v->callee_known && i < p->objects.len; i++)
		if (p->objects.data[i].kernel == kernel && v->callee.object &&
		    !strcmp(p->objects.data[i].path, v->callee.object) &&
		    plan__function_at(p, i, v->callee.vaddr) != NO_FUNCTION)
			return true;
	return false;
}

bool verdict__tests_library(const struct output *o, const struct verdict *v)
{
	return v->tests_call && !v->cause && !v->failed.result && v->decided &&
	       library__of(o, &v->failed_in);
}

bool verdict__is_passed_on(const struct output *o, const struct verdict *v)
{
	return v->passed || !v->decided || v->tests_loaded || !verdict__is_followed(v) ||
	       verdict__tests_library(o, v);
}

const struct item *verdict__last_test(const struct verdict *v)
{
	bool more = v->set || (v->cause && verdict__deciding(v->cause));

	return v->last_test.site == NO_SITE || more ? NULL : &v->last_test;
}

const struct stored *show__stored(struct output *o, const struct verdict *v,
				  const struct verdict *deciding)
{
	struct explain_state *s = o->state;
	const struct explaining *e = o->options.explaining;
	const struct stored *st = v ? stored__in(s, v) : NULL;

	/* the status itself: another value was stored later, in a way that isn't seen */
	if (st && v->origin.kind == VALUE_LOAD && st->has_value &&
	    (st->value & 0xff) != (unsigned)e->status)
		return NULL;
	return st || !deciding ? st : stored__in(s, deciding);
}

const char *show__assumed(struct output *o, const struct verdict *v)
{
	return v->origin.assumed && v->origin.kind == VALUE_LOAD && show__stored(o, v, NULL)
		       ? "nothing else has stored to that variable since, as by a pointer"
		       : v->origin.assumed;
}

const char *show__unknown(const struct verdict *v)
{
	const struct verdict *deciding = verdict__deciding(v), *innermost = verdict__innermost(v);
	const struct value_origin *m = &innermost->origin;

	if (m->kind == VALUE_CALL && !innermost->inner && !innermost->callee_traced)
		return NULL; /* the reason is printed in more detail */
	if (m->kind == VALUE_CALL && !innermost->inner)
		return "how the called function came by it isn't known";
	if (innermost->unsure)
		return innermost->unsure;
	if (!deciding &&
	    (m->kind == VALUE_LOAD || m->kind == VALUE_CODE || m->kind == VALUE_ARGUMENT))
		return "no branch decided between this and another way to the value";
	if (!deciding)
		return "the traced functions return this value whichever way they go";
	return NULL;
}

// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include "select/targets.h"
#include "named_events.h"

struct finding {
	struct named_events *with;
	struct plan *p;
	struct object *o; /* of static probes */
	const usdt_vec *all;
	size_t found;
	int err;
};

/* Returns the index of the plan's event of this name; the number of events if there is none. */
static uint32_t index_of(const struct plan *p, const char *name)
{
	uint32_t i = 0;

	while (i < p->named.len && strcmp(p->named.data[i].name, name))
		i++;
	return i;
}

/* ---- tracepoints ---- */

static void add_tracepoint(void *ctx, const char *name)
{
	struct finding *f = ctx;

	f->found++;
	if (!f->err && index_of(f->p, name) == f->p->named.len)
		f->err = tracepoint__add(f->p, name);
}

static const char *after_colon(const char *text)
{
	const char *colon = strrchr(text, ':');

	return colon ? colon + 1 : text;
}

/* The event that is most like what was given: of a system call, its entry. */
struct nearest {
	const char *name; /* without its group */
	size_t len;
	char *best;
	unsigned distance;
};

#define ENTRY "sys_enter_"

static void compare(void *ctx, const char *event)
{
	const char *name = after_colon(event), *call = strstr(name, ENTRY);
	struct nearest *n = ctx;
	unsigned d;

	name = call == name ? name + strlen(ENTRY) : name;
	d = str__distance(n->name, n->len, name, strlen(name), 2);
	if (d > 2 || (n->best && d >= n->distance))
		return;
	free(n->best);
	n->best = xstrdup(event);
	n->distance = d;
}

static int no_tracepoint(const char *pattern)
{
	struct nearest n = {.name = after_colon(pattern), .len = strlen(after_colon(pattern))};
	autofree char *hint = NULL;

	if (n.len > 2)
		tracepoints__each("*", compare, &n);
	hint = n.best ? xasprintf("; did you mean %s?", n.best) : xstrdup(";");
	free(n.best);
	return err__set(ENOENT,
			"no event '%s'%s bbtrace list --events kernel '*%s*' looks for others; a "
			"program's are usdt:OBJECT:NAME",
			pattern, hint, n.name);
}

static int add_tracepoints(struct plan *p, const char *pattern)
{
	struct finding f = {.p = p};
	int err = tracepoints__each(pattern, add_tracepoint, &f);

	if (err || f.err || f.found)
		return err ? err : f.err;
	return no_tracepoint(pattern);
}

/* ---- static probes of programs ---- */

/* pattern: NAME or PROVIDER:NAME */
static bool matches(const struct usdt_probe *u, const char *pattern)
{
	autofree char *both = xasprintf("%s:%s", u->provider, u->name);

	return !fnmatch(pattern, strchr(pattern, ':') ? both : u->name, 0);
}

/* Arguments have the same type at all places of an event. */
static void add_usdt(struct finding *f, const struct usdt_probe *u)
{
	autofree char *name = xasprintf("%s:%s", u->provider, u->name);
	struct usdt_probe *own = xmalloc(sizeof(*own));
	uint32_t which = index_of(f->p, name);

	if (which == f->p->named.len) {
		plan__add_named(f->p, NAMED_USDT, name);
		usdt__add_fields(f->p, f->o, f->all, u);
	}
	*own = *u;
	plan__keep(f->p, f->o, u->vaddr);
	vec__push(&f->with->usdt, (struct usdt_site){.named = which, .object = f->o, .probe = own});
	usdt__resolve(f->p->arch, f->o, vec__last(&f->with->usdt));
	f->found++;
}

/* False if a linker dropped the function but left the notes of its probes, with meaningless
 * addresses. */
static bool is_there(const struct object *o, const struct usdt_probe *u)
{
	uint64_t offset;

	if (object__is_code(o, u->vaddr) && object__vaddr_to_offset(o, u->vaddr, &offset) &&
	    (!u->semaphore || object__vaddr_to_offset(o, u->semaphore, &offset)))
		return true;
	note("%s: static probe %s:%s is left out: it has no code, or no semaphore, in the file",
	     o->path, u->provider, u->name);
	return false;
}

/* Registers and words have the plan's architecture. If nothing else is traced, that is the one
 * of the first static probe. */
static int set_arch(const struct named_events *with, struct plan *p, const struct object *o)
{
	const struct arch *arch = arch__by_machine(o->machine);

	if (!arch || arch == p->arch)
		return 0;
	if (p->functions.len || with->usdt.len)
		return err__usage(
			"%s is for %s, the rest of this trace is for %s; trace them one at a time",
			o->path, arch->name, p->arch->name);
	p->arch = arch;
	return 0;
}

static int add_usdts(struct named_events *with, struct plan *p, struct object *o,
		     const char *pattern)
{
	struct finding f = {.with = with, .p = p, .o = o};
	const struct usdt_probe *u;
	autofree usdt_vec all = {0};
	int err = set_arch(with, p, o);

	if (err)
		return err;
	object__usdt(o, &all);
	f.all = &all;
	vec__each (u, &all)
		if (matches(u, pattern) && is_there(o, u))
			add_usdt(&f, u);
	if (f.found)
		return 0;
	return all.len ? err__set(ENOENT, "%s has no static probe '%s'; bbtrace list --events %s",
				  o->path, pattern, o->path)
		       : err__set(ENOENT, "%s has no static probes (.note.stapsdt)", o->path);
}

/* "OBJECT:NAME" or "OBJECT:PROVIDER:NAME" */
static int add_of_object(struct named_events *with, struct targets *n, pid_t pid, struct plan *p,
			 const char *text)
{
	const char *colon = object__colon(text, pid);
	autofree char *name = colon ? xstrndup(text, colon - text) : NULL;
	struct object *o;
	int err;

	if (!name || !*name || !colon[1])
		return err__usage("'usdt:%s': write usdt:OBJECT:NAME or usdt:OBJECT:PROVIDER:NAME",
				  text);
	err = targets__open(n, name, pid, &o);
	return err ? err : add_usdts(with, p, o, colon + 1);
}

static const char *after_prefix(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) ? NULL : text + strlen(prefix);
}

static int add_one(struct named_events *with, struct targets *n, pid_t pid, struct plan *p,
		   const char *text)
{
	const char *usdt = after_prefix(text, "usdt:"),
		   *tracepoint = after_prefix(text, "tracepoint:");

	if (usdt)
		return add_of_object(with, n, pid, p, usdt);
	return add_tracepoints(p, tracepoint ? tracepoint : text);
}

/* The field of samples is the period: ns, or counts of another kind, between two samples. */
static void add_samples(struct plan *p)
{
	plan__add_named(p, NAMED_SAMPLE, sample__clock());
	plan__add_field(p,
			&(struct plan_field){
				.name = "period", .type = "u64", .size = 8, .kind = TYPE_UNSIGNED});
}

/* -e sched */
static void add_switches(struct plan *p)
{
	plan__add_named(p, NAMED_OFF_CPU, "off-cpu");
	plan__add_field(
		p, &(struct plan_field){
			   .name = "state", .type = "char[1]", .size = 1, .kind = TYPE_STRING});
	plan__add_named(p, NAMED_ON_CPU, "on-cpu");
}

int named_events__plan(struct named_events *with, const struct request *req, struct targets *n,
		       pid_t pid, struct plan *p)
{
	const char *const *name;
	int err = 0;

	if (req->record.freq)
		add_samples(p);
	if (req->record.sched)
		add_switches(p);
	for (size_t i = 0; !err && req->verb->bit == VERB_EVENT && i < req->operands.len; i++)
		err = add_one(with, n, pid, p, req->operands.data[i]);
	vec__each (name, &req->what.with)
		if (!err)
			err = add_one(with, n, pid, p, *name);
	return err;
}

static int find_in_object(struct named_events *with, char *const *words, size_t nwords,
			  struct targets *n, pid_t pid, struct plan *p)
{
	struct object *o;
	int err = targets__open(n, words[0], pid, &o);

	if (!err && nwords == 1)
		err = add_usdts(with, p, o, "*");
	for (size_t i = 1; !err && i < nwords; i++)
		err = add_usdts(with, p, o, words[i]);
	return err;
}

int named_events__find(struct named_events *with, char *const *words, size_t nwords,
		       struct targets *n, pid_t pid, struct plan *p)
{
	int err = 0;

	if (strcmp(words[0], "kernel"))
		return find_in_object(with, words, nwords, n, pid, p);
	if (nwords == 1)
		return add_tracepoints(p, "*");
	for (size_t i = 1; !err && i < nwords; i++)
		err = add_tracepoints(p, words[i]);
	return err;
}

void named_events__free(struct named_events *with)
{
	const struct usdt_site *s;

	vec__each (s, &with->usdt)
		free((void *)s->probe);
	vec__free(&with->usdt);
}

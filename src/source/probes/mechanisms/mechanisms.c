// SPDX-License-Identifier: BSD-2-Clause
/*
 * The ranked table of attach mechanisms, and the choice of one: among those that the kernel has and
 * that attach quickly, the one that spares the most processes, then the first.
 */
#include <errno.h>
#include "source/probes/session.h"

/* Each definition is compared with all others: this many take one or two seconds. */
#define EVENT_SITES 10000

/* What two rows have in common: with programs that do instructions, and without. */
#define UPROBE_MULTI                                                                               \
	.lookup = LOOKUP_COOKIE, .loss = LOSS_TAKEOVER, .attach = uprobe_multi__attach,            \
	.detach = uprobe_multi__detach, .attach_again = uprobe_multi__attach_again,                \
	.change = uprobe_multi__change, .add = uprobe_multi__add, .remove = uprobe_multi__remove,  \
	.park = uprobe_multi__park, .unpark = uprobe_multi__unpark, .quick = true,                 \
	.spares = uprobe_multi__spares
#define UPROBE_EVENT                                                                               \
	.lookup = LOOKUP_UPROBE, .loss = LOSS_EVENTS, .most = EVENT_SITES,                         \
	.attach = uprobe_event__attach, .detach = uprobe_event__detach,                            \
	.attach_again = uprobe_event__attach_again, .add = uprobe_event__add,                      \
	.remove = uprobe_multi__remove, .park = uprobe_event__park,                                \
	.unpark = uprobe_event__unpark, .spares = uprobe_event__spares

const struct mechanism mechanisms[] = {
	{.name = "executed_multi",
	 .what = "as uprobe_multi; the program of an entry or a ret does the instruction",
	 .program = "hit_multi_executing",
	 UPROBE_MULTI,
	 .check = feature__executed_multi,
	 .executes = true,
	 .remedy = "uprobe_multi is used instead"},
	{.name = "executed_event",
	 .what = "as uprobe_event; the program of an entry or a ret does the instruction",
	 .program = "hit_uprobe_executing",
	 UPROBE_EVENT,
	 .check = feature__executed_event,
	 .executes = true,
	 .remedy = "uprobe_event is used instead"},
	{.name = "uprobe_multi",
	 .what = "one link for thousands of probes in programs and libraries",
	 .program = "hit_multi",
	 UPROBE_MULTI,
	 .check = feature__uprobe_multi,
	 .remedy = "Linux 6.6 or newer has it"},
	{.name = "uprobe_event",
	 .what = "one trace event with many probes in programs and libraries",
	 .program = "hit_uprobe",
	 UPROBE_EVENT,
	 .check = feature__tracefs_uprobes,
	 .remedy = "boot a kernel with CONFIG_UPROBES and CONFIG_UPROBE_EVENTS"},
	{.name = "kprobe_multi",
	 .what = "one link for the entries of thousands of kernel functions",
	 .kernel = true,
	 .program = "hit_entry",
	 .lookup = LOOKUP_COOKIE,
	 .loss = LOSS_NONE,
	 .check = feature__kprobe_multi,
	 .suits = kprobe_multi__suits,
	 .attach = kprobe_multi__attach,
	 .detach = kprobe_multi__detach,
	 .add = kprobe_multi__add,
	 .park = kprobe_multi__park,
	 .unpark = kprobe_multi__unpark,
	 .remedy = "a kernel with CONFIG_FPROBE: Debian's from Linux 6.12 on"},
	{.name = "kprobe_event",
	 .what = "one trace event with many probes in the kernel",
	 .kernel = true,
	 .program = "hit_kprobe",
	 .lookup = LOOKUP_KERNEL,
	 .loss = LOSS_NONE,
	 .check = feature__tracefs_kprobes,
	 .attach = kprobe_event__attach,
	 .detach = kprobe_event__detach,
	 .change = kprobe_event__change,
	 .add = kprobe_event__add,
	 .remove = kprobe_event__remove,
	 .park = kprobe_event__park,
	 .unpark = kprobe_event__unpark,
	 .remedy = "boot a kernel with CONFIG_KPROBES and CONFIG_KPROBE_EVENTS, as distributions "
		   "build theirs "
		   "(Debian: linux-image-amd64, Ubuntu: linux-image-generic, Fedora: kernel-core)"},
	{0},
};

static bool takes_long(const struct probe *p, const struct mechanism *m)
{
	return m->most && plan__hooked(p->plan) > m->most;
}

/* Returns true if m is better than the other. One that takes too long to attach is the last resort;
 * if recording is switched, one that attaches and detaches quickly is better. */
static bool is_better(const struct probe *p, const struct mechanism *m,
		      const struct mechanism *than)
{
	if (takes_long(p, m) || takes_long(p, than))
		return !takes_long(p, m);
	if (p->options->parks && m->quick != than->quick)
		return m->quick;
	return mechanism__spares(p, m) > mechanism__spares(p, than);
}

/* Records why a mechanism that would have spared more processes was not used. */
static void PRINTF_LIKE(3, 4)
	leave_out(struct probe *p, const struct mechanism *m, const char *why, ...)
{
	va_list ap;

	if (p->scope.kind == SCOPE_ALL || mechanism__spares(p, m) < SPARES_ALL || p->unspared)
		return;
	va_start(ap, why);
	if (vasprintf(&p->unspared, why, ap) < 0)
		p->unspared = NULL;
	va_end(ap);
}

/* -ENOENT: the kernel was built without what m needs. */
static int refuse(const struct mechanism *m, int err)
{
	autofree char *why = xstrdup(err__text());

	if (err == -ENOENT)
		err__set(ENOENT, "%s; %s", why, m->remedy);
	return err__prefix(err, "cannot probe %s", m->kernel ? "kernel functions" : "programs");
}

static bool is_named(const struct mechanism *m, const char *name)
{
	return !strcmp(m->name, name);
}

/* Returns NULL if there is none of this name. */
static const struct mechanism *by_name(const char *name)
{
	for (const struct mechanism *m = mechanisms; m->name; m++)
		if (is_named(m, name))
			return m;
	return NULL;
}

bool mechanism__exists(const char *name)
{
	return by_name(name);
}

/* Returns true if --attach leaves this one out. It names a mechanism for programs or one for the
 * kernel: if both are traced, the best one is used for the other. */
static bool is_left_out(const struct probe *p, const struct mechanism *m)
{
	const char *name = p->options->attach;

	if (!name || is_named(m, name))
		return false;
	return !(by_name(name)->kernel != m->kernel && plan__has_kernel(p->plan) &&
		 plan__has_programs(p->plan));
}

/* Returns 0 if the kernel has it, and it can do what is requested. */
static int check(const struct probe *p, const struct mechanism *m)
{
	int err = m->suits ? m->suits(p) : 0;

	if (err)
		return err;
	err = m->check();
	if (!err && p->plan->return_probes && !m->kernel && m->lookup != LOOKUP_COOKIE)
		err = err__set(ENOTSUP, "only uprobe_multi, from Linux 6.6 on, has --returns "
					"probe; --returns ret does without");
	if (!err && p->options->retires && !m->change)
		err = err__set(ENOTSUP, "probes that retire need %s",
			       m->kernel ? "kprobe_event" : "uprobe_multi");
	if (err)
		note_verbose("%s is not available: %s", m->name, err__text());
	return err;
}

static int choose(struct probe *p, struct attachment *a, bool kernel)
{
	const struct mechanism *m, *tried = NULL;
	int err = 0;

	for (m = mechanisms; m->name; m++) {
		if (m->kernel != kernel || (m->executes && !p->plan->executes))
			continue;
		if (is_left_out(p, m)) {
			leave_out(p, m, "--attach %s", p->options->attach);
			continue;
		}
		tried = m;
		if (a->mechanism && !is_better(p, m, a->mechanism)) {
			if (takes_long(p, m))
				leave_out(p, m, "%u probes are more than %u", plan__hooked(p->plan),
					  m->most);
			else if (p->options->parks && !m->quick)
				leave_out(p, m,
					  "%s would spare them, but recording starts and stops "
					  "slowly with it",
					  m->name);
			continue;
		}
		err = check(p, m);
		if (err)
			leave_out(p, m, "%s", err__text());
		else
			a->mechanism = m;
	}
	if (!tried)
		return err__usage("--attach %s is for %s only", p->options->attach,
				  kernel ? "programs and libraries" : "kernel functions");
	if (!a->mechanism)
		return refuse(tried, err);
	note_verbose("probes are attached by %s", a->mechanism->name);
	return 0;
}

/* If all functions of programs log for themselves, there is nothing to hook. */
static bool hooks_programs(const struct probe *p)
{
	if (!p->options->inlines)
		return plan__has_programs(p->plan);
	for (uint32_t i = 0; i < p->plan->sites.len; i++)
		if (plan_site__is_hooked(&p->plan->sites.data[i]) &&
		    !plan__is_kernel_site(p->plan, i))
			return true;
	return false;
}

/* Functions may be added later, only by links: nothing is attached until then. */
static void choose_for_later(struct probe *p)
{
	const struct mechanism *m = by_name(p->plan->executes ? "executed_multi" : "uprobe_multi");

	if (p->options->grows && plan__has_programs(p->plan) && !is_left_out(p, m) && !check(p, m))
		p->programs.mechanism = m;
}

int mechanisms__choose(struct probe *p)
{
	bool hooks = hooks_programs(p);
	int err = hooks ? choose(p, &p->programs, false) : 0;

	if (!hooks)
		choose_for_later(p);
	if (!err && plan__has_kernel(p->plan))
		err = choose(p, &p->kernel, true);
	/* asked now: later there may be no capability left */
	p->adds_links = p->options->grows && p->programs.mechanism && !feature__uprobe_multi();
	if (p->adds_links)
		feature__uprobe_multi_by_process();
	if (p->scope.kind == SCOPE_DESCENDANTS && !feature__inherited_events() && !p->unspared)
		p->unspared = xstrdup("-f spares them from Linux 6.13 on");
	return err;
}

bool probes__can_execute(const char *attach, int *err)
{
	const struct mechanism *m;
	bool named_kernel; /* programs are attached to by the best one */

	*err = 0;
	for (m = mechanisms; attach && m->name && strcmp(m->name, attach); m++)
		;
	named_kernel = attach && (!m->name || m->kernel);
	attach = named_kernel ? NULL : attach;
	if (attach && !m->executes)
		return false;
	*err = attach ? m->check() : feature__execution();
	if (*err && named_kernel) {
		err__clear();
		*err = 0;
		return false;
	}
	return !*err;
}

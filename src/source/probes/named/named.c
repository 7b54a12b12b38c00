// SPDX-License-Identifier: BSD-2-Clause
/* The plan's named events: what the BPF program records of each, and its links. */
#include <errno.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "source/probes/maps/filters.h"
#include "source/probes/session.h"
#include "bbtrace.skel.h"

static bool is_located(const struct plan_field *f)
{
	return f->kind == TYPE_STRING_AT || f->kind == TYPE_BYTES_AT;
}

static struct wire_named_spec spec_of(const struct probe *p, uint32_t which)
{
	struct wire_named_spec spec = {0};
	size_t n;
	const struct plan_field *f = plan__fields(p->plan, which, &n);

	for (size_t i = 0; i < n; i++, f++) {
		spec.size = max_of(spec.size, f->offset + f->size);
		if (is_located(f) && spec.dynamic < NAMED_DYNAMIC)
			spec.dynamic_at[spec.dynamic++] = f->offset;
	}
	if (p->plan->named.data[which].kind == NAMED_USDT)
		spec.size = spec.dynamic = 0;
	if (p->options->stack)
		spec.flags = NAMED_USER_STACK | NAMED_KERNEL_STACK;
	return spec;
}

/* Threads that wait for a CPU. */
#define OFF_CPU 65536
/* How many different samples, and stacks of these, are counted; what has no room gets a record of
 * its own. */
#define SAMPLED 32768
#define STACKS	16384

void named__size(struct probe *p)
{
	bool adds_up = p->options->adds_up;

	map__set_most(p->skel->maps.off_cpu, plan__has_named(p->plan, NAMED_OFF_CPU) ? OFF_CPU : 0);
	map__set_most(p->skel->maps.named_specs, p->plan->named.len);
	map__set_most(p->skel->maps.usdt_sites, p->options->nusdt);
	map__set_most(p->skel->maps.outcome_texts, p->options->outcomes ? OUTCOME_CALLS : 0);
	/* kernels may be set to shorter stacks than this map has, and refuse it */
	bpf_map__set_autocreate(p->skel->maps.sampled_stacks, adds_up);
	map__set_most(p->skel->maps.sampled_stacks, STACKS);
	map__set_most(p->skel->maps.sampled, adds_up ? SAMPLED : 0);
}

static int fill_outcomes(struct probe *p)
{
	int fd = bpf_map__fd(p->skel->maps.outcome_texts);

	for (uint32_t i = 0; p->options->outcomes && i < OUTCOME_CALLS; i++)
		if (p->options->outcomes[i] &&
		    bpf_map_update_elem(fd, &i, &p->options->outcomes[i], BPF_ANY))
			return err__set(errno, "cannot describe system calls: %s", strerror(errno));
	return 0;
}

int named__fill(struct probe *p)
{
	int fd = bpf_map__fd(p->skel->maps.named_specs);

	for (uint32_t i = 0; i < p->plan->named.len; i++) {
		struct wire_named_spec spec = spec_of(p, i);

		if (bpf_map_update_elem(fd, &i, &spec, BPF_ANY))
			return err__set(errno, "cannot describe event %s: %s",
					p->plan->named.data[i].name, strerror(errno));
	}
	return fill_outcomes(p);
}

void named__choose_programs(struct probe *p)
{
	bpf_program__set_autoload(p->skel->progs.on_usdt, false);
	bpf_program__set_autoload(p->skel->progs.on_usdt_multi, false);
	bpf_program__set_autoload(p->skel->progs.on_switch, plan__has_named(p->plan, NAMED_ON_CPU));
	bpf_program__set_autoload(p->skel->progs.on_tracepoint,
				  plan__has_named(p->plan, NAMED_TRACEPOINT));
	bpf_program__set_autoload(usdt__program(p), p->options->nusdt);
	bpf_program__set_autoload(p->skel->progs.on_sample, plan__has_named(p->plan, NAMED_SAMPLE));
}

static struct bpf_link *attach_tracepoint(struct probe *p, uint32_t which)
{
	const char *name = p->plan->named.data[which].name, *colon = strchr(name, ':');
	autofree char *group = xstrndup(name, colon - name);
	LIBBPF_OPTS(bpf_tracepoint_opts, o, .bpf_cookie = which);

	return bpf_program__attach_tracepoint_opts(p->skel->progs.on_tracepoint, group, colon + 1,
						   &o);
}

static int refuse(const char *name, int err)
{
	if (err == -EOPNOTSUPP || err == -EINVAL || err == -ENOTSUP)
		return err__set(ENOTSUP,
				"%s: this kernel can't attach a program with a cookie to a "
				"tracepoint, from Linux 5.15 on it can",
				name);
	return err__set(-err, "%s: cannot attach to it: %s", name, strerror(-err));
}

static int attach_switch(struct probe *p)
{
	struct bpf_link *link;

	if (!plan__has_named(p->plan, NAMED_ON_CPU))
		return 0;
	link = bpf_program__attach(p->skel->progs.on_switch);
	if (!link)
		return err__set(ENOTSUP, "-e sched: cannot attach to sched_switch: %s",
				strerror(errno));
	vec__push(&p->named, link);
	return 0;
}

int named__attach(struct probe *p)
{
	for (uint32_t i = 0; i < p->plan->named.len; i++) {
		const struct plan_named *n = &p->plan->named.data[i];
		struct bpf_link *link = NULL;

		int err = n->kind == NAMED_SAMPLE ? sample__attach(p, i) : 0;

		if (err)
			return err;
		if (n->kind != NAMED_TRACEPOINT)
			continue;
		link = attach_tracepoint(p, i);
		if (!link)
			return refuse(n->name, -errno);
		vec__push(&p->named, link);
	}
	return attach_switch(p) ? -ENOTSUP : usdt__attach(p);
}

void named__detach(struct probe *p)
{
	struct bpf_link **link;

	sample__end(p);
	vec__each (link, &p->named)
		bpf_link__destroy(*link);
	vec__free(&p->named);
}

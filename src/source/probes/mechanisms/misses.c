// SPDX-License-Identifier: BSD-2-Clause
/*
 * Hits that ran no program, as far as the kernel counts them: of kprobe events by site, of links of
 * kprobe_multi by link, of others by program. Each is reported once.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "source/probes/session.h"
#include "tracefs.h"
#include "bbtrace.skel.h"

/* What a count is of, in the upper half of its key; in the lower half, which one. */
enum { OF_SITE, OF_LINK, OF_PROGRAM };
#define KEY(of, id) ((uint64_t)(of) << 32 | (uint32_t)(id))

/* The kernel's count of this key is now total. If it is less than before, it has begun again. */
static void note_misses(struct probe *p, uint64_t key, struct missed what, uint64_t total)
{
	uint64_t *index;
	struct miss *m;

	if (!total)
		return;
	index = map64__put(&p->misses.by_key, key);
	if (!*index) {
		vec__push(&p->misses.all, (struct miss){.missed = what});
		*index = p->misses.all.len;
	}
	m = &p->misses.all.data[*index - 1];
	m->missed.hits += total < m->seen ? total : total - m->seen;
	m->seen = total;
}

static struct missed by(const char *what)
{
	return (struct missed){.site = NO_SITE, .what = what};
}

/* ---- of kprobes: they came while that CPU was handling another one ---- */

struct kprobes {
	struct probe *p;
	struct map64 sites; /* address of the probe -> site + 1 */
};

static void find_sites(struct kprobes *k)
{
	const struct plan *plan = k->p->plan;

	for (uint32_t i = 0; i < plan->sites.len; i++) {
		const struct plan_site *s = &plan->sites.data[i];
		uint64_t *site;

		if (!plan__is_kernel_site(plan, i))
			continue;
		site = map64__put(&k->sites, s->vaddr + s->probe_at);
		*site = *site && !plan_site__is_hooked(s) ? *site : i + 1;
	}
}

static void on_kprobe(void *ctx, uint64_t at, uint64_t total)
{
	struct kprobes *k = ctx;
	const uint64_t *site;

	if (!total)
		return;
	if (!k->sites.len)
		find_sites(k);
	site = map64__get(&k->sites, at);
	if (site)
		note_misses(k->p, KEY(OF_SITE, *site - 1), (struct missed){.site = *site - 1},
			    total);
	else
		note_misses(k->p, KEY(OF_LINK, at), by("kprobe_event"), total);
}

/* include/uapi/linux/bpf.h, struct bpf_link_info of such a link; older headers lack it. From 6.7 on
 * it counts missed hits: calls that the program itself caused. */
struct multi_info {
	uint32_t type, id, prog_id, pad;
	uint64_t addrs;
	uint32_t count, flags;
	uint64_t missed;
};

static void look_at_link(struct probe *p, const struct attached *a)
{
	struct bpf_link_info info = {0};
	struct multi_info multi = {0};
	uint32_t len = sizeof(info);
	uint64_t key;

	if (sizeof(info) < sizeof(multi) ||
	    bpf_link_get_info_by_fd(bpf_link__fd(a->link), &info, &len) || len < sizeof(multi))
		return;
	memcpy(&multi, &info, sizeof(multi));
	key = KEY(OF_LINK, multi.id);
	note_misses(p, key,
		    a->part == NO_SITE ? by("kprobe_multi") : (struct missed){.site = a->part},
		    multi.missed);
}

/* Returns -errno if not known. */
static int look_at_kprobes(struct probe *p)
{
	struct kprobes k = {.p = p};
	const struct attached *a;
	int err = 0;

	if (!p->kernel.mechanism)
		return 0;
	if (p->kernel.tracefs >= 0)
		err = tracefs__misses(p->kernel.tracefs, on_kprobe, &k);
	else
		vec__each (a, &p->kernel.links)
			look_at_link(p, a);
	map64__free(&k.sites);
	return err;
}

/* ---- of programs: BPF was already running on that CPU ---- */

uint64_t program__misses(const struct bpf_program *program)
{
	struct bpf_prog_info info = {0};
	uint32_t len = sizeof(info);

	if (!program || !bpf_program__autoload(program) ||
	    bpf_prog_get_info_by_fd(bpf_program__fd(program), &info, &len))
		return 0;
	return info.recursion_misses;
}

static void look_at_program(struct probe *p, const struct bpf_program *program, const char *what)
{
	note_misses(p, KEY(OF_PROGRAM, bpf_program__fd(program)), by(what),
		    program__misses(program));
}

static void look_at_programs(struct probe *p)
{
	const struct mechanism *programs = p->programs.mechanism, *kernel = p->kernel.mechanism;

	if (programs)
		look_at_program(p, probe__program(p, &p->programs), programs->name);
	if (kernel)
		look_at_program(p, probe__program(p, &p->kernel), kernel->name);
	/* links that were added to another mechanism's probes */
	if (programs && programs->lookup != LOOKUP_COOKIE)
		look_at_program(p, multi__program(p), "uprobe_multi");
	/* an exec may have removed probes, and a signal's handler may have left calls */
	if (mechanism__loss(p) != LOSS_NONE)
		look_at_program(p, p->skel->progs.on_exec, "sched_process_exec");
	look_at_program(p, p->skel->progs.on_signal, "signal_deliver");
}

/* A fork that wasn't seen is found at the child's first hit (bpf/who.h), and an exit by its
 * sideband event. */
static void report_tasks(const struct probe *p)
{
	const struct {
		const struct bpf_program *program;
		const char *what;
	} rows[] = {
		{p->skel->progs.on_fork, "forks"},
		{p->skel->progs.on_exit, "exits"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t n = program__misses(rows[i].program);

		if (n)
			note_verbose("%llu %s, of all processes, were not seen",
				     (unsigned long long)n, rows[i].what);
	}
}

/* ---- what the source reports ---- */

void probe__misses(struct source *s, const struct source_sink *sink)
{
	struct probe *p = (struct probe *)s;
	struct miss *m;

	if (look_at_kprobes(p))
		err__clear();
	look_at_programs(p);
	vec__each (m, &p->misses.all) {
		if (m->missed.hits)
			sink->missed(sink->ctx, &m->missed);
		m->reported += m->missed.hits;
		m->missed.hits = 0;
	}
}

/* Returns true if they were a kprobe's, as opposed to a program's. */
static bool is_kprobe(const struct probe *p, const struct miss *m)
{
	return m->missed.site != NO_SITE ||
	       (p->kernel.mechanism && m->missed.what == p->kernel.mechanism->name);
}

void probe__report_misses(struct probe *p)
{
	const struct miss *m;
	uint64_t sum = 0;

	if (look_at_kprobes(p))
		note("how many kprobes were missed is not known: %s", err__text());
	vec__each (m, &p->misses.all)
		sum += is_kprobe(p, m) ? m->reported : 0;
	if (sum)
		note("%llu hits, of all processes, were missed, since they came while that CPU was "
		     "handling another probe: tracing itself uses these functions",
		     (unsigned long long)sum);
	report_tasks(p);
	sum = watches__missed(p);
	if (sum)
		note("%llu hits of watchpoints are not shown: they came while that CPU ran another "
		     "BPF program",
		     (unsigned long long)sum);
}

void probe__keep_misses(struct probe *p)
{
	if (look_at_kprobes(p))
		err__clear();
}

void probe__forget_misses(struct probe *p, uint32_t site)
{
	const uint64_t *index = map64__get(&p->misses.by_key, KEY(OF_SITE, site));

	if (index)
		p->misses.all.data[*index - 1].seen = 0;
}

void probe__free_misses(struct probe *p)
{
	vec__free(&p->misses.all);
	map64__free(&p->misses.by_key);
}

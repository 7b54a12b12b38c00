// SPDX-License-Identifier: BSD-2-Clause
/* A probe set's life: load the BPF object for a plan and its filters, start, poll, stop, close. */
#include <errno.h>
#include <stdlib.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include "source/probes/maps/conditions.h"
#include "source/probes/stream/counters.h"
#include "source/probes/stream/drain.h"
#include "source/probes/maps/fetches.h"
#include "source/probes/maps/filters.h"
#include "source/probes/stream/own_rings.h"
#include "source/kernel_types.h"
#include "source/probes/stream/sideband.h"
#include "site_table.h"
#include "source/probes/mechanisms/tracefs.h"
#include "bbtrace.skel.h"

/* The most records that wait to be rendered, as a multiple of the ring's size. */
#define WAITING_RINGS 4

/* libbpf has numbers of its own, from 4000 on. */
static int load_failed(const struct probe *p, int err)
{
	char why[128];

	libbpf_strerror(err, why, sizeof(why));
	if ((err == -EPERM || err == -EACCES) &&
	    privileges__missing(PRIVILEGE_BPF | PRIVILEGE_PERFMON))
		return err__set(
			EPERM,
			"cannot load BPF programs: needs CAP_BPF and CAP_PERFMON; run with sudo");
	if (p->options->btf && (err == -EINVAL || err == -ESRCH || err == -ENOENT))
		return err__set(
			-err,
			"cannot load the BPF programs with the types of %s: %s; they must be "
			"the running kernel's",
			p->options->btf_name, why);
	if (err == -ESRCH || err == -ENOENT)
		return err__set(
			-err, "the kernel has no type information (CONFIG_DEBUG_INFO_BTF); give it "
			      "with --btf FILE");
	if (err == -EINVAL && feature__jit())
		return err__set(EINVAL, "cannot load the BPF programs: the kernel may want to "
					"compile them: sysctl -w net.core.bpf_jit_enable=1");
	return err__set(-err, "cannot load the BPF programs: %s; -v shows what the kernel said",
			why);
}

static int attach_tasks(struct probe *p)
{
	struct bpf_program *const programs[] = {
		p->skel->progs.on_fork,	  p->skel->progs.on_exec,   p->skel->progs.on_exit,
		p->skel->progs.on_signal, p->skel->progs.on_trap,   p->skel->progs.on_rename,
		p->skel->progs.on_setuid, p->skel->progs.on_cgroup, p->skel->progs.on_killed,
		p->skel->progs.on_outcome};

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		if (!bpf_program__autoload(programs[i]))
			continue;
		p->tasks[i] = bpf_program__attach(programs[i]);
		if (!p->tasks[i])
			return err__set(errno, "cannot follow forks and execs: %s",
					strerror(errno));
	}
	if (bpf_program__autoload(p->skel->progs.on_sigreturn))
		sigreturn__attach(p);
	return 0;
}

static int find_own_level(struct probe *p)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);
	int err = p->skel->rodata->config.pid_ns
			  ? bpf_prog_test_run_opts(bpf_program__fd(p->skel->progs.own_level), &run)
			  : 0;

	return err ? err__set(-err, "cannot find out which PID namespace this is: %s",
			      strerror(-err))
		   : 0;
}

static int load(struct probe *p)
{
	const struct types_file given = {.fd = -1};
	CLEANUP(types_file__close)
	struct types_file types = p->options->btf ? given : types_file__open();
	LIBBPF_OPTS(bpf_object_open_opts, open_options, .btf_custom_path = p->options->btf);
	uint32_t nprobes = 0;
	int err;

	for (uint32_t i = 0; i < p->plan->sites.len; i++)
		nprobes += plan_site__is_hooked(&p->plan->sites.data[i]);
	site_table__size(p);
	if (types.fd >= 0)
		open_options.btf_custom_path = types.path;
	p->skel = bbtrace_bpf__open_opts(&open_options);
	if (!p->skel)
		return load_failed(p, -errno);
	probe__configure(p, nprobes);
	err = types_file__fill(&types, bpf_object__btf(p->skel->obj));
	if (err)
		return err;
	err = bbtrace_bpf__load(p->skel);
	if (err)
		return load_failed(p, err);
	p->skel->bss->stopped = 1;
	p->skel->bss->signals = site_table__signals(p->plan);
	return find_own_level(p);
}

static void report_of_goroutines(const struct plan *plan)
{
	const struct plan_object *o;

	vec__each (o, &plan->objects)
		if (o->object && o->object->go && !action__is_go(plan, o->object))
			note("%s: its goroutines, which move between threads, can't be distinguished: depths, "
			     "durations and returns may be wrong or missing",
			     o->path);
}

/* ---- the attached set ---- */

void probe__facts(const struct source *s, struct source_facts *f)
{
	const struct probe *p = (const struct probe *)s;

	f->spares = min_of(f->spares, probe__spares(p));
	f->unspared = p->unspared;
	f->definitions |= probe__by_definitions(p);
	f->filtered |= p->skel->bss->filtered;
	f->verified_insns += probe__verified_insns(p);
	f->left_children += sideband__left_children(p->sideband);
	f->counted_twice += p->skel->bss->marks_full;
	if (probe__counts(p))
		f->unseen_ends +=
			program__misses(p->skel->progs.on_exit) + p->skel->bss->lost_records;
	f->processes = &p->scope.pids;
}

int probe__change(struct source *s)
{
	struct probe *p = (struct probe *)s;
	const struct mechanism *m = p->programs.mechanism, *kernel = p->kernel.mechanism;
	int err = 0;

	if (!p->options->retires || (m && !m->change) || (kernel && !kernel->change))
		return err__set(ENOTSUP, "the probes of this trace can't be changed");
	if (kernel)
		err = kernel->change(p);
	return err || !m ? err : shield__run(m->change, p);
}

int probe__attach(struct source *s)
{
	struct probe *p = (struct probe *)s;
	int err = p->options->markers ? shield__run(markers__attach, p) : 0;
	id_vec sites = {0};

	if (!err && p->kernel.mechanism)
		err = p->kernel.mechanism->attach(p);

	if (!err)
		err = named__attach(p);
	if (err || !p->programs.mechanism)
		return err;
	for (uint32_t i = 0; i < p->plan->sites.len; i++)
		if (plan_site__is_hooked(&p->plan->sites.data[i]) &&
		    !plan__is_kernel_site(p->plan, i))
			vec__push(&sites, i);
	err = probe__check_code(p, &sites);
	if (!err)
		err = shield__run(p->programs.mechanism->attach, p);
	if (!err)
		err = probe__check_mapped(p, &sites);
	vec__free(&sites);
	return err;
}

void probe__forget_sideband(struct source *s)
{
	struct probe *p = (struct probe *)s;
	sideband__forget(p->sideband);
	sideband__limit(p->sideband, &p->scope, p->skel->rodata->config.outcomes);
}

void probe__start(struct source *s)
{
	struct probe *p = (struct probe *)s;

	p->skel->bss->mute_era++;
	__atomic_store_n(&p->skel->bss->stopped, 0, __ATOMIC_RELEASE);
}

/* What is in the ring stays to be taken. */
void probe__stop(struct source *s)
{
	struct probe *p = (struct probe *)s;

	__atomic_store_n(&p->skel->bss->stopped, 1, __ATOMIC_RELEASE);
}

/* ---- close ---- */

static int detach_programs(struct probe *p)
{
	attachment__drop_links(&p->multi.links, 0);
	if (p->programs.mechanism)
		p->programs.mechanism->detach(p);
	attachment__drop_links(&p->programs, 0);
	attachment__drop_links(&p->switches, 0);
	attachment__drop_links(&p->marks, 0);
	return 0;
}

static void detach(struct probe *p)
{
	if (p->kernel.mechanism)
		p->kernel.mechanism->detach(p);
	attachment__drop_links(&p->kernel, 0);
	if (p->programs.mechanism || p->switches.links.len || p->marks.links.len)
		shield__run(detach_programs, p);
}

/* Slow parts (deleting kprobe definitions) are left to a silent child. */
void probe__close(struct source *s)
{
	struct probe *p = (struct probe *)s;

	if (p->drain) /* otherwise the ring would never become empty */
		probe__stop(s);
	drain__close(p->drain);
	keeper__end(&p->keeper);
	named__detach(p);
	watches__detach(p);
	detach(p);
	for (size_t i = 0; i < ARRAY_SIZE(p->tasks); i++)
		bpf_link__destroy(p->tasks[i]);
	bpf_link__destroy(p->sigreturn);
	sideband__close(p->sideband);
	bbtrace_bpf__destroy(p->skel);
	decoder__free(p->decoder);
	counters__close(p->counters);
	own_rings__close(p->own);
	attachment__free(&p->programs);
	attachment__free(&p->kernel);
	vec__free(&p->gaps);
	vec__free(&p->exits);
	attachment__free(&p->multi.links);
	attachment__free(&p->switches);
	attachment__free(&p->marks);
	free(p->multi.part);
	free(p->multi.attached);
	free(p->armed);
	free(p->table.actions);
	vec__free(&p->asked);
	vec__free(&p->unseen);
	probe__free_misses(p);
	scope__free(&p->scope);
	free(p->unspared);
	free(p);
}

/* ---- open ---- */

static int check_btf(struct probe *p)
{
	const char *btf = p->options->btf;
	struct btf *types = btf ? btf__parse(btf, NULL) : NULL;
	int err = errno;

	btf__free(types);
	if (!btf || types)
		return 0;
	return err__set(err,
			"%s has no valid BTF: give the running kernel's vmlinux, or a copy of "
			"/sys/kernel/btf/vmlinux from a machine with the same kernel",
			p->options->btf_name);
}

static int open_drain(struct probe *p)
{
	int losses = p->options->inlines ? bpf_map__fd(p->skel->maps.losses) : -1;

	return drain__open(bpf_map__fd(p->skel->maps.ring), losses,
			   WAITING_RINGS * probe__ring_size(p), &p->drain);
}

static int open_sideband(struct probe *p)
{
	return sideband__open(&p->sideband);
}

/* In this order. */
static int (*const open_steps[])(struct probe *p) = {
	check_btf,     mechanisms__choose, load,	   filters__fill,   site_table__fill,
	fetches__fill, conditions__fill,   counters__open, own_rings__open, open_drain,
	open_sideband, attach_tasks,	   named__fill,
};

int probe__open(struct plan *plan, const struct probe_options *options, struct probe **out)
{
	struct probe *p = xcalloc(1, sizeof(*p));
	int err = 0;

	p->plan = plan;
	p->options = options;
	p->decoder = decoder__new(plan);
	p->programs.tracefs = p->kernel.tracefs = -1;
	scope__find(&p->scope, &options->filters);
	libbpf_set_print((libbpf_print_fn_t)probe__print);
	for (size_t i = 0; !err && i < ARRAY_SIZE(open_steps); i++)
		err = open_steps[i](p);
	if (!err)
		probe__find_children(p);
	report_of_goroutines(plan);
	if (err) {
		probe__close(&p->source);
		return err;
	}
	*out = p;
	return 0;
}

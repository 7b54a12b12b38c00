// SPDX-License-Identifier: BSD-2-Clause
/* A probe set's life: load the BPF object for a plan and its filters, start, poll, stop, close. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include "conditions.h"
#include "counters.h"
#include "drain.h"
#include "fetches.h"
#include "filters.h"
#include "keeper.h"
#include "own_rings.h"
#include "source/kernel_types.h"
#include "sideband.h"
#include "site_table.h"
#include "tracefs.h"
#include "bbtrace.skel.h"

/* ---- what the BPF object is told ---- */

/* include/linux/proc_ns.h: PROC_PID_INIT_INO */
#define INITIAL_PID_NS 0xEFFFFFFCu

/* bbtrace's PID namespace; false: the initial one. */
static bool find_pid_ns(struct stat *st)
{
	return !stat("/proc/self/ns/pid", st) && st->st_ino != INITIAL_PID_NS;
}

static uint32_t filter_flags(const struct probe_filters *f)
{
	return (f->pids.len ? FILTER_PID : 0) | (f->tids.len ? FILTER_TID : 0) |
	       (f->comms.len ? FILTER_COMM : 0) | (f->uids.len ? FILTER_UID : 0) |
	       (f->cgroup ? FILTER_CGROUP : 0) | (f->follow ? FILTER_FOLLOW : 0) |
	       (f->command ? FILTER_COMMAND : 0);
}

/* Of threads that end. */
#define RING_COUNTING (256u << 10)
#define RING_OF_ENDS  (1u << 20)

static size_t ring_size(const struct probe *p)
{
	const struct probe_options *o = p->options;
	size_t size = sysconf(_SC_PAGESIZE),
	       most = probe__counts(p) ? RING_COUNTING : PROBE_BUFFER_DEFAULT,
	       want = p->own	  ? RING_OF_ENDS
		      : o->buffer ? o->buffer
				  : most;

	while (size < want && size < (1u << 31))
		size *= 2;
	return size;
}

/* For thousands of losses that are recorded where they happened. */
#define LOSSES_SIZE (256u << 10)

/* The most records that wait to be rendered, as a multiple of the ring's size. */
#define WAITING_RINGS 4

/* The inode number of the only file with sites; 0: several. */
static uint64_t only_ino(const struct plan *plan)
{
	const struct plan_object *o;
	uint64_t ino = 0;

	vec__each (o, &plan->objects) {
		if (o->object && ino && o->object->ino != ino)
			return 0;
		ino = o->object ? o->object->ino : ino;
	}
	return ino;
}

#define GO_THREADS 65536 /* most threads and goroutines that are tracked */

/* Configures how the program recognises interrupt context. */
static void configure_kernel(struct wire_config *c, const struct object *kernel, bool tells)
{
	const struct arch *arch = arch__by_machine(kernel->machine);
	uint64_t count = kernel__variable(kernel, KERNEL_PREEMPT_COUNT),
		 hot = kernel__variable(kernel, KERNEL_PCPU_HOT);

	c->per_cpu_offset = kernel__variable(kernel, KERNEL_PER_CPU_OFFSET);
	c->preempt_count = c->per_cpu_offset ? count ? count : hot : 0;
	c->pcpu_hot = !count;
	if (!c->preempt_count && tells && !(arch->kernel && arch->kernel->counts_by_task))
		note("what runs in interrupts is not marked: /proc/kallsyms has no variables "
		     "(CONFIG_KALLSYMS_ALL)");
}

static bool looks_up(const struct attachment *a, enum probe_lookup how)
{
	return a->mechanism && a->mechanism->lookup == how;
}

/* Opened later, when it is said what is wrong with it. */
static uint64_t cgroup_id(const char *path)
{
	struct stat st;

	return path && !stat(path, &st) ? st.st_ino : 0;
}

static void configure(struct probe *p)
{
	const struct probe_filters *f = &p->options->filters;
	struct wire_config *c = (struct wire_config *)&p->skel->rodata->config;
	const struct object *go = action__go(p->plan);
	struct stat ns;
	bool inner = find_pid_ns(&ns);

	*c = (struct wire_config){
		.both = plan__has_kernel(p->plan) && plan__has_programs(p->plan),
		.stack = p->options->stack,
		/* it begins at a block, up to that much below the stack pointer */
		.copy = p->options->copy ? p->options->copy + WIRE_COPY_BLOCK : 0,
		/* compact records omit where the log stands */
		.compact = !p->options->inlines && sysconf(_SC_NPROCESSORS_CONF) <= WIRE_CPUS,
		.inlines = p->options->inlines,
		.returns = p->plan->return_probes,
		.loss = mechanism__loss(p),
		.go = go != NULL,
		.narrow = p->plan->arch->word == 4,
		.go_g = go ? go->go_g : 0,
		.go_goid = go ? go->go_goid : 0,
		.pid_ns = inner ? ns.st_ino : 0,
		.pid_ns_dev = inner ? ns.st_dev : 0,
		.filters = filter_flags(f),
		.self = getpid(),
		.command = f->command,
		.pid = f->pids.len == 1 ? f->pids.data[0] : 0,
		.off_cpu = plan__first_named(p->plan, NAMED_OFF_CPU),
		.on_cpu = plan__first_named(p->plan, NAMED_ON_CPU),
		.ino = looks_up(&p->programs, LOOKUP_UPROBE) ? only_ino(p->plan) : 0,
		.cgroup = cgroup_id(f->cgroup),
		.ends = plan__has_named(p->plan, NAMED_KILLED),
		.killed = plan__first_named(p->plan, NAMED_KILLED),
		.counts = probe__counts(p),
		.tests = p->plan->tests,
		.watches = watches__are_planned(p),
		.adds_up = p->options->adds_up,
		.fetched = plan__most_fetched(p->plan),
		.judges = conditions__judge(p),
		.replaces = p->options->retires || p->adds_links,
	};
	if (probe__counts(p))
		counters__size(p, c);
	own_rings__size(p, c);
	c->wakeup = ring_size(p) / 4;
	execution__configure(p, c);
	if (p->options->kernel)
		configure_kernel(c, p->options->kernel, plan__has_kernel(p->plan));
}

/* Threads that hit probes of two generations, while links are replaced. */
#define MARKS 4096
/* Entries of hash tables are allocated in advance. */
#define MORE_IN_KERNEL 16384

static void size_tables(struct probe *p, uint32_t nprobes)
{
	bool go = action__go(p->plan) != NULL, replaces = p->skel->rodata->config.replaces;

	map__set_most(p->skel->maps.ring, ring_size(p));
	map__set_most(p->skel->maps.losses, p->options->inlines
						    ? max_of(LOSSES_SIZE, ring_size(p) / 16)
						    : (size_t)sysconf(_SC_PAGESIZE));
	map__set_most(p->skel->maps.marks, replaces ? MARKS : 0);
	map__set_most(p->skel->maps.mark_specs, p->options->markers ? MARKERS_MOST : 1);
	if (replaces) /* most traces replace no link */
		bpf_map__set_map_flags(p->skel->maps.marks, BPF_F_NO_PREALLOC);
	map__set_most(p->skel->maps.on_threads, go ? GO_THREADS : 0);
	map__set_most(p->skel->maps.on_tid, go ? GO_THREADS : 0);
	named__size(p);
	fetches__size(p);
	conditions__size(p);
	map__set_most(p->skel->maps.sites, p->table.room);
	map__set_most(p->skel->maps.operands, p->table.operand_room);
	map__set_most(p->skel->maps.tests, p->plan->tests ? p->table.room : 0);
	map__set_most(p->skel->maps.executions, p->plan->executes ? p->table.room : 0);
	map__set_most(p->skel->maps.uprobe_sites,
		      looks_up(&p->programs, LOOKUP_UPROBE) ? nprobes + 1 : 0);
	/* a kernel entry may be found under two addresses */
	nprobes += p->options->grows ? MORE_IN_KERNEL : 0;
	nprobes = p->options->retires ? p->plan->sites.len : nprobes;
	map__set_most(p->skel->maps.kernel_sites,
		      looks_up(&p->kernel, LOOKUP_KERNEL) ? 2 * nprobes + 1 : 0);
}

static void choose_programs(struct probe *p)
{
	const struct probe_filters *f = &p->options->filters;

	bpf_program__set_autoload(p->skel->progs.hit_multi, false);
	bpf_program__set_autoload(p->skel->progs.hit_uprobe, false);
	bpf_program__set_autoload(p->skel->progs.hit_multi_executing, false);
	bpf_program__set_autoload(p->skel->progs.hit_uprobe_executing, false);
	bpf_program__set_autoload(p->skel->progs.tell_first, p->skel->rodata->config.replaces);
	bpf_program__set_autoload(p->skel->progs.hit_entry, false);
	bpf_program__set_autoload(p->skel->progs.hit_kprobe, false);
	if (p->programs.mechanism)
		bpf_program__set_autoload(probe__program(p, &p->programs), true);
	if (p->kernel.mechanism)
		bpf_program__set_autoload(probe__program(p, &p->kernel), true);
	if (p->adds_links)
		bpf_program__set_autoload(multi__program(p), true);
	markers__choose_programs(p);
	bpf_program__set_autoload(p->skel->progs.hit_kernel_return, kernel_returns__needed(p));
	named__choose_programs(p);
	watches__size(p);
	bpf_program__set_autoload(p->skel->progs.on_exec,
				  f->command || mechanism__loss(p) || probe__counts(p) ||
					  p->options->inlines || conditions__judge(p));
	bpf_program__set_autoload(p->skel->progs.on_rename, p->options->inlines);
	bpf_program__set_autoload(p->skel->progs.on_setuid, p->options->inlines && f->uids.len);
	bpf_program__set_autoload(p->skel->progs.on_cgroup, p->options->inlines && f->cgroup);
	bpf_program__set_autoload(p->skel->progs.on_signal,
				  site_table__signals(p->plan) ||
					  (p->options->grows && p->programs.mechanism));
	bpf_program__set_autoload(p->skel->progs.on_sigreturn, sigreturn__needed(p));
	bpf_program__set_autoload(p->skel->progs.on_trap, p->programs.mechanism != NULL);
	bpf_program__set_autoload(p->skel->progs.own_level, p->skel->rodata->config.pid_ns);
	bpf_program__set_autoload(p->skel->progs.count_users, probe__inherits(p));
	bpf_program__set_autoload(p->skel->progs.on_exit,
				  f->follow || mechanism__loss(p) == LOSS_THREAD ||
					  probe__counts(p) || p->skel->rodata->config.ends ||
					  conditions__judge(p));
	bpf_program__set_autoload(p->skel->progs.on_killed, p->skel->rodata->config.ends);
}

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
		p->skel->progs.on_setuid, p->skel->progs.on_cgroup, p->skel->progs.on_killed};

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
	configure(p);
	filters__size(p);
	size_tables(p, nprobes);
	err = types_file__fill(&types, bpf_object__btf(p->skel->obj));
	if (err)
		return err;
	choose_programs(p);
	err = bbtrace_bpf__load(p->skel);
	if (err)
		return load_failed(p, err);
	p->skel->bss->stopped = 1;
	p->skel->bss->signals = site_table__signals(p->plan);
	return find_own_level(p);
}

static void tell_of_goroutines(const struct plan *plan)
{
	const struct plan_object *o;

	vec__each (o, &plan->objects)
		if (o->object && o->object->go && !action__is_go(plan, o->object))
			note("%s: its goroutines, which move between threads, can't be distinguished: depths, "
			     "durations and returns may be wrong or missing",
			     o->path);
}

/* ---- the attached set ---- */

bool probe__find_children(struct probe *p)
{
	bool grown = scope__grow(&p->scope);
	size_t named = p->options->filters.pids.len;

	if (p->scope.kind == SCOPE_DESCENDANTS && p->scope.pids.len > named)
		filters__add_children(p, p->scope.pids.data + named, p->scope.pids.len - named);
	return grown;
}

const pid_vec *probe__processes(const struct probe *p)
{
	return &p->scope.pids;
}

void probe__attached(const struct probe *p, size_t sites, uint64_t work)
{
	if (p->options->attached)
		p->options->attached(p->options->attached_ctx, sites, work);
}

/* Attaching thousands of definitions takes long. */
bool probe__is_interrupted(const struct probe *p)
{
	return (p->options->interrupted && *p->options->interrupted) || shield__is_orphan();
}

/* May links be made after the start: for processes that lose theirs, or since sites change? */
static bool relinks(const struct probe *p)
{
	return (p->options->retires && p->programs.mechanism) || p->adds_links || p->can_mark ||
	       (p->programs.mechanism && p->programs.mechanism->loss == LOSS_TAKEOVER &&
		p->scope.kind == SCOPE_PROCESSES);
}

static const struct bpf_program *relinked(const struct probe *p)
{
	return bpf_program__autoload(multi__program(p)) ? multi__program(p)
							: p->skel->progs.hit_switch;
}

bool probe__is_refused(struct probe *p)
{
	uint64_t key = 0, count;

	if (bpf_map_lookup_elem(bpf_map__fd(p->skel->maps.lost_by_thread), &key, &count) &&
	    errno == EPERM)
		return true;
	return relinks(p) && feature__multi_answer(bpf_program__fd(relinked(p)), 0) == -EPERM;
}

int probe__change(struct probe *p)
{
	const struct mechanism *m = p->programs.mechanism, *kernel = p->kernel.mechanism;
	int err = 0;

	if (!p->options->retires || (m && !m->change) || (kernel && !kernel->change))
		return err__set(ENOTSUP, "the probes of this trace can't be changed");
	if (kernel)
		err = kernel->change(p);
	return err || !m ? err : shield__run(m->change, p);
}

uint64_t probe__unseen_ends(const struct probe *p)
{
	return probe__counts(p)
		       ? program__misses(p->skel->progs.on_exit) + p->skel->bss->lost_records
		       : 0;
}

uint64_t probe__counted_twice(const struct probe *p)
{
	return p->skel->bss->marks_full;
}

static int probe__attach(struct source *s)
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
	vec__free(&sites);
	return err ? err : shield__run(p->programs.mechanism->attach, p);
}

bool probe__filtered(const struct probe *p)
{
	return p->skel->bss->filtered;
}

uint64_t probe__left_children(const struct probe *p)
{
	return sideband__left_children(p->sideband);
}

void probe__forget_sideband(struct probe *p)
{
	sideband__forget(p->sideband);
	sideband__limit(p->sideband, &p->scope);
}

static void probe__start(struct source *s)
{
	struct probe *p = (struct probe *)s;

	p->skel->bss->mute_era++;
	__atomic_store_n(&p->skel->bss->stopped, 0, __ATOMIC_RELEASE);
}

/* What is in the ring stays to be taken. */
static void probe__stop(struct source *s)
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
static void probe__close(struct source *s)
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

	return drain__open(bpf_map__fd(p->skel->maps.ring), losses, WAITING_RINGS * ring_size(p),
			   &p->drain);
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

	p->source.ops = &probes_ops;
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
	tell_of_goroutines(plan);
	if (err) {
		probe__close(&p->source);
		return err;
	}
	*out = p;
	return 0;
}

struct source *probe__source(struct probe *p)
{
	return &p->source;
}

const struct source_ops probes_ops = {
	"probes",	features__check, probe__attach, probe__start,  probe__stop,   probe__take,
	probe__settled, probe__catch_up, probe__count,	probe__misses, probe__losses, probe__close,
	NULL,		probe__park,	 probe__unpark};

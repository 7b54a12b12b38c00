// SPDX-License-Identifier: BSD-2-Clause
/* What the BPF object is reported before it is loaded: its configuration, the sizes of its maps,
 * and which of its programs are needed. */
#include <sys/stat.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include "source/probes/maps/conditions.h"
#include "source/probes/stream/counters.h"
#include "source/probes/stream/drain.h"
#include "source/probes/maps/fetches.h"
#include "source/probes/maps/filters.h"
#include "source/probes/stream/own_rings.h"
#include "source/probes/stream/sideband.h"
#include "site_table.h"
#include "bbtrace.skel.h"

/* include/linux/proc_ns.h: PROC_PID_INIT_INO */
#define INITIAL_PID_NS 0xEFFFFFFCu

/* Finds bbtrace's PID namespace. Returns false if it is the initial one. */
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

/* for threads that end */
#define RING_COUNTING (256u << 10)
#define RING_OF_ENDS  (1u << 20)

size_t probe__ring_size(const struct probe *p)
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

/* for thousands of losses, each recorded at its position */
#define LOSSES_SIZE (256u << 10)

/* Returns the inode number of the only file with sites; 0 if there are several. */
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
static void configure_kernel(struct wire_config *c, const struct object *kernel, bool traces_kernel)
{
	const struct arch *arch = arch__by_machine(kernel->machine);
	uint64_t count = kernel__variable(kernel, KERNEL_PREEMPT_COUNT),
		 hot = kernel__variable(kernel, KERNEL_PCPU_HOT);

	c->per_cpu_offset = kernel__variable(kernel, KERNEL_PER_CPU_OFFSET);
	c->preempt_count = c->per_cpu_offset ? count ? count : hot : 0;
	c->pcpu_hot = !count;
	if (!c->preempt_count && traces_kernel && !(arch->kernel && arch->kernel->counts_by_task))
		note("what runs in interrupts is not marked: /proc/kallsyms has no variables "
		     "(CONFIG_KALLSYMS_ALL)");
}

static bool looks_up(const struct attachment *a, enum probe_lookup how)
{
	return a->mechanism && a->mechanism->lookup == how;
}

/* It is opened later, when what is wrong with it is reported. */
static uint64_t cgroup_id(const char *path)
{
	struct stat st;

	return path && !stat(path, &st) ? st.st_ino : 0;
}

static void fill(struct probe *p)
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
		/* compact records omit the position of the log */
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
		.outcomes = plan__has_named(p->plan, NAMED_OUTCOME),
		.outcome = plan__first_named(p->plan, NAMED_OUTCOME),
		.counts = probe__counts(p),
		.tests = p->plan->tests,
		.watches = watches__are_planned(p),
		.adds_up = p->options->adds_up,
		.fetched = plan__most_fetched(p->plan),
		.judges = conditions__most(p),
		.retries = sysconf(_SC_NPROCESSORS_CONF) > 1,
		.replaces = p->options->retires || p->adds_links,
	};
	c->signal_state = c->copy && !c->narrow ? signal_state__size() : 0;
	if (probe__counts(p))
		counters__size(p, c);
	own_rings__size(p, c);
	c->wakeup = probe__ring_size(p) / 4;
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

	map__set_most(p->skel->maps.ring, probe__ring_size(p));
	map__set_most(p->skel->maps.losses, p->options->inlines
						    ? max_of(LOSSES_SIZE, probe__ring_size(p) / 16)
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
	bpf_program__set_autoload(p->skel->progs.report_first, p->skel->rodata->config.replaces);
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
	bpf_program__set_autoload(p->skel->progs.on_outcome, p->skel->rodata->config.outcomes);
}

void probe__configure(struct probe *p, uint32_t nprobes)
{
	fill(p);
	filters__size(p);
	size_tables(p, nprobes);
	choose_programs(p);
}

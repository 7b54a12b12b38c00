// SPDX-License-Identifier: BSD-2-Clause
/*
 * `growing [OPTION...] PROGRAM FIXED ADDED [ARG...]`: traces the function FIXED of a program that
 * it runs, and meanwhile attaches and detaches the probes of ADDED, again and again; with -k both
 * are the kernel's. Prints how often each site of FIXED was executed, how often probes of ADDED
 * were seen to work, how many of its events came while it had no probes, and how many of its
 * breakpoints were left each time.
 *
 * The program prints a line, waits for one, works, and ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "plan/plan.h"
#include "resolve/resolve.h"
#include "source/source.h"

static struct {
	bool counts, returns, drop, wide, follow, shared, many, locked, kernel, execs;
	int rounds;
	unsigned killed_after; /* ms; 0: it is not */
	const char *attach;
} options = {.rounds = 20};

struct window {
	uint64_t from, until;
};

static struct {
	struct plan *plan;
	struct source *source;
	const struct object *object;
	uint32_t added;					  /* function */
	id_vec sites;					  /* of it */
	uint64_t *taken, *not_taken, *entered, *returned; /* by site */
	uint64_t lost, stray, in_round;
	unsigned refused, gaps;
	int to;			    /* the program's standard input */
	int definitions;	    /* tracefs's kprobe_events */
	VEC(struct window) windows; /* in which ADDED has probes */
	uint32_t all;		    /* sites */
} now;

static void die(const char *what)
{
	fprintf(stderr, "growing: %s: %s\n", what, err__text());
	exit(2);
}

/* ---- the sink ---- */

static void note_added(uint64_t time)
{
	now.in_round++;
	for (size_t i = 0; i < now.windows.len; i++)
		if (time >= now.windows.data[i].from && time <= now.windows.data[i].until)
			return;
	now.stray++;
}

static int on_event(void *ctx, const struct event *e)
{
	if (e->type == EVENT_LOST)
		now.lost += e->count + e->hits;
	if (e->type != EVENT_BRANCH && e->type != EVENT_ENTRY && e->type != EVENT_RETURN)
		return 0;
	if (now.plan->sites.data[e->site].function == now.added)
		note_added(e->time);
	if (e->type == EVENT_ENTRY)
		now.entered[e->site]++;
	else if (e->type == EVENT_RETURN)
		now.returned[e->site]++;
	else
		(e->taken || now.plan->sites.data[e->site].kind != BRANCH_JCC
			 ? now.taken
			 : now.not_taken)[e->site]++;
	return 0;
}

static int on_sideband(void *ctx, const struct sideband_event *e)
{
	now.gaps += e->type == SIDEBAND_GAP;
	return 0;
}

static int on_lost(void *ctx, uint32_t pid, uint32_t tid, uint64_t count)
{
	now.lost += count + 1;
	return 0;
}

static void on_missed(void *ctx, const struct missed *m)
{
	now.lost += m->hits;
}

static int on_counted(void *ctx, const struct count *n)
{
	if (n->has_target)
		return 0;
	now.taken[n->site] += n->taken;
	now.not_taken[n->site] += n->not_taken;
	if (now.plan->sites.data[n->site].function == now.added)
		now.in_round += n->taken + n->not_taken;
	return 0;
}

static const struct source_sink sink = {.event = on_event,
					.sideband = on_sideband,
					.lost = on_lost,
					.missed = on_missed,
					.counted = on_counted};

/* ---- the plan ---- */

static void resolve(const char *name, struct object *o, function_vec *functions)
{
	struct spec spec;

	if (spec__parse(name, false, &spec) || object__resolve(o, &spec, functions))
		die(name);
	spec__free(&spec);
}

static void make_plan(const char *path, const char *fixed, const char *added)
{
	struct plan_options o = {.events = PLAN_ENTRY | PLAN_BRANCH | PLAN_RETURN,
				 .placement = options.counts ? PLACEMENT_COUNT : PLACEMENT_FULL,
				 .count_all = true,
				 .return_probes = options.returns};
	static function_vec functions;
	struct object *object, **modules;
	size_t nmodules;

	if (options.kernel ? kernel__open(NULL, NULL, NULL, &object, &modules, &nmodules)
			   : object__open(path, &object))
		die(path);
	o.kernel_object = options.kernel ? object : NULL;
	now.object = object;
	resolve(fixed, object, &functions);
	resolve(added, object, &functions);
	if (plan__build(&functions, &o, &now.plan))
		die("plan");
	for (uint32_t i = 0; i < now.plan->functions.len; i++)
		if (!strcmp(now.plan->functions.data[i].name, added))
			now.added = i;
	now.all = now.plan->sites.len;
}

/* More than any trace has room for. */
static void add_many(void)
{
	struct plan_site none = now.plan->sites.data[0];

	none.probe = PROBE_NONE;
	none.function = now.added;
	for (int i = 0; i < 70000; i++)
		vec__push(&now.plan->sites, none);
	now.all = now.plan->sites.len;
}

/* The kernel refuses the first one: it is at a lock prefix. */
static void choose_locked(void)
{
	struct plan_site *s = &now.plan->sites.data[now.sites.data[0]];
	size_t avail, i;
	const uint8_t *bytes = object__bytes(now.object, s->vaddr, &avail);

	for (i = 0; i < 255 && bytes[i] != 0xf0; i++)
		;
	s->probe_at = i;
}

/* The sites of ADDED get their probes later, and the last ones are not even in the plan at first.
 */
static void take_away(void)
{
	struct plan *p = now.plan;

	for (uint32_t i = 0; i < p->sites.len; i++) {
		if (p->sites.data[i].function != now.added ||
		    !plan_site__is_hooked(&p->sites.data[i]))
			continue;
		vec__push(&now.sites, i);
		if (options.shared)
			continue;
		p->sites.data[i].probe = PROBE_NONE;
		p->probes--;
	}
	while (!options.shared && p->sites.data[p->sites.len - 1].function == now.added)
		p->sites.len--;
	if (options.locked)
		choose_locked();
	now.taken = xcalloc(4 * now.all, sizeof(*now.taken));
	now.not_taken = now.taken + now.all;
	now.entered = now.not_taken + now.all;
	now.returned = now.entered + now.all;
}

static void set(enum probe_how how)
{
	uint32_t *site;

	vec__each (site, &now.sites)
		if (!now.plan->sites.data[*site].refusal)
			now.plan->sites.data[*site].probe = how;
}

/* ---- the program ---- */

static pid_t run(char **argv, int *to, int *from)
{
	int in[2], out[2];
	pid_t pid;
	char byte;

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		die("pipe");
	pid = fork();
	if (!pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execv(argv[0], argv);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	*to = in[1];
	*from = out[0];
	while (read(out[0], &byte, 1) == 1 && byte != '\n')
		;
	return pid;
}

/* Definitions of kprobes for ADDED. The file is opened before the rights to do so are given up. */
static unsigned definitions(void)
{
	autofree char *text = xcalloc(1, (1u << 20) + 1);
	size_t len = 0;
	unsigned left = 0;
	uint32_t *site;
	ssize_t n;

	while ((n = pread(now.definitions, text + len, (1u << 20) - len, len)) > 0)
		len += n;
	if (n < 0)
		die("kprobe_events");
	vec__each (site, &now.sites) {
		const struct plan_site *s = &now.plan->sites.data[*site];
		autofree char *at = xasprintf("at=\\0x%lx:", s->vaddr + s->probe_at);

		left += strstr(text, at) != NULL;
	}
	return left;
}

/* Breakpoints of ADDED in the program's memory. */
static unsigned breakpoints(pid_t pid)
{
	autofree char *maps_path = xasprintf("/proc/%d/maps", pid);
	autofree char *mem_path = xasprintf("/proc/%d/mem", pid);
	autofree char *text = NULL;
	autoclose int mem = open(mem_path, O_RDONLY);
	map_vec maps = {0};
	const struct map *m;
	unsigned left = 0;
	uint32_t *site;

	if (options.kernel)
		return definitions();
	if (file__read(maps_path, 1u << 20, &text, NULL) || maps__parse(text, &maps))
		die("maps");
	vec__each (site, &now.sites) {
		const struct plan_site *s = &now.plan->sites.data[*site];
		uint64_t offset = 0;
		size_t avail;
		uint8_t byte;

		object__vaddr_to_offset(now.object, s->vaddr + s->probe_at, &offset);
		vec__each (m, &maps) {
			if (m->ino != now.object->ino || offset < m->offset ||
			    offset - m->offset >= m->end - m->start)
				continue;
			if (pread(mem, &byte, 1, m->start + offset - m->offset) == 1)
				left += byte !=
					*object__bytes(now.object, s->vaddr + s->probe_at, &avail);
			break;
		}
	}
	maps__free(&maps);
	return left;
}

/* What it has to say at the end. */
static void pass_on(int from)
{
	char text[4096];
	ssize_t n;

	while ((n = read(from, text, sizeof(text))) > 0)
		fwrite(text, 1, n, stdout);
}

static bool has_ended(pid_t pid)
{
	siginfo_t info = {0};

	return waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid;
}

static void take(void)
{
	const struct source_wait wait = {.timeout_ms = 10, .fd = -1};

	if (now.source->ops->take(now.source, wait, &sink) < 0)
		die("take");
	if (options.counts && now.source->ops->counts(now.source, &sink))
		die("counts");
}

/* ---- rounds ---- */

static void forget_refused(void)
{
	size_t kept = 0;

	for (size_t i = 0; i < now.sites.len; i++)
		if (now.plan->sites.data[now.sites.data[i]].refusal == PROBE_KERNEL)
			now.refused++;
		else
			now.sites.data[kept++] = now.sites.data[i];
	now.sites.len = kept;
}

static void add(void)
{
	int err;

	now.plan->sites.len = now.all;
	set(PROBE_CHANGING);
	vec__add(&now.windows)->from = now_ns(CLOCK_MONOTONIC);
	vec__last(&now.windows)->until = UINT64_MAX;
	err = now.source->ops->attach_sites(now.source, now.sites.data, now.sites.len);
	if (err) {
		printf("%s\n", err__text());
		exit(1);
	}
	set(options.counts ? PROBE_COUNT : PROBE_TRAP);
	forget_refused();
}

static void take_off(void)
{
	set(PROBE_CHANGING);
	if (now.source->ops->detach_sites(now.source, now.sites.data, now.sites.len))
		die("detach");
	vec__last(&now.windows)->until = now_ns(CLOCK_MONOTONIC);
	set(PROBE_NONE);
}

static void go_round(pid_t pid, int round, unsigned *worked, unsigned *left)
{
	unsigned there;

	add();
	if (options.execs && !round) {
		if (write(now.to, "\n", 1) != 1)
			die("write");
		while (!now.gaps && !has_ended(pid))
			take();
	}
	now.in_round = 0;
	there = breakpoints(pid);
	while (!now.in_round && !has_ended(pid))
		take();
	*worked += now.in_round > 0;
	take_off();
	if (has_ended(pid))
		return;
	*left += breakpoints(pid);
	if (!there && !options.wide)
		printf("round %d: no breakpoint was set\n", round);
}

/* Its sites share a link with those of FIXED at first. */
static void go_shared_round(pid_t pid, int round, unsigned *worked, unsigned *left)
{
	id_vec all = now.sites, one = {.data = &all.data[round % all.len], .len = 1, .cap = 1};

	if (!round)
		*vec__add(&now.windows) = (struct window){0, UINT64_MAX};
	now.sites = one;
	now.in_round = 0;
	take();
	set(PROBE_CHANGING);
	if (now.source->ops->detach_sites(now.source, now.sites.data, now.sites.len))
		die("detach");
	set(PROBE_NONE);
	*left += breakpoints(pid);
	add();
	while (!now.in_round && !has_ended(pid))
		take();
	*worked += now.in_round > 0;
	now.sites = all;
}

static void show_sites(void)
{
	for (uint32_t i = 0; i < now.all; i++) {
		const struct plan_site *s = &now.plan->sites.data[i];

		if (s->function == now.added || !plan_site__is_hooked(s))
			continue;
		if (s->entry)
			printf("entered %lu\n",
			       now.entered[i] + (options.counts ? now.taken[i] : 0));
		if (options.returns && s->entry)
			printf("returned %lu\n", now.returned[i]);
		if (s->role == ROLE_BRANCH)
			printf("%s %lu %lu\n", s->mnemonic, now.taken[i], now.not_taken[i]);
	}
}

/* A child, which holds nothing of the trace, kills this process and looks what stays in the
 * program, which it keeps alive. */
static void start_killer(pid_t pid)
{
	pid_t victim = getpid();
	unsigned left = 0;

	if (!options.killed_after || fork())
		return;
	usleep(options.killed_after * 1000);
	kill(victim, SIGKILL);
	now.sites.len = 0;
	for (uint32_t i = 0; i < now.plan->sites.len; i++)
		vec__push(&now.sites, i);
	/* its last process closes the links */
	for (int i = 0; i < 500 && (!i || left); i++) {
		usleep(20000);
		left = breakpoints(pid);
	}
	printf("breakpoints left %u\n", left);
	fflush(stdout);
	_exit(0);
}

static int read_options(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "+crdwfvsmlkxa:n:K:")) != -1) {
		options.counts |= c == 'c';
		options.returns |= c == 'r';
		options.drop |= c == 'd';
		options.wide |= c == 'w';
		options.follow |= c == 'f';
		options.many |= c == 'm';
		options.execs |= c == 'x';
		options.kernel |= c == 'k';
		options.locked |= c == 'l';
		options.shared |= c == 's';
		if (c == 'v')
			note__set_level(NOTE_VERBOSE);
		if (c == 'a')
			options.attach = optarg;
		if (c == 'K')
			options.killed_after = atoi(optarg);
		if (c == 'n')
			options.rounds = atoi(optarg);
	}
	return optind;
}

int main(int argc, char **argv)
{
	struct probe_options o = {.buffer = 64u << 20,
				  .events = PLAN_ENTRY | PLAN_BRANCH | PLAN_RETURN,
				  .grows = true};
	const struct sched_param first = {.sched_priority = 1};
	struct source_facts facts = {0};
	struct source *source;
	unsigned worked = 0, left = 0;
	int from, err;
	uint32_t pid;
	char *path;

	argv += read_options(argc, argv);
	/* a kprobe runs no program on a CPU where a task was preempted while it used a map
	 * (kernel/bpf/syscall.c, bpf_disable_instrumentation()) */
	if (options.kernel)
		sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first);
	path = argv[0];
	make_plan(path, argv[1], argv[2]);
	if (options.many)
		add_many();
	take_away();
	argv[2] = path;
	pid = run(argv + 2, &now.to, &from);
	start_killer(pid);
	o.attach = options.attach;
	o.filters.follow = options.follow;
	if (!options.wide)
		vec__push(&o.filters.pids, pid);
	if (probes__open(now.plan, &o, &now.source))
		die("open");
	source = now.source;
	if (source->ops->attach(source))
		die("attach");
	if (options.kernel &&
	    (now.definitions = open("/sys/kernel/tracing/kprobe_events", O_RDONLY | O_CLOEXEC)) < 0)
		die("kprobe_events");
	if (options.drop && source->ops->drop_privileges(source, PRIVILEGE_SYS_PTRACE, FORBID_EXEC))
		die("drop");
	source->ops->start(source);
	if (write(now.to, "\n", 1) != 1)
		die("write");
	for (int i = 0; i < options.rounds && !has_ended(pid); i++)
		(options.shared ? go_shared_round : go_round)(pid, i, &worked, &left);
	printf("worked %u, refused %u, breakpoints left %u\n", worked, now.refused, left);
	close(now.to);
	while (!has_ended(pid))
		take();
	pass_on(from);
	source->ops->stop(source);
	err = source->ops->losses(source, &sink);
	if (err < 0)
		die("losses");
	source->ops->facts(source, &facts);
	printf("stray %lu, lost %lu, twice %lu\n", now.stray, now.lost + now.gaps,
	       facts.counted_twice);
	show_sites();
	source->ops->close(source);
	return 0;
}

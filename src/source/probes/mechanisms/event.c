// SPDX-License-Identifier: BSD-2-Clause
/*
 * One tracefs event with many probes: for user space without uprobe_multi, and for the kernel
 * (closing perf kprobes takes 70 ms each). Each site has its own definition, so a refused one
 * doesn't affect the others. event_close.c closes it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "event_keeper.h"
#include "source/probes/session.h"
#include "tracefs.h"
#include "bbtrace.skel.h"

/* ---- opening the event ---- */

/*
 * A perf event of it for one thread: 0: this one, -1: the whole system. Breakpoints stay in the
 * processes of threads with an event; elsewhere they are removed at the first hit
 * (kernel/trace/trace_uprobe.c, uprobe_perf_func()).
 */
static int open_for(int id, pid_t tid, struct perf_event_attr attr)
{
	attr.type = PERF_TYPE_TRACEPOINT;
	attr.size = sizeof(attr);
	attr.config = id;
	return syscall(SYS_perf_event_open, &attr, tid, tid < 0 ? 0 : -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/*
 * Threads and, with -f, children inherit the event at fork and so miss no hit. But the scheduler
 * swaps the perf contexts of related tasks (kernel/events/core.c, perf_event_context_sched_out())
 * while the event stays bound to its process, so it would end with the wrong one. From 6.13 on,
 * contexts whose counts can be read per thread are not swapped.
 */
int uprobe_event__open(const struct probe *p, pid_t tid)
{
	struct perf_event_attr attr = {0};

	if (feature__inherited_events()) {
		attr.inherit = 1;
		attr.inherit_thread = p->scope.kind == SCOPE_PROCESSES;
		attr.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID;
	}
	return open_for(p->programs.event_id, tid, attr);
}

static int cannot_open(int err)
{
	if (err == EMFILE || err == ENFILE)
		return err__set(err,
				"cannot open the trace event for so many threads: %s; raise "
				"ulimit -n",
				strerror(err));
	if (err == EPIPE)
		return err__set(EPIPE, "cannot open the trace event: the process that kept "
				       "CAP_PERFMON for that was killed");
	return err__set(err, "cannot open the trace event: %s", strerror(err));
}

/* The program runs at each hit for any of the event's perf events. It is attached through one that
 * is not inherited: else it would be detached when the first heir ends. */
static int attach_program(struct probe *p, struct attachment *a, int fd)
{
	struct bpf_link *link;

	if (fd < 0)
		return cannot_open(errno);
	link = bpf_program__attach_perf_event(probe__program(p, a), fd);
	if (!link) {
		close(fd);
		return err__set(errno, "cannot attach to the trace event: %s", strerror(errno));
	}
	a->event_fd = fd;
	attachment__add_link(a, link, 0, 0);
	return 0;
}

/* Opens events for threads without one. Threads that ended meanwhile are skipped. */
static int open_for_threads(struct probe *p, const pid_vec *tids, struct map64 *known)
{
	const uint32_t *tid;

	vec__each (tid, tids) {
		int fd;

		if (map64__get(known, *tid))
			continue;
		map64__put(known, *tid);
		fd = p->keeper.pid ? event_keeper__open(p, *tid) : uprobe_event__open(p, *tid);
		if (fd < 0 && errno != ESRCH)
			return cannot_open(errno);
		if (fd >= 0)
			vec__push(&p->programs.events, fd);
	}
	return 0;
}

/* Repeats until there are no new threads: children of a thread with an event inherit it. */
static int open_for_processes(struct probe *p)
{
	autofree struct map64 known = {0};
	autofree pid_vec tids = {0};
	size_t before;
	int err;

	do {
		before = known.len;
		probe__find_children(p);
		tids.len = 0;
		scope__threads(&p->scope, &tids);
		err = open_for_threads(p, &tids, &known);
		if (err)
			return err;
	} while (known.len > before);
	return p->programs.events.len ? 0 : err__set(ESRCH, "cannot attach: the process has ended");
}

/* Without inheritance children can't be followed without missing hits. */
static bool is_by_process(enum scope_kind kind)
{
	return kind == SCOPE_PROCESSES ||
	       (kind == SCOPE_DESCENDANTS && feature__inherited_events());
}

static int open_event(struct probe *p, struct attachment *a, enum tracefs_kind kind)
{
	const struct perf_event_attr plain = {0};
	bool some = kind == TRACEFS_UPROBE && is_by_process(p->scope.kind);
	int err;

	a->event_id = tracefs__event_id(a->tracefs, kind);
	if (a->event_id < 0)
		return a->event_id;
	err = attach_program(p, a, open_for(a->event_id, some ? 0 : -1, plain));
	return err || !some ? err : open_for_processes(p);
}

static int begin_event(struct attachment *a, enum tracefs_kind kind, const struct plan *plan,
		       char *name, size_t size)
{
	int err;

	a->tracefs = tracefs__mount();
	err = a->tracefs < 0 ? a->tracefs : leftovers__handle(a->tracefs, plan);
	if (err)
		return err;
	/* a killed bbtrace may have had the same PID */
	tracefs__delete(a->tracefs, kind);
	tracefs__event_name(kind, shield__pid(), name, size);
	return tracefs__open(a->tracefs, kind);
}

/* The first function of the kernel, or of programs; how many there are. */
static const struct plan_function *first_of(const struct plan *plan, bool kernel, size_t *n)
{
	const struct plan_function *first = NULL;

	*n = 0;
	for (uint32_t i = 0; i < plan->functions.len; i++) {
		if (plan__is_kernel_function(plan, i) != kernel)
			continue;
		first = first ? first : &plan->functions.data[i];
		++*n;
	}
	return first;
}

static int none_defined(const struct plan *plan, bool kernel)
{
	const struct plan_function *first;
	size_t n;

	if (kernel && (first = first_of(plan, true, &n)))
		return err__set(EINVAL,
				"the kernel accepts no probe in %s%s: marked notrace; trace what "
				"calls it",
				first->name, n == 1 ? "" : " and the others");
	return err__set(EINVAL, "the kernel refused every probe%s",
			plan->sites.len == 1 ? "" : "; -v shows its answers");
}

static int end_definitions(struct probe *p, struct attachment *a, enum tracefs_kind kind,
			   uint32_t defined)
{
	if (probe__is_interrupted(p))
		return err__set(EINTR, "interrupted while attaching");
	return defined ? open_event(p, a, kind) : none_defined(p->plan, kind == TRACEFS_KPROBE);
}

static int uprobe_define(struct probe *p, int fd, const char *event, uint32_t site)
{
	const struct plan_site *s = &p->plan->sites.data[site];
	const struct object *o = p->plan->objects.data[s->object].object;
	struct uprobe_key key = {.ino = o->ino};
	uint64_t offset;
	char line[160];

	if (!object__vaddr_to_offset(o, s->vaddr + s->probe_at, &offset))
		return -EINVAL;
	key.offset = offset;
	if (bpf_map__update_elem(p->skel->maps.uprobe_sites, &key, sizeof(key), &site, 4,
				 BPF_NOEXIST))
		return -errno;
	snprintf(line, sizeof(line), "p:%s %s:0x%llx\n", event, o->attach_path,
		 (unsigned long long)offset);
	return tracefs__define(fd, line);
}

static bool has_breakpoint(const struct probe *p, const uint8_t *bytes, size_t len)
{
	const struct breakpoint *b = &p->plan->arch->uprobe_breakpoint;

	return len >= b->len && !memcmp(bytes, b->bytes, b->len);
}

/* Refuses the object's sites that have no breakpoint in this mapping of its file. */
static void refuse_unarmed(struct probe *p, uint32_t object, const uint8_t *map, size_t size)
{
	const struct object *o = p->plan->objects.data[object].object;
	uint64_t offset;

	for (uint32_t i = 0; i < p->plan->sites.len; i++) {
		const struct plan_site *s = &p->plan->sites.data[i];

		if (s->object != object || !plan_site__is_hooked(s) ||
		    !object__vaddr_to_offset(o, s->vaddr + s->probe_at, &offset) ||
		    offset >= size || has_breakpoint(p, map + offset, size - offset))
			continue;
		note_verbose("the kernel refuses instructions such as %s+0x%llx", o->path,
			     (unsigned long long)offset);
		plan__refuse(p->plan, i, PROBE_KERNEL);
	}
}

/* The kernel accepts definitions of probes that it refuses to arm when a file is mapped
 * (kernel/events/uprobes.c, uprobe_mmap()). So bbtrace checks a mapping of its own, which is armed
 * while it attaches. */
static void check_armed(struct probe *p, uint32_t object)
{
	const struct object *o = p->plan->objects.data[object].object;
	autoclose int fd = open(o->attach_path, O_RDONLY | O_CLOEXEC);
	const struct segment *last = vec__last(&o->segments);
	size_t size = last->offset + last->size;
	struct stat st;
	void *map;

	if (fd < 0 || fstat(fd, &st))
		return;
	size = min_of(size, (size_t)st.st_size);
	map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return;
	refuse_unarmed(p, object, map, size);
	munmap(map, size);
}

int uprobe_event__attach(struct probe *p)
{
	char name[64];
	autoclose int fd = begin_event(&p->programs, TRACEFS_UPROBE, p->plan, name, sizeof(name));
	uint32_t defined = 0;
	int err;

	if (fd < 0)
		return fd;
	for (uint32_t i = 0; i < p->plan->sites.len && !probe__is_interrupted(p); i++) {
		if (!plan_site__is_hooked(&p->plan->sites.data[i]) ||
		    plan__is_kernel_site(p->plan, i))
			continue;
		err = uprobe_define(p, fd, name, i);
		if (err)
			plan__refuse(p->plan, i, PROBE_KERNEL);
		defined += !err;
		probe__attached(p, 1, 1);
	}
	err = end_definitions(p, &p->programs, TRACEFS_UPROBE, defined);
	for (uint32_t i = 0; !err && i < p->plan->objects.len; i++)
		if (!p->plan->objects.data[i].kernel)
			check_armed(p, i);
	return err;
}

/* The event's probes are decided when it is opened. Links are added to it. */
int uprobe_event__add(struct probe *p)
{
	if (!p->adds_links)
		return err__set(
			ENOTSUP,
			"probes of programs can be added to a trace from Linux 6.6 on, which "
			"has uprobe_multi: trace these functions by another bbtrace");
	if (uprobe_multi__spares(p->scope.kind) != SPARES_NOBODY)
		p->skel->bss->links_by_process = 1;
	else if (probe__spares(p) != SPARES_NOBODY && !p->multi.nparts)
		note("each process that runs the added functions is slowed down, traced or not");
	return uprobe_multi__add(p);
}

enum probe_spares uprobe_event__spares(enum scope_kind kind)
{
	return is_by_process(kind) ? SPARES_ALL : SPARES_NOBODY;
}

bool uprobe_event__may_open(const struct probe *p)
{
	autoclose int fd = uprobe_event__open(p, 0);

	return fd >= 0;
}

int uprobe_event__attach_again(struct probe *p, uint32_t pid)
{
	autofree struct map64 known = {0};
	autofree pid_vec tids = {0};

	process__threads(pid, &tids);
	return open_for_threads(p, &tids, &known);
}

/* ip: the instruction pointer that the probe has. */
static int add_kernel_site(struct probe *p, uint64_t ip, uint32_t site)
{
	struct bpf_map *map = p->skel->maps.kernel_sites;

	return bpf_map__update_elem(map, &ip, 8, &site, 4, BPF_ANY) ? -errno : 0;
}

/* The distance from a function's entry to where the kernel puts a probe that is requested there. */
static size_t landing_at(const struct probe *p, const struct plan_site *s)
{
	const struct arch_kernel *kernel = p->plan->arch->kernel;
	size_t avail = 0;
	const uint8_t *bytes =
		object__bytes(p->plan->objects.data[s->object].object, s->vaddr, &avail);

	return bytes && kernel->landing ? kernel->landing(bytes, avail) : 0;
}

static int kprobe_define(struct probe *p, int fd, const char *event, uint32_t site)
{
	const struct plan_site *s = &p->plan->sites.data[site];
	const uint8_t behind = p->plan->arch->kernel->ip_behind;
	unsigned long long addr = s->vaddr + s->probe_at;
	size_t landing = s->entry && !s->probe_at ? landing_at(p, s) : 0;
	char line[160];
	int err = add_kernel_site(p, addr + behind, site);

	if (!err && landing)
		err = add_kernel_site(p, addr + landing + behind, site);
	if (err)
		return err;
	/* two probes of one event must differ in an argument where their symbol is not given
	 * (kernel/trace/trace_kprobe.c, trace_kprobe_has_same_kprobe()) */
	snprintf(line, sizeof(line), "p:%s 0x%llx at=\\0x%llx:x64\n", event, addr, addr);
	return tracefs__define(fd, line);
}

/* The running kernel's version, from it or its distribution. */
static const char *kernel_versions(void)
{
	static char *text;
	autofree char *signature = NULL;
	struct utsname u;

	if (text)
		return text;
	uname(&u);
	if (file__read("/proc/version_signature", 4096, &signature, NULL))
		err__clear();
	text = xasprintf("%s %s %s", u.release, u.version, signature ? signature : "");
	return text;
}

/* Probes that must not be tried, since the kernel would accept them. */
static bool is_harmful(const struct probe *p, const struct plan_site *s)
{
	const struct object *o = p->plan->objects.data[s->object].object;
	uint64_t addr = s->vaddr + s->probe_at;
	const struct arch_kernel *kernel;
	const uint8_t *bytes;
	struct insn insn;
	size_t avail;

	bytes = object__bytes(o, addr, &avail);
	if (!bytes || p->plan->arch->decode(bytes, avail, addr, true, &insn))
		return true;
	kernel = p->plan->arch->kernel;
	return kernel && kernel->emulates_wrongly &&
	       kernel->emulates_wrongly(bytes, insn.len, kernel_versions());
}

void kprobe__refuse(struct probe *p, uint32_t site, const char *who, const char *why)
{
	const struct plan_site *s = &p->plan->sites.data[site];
	uint64_t offset = 0;
	const char *name = plan__name_at(p->plan, s->function, s->vaddr, &offset);

	note_verbose("%s %s+0x%llx: %s", who, name ? name : "?", (unsigned long long)offset, why);
	plan__refuse(p->plan, site, PROBE_KERNEL);
	if (s->entry && !probe__counts(p))
		vec__push(&p->unseen, site);
}

/* A function whose entry can't be probed shows almost nothing. Its count may follow from others. */
void kprobe__tell_unseen(const struct probe *p)
{
	const uint32_t *site;

	vec__each (site, &p->unseen)
		note("%s: the kernel accepts no probe at its entry: its calls are not seen",
		     p->plan->functions.data[p->plan->sites.data[*site].function].name);
}

/*
 * Opened before the kprobes, which the kernel then calls first: an entry sees the original return
 * address. Without return probes only the returns of tail calls are missing, and these are counted.
 */
static void open_returns(struct probe *p)
{
	const struct perf_event_attr plain = {0};
	struct bpf_link *link = NULL;
	int id, fd = -1;

	id = tracefs__event_id(p->kernel.tracefs, TRACEFS_KRETPROBE);
	fd = id < 0 ? -1 : open_for(id, -1, plain);
	if (fd >= 0)
		link = bpf_program__attach_perf_event(p->skel->progs.hit_kernel_return, fd);
	p->kernel_returns = link != NULL;
	if (link)
		return attachment__add_link(&p->kernel, link, 0, 0);
	note("return probes can't be attached (%s): returns of tail calls are not seen",
	     strerror(errno));
	if (fd >= 0)
		close(fd);
}

static int define_or_refuse(struct probe *p, int fd, const char *event, uint32_t site)
{
	int err;

	if (is_harmful(p, &p->plan->sites.data[site])) {
		kprobe__refuse(p, site, "no probe on", "the kernel would emulate it wrongly");
		return -EINVAL;
	}
	err = kprobe_define(p, fd, event, site);
	if (err)
		kprobe__refuse(p, site, "the kernel refuses", strerror(-err));
	return err;
}

int kprobe_event__attach(struct probe *p)
{
	char name[64];
	autoclose int fd = begin_event(&p->kernel, TRACEFS_KPROBE, p->plan, name, sizeof(name));
	uint32_t defined = 0;

	if (fd < 0)
		return fd;
	if (!p->plan->arch->kernel)
		return err__set(ENOTSUP, "kprobes of %s are not known", p->plan->arch->name);
	for (uint32_t i = 0; i < p->plan->sites.len && !probe__is_interrupted(p); i++) {
		if (!plan_site__is_hooked(&p->plan->sites.data[i]) ||
		    !plan__is_kernel_site(p->plan, i))
			continue;
		defined += !define_or_refuse(p, fd, name, i);
		probe__attached(p, 1, plan__site_work(p->plan, i));
	}
	if (defined)
		kprobe__tell_unseen(p);
	if (defined && !probe__is_interrupted(p) && kernel_returns__define(p, fd))
		open_returns(p);
	if (p->options->retires)
		kprobe_event__begin_changes(p);
	return end_definitions(p, &p->kernel, TRACEFS_KPROBE, defined);
}

/* ---- behind a time when nothing was recorded ---- */

int uprobe_event__unpark(struct probe *p)
{
	return open_event(p, &p->programs, TRACEFS_UPROBE);
}

int kprobe_event__unpark(struct probe *p)
{
	if (p->kernel_returns)
		open_returns(p);
	return open_event(p, &p->kernel, TRACEFS_KPROBE);
}

/* ---- kprobes that come and go: a definition that is added to an event in use is armed at once
 * (kernel/trace/trace_kprobe.c, append_trace_kprobe()) ---- */

static bool is_asked(const struct probe *p, uint32_t site)
{
	const uint32_t *asked;

	vec__each (asked, &p->asked)
		if (*asked == site)
			return true;
	return false;
}

/* Defines return probes for the entries among them, before their kprobes as in open_returns(). */
static void add_returns(struct probe *p, int fd)
{
	autofree bool *elsewhere = NULL;
	uint32_t *site, n = 0;

	if (!(p->options->events & PLAN_RETURN) || probe__counts(p))
		return;
	vec__each (site, &p->asked)
		p->plan->sites.data[*site].probe = PROBE_TRAP;
	elsewhere = plan__ends_elsewhere(p->plan);
	vec__each (site, &p->asked)
		p->plan->sites.data[*site].probe = PROBE_CHANGING;
	for (uint32_t i = 0; i < p->plan->functions.len; i++) {
		uint32_t entry = p->plan->functions.data[i].entry_site;

		if (elsewhere[i] && is_asked(p, entry))
			n += p->kernel_returns ? !kernel_returns__add(p, fd, i) : 1;
	}
	if (n && !p->kernel_returns)
		note("%u of the added functions may end in a jump to another function: these returns "
		     "are not seen, since the trace began without return probes",
		     n);
}

static int undefine(const struct probe *p, const struct plan_site *s)
{
	int root = p->kernel.tracefs, err = 0;

	if (s->entry && p->kernel_returns)
		err = tracefs__remove(root, TRACEFS_KRETPROBE, s->vaddr);
	return err && err != -ENOENT
		       ? err
		       : tracefs__remove(root, TRACEFS_KPROBE, s->vaddr + s->probe_at);
}

static void undefine_all(struct probe *p, const id_vec *sites)
{
	const uint32_t *site;

	vec__each (site, sites)
		undefine(p, &p->plan->sites.data[*site]);
}

int kprobe_event__add(struct probe *p)
{
	autoclose int fd = tracefs__open(p->kernel.tracefs, TRACEFS_KPROBE);
	id_vec defined = {0};
	char name[64];
	int err = min_of(fd, 0);
	uint32_t *site;

	if (err)
		return err;
	tracefs__event_name(TRACEFS_KPROBE, shield__pid(), name, sizeof(name));
	add_returns(p, fd);
	vec__each (site, &p->asked) {
		int refused = define_or_refuse(p, fd, name, *site);

		if (!refused)
			vec__push(&defined, *site);
		if (refused == -E2BIG)
			err = err__set(ENOSPC, "this trace can't take so many more kernel probes: "
					       "trace these functions by another bbtrace");
		if (probe__is_interrupted(p))
			err = err__set(EINTR, "interrupted while attaching");
		if (err)
			break;
	}
	if (err)
		undefine_all(p, &defined);
	vec__free(&defined);
	return err;
}

/* The last definition of an event in use can't be deleted. */
int kprobe_event__remove(struct probe *p)
{
	size_t kept = 0;

	probe__keep_misses(p);
	for (size_t i = 0; i < p->asked.len; i++)
		if (undefine(p, &p->plan->sites.data[p->asked.data[i]]))
			p->asked.data[kept++] = p->asked.data[i];
		else
			probe__forget_misses(p, p->asked.data[i]);
	p->asked.len = kept;
	return 0;
}

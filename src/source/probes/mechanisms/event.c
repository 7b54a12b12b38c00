// SPDX-License-Identifier: BSD-2-Clause
/*
 * One tracefs event with many probes: for user space without uprobe_multi; kprobe_event.c has those
 * of the kernel. Each site has its own definition, so a refused one doesn't affect the others.
 * event_close.c closes it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "event.h"
#include "event_keeper.h"
#include "source/probes/session.h"
#include "tracefs.h"
#include "bbtrace.skel.h"

/* ---- opening the event ---- */

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

int event__open_all(struct probe *p, struct attachment *a, enum tracefs_kind kind)
{
	const struct perf_event_attr plain = {0};
	bool some = kind == TRACEFS_UPROBE && is_by_process(p->scope.kind);
	int err;

	a->event_id = tracefs__event_id(a->tracefs, kind);
	if (a->event_id < 0)
		return a->event_id;
	err = attach_program(p, a, event__open(a->event_id, some ? 0 : -1, plain));
	return err || !some ? err : open_for_processes(p);
}

int event__begin(struct attachment *a, enum tracefs_kind kind, const struct plan *plan, char *name,
		 size_t size)
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

int event__end(struct probe *p, struct attachment *a, enum tracefs_kind kind, uint32_t defined)
{
	if (probe__is_interrupted(p))
		return err__set(EINTR, "interrupted while attaching");
	return defined ? event__open_all(p, a, kind)
		       : none_defined(p->plan, kind == TRACEFS_KPROBE);
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

/*
 * The kernel accepts definitions of probes that it refuses to arm when a file is mapped
 * (kernel/events/uprobes.c, uprobe_mmap()). So bbtrace checks a mapping of its own, which is armed
 * while it attaches.
 */
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
	autoclose int fd = event__begin(&p->programs, TRACEFS_UPROBE, p->plan, name, sizeof(name));
	uint32_t defined = 0;
	int err;

	if (fd < 0)
		return fd;
	for (uint32_t i = 0; i < p->plan->sites.len; i++) {
		if (!plan_site__is_hooked(&p->plan->sites.data[i]) ||
		    plan__is_kernel_site(p->plan, i))
			continue;
		if (probe__is_interrupted(p))
			break;
		err = uprobe_define(p, fd, name, i);
		if (err)
			plan__refuse(p->plan, i, PROBE_KERNEL);
		defined += !err;
		probe__attached(p, 1, 1);
	}
	err = event__end(p, &p->programs, TRACEFS_UPROBE, defined);
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

int uprobe_event__attach_again(struct probe *p, uint32_t pid)
{
	autofree struct map64 known = {0};
	autofree pid_vec tids = {0};

	process__threads(pid, &tids);
	return open_for_threads(p, &tids, &known);
}

/* ---- after a time when nothing was recorded ---- */

int uprobe_event__unpark(struct probe *p)
{
	return event__open_all(p, &p->programs, TRACEFS_UPROBE);
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * One tracefs event with many probes: for user space where there is no uprobe_multi, and for the
 * kernel (closing perf kprobes takes 70 ms each). Each site is defined for itself, so one that the
 * kernel refuses sinks none of the rest.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "session.h"
#include "tracefs.h"
#include "bbtrace.skel.h"

static int open_event(struct probe *p, enum tracefs_kind kind)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr)};
	struct bpf_link *link;
	int id = tracefs__event_id(p->tracefs, kind);

	if (id < 0)
		return id;
	attr.config = id;
	p->event_fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (p->event_fd < 0)
		return err__set(errno, "cannot open the trace event: %s", strerror(errno));
	link = bpf_program__attach_perf_event(p->skel->progs.hit_event, p->event_fd);
	if (!link)
		return err__set(errno, "cannot attach to the trace event: %s", strerror(errno));
	p->event_fd = -1; /* the link's now */
	vec__push(&p->links, link);
	return 0;
}

static int begin_event(struct probe *p, enum tracefs_kind kind, char *name, size_t size)
{
	int n;

	p->tracefs = tracefs__mount();
	if (p->tracefs < 0)
		return p->tracefs;
	n = tracefs__sweep(p->tracefs);
	if (n > 0)
		note_verbose("deleted %d probe definitions that killed tracers left behind", n);
	tracefs__event_name(kind, steady__pid(), name, size);
	return tracefs__open(p->tracefs, kind);
}

static int none_defined(const struct plan *plan)
{
	if (plan->kernel)
		return err__set(EINVAL,
				"the kernel accepts no probe in %s%s: marked notrace; trace what "
				"calls it",
				plan->functions.data[0].name,
				plan->functions.len == 1 ? "" : " and the others");
	return err__set(EINVAL, "the kernel refused every probe%s",
			plan->sites.len == 1 ? "" : "; -v shows its answers");
}

/* Thousands of definitions take their time. */
static bool is_interrupted(const struct probe *p)
{
	return (p->options->interrupted && *p->options->interrupted) || steady__is_orphan();
}

static int end_definitions(struct probe *p, enum tracefs_kind kind, uint32_t defined)
{
	if (is_interrupted(p))
		return err__set(EINTR, "interrupted while attaching");
	return defined ? open_event(p, kind) : none_defined(p->plan);
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
	if (bpf_map__update_elem(p->skel->maps.uprobe_sites, &key, sizeof(key),
				 &p->words.data[site], 8, BPF_NOEXIST))
		return -errno;
	snprintf(line, sizeof(line), "p:%s %s:0x%llx\n", event, o->attach_path,
		 (unsigned long long)offset);
	return tracefs__define(fd, line);
}

#define BREAKPOINT 0xcc

/* Sites of the object that show no breakpoint in this mapping of its file. */
static void refuse_unarmed(struct probe *p, uint32_t object, const uint8_t *map, size_t size)
{
	const struct object *o = p->plan->objects.data[object].object;
	uint64_t offset;

	for (uint32_t i = 0; i < p->plan->sites.len; i++) {
		const struct plan_site *s = &p->plan->sites.data[i];

		if (s->object != object || !s->probe ||
		    !object__vaddr_to_offset(o, s->vaddr + s->probe_at, &offset) ||
		    offset >= size || map[offset] == BREAKPOINT)
			continue;
		note_verbose("the kernel refuses instructions such as %s+0x%llx", o->path,
			     (unsigned long long)offset);
		plan__refuse(p->plan, i, PROBE_KERNEL);
	}
}

/* What the kernel refuses it accepts in a definition, and leaves out where a file is mapped
 * (kernel/events/uprobes.c, uprobe_mmap()): look at a mapping. */
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
	autoclose int fd = begin_event(p, TRACEFS_UPROBE, name, sizeof(name));
	uint32_t defined = 0;
	int err;

	if (fd < 0)
		return fd;
	for (uint32_t i = 0; i < p->plan->sites.len && !is_interrupted(p); i++) {
		if (!p->plan->sites.data[i].probe)
			continue;
		err = uprobe_define(p, fd, name, i);
		if (err)
			plan__refuse(p->plan, i, PROBE_KERNEL);
		defined += !err;
		probe__attached(p, 1);
	}
	err = end_definitions(p, TRACEFS_UPROBE, defined);
	for (uint32_t i = 0; !err && i < p->plan->objects.len; i++)
		check_armed(p, i);
	return err;
}

void uprobe_event__detach(struct probe *p)
{
	struct bpf_link **link;

	vec__each (link, &p->links)
		bpf_link__destroy(*link);
	p->links.len = 0;
	if (p->event_fd >= 0)
		close(p->event_fd);
	if (p->tracefs >= 0) {
		tracefs__delete(p->tracefs, TRACEFS_UPROBE);
		close(p->tracefs);
	}
}

/*
 * At a kprobe on x86 ctx->ip is behind the int3 (or what the kernel makes of it); at a function's
 * endbr64 the kernel moves the probe behind it (arch/x86/kernel/kprobes/core.c,
 * arch_adjust_kprobe_addr()).
 */
static int add_kernel_site(struct probe *p, uint64_t ip, uint32_t site)
{
	struct bpf_map *map = p->skel->maps.kernel_sites;

	return bpf_map__update_elem(map, &ip, 8, &p->words.data[site], 8, BPF_ANY) ? -errno : 0;
}

/* Or what is_endbr() of arch/x86/include/asm/ibt.h takes for one: a nop that the kernel puts in its
 * place where no indirect call leads. */
static bool starts_with_endbr(const struct object *o, uint64_t vaddr)
{
	static const uint8_t forms[][4] = {
		{0xf3, 0x0f, 0x1e, 0xfa},
		{0x66, 0x0f, 0x1f, 0x00}, /* from 5.18 on */
		{0x0f, 0x1f, 0x40, 0xd6}, /* from 6.15 on */
	};
	size_t avail = 0;
	const uint8_t *bytes = object__bytes(o, vaddr, &avail);

	for (size_t i = 0; bytes && avail >= sizeof(*forms) && i < ARRAY_SIZE(forms); i++)
		if (!memcmp(bytes, forms[i], sizeof(*forms)))
			return true;
	return false;
}

static int kprobe_define(struct probe *p, int fd, const char *event, uint32_t site)
{
	const struct plan_site *s = &p->plan->sites.data[site];
	unsigned long long addr = s->vaddr + s->probe_at;
	char line[160];
	int err = add_kernel_site(p, addr + 1, site);

	if (!err && s->entry && !s->probe_at &&
	    starts_with_endbr(p->plan->objects.data[s->object].object, s->vaddr))
		err = add_kernel_site(p, s->vaddr + 5, site);
	if (err)
		return err;
	/* two probes of one event must differ in an argument where their symbol is not given
	 * (kernel/trace/trace_kprobe.c, trace_kprobe_has_same_kprobe()) */
	snprintf(line, sizeof(line), "p:%s 0x%llx at=\\0x%llx:x64\n", event, addr, addr);
	return tracefs__define(fd, line);
}

/* What may not even be tried: the kernel would accept it. */
static bool is_harmful(const struct probe *p, const struct plan_site *s)
{
	const struct object *o = p->plan->objects.data[s->object].object;
	uint64_t addr = s->vaddr + s->probe_at;
	const uint8_t *bytes;
	struct insn insn;
	size_t avail;

	bytes = object__bytes(o, addr, &avail);
	if (!bytes || p->plan->arch->decode(bytes, avail, addr, true, &insn))
		return true;
	return p->plan->arch->machine == EM_X86_64 && emulation__is_wrong(bytes, insn.len);
}

static void refuse_kprobe(struct probe *p, uint32_t site, const char *who, const char *why)
{
	const struct plan_site *s = &p->plan->sites.data[site];
	uint64_t offset = 0;
	const char *name = plan__name_at(p->plan, s->function, s->vaddr, &offset);

	note_verbose("%s %s+0x%llx: %s", who, name ? name : "?", (unsigned long long)offset, why);
	plan__refuse(p->plan, site, PROBE_KERNEL);
}

/* Without its entry a function shows next to nothing. */
static void tell_unseen(const struct plan *plan)
{
	const struct plan_function *f;

	vec__each (f, &plan->functions)
		if (f->entry_site != NO_SITE && !(f->flags & FUNCTION_SILENT) &&
		    plan->sites.data[f->entry_site].refusal == PROBE_KERNEL)
			note("%s: the kernel accepts no probe at its entry: its calls are not seen",
			     f->name);
}

int kprobe_event__attach(struct probe *p)
{
	char name[64];
	autoclose int fd = begin_event(p, TRACEFS_KPROBE, name, sizeof(name));
	uint32_t defined = 0;
	int err;

	if (fd < 0)
		return fd;
	for (uint32_t i = 0; i < p->plan->sites.len && !is_interrupted(p); i++) {
		const struct plan_site *s = &p->plan->sites.data[i];

		if (!s->probe)
			continue;
		probe__attached(p, 1);
		if (is_harmful(p, s)) {
			refuse_kprobe(p, i, "no probe on", "the kernel would emulate it wrongly");
			continue;
		}
		err = kprobe_define(p, fd, name, i);
		if (err)
			refuse_kprobe(p, i, "the kernel refuses", strerror(-err));
		defined += !err;
	}
	if (defined)
		tell_unseen(p->plan);
	return end_definitions(p, TRACEFS_KPROBE, defined);
}

/* Deleting hundreds of kprobe definitions takes seconds and changes nothing any more: a silent
 * child does it. It keeps nothing open but fd. */
static void __attribute__((noreturn)) delete_silently(int fd, const char *line)
{
	setsid();
	dup2(fd, 0);
	close_range(1, ~0u, 0);
	/* -EBUSY until the tracer has closed the event */
	for (int i = 0; i < 600 && tracefs__define(0, line) == -EBUSY; i++)
		usleep(50000);
	_exit(0);
}

/* Comes back when the child holds nothing of the event any more: closing it is then what disarms.
 */
static void leave_definitions(int fd, const char *line)
{
	int end[2];
	char byte;

	fflush(NULL);
	if (pipe2(end, O_CLOEXEC))
		return;
	if (!fork())
		delete_silently(fd, line);
	close(end[1]);
	while (read(end[0], &byte, 1) < 0 && errno == EINTR)
		;
	close(end[0]);
}

void kprobe_event__detach(struct probe *p)
{
	char name[64], line[80];
	struct bpf_link **link;
	int fd;

	if (p->tracefs < 0)
		return;
	fd = tracefs__open(p->tracefs, TRACEFS_KPROBE);
	tracefs__event_name(TRACEFS_KPROBE, getpid(), name, sizeof(name));
	snprintf(line, sizeof(line), "-:%s\n", name);
	if (fd >= 0)
		leave_definitions(fd, line);
	vec__each (link, &p->links)
		bpf_link__destroy(*link);
	p->links.len = 0;
	if (fd >= 0)
		close(fd);
	if (p->event_fd >= 0)
		close(p->event_fd);
	close(p->tracefs);
}

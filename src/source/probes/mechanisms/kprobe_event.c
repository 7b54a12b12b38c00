// SPDX-License-Identifier: BSD-2-Clause
/*
 * Kprobes as one trace event with many definitions (event.c): closing perf kprobes takes 70 ms
 * each.
 */
#include <errno.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include "event.h"
#include "bbtrace.skel.h"

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
	const uint8_t after = p->plan->arch->kernel->ip_after;
	unsigned long long addr = s->vaddr + s->probe_at;
	size_t landing = s->entry && !s->probe_at ? landing_at(p, s) : 0;
	char line[160];
	int err = add_kernel_site(p, addr + after, site);

	if (!err && landing)
		err = add_kernel_site(p, addr + landing + after, site);
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
void kprobe__report_unseen(const struct probe *p)
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
	fd = id < 0 ? -1 : event__open(id, -1, plain);
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

static void begin_changes(struct probe *p)
{
	p->armed = xcalloc(p->plan->sites.len + 1, sizeof(*p->armed));
	for (uint32_t i = 0; i < p->plan->sites.len; i++)
		p->armed[i] = plan__is_kernel_site(p->plan, i) &&
			      plan_site__is_hooked(&p->plan->sites.data[i]);
}

int kprobe_event__attach(struct probe *p)
{
	char name[64];
	autoclose int fd = event__begin(&p->kernel, TRACEFS_KPROBE, p->plan, name, sizeof(name));
	uint32_t defined = 0;

	if (fd < 0)
		return fd;
	if (!p->plan->arch->kernel)
		return err__set(ENOTSUP, "kprobes of %s are not known", p->plan->arch->name);
	for (uint32_t i = 0; i < p->plan->sites.len; i++) {
		if (!plan_site__is_hooked(&p->plan->sites.data[i]) ||
		    !plan__is_kernel_site(p->plan, i))
			continue;
		if (probe__is_interrupted(p))
			break;
		defined += !define_or_refuse(p, fd, name, i);
		probe__attached(p, 1, plan__site_work(p->plan, i));
	}
	if (defined)
		kprobe__report_unseen(p);
	if (defined && !probe__is_interrupted(p) && kernel_returns__define(p, fd))
		open_returns(p);
	if (p->options->retires)
		begin_changes(p);
	return event__end(p, &p->kernel, TRACEFS_KPROBE, defined);
}

int kprobe_event__unpark(struct probe *p)
{
	if (p->kernel_returns)
		open_returns(p);
	return event__open_all(p, &p->kernel, TRACEFS_KPROBE);
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

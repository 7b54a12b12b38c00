// SPDX-License-Identifier: BSD-2-Clause
/*
 * uprobe_multi: one link per object for thousands of sites. A single refused site would fail the
 * whole link, so a dry run finds these first.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include "session.h"
#include "tracefs.h"
#include "bbtrace.skel.h"

#define ENOTSUPP                                                                                   \
	524 /* include/linux/errno.h: what uprobe_register() answers to an instruction it refuses  \
	     */

struct batch {
	VEC(unsigned long) offsets;
	VEC(uint64_t) cookies;
	VEC(uint32_t) sites;
	bool returns; /* return probes */
};

static void batch__free(struct batch *b)
{
	vec__free(&b->offsets);
	vec__free(&b->cookies);
	vec__free(&b->sites);
}

static void collect(struct probe *p, uint32_t object, struct batch *b)
{
	const struct plan_object *o = &p->plan->objects.data[object];

	for (uint32_t i = 0; i < p->plan->sites.len; i++) {
		const struct plan_site *s = &p->plan->sites.data[i];
		uint64_t offset;

		if (s->object != object || !plan_site__is_hooked(s))
			continue;
		if (!object__vaddr_to_offset(o->object, s->vaddr + s->probe_at, &offset)) {
			plan__refuse(p->plan, i, PROBE_UNPROVED);
			continue;
		}
		vec__push(&b->offsets, offset);
		vec__push(&b->cookies, i);
		vec__push(&b->sites, i);
	}
}

/* Collects the entries with return probes. */
static void collect_returns(struct probe *p, uint32_t object, struct batch *b)
{
	b->returns = true;
	for (uint32_t i = 0; i < p->plan->functions.len; i++) {
		const struct plan_function *f = &p->plan->functions.data[i];
		const struct plan_site *s;
		uint64_t offset;

		if (f->object != object || plan__return_refusal(p->plan, i))
			continue;
		s = &p->plan->sites.data[f->entry_site];
		if (!object__vaddr_to_offset(p->plan->objects.data[object].object,
					     s->vaddr + s->probe_at, &offset))
			continue;
		vec__push(&b->offsets, offset);
		vec__push(&b->cookies, f->entry_site | COOKIE_RETURN);
		vec__push(&b->sites, f->entry_site);
	}
}

static struct bpf_link *link_sites(struct probe *p, const char *path, const struct batch *b,
				   size_t from, size_t n, pid_t pid)
{
	LIBBPF_OPTS(bpf_uprobe_multi_opts, o, .offsets = b->offsets.data + from,
		    .cookies = (const __u64 *)b->cookies.data + from, .cnt = n,
		    .retprobe = b->returns);

	return bpf_program__attach_uprobe_multi(p->skel->progs.hit_multi, pid ? pid : -1, path,
						NULL, &o);
}

/* ---- dry run: what would the kernel refuse? ---- */

/* Sites of one form share the kernel's answer. */
static uint64_t form_of(const struct plan *plan, const struct plan_site *s)
{
	const struct arch *arch = plan->arch;
	uint64_t addr = s->vaddr + s->probe_at;
	size_t avail = 0;
	const uint8_t *bytes = object__bytes(plan->objects.data[s->object].object, addr, &avail);
	struct insn insn;

	if (!arch->uprobe_form || !bytes || arch->decode(bytes, avail, addr, false, &insn))
		return addr;
	return arch->uprobe_form(bytes, avail, &insn);
}

/* One site of each form. */
static void take_forms(const struct probe *p, const struct batch *all, struct batch *out)
{
	struct map64 seen = {0};

	for (size_t i = 0; i < all->sites.len; i++) {
		uint64_t form = form_of(p->plan, &p->plan->sites.data[all->sites.data[i]]);

		if (map64__get(&seen, form))
			continue;
		*map64__put(&seen, form) = 1;
		vec__push(&out->offsets, all->offsets.data[i]);
		vec__push(&out->cookies, all->cookies.data[i]);
		vec__push(&out->sites, all->sites.data[i]);
	}
	map64__free(&seen);
}

/*
 * Attaches to bbtrace itself while it maps the file, since a refusal shows only in a mapping
 * (kernel/events/uprobes.c, prepare_uprobe()). Adds refused forms to the map.
 */
static void try_forms(struct probe *p, const char *path, const struct batch *b, size_t from,
		      size_t n, struct map64 *refused)
{
	struct bpf_link *link = link_sites(p, path, b, from, n, getpid());

	if (link) {
		bpf_link__destroy(link);
		return;
	}
	if (n == 1) {
		note_verbose("the kernel refuses instructions such as %s+0x%lx: %s", path,
			     b->offsets.data[from],
			     errno == ENOTSUPP ? "not supported" : strerror(errno));
		*map64__put(refused, form_of(p->plan, &p->plan->sites.data[b->sites.data[from]])) =
			1;
		return;
	}
	try_forms(p, path, b, from, n / 2, refused);
	try_forms(p, path, b, from + n / 2, n - n / 2, refused);
}

static void drop_refused(struct probe *p, struct batch *b, const struct map64 *refused)
{
	size_t kept = 0;

	for (size_t i = 0; i < b->sites.len; i++) {
		uint32_t site = b->sites.data[i];

		if (map64__get(refused, form_of(p->plan, &p->plan->sites.data[site]))) {
			plan__refuse(p->plan, site, PROBE_KERNEL);
			continue;
		}
		b->sites.data[kept] = site;
		b->offsets.data[kept] = b->offsets.data[i];
		b->cookies.data[kept++] = b->cookies.data[i];
	}
	b->sites.len = b->offsets.len = b->cookies.len = kept;
}

static void find_refused(struct probe *p, const struct plan_object *o, struct batch *b)
{
	autoclose int fd = open(o->object->attach_path, O_RDONLY | O_CLOEXEC);
	const struct segment *last = vec__last(&o->object->segments);
	size_t size = last->offset + last->size;
	struct map64 refused = {0};
	struct batch forms = {0};
	void *map;

	if (fd < 0 || !feature__uprobe_multi_by_process())
		return;
	map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return;
	take_forms(p, b, &forms);
	try_forms(p, o->object->attach_path, &forms, 0, forms.sites.len, &refused);
	munmap(map, size);
	if (refused.len)
		drop_refused(p, b, &refused);
	map64__free(&refused);
	batch__free(&forms);
}

static int attach_failed(const struct plan_object *o, int err)
{
	if (err == EPERM || err == EACCES)
		return err__set(EPERM,
				"cannot attach to %s: needs CAP_BPF and CAP_PERFMON; run with sudo",
				o->path);
	if (err == ESRCH)
		return err__set(ESRCH, "cannot attach to %s: the process has ended", o->path);
	return err__set(err, "cannot attach to %s: %s", o->path, strerror(err));
}

/* pid 0: all. */
static int link_process(struct probe *p, const struct plan_object *o, const struct batch *b,
			pid_t pid)
{
	struct bpf_link *link = link_sites(p, o->object->attach_path, b, 0, b->sites.len, pid);

	if (!link)
		return attach_failed(o, errno);
	attachment__add_link(&p->programs, link, pid);
	return 0;
}

/* Can links be limited to the processes that are traced? */
static bool is_by_process(enum scope_kind kind)
{
	return kind == SCOPE_PROCESSES && feature__uprobe_multi_by_process();
}

/* One link per process: others are not slowed. */
static int link_batch(struct probe *p, const struct plan_object *o, const struct batch *b)
{
	const uint32_t *pid;
	int err = 0;

	if (!b->sites.len)
		return 0;
	if (!is_by_process(p->scope.kind))
		return link_process(p, o, b, 0);
	vec__each (pid, &p->scope.pids) {
		err = link_process(p, o, b, *pid);
		if (err && !(err == -ESRCH && p->scope.pids.len > 1))
			return err;
	}
	return p->programs.links.len ? 0 : err;
}

enum probe_spares uprobe_multi__spares(enum scope_kind kind)
{
	return is_by_process(kind) ? SPARES_OTHERS : SPARES_NOBODY;
}

static int multi_attach_object(struct probe *p, uint32_t object)
{
	const struct plan_object *o = &p->plan->objects.data[object];
	struct batch b = {0}, returns = {0};
	int err;
	size_t sites;

	collect(p, object, &b);
	sites = b.sites.len;
	if (b.sites.len)
		find_refused(p, o, &b);
	if (p->plan->return_probes && b.sites.len < sites && plan__probe_rets(p->plan)) {
		batch__free(&b);
		b = (struct batch){0};
		collect(p, object, &b);
	}
	err = link_batch(p, o, &b);
	if (!err && p->plan->return_probes) {
		collect_returns(p, object, &returns);
		err = link_batch(p, o, &returns);
	}
	probe__attached(p, sites, sites);
	batch__free(&b);
	batch__free(&returns);
	return err;
}

int uprobe_multi__attach(struct probe *p)
{
	int err = 0;

	if (!p->programs.links.len) /* not again in the middle of a trace */
		leftovers__handle_mounted(p->plan);
	for (uint32_t i = 0; !err && i < p->plan->objects.len; i++)
		if (!p->plan->objects.data[i].kernel)
			err = multi_attach_object(p, i);
	return err;
}

/* Its old links are dead, but would record the hits of new ones as well. */
int uprobe_multi__attach_again(struct probe *p, uint32_t pid)
{
	struct scope all = p->scope;
	int err;

	attachment__drop_links(&p->programs, pid);
	p->scope.pids = (pid_vec){.data = &pid, .len = 1, .cap = 1};
	err = uprobe_multi__attach(p);
	p->scope = all;
	return err == -ESRCH ? 0 : err;
}

void uprobe_multi__detach(struct probe *p)
{
}

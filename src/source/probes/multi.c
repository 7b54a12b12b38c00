// SPDX-License-Identifier: BSD-2-Clause
/*
 * uprobe_multi: one link per object for thousands of sites. A single refused site would fail the
 * whole link, so a dry run finds these first. A link can't lose a site: if sites retire, each
 * object has several links, and those whose sites change are replaced by new ones (bpf/wire.h,
 * COOKIE_GENERATION_SHIFT).
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

/* ---- parts: what is attached together ---- */

/* Closing a link takes as long as detaching ten thousand of its sites (Linux 6.18). */
#define PART_SITES 4096
#define PARTS_MOST 16

/* By address, so that those of a function are together. */
static void divide_objects(struct probe *p)
{
	const struct plan *plan = p->plan;
	uint32_t n = 0, object = UINT32_MAX,
		 most = max_of((uint32_t)PART_SITES, (uint32_t)plan->sites.len / PARTS_MOST);

	for (size_t i = 0; i < plan->sites_by_address.len; i++) {
		uint32_t site = plan->sites_by_address.data[i];

		if (plan->sites.data[site].object != object || n == most) {
			object = plan->sites.data[site].object;
			p->nparts++;
			n = 0;
		}
		p->part[site] = p->nparts - 1;
		n++;
	}
}

static void divide(struct probe *p)
{
	size_t n = p->plan->sites.len;

	p->part = xcalloc(n + 1, sizeof(*p->part));
	p->attached = xcalloc(n + 1, sizeof(*p->attached));
	if (p->options->retires)
		return divide_objects(p);
	p->nparts = p->plan->objects.len;
	for (size_t i = 0; i < n; i++)
		p->part[i] = p->plan->sites.data[i].object;
}

static void collect(struct probe *p, uint32_t part, struct batch *b)
{
	for (uint32_t i = 0; i < p->plan->sites.len; i++) {
		const struct plan_site *s = &p->plan->sites.data[i];
		const struct plan_object *o = &p->plan->objects.data[s->object];
		uint64_t offset;

		if (p->part[i] != part || o->kernel || !plan_site__is_hooked(s))
			continue;
		if (!object__vaddr_to_offset(o->object, s->vaddr + s->probe_at, &offset)) {
			plan__refuse(p->plan, i, PROBE_UNPROVED);
			continue;
		}
		vec__push(&b->offsets, offset);
		vec__push(&b->cookies, i | p->generation << COOKIE_GENERATION_SHIFT);
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
			uint32_t part, pid_t pid)
{
	struct bpf_link *link = link_sites(p, o->object->attach_path, b, 0, b->sites.len, pid);

	if (!link)
		return attach_failed(o, errno);
	attachment__add_link(&p->programs, link, pid, part);
	return 0;
}

/* Can links be limited to the processes that are traced? */
static bool is_by_process(enum scope_kind kind)
{
	return kind == SCOPE_PROCESSES && feature__uprobe_multi_by_process();
}

/* One link per process: others are not slowed. */
static int link_batch(struct probe *p, const struct plan_object *o, const struct batch *b,
		      uint32_t part)
{
	const uint32_t *pid;
	int err = 0;

	if (!b->sites.len)
		return 0;
	if (!is_by_process(p->scope.kind))
		return link_process(p, o, b, part, 0);
	vec__each (pid, &p->scope.pids) {
		err = link_process(p, o, b, part, *pid);
		if (err && !(err == -ESRCH && p->scope.pids.len > 1))
			return err;
	}
	return p->programs.links.len ? 0 : err;
}

enum probe_spares uprobe_multi__spares(enum scope_kind kind)
{
	return is_by_process(kind) ? SPARES_OTHERS : SPARES_NOBODY;
}

static int attach_part(struct probe *p, uint32_t part, bool first)
{
	const struct plan_object *o;
	struct batch b = {0};
	size_t sites;
	int err = 0;

	collect(p, part, &b);
	sites = b.sites.len;
	if (sites) {
		o = &p->plan->objects.data[p->plan->sites.data[b.sites.data[0]].object];
		if (first)
			find_refused(p, o, &b);
		if (p->plan->return_probes && b.sites.len < sites && plan__probe_rets(p->plan)) {
			batch__free(&b);
			b = (struct batch){0};
			collect(p, part, &b);
		}
		err = link_batch(p, o, &b, part);
	}
	if (first)
		probe__attached(p, sites, sites);
	batch__free(&b);
	return err;
}

static int attach_returns(struct probe *p, uint32_t object)
{
	struct batch returns = {0};
	int err;

	collect_returns(p, object, &returns);
	err = link_batch(p, &p->plan->objects.data[object], &returns, 0);
	batch__free(&returns);
	return err;
}

static void note_attached(struct probe *p)
{
	for (uint32_t i = 0; i < p->plan->sites.len; i++)
		p->attached[i] = plan_site__is_hooked(&p->plan->sites.data[i]);
}

int uprobe_multi__attach(struct probe *p)
{
	int err = 0;

	if (!p->programs.links.len) /* not again in the middle of a trace */
		leftovers__handle_mounted(p->plan);
	if (p->options->retires && !p->part)
		err = uprobe_multi__check_order(p);
	if (!p->part)
		divide(p);
	for (uint32_t i = 0; !err && i < p->nparts; i++)
		err = attach_part(p, i, true);
	for (uint32_t i = 0; !err && i < p->plan->objects.len && p->plan->return_probes; i++)
		if (!p->plan->objects.data[i].kernel)
			err = attach_returns(p, i);
	note_attached(p);
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

/* ---- sites that retire ---- */

static void find_changed(const struct probe *p, bool *parts)
{
	for (uint32_t i = 0; i < p->plan->sites.len; i++)
		if (!plan__is_kernel_site(p->plan, i))
			parts[p->part[i]] |=
				p->attached[i] != plan_site__is_hooked(&p->plan->sites.data[i]);
}

/* Moves the links of these parts, from the first on, to others, or to their end. */
static void take_links(struct probe *p, const bool *parts, size_t from, struct attachment *to)
{
	size_t kept = from;

	for (size_t i = from; i < p->programs.links.len; i++) {
		struct attached link = p->programs.links.data[i];

		if (parts[link.part])
			vec__push(&to->links, link);
		else
			p->programs.links.data[kept++] = link;
	}
	p->programs.links.len = kept;
}

static void choose_generation(struct probe *p, uint64_t generation, uint64_t takes_over)
{
	__atomic_store_n(&p->skel->bss->current, generation << 1 | takes_over, __ATOMIC_SEQ_CST);
}

/*
 * The new links are attached, but don't count yet. Then they count, and the old ones wherever a hit
 * doesn't run the new ones' program. When the old ones are closed, no hit is left that runs it for
 * them (uprobe_unregister_sync()).
 */
int uprobe_multi__change(struct probe *p)
{
	autofree bool *parts = xcalloc(p->nparts + 1, sizeof(*parts));
	struct attachment old = {0}, failed = {0};
	const struct attached *link;
	int err = 0;

	find_changed(p, parts);
	take_links(p, parts, 0, &old);
	p->generation++;
	for (uint32_t i = 0; !err && i < p->nparts; i++)
		if (parts[i])
			err = attach_part(p, i, false);
	if (err) {
		take_links(p, parts, 0, &failed);
		vec__each (link, &old.links)
			vec__push(&p->programs.links, *link);
		old.links.len = 0;
		p->generation--;
	} else {
		choose_generation(p, p->generation - 1, GENERATION_TAKES_OVER);
		attachment__drop_links(&old, 0);
		choose_generation(p, p->generation, 0);
		note_attached(p);
	}
	attachment__drop_links(&failed, 0);
	attachment__free(&failed);
	attachment__free(&old);
	return err;
}

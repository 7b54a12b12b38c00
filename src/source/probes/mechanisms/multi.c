// SPDX-License-Identifier: BSD-2-Clause
/*
 * uprobe_multi: one link per object for thousands of sites. A single refused site would fail the
 * whole link, so a dry run finds these first. A link can't gain or lose a site: added sites have
 * links of their own, and multi_change.c replaces links. If sites retire, each object has several.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include "multi.h"
#include "source/probes/session.h"
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
			p->multi.nparts++;
			n = 0;
		}
		p->multi.part[site] = p->multi.nparts - 1;
		n++;
	}
}

void multi__fit(struct probe *p)
{
	struct multi *m = &p->multi;
	size_t n = p->plan->sites.len;

	if (n <= m->len && m->part)
		return;
	m->part = xrealloc(m->part, n + 1, sizeof(*m->part));
	m->attached = xrealloc(m->attached, n + 1, sizeof(*m->attached));
	memset(m->part + m->len, 0, (n - m->len) * sizeof(*m->part));
	memset(m->attached + m->len, 0, (n - m->len) * sizeof(*m->attached));
	m->len = n;
}

static void divide(struct probe *p)
{
	multi__fit(p);
	if (p->options->retires)
		return divide_objects(p);
	p->multi.nparts = p->plan->objects.len;
	for (size_t i = 0; i < p->multi.len; i++)
		p->multi.part[i] = p->plan->sites.data[i].object;
}

static void mark_hooked(struct probe *p)
{
	for (uint32_t i = 0; i < p->multi.len; i++)
		p->multi.attached[i] = plan_site__is_hooked(&p->plan->sites.data[i]) &&
				       !plan__is_kernel_site(p->plan, i);
}

static void refuse(struct probe *p, uint32_t site, enum probe_refusal why)
{
	p->multi.attached[site] = false;
	plan__refuse(p->plan, site, why);
}

static bool find_offset(const struct probe *p, const struct plan_site *s, uint64_t *offset)
{
	return object__vaddr_to_offset(p->plan->objects.data[s->object].object,
				       s->vaddr + s->probe_at, offset);
}

static void collect(struct probe *p, uint32_t part, struct batch *b)
{
	for (uint32_t i = 0; i < p->multi.len; i++) {
		uint64_t offset;

		if (p->multi.part[i] != part || !p->multi.attached[i])
			continue;
		if (!find_offset(p, &p->plan->sites.data[i], &offset)) {
			refuse(p, i, PROBE_UNPROVED);
			continue;
		}
		vec__push(&b->offsets, offset);
		vec__push(&b->cookies, i | p->generation << COOKIE_GENERATION_SHIFT);
		vec__push(&b->sites, i);
	}
}

/* Collects the entries with return probes. */
static void collect_returns(struct probe *p, uint32_t part, struct batch *b)
{
	b->returns = true;
	for (uint32_t i = 0; i < p->plan->functions.len; i++) {
		uint32_t entry = p->plan->functions.data[i].entry_site;
		uint64_t offset;

		if (entry == NO_SITE || entry >= p->multi.len || p->multi.part[entry] != part ||
		    !p->multi.attached[entry] || plan__return_refusal(p->plan, i) ||
		    !find_offset(p, &p->plan->sites.data[entry], &offset))
			continue;
		vec__push(&b->offsets, offset);
		vec__push(&b->cookies,
			  entry | COOKIE_RETURN | p->generation << COOKIE_GENERATION_SHIFT);
		vec__push(&b->sites, entry);
	}
}

static struct bpf_link *link_sites(struct probe *p, const char *path, const struct batch *b,
				   size_t from, size_t n, pid_t pid)
{
	LIBBPF_OPTS(bpf_uprobe_multi_opts, o, .offsets = b->offsets.data + from,
		    .cookies = (const __u64 *)b->cookies.data + from, .cnt = n,
		    .retprobe = b->returns);

	return bpf_program__attach_uprobe_multi(multi__program(p), pid ? pid : -1, path, NULL, &o);
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
			refuse(p, site, PROBE_KERNEL);
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
	attachment__add_link(&p->multi.links, link, pid, part);
	return 0;
}

/* Returns true if links can be limited to the processes that are traced. */
static bool is_by_process(enum scope_kind kind)
{
	return kind == SCOPE_PROCESSES && feature__uprobe_multi_by_process();
}

/* One link per process: others are not slowed. */
static int link_batch(struct probe *p, const struct plan_object *o, const struct batch *b,
		      uint32_t part)
{
	size_t before = p->multi.links.links.len;
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
	return p->multi.links.links.len > before ? 0 : err;
}

enum probe_spares uprobe_multi__spares(enum scope_kind kind)
{
	return is_by_process(kind) ? SPARES_OTHERS : SPARES_NOBODY;
}

static const struct plan_object *object_of(const struct probe *p, const struct batch *b)
{
	return &p->plan->objects.data[p->plan->sites.data[b->sites.data[0]].object];
}

static int link_part(struct probe *p, uint32_t part, bool returns)
{
	struct batch b = {0};
	int err = 0;

	if (returns)
		collect_returns(p, part, &b);
	else
		collect(p, part, &b);
	if (b.sites.len)
		err = link_batch(p, object_of(p, &b), &b, part);
	batch__free(&b);
	return err;
}

int multi__attach_part(struct probe *p, uint32_t part)
{
	int err = p->parked ? 0 : link_part(p, part, false);

	return err || p->parked || !p->plan->return_probes ? err : link_part(p, part, true);
}

size_t multi__find_refused(struct probe *p, uint32_t part)
{
	struct batch b = {0};
	size_t all;

	collect(p, part, &b);
	all = b.sites.len;
	if (all)
		find_refused(p, object_of(p, &b), &b);
	all -= b.sites.len;
	batch__free(&b);
	return all;
}

static size_t count_part(const struct probe *p, uint32_t part)
{
	size_t n = 0;

	for (size_t i = 0; i < p->multi.len; i++)
		n += p->multi.attached[i] && p->multi.part[i] == part;
	return n;
}

static int attach_first(struct probe *p, uint32_t part)
{
	size_t sites = count_part(p, part);
	int err;

	if (multi__find_refused(p, part) && p->plan->return_probes && plan__probe_rets(p->plan))
		mark_hooked(p);
	err = multi__attach_part(p, part);
	probe__attached(p, sites, sites);
	return err;
}

int uprobe_multi__attach(struct probe *p)
{
	int err = leftovers__handle_mounted(p->plan);

	if (err)
		return err;
	divide(p);
	mark_hooked(p);
	if (p->options->retires)
		err = uprobe_multi__check_order(p);
	for (uint32_t i = 0; !err && i < p->multi.nparts; i++)
		err = attach_first(p, i);
	return err;
}

/* Its old links are dead, but would record the hits of new ones as well. */
int uprobe_multi__attach_again(struct probe *p, uint32_t pid)
{
	struct scope all = p->scope;
	int err = 0;

	attachment__drop_links(&p->multi.links, pid);
	p->scope.pids = (pid_vec){.data = &pid, .len = 1, .cap = 1};
	for (uint32_t i = 0; !err && i < p->multi.nparts; i++)
		err = multi__attach_part(p, i);
	p->scope = all;
	return err == -ESRCH ? 0 : err;
}

void uprobe_multi__detach(struct probe *p)
{
}

/* ---- parked: closing a link removes its breakpoints from all processes ---- */

int uprobe_multi__park(struct probe *p)
{
	attachment__drop_links(&p->multi.links, 0);
	return 0;
}

/* A process may have ended meanwhile. */
int uprobe_multi__unpark(struct probe *p)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < p->multi.nparts; i++) {
		err = multi__attach_part(p, i);
		err = err == -ESRCH ? 0 : err;
	}
	if (err)
		attachment__drop_links(&p->multi.links, 0);
	return err;
}

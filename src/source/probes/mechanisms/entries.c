// SPDX-License-Identifier: BSD-2-Clause
/*
 * kprobe_multi: one link for the entries of thousands of kernel functions, through ftrace. The
 * kernel decodes nothing and patches all places at once. The program gets only arguments and the
 * stack pointer (from Linux 6.14 on: arch/x86/include/asm/ftrace.h, ftrace_regs), at function
 * entries only.
 */
#include <errno.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "source/probes/session.h"
#include "bbtrace.skel.h"

struct batch {
	VEC(unsigned long) addrs;
	VEC(uint64_t) cookies;
	VEC(uint32_t) sites;
};

static bool is_entry(const struct plan *plan, uint32_t site)
{
	const struct plan_site *s = &plan->sites.data[site];

	return plan->functions.data[s->function].entry_site == site && s->role == ROLE_ENTRY;
}

int kprobe_multi__suits(const struct probe *p)
{
	if (p->options->all_regs || p->options->stack)
		return err__set(ENOTSUP, "it shows arguments only: no --regs, no call stacks, no "
					 "trace file");
	for (uint32_t i = 0; i < p->plan->sites.len; i++)
		if (plan_site__is_hooked(&p->plan->sites.data[i]) &&
		    plan__is_kernel_site(p->plan, i) && !is_entry(p->plan, i))
			return err__set(ENOTSUP, "it shows entries only: -e entry");
	return 0;
}

/* The nop that ftrace makes a call, at once or after a landing instruction, or what the kernel put
 * in its place. */
static bool has_ftrace(const struct object *o, uint64_t vaddr)
{
	const struct arch_kernel *kernel = arch__by_machine(o->machine)->kernel;
	const size_t nop = kernel ? kernel->ftrace_size : 0;
	size_t avail = 0;
	const uint8_t *bytes = object__bytes(o, vaddr, &avail);

	return nop && bytes && avail >= kernel->landing_size + nop &&
	       (!memcmp(bytes, kernel->ftrace_nop, nop) ||
		!memcmp(bytes + kernel->landing_size, kernel->ftrace_nop, nop));
}

static void collect_site(struct probe *p, uint32_t site, struct batch *b)
{
	const struct plan_site *s = &p->plan->sites.data[site];

	if (!has_ftrace(p->plan->objects.data[s->object].object, s->vaddr)) {
		kprobe__refuse(p, site, "no probe on", "ftrace has no call there");
		probe__attached(p, 1, plan__site_work(p->plan, site));
		return;
	}
	vec__push(&b->addrs, s->vaddr);
	vec__push(&b->cookies, site);
	vec__push(&b->sites, site);
}

static void collect(struct probe *p, struct batch *b)
{
	for (uint32_t i = 0; i < p->plan->sites.len; i++)
		if (plan_site__is_hooked(&p->plan->sites.data[i]) &&
		    plan__is_kernel_site(p->plan, i))
			collect_site(p, i, b);
}

static void batch__free(struct batch *b)
{
	vec__free(&b->addrs);
	vec__free(&b->cookies);
	vec__free(&b->sites);
}

/* The kernel refuses the whole link if ftrace lacks one of the places: then tries each half
 * separately. */
static int link_entries(struct probe *p, const struct batch *b, size_t from, size_t n)
{
	LIBBPF_OPTS(bpf_kprobe_multi_opts, o, .addrs = b->addrs.data + from,
		    .cookies = (const __u64 *)b->cookies.data + from, .cnt = n);
	struct bpf_link *link;
	int err;

	if (probe__is_interrupted(p))
		return err__set(EINTR, "interrupted while attaching");
	link = bpf_program__attach_kprobe_multi_opts(p->skel->progs.hit_entry, NULL, &o);
	err = link ? 0 : -errno;
	if (link) {
		attachment__add_link(&p->kernel, link, 0, n == 1 ? b->sites.data[from] : NO_SITE);
		probe__attached(p, n, n * plan__site_work(p->plan, b->sites.data[from]));
	} else if (err == -EPERM || err == -ENOMEM) {
		return err__set(-err, "cannot attach to the kernel: %s", strerror(-err));
	} else if (n == 1) {
		kprobe__refuse(p, b->sites.data[from], "the kernel refuses", strerror(-err));
		probe__attached(p, 1, plan__site_work(p->plan, b->sites.data[from]));
	} else {
		err = link_entries(p, b, from, n / 2);
		return err ? err : link_entries(p, b, from + n / 2, n - n / 2);
	}
	return 0;
}

int kprobe_multi__park(struct probe *p)
{
	attachment__drop_links(&p->kernel, 0);
	return 0;
}

int kprobe_multi__unpark(struct probe *p)
{
	struct batch b = {0};
	int err;

	collect(p, &b);
	err = b.sites.len ? link_entries(p, &b, 0, b.sites.len) : 0;
	batch__free(&b);
	return err;
}

int kprobe_multi__attach(struct probe *p)
{
	int err = kprobe_multi__unpark(p);

	if (!err && p->kernel.links.len)
		kprobe__report_unseen(p);
	return err;
}

int kprobe_multi__add(struct probe *p)
{
	size_t before = p->kernel.links.len;
	struct batch b = {0};
	int err = 0;
	uint32_t *site;

	vec__each (site, &p->asked)
		if (!is_entry(p->plan, *site))
			return err__set(ENOTSUP,
					"kprobe_multi probes only entries of kernel functions: "
					"start the trace with --attach kprobe_event");
	vec__each (site, &p->asked)
		collect_site(p, *site, &b);
	if (b.sites.len)
		err = link_entries(p, &b, 0, b.sites.len);
	while (err && p->kernel.links.len > before)
		bpf_link__destroy(p->kernel.links.data[--p->kernel.links.len].link);
	batch__free(&b);
	return err;
}

void kprobe_multi__detach(struct probe *p)
{
}

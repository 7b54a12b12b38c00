// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sites that get or lose a probe while the trace runs. No probe is attached everywhere at one
 * moment, so the plan has them as PROBE_CHANGING. What the BPF program may need for them is loaded
 * at the start (probe_options.grows): links that are made by descriptor need no capability later.
 */
#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "session.h"
#include "site_table.h"
#include "bbtrace.skel.h"

static const struct attachment *attachment_of(const struct probe *p, uint32_t site)
{
	return plan__is_kernel_site(p->plan, site) ? &p->kernel : &p->programs;
}

/* What the traced programs and the kernel need is decided at the start. */
static int check_kind(const struct probe *p, uint32_t site)
{
	const struct plan_object *o = &p->plan->objects.data[p->plan->sites.data[site].object];

	if (!attachment_of(p, site)->mechanism)
		return err__set(ENOTSUP,
				o->kernel
					? "this trace began without kernel functions: trace them "
					  "by another bbtrace"
					: "this trace began without programs: trace %s by another "
					  "bbtrace",
				o->path);
	if (!o->kernel && o->object->go && !p->skel->rodata->config.go && !probe__counts(p))
		return err__set(ENOTSUP,
				"this trace began without a Go program, so goroutines can't be "
				"distinguished: trace %s by another bbtrace",
				o->path);
	return 0;
}

static int check(const struct probe *p, const uint32_t *sites, size_t n)
{
	int err = p->options->grows ? 0 : err__set(ENOTSUP, "this trace can't change");

	for (size_t i = 0; !err && i < n; i++) {
		if (sites[i] >= p->plan->sites.len ||
		    p->plan->sites.data[sites[i]].probe != PROBE_CHANGING)
			err = err__set(EINVAL, "site %u is not changing", sites[i]);
		else
			err = check_kind(p, sites[i]);
	}
	return err;
}

/* Collects those of programs, or those of the kernel. An ignored site has its probe. */
static void ask(struct probe *p, const uint32_t *sites, size_t n, bool kernel, bool ignored)
{
	p->asked.len = 0;
	for (size_t i = 0; i < n; i++)
		if (plan__is_kernel_site(p->plan, sites[i]) == kernel &&
		    site_table__is_ignored(p, sites[i]) == ignored)
			vec__push(&p->asked, sites[i]);
}

static int run(struct probe *p, bool kernel, int (*fn)(struct probe *p))
{
	if (!p->asked.len || !fn)
		return 0;
	return kernel ? fn(p) : shield__run(fn, p);
}

static int ignore(struct probe *p, const uint32_t *sites, size_t n, bool ignored)
{
	int err = 0;

	for (size_t i = 0; !err && i < n; i++)
		if (site_table__is_ignored(p, sites[i]) != ignored)
			err = site_table__ignore(p, sites[i], ignored);
	return err;
}

/* Programs that had begun before may be preempted. */
#define REST_NS 1000000

/* include/uapi/linux/membarrier.h: waits for a grace period, in which BPF programs end. */
static void await_programs(void)
{
	const struct timespec rest = {.tv_nsec = REST_NS};

	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) ||
	    sysconf(_SC_NPROCESSORS_ONLN) == 1)
		nanosleep(&rest, NULL);
}

int probe__attach_sites(struct source *s, const uint32_t *sites, size_t n)
{
	struct probe *p = (struct probe *)s;
	int err = check(p, sites, n);

	if (!err)
		err = site_table__add(p, sites, n);
	if (err)
		return err;
	ask(p, sites, n, false, false);
	err = probe__check_code(p, &p->asked);
	if (!err)
		err = run(p, false, p->programs.mechanism ? p->programs.mechanism->add : NULL);
	if (err)
		return err;
	ask(p, sites, n, true, false);
	err = run(p, true, p->kernel.mechanism ? p->kernel.mechanism->add : NULL);
	if (err) {
		ask(p, sites, n, false, false);
		run(p, false, p->programs.mechanism ? p->programs.mechanism->remove : NULL);
		return err;
	}
	err = ignore(p, sites, n, false);
	await_programs();
	return err;
}

/* Those in p->asked keep their breakpoints. */
static int ignore_rest(struct probe *p)
{
	int err;

	if (!p->asked.len)
		return 0;
	err = ignore(p, p->asked.data, p->asked.len, true);
	if (err)
		return err;
	await_programs();
	note("%zu of the removed probes can't be detached while the trace runs: their hits are "
	     "ignored, but each still costs a trap until it ends",
	     p->asked.len);
	return 0;
}

int probe__detach_sites(struct source *s, const uint32_t *sites, size_t n)
{
	struct probe *p = (struct probe *)s;
	int err = check(p, sites, n);

	for (int kernel = 0; !err && kernel <= 1; kernel++) {
		const struct attachment *a = kernel ? &p->kernel : &p->programs;

		ask(p, sites, n, kernel, false);
		err = run(p, kernel, a->mechanism ? a->mechanism->remove : NULL);
		if (!err)
			err = ignore_rest(p);
	}
	return err;
}

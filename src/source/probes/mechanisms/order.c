// SPDX-License-Identifier: BSD-2-Clause
/*
 * The order in which a hit runs the program of several links. uprobe_multi__change() needs the
 * newest first, as kernels up to now have it (kernel/events/uprobes.c, consumer_add()): tried on
 * bbtrace itself.
 */
#include <errno.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include "source/probes/session.h"
#include "bbtrace.skel.h"

static __attribute__((noipa)) int tried(int n)
{
	return n + 1;
}

/* The offset of an own function in its file. */
static bool find_offset(uint64_t addr, unsigned long *offset)
{
	map_vec maps = {0};
	const struct map *m;
	bool found = false;

	if (maps__read(getpid(), &maps))
		return false;
	vec__each (m, &maps) {
		if (addr < m->start || addr >= m->end)
			continue;
		*offset = addr - m->start + m->offset;
		found = true;
	}
	maps__free(&maps);
	return found;
}

static struct bpf_link *attach(struct probe *p, unsigned long offset, uint64_t cookie)
{
	LIBBPF_OPTS(bpf_uprobe_multi_opts, o, .offsets = &offset, .cookies = (const __u64 *)&cookie,
		    .cnt = 1);

	return bpf_program__attach_uprobe_multi(p->skel->progs.report_first, getpid(),
						"/proc/self/exe", NULL, &o);
}

int uprobe_multi__check_order(struct probe *p)
{
	struct bpf_link *older, *newer;
	unsigned long offset;
	uint64_t first;

	if (!find_offset((uintptr_t)tried, &offset))
		return err__set(EIO, "bbtrace does not find its own code in /proc/self/maps");
	older = attach(p, offset, 1);
	newer = attach(p, offset, 2);
	p->skel->bss->first_cookie = 0;
	tried(0);
	first = p->skel->bss->first_cookie;
	bpf_link__destroy(newer);
	bpf_link__destroy(older);
	if (first == 2)
		return 0;
	return err__set(ENOTSUP,
			"probes can't be replaced on this kernel, which runs those that were "
			"attached last last: trace without --once and --retire");
}

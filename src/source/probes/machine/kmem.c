// SPDX-License-Identifier: BSD-2-Clause
/* Kernel memory read by a BPF program run on request (bpf/alone/kmem.bpf.c), for kernels without
 * /proc/kcore. */
#include <errno.h>
#include <stdlib.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "source/source.h"
#include "kmem.skel.h"

struct kmem {
	struct kmem_bpf *skel;
};

int kmem__open(struct kmem **out)
{
	struct kmem *k = xcalloc(1, sizeof(*k));

	if (note__level() < NOTE_VERBOSE)
		libbpf_set_print(NULL);
	k->skel = kmem_bpf__open_and_load();
	if (!k->skel) {
		int err = errno;

		free(k);
		return err__set(err, "cannot load the BPF program that reads kernel memory: %s",
				strerror(err));
	}
	*out = k;
	return 0;
}

static int read_page(struct kmem_bpf *skel, uint64_t vaddr, void *buf, size_t len)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);
	int err;

	skel->bss->address = vaddr;
	skel->bss->length = len;
	err = bpf_prog_test_run_opts(bpf_program__fd(skel->progs.read_kernel), &run);
	if (err)
		return err__set(-err, "cannot run the BPF program that reads kernel memory: %s",
				strerror(-err));
	if (skel->bss->result)
		return err__set(EFAULT, "kernel memory at 0x%llx cannot be read",
				(unsigned long long)vaddr);
	memcpy(buf, skel->bss->bytes, len);
	return 0;
}

int kmem__read(void *kmem, uint64_t vaddr, void *buf, size_t len)
{
	struct kmem *k = kmem;
	size_t n;
	int err;

	for (; len; vaddr += n, buf = (char *)buf + n, len -= n) {
		n = min_of(len, sizeof(k->skel->bss->bytes));
		err = read_page(k->skel, vaddr, buf, n);
		if (err)
			return err;
	}
	return 0;
}

void kmem__close(struct kmem *k)
{
	if (!k)
		return;
	kmem_bpf__destroy(k->skel);
	free(k);
}

// SPDX-License-Identifier: BSD-2-Clause
/* Where the threads of a process are, by a BPF iterator over tasks (bpf/alone/threads.bpf.c):
 * nothing of the process is stopped or changed. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "source/source.h"
#include "../bpf/alone/wire_threads.h"
#include "threads.skel.h"

struct thread_reader {
	struct threads_bpf *skel;
	struct bpf_link *link;
};

static int no_iterator(struct thread_reader *r, int err)
{
	thread_reader__close(r);
	return err__set(err,
			"cannot load the BPF program that reads where threads are (Linux 5.15 and "
			"later have what it needs): %s",
			strerror(err));
}

int thread_reader__open(uint32_t pid, struct thread_reader **out)
{
	struct thread_reader *r = xcalloc(1, sizeof(*r));
	struct stat st;

	if (note__level() < NOTE_VERBOSE)
		libbpf_set_print(NULL);
	r->skel = threads_bpf__open();
	if (!r->skel)
		return no_iterator(r, errno);
	r->skel->rodata->process = pid;
	r->skel->rodata->pid_ns = stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
	if (threads_bpf__load(r->skel))
		return no_iterator(r, errno);
	r->link = bpf_program__attach_iter(r->skel->progs.read_thread, NULL);
	if (!r->link)
		return no_iterator(r, errno);
	*out = r;
	return 0;
}

void thread_reader__close(struct thread_reader *r)
{
	if (!r)
		return;
	bpf_link__destroy(r->link);
	threads_bpf__destroy(r->skel);
	free(r);
}

/* By the members of the registers: include/uapi of the kernel, asm/ptrace.h. */
#if defined(__x86_64__)
static void take_args(const struct wire_thread *w, struct thread_at *t)
{
	static const uint8_t wide[] = {14, 13, 12, 7, 9, 8}, narrow[] = {5, 11, 12, 13, 14, 4};

	t->narrow = w->regs[17] == 0x23; /* __USER32_CS */
	for (size_t i = 0; i < THREAD_ARGS; i++)
		t->args[i] = w->regs[t->narrow ? narrow[i] : wide[i]];
}
#elif defined(__aarch64__)
static void take_args(const struct wire_thread *w, struct thread_at *t)
{
	t->narrow = w->regs[33] & 0x10; /* PSR_MODE32_BIT */
	t->args[0] = w->first;
	for (size_t i = 1; i < THREAD_ARGS; i++)
		t->args[i] = w->regs[i];
}
#else
static void take_args(const struct wire_thread *w, struct thread_at *t)
{
	t->args[0] = w->first;
	for (size_t i = 1; i < THREAD_ARGS; i++)
		t->args[i] = w->regs[10 + i];
}
#endif

static void take_thread(const struct wire_thread *w, thread_at_vec *out)
{
	struct thread_at *t = vec__add(out);

	*t = (struct thread_at){.tid = w->tid,
				.on_cpu = w->on_cpu,
				.switches = w->switches,
				.call = w->call,
				.nregs = WIRE_THREAD_REGS};
	memcpy(t->comm, w->comm, sizeof(t->comm));
	t->comm[sizeof(t->comm) - 1] = 0;
	memcpy(t->regs, w->regs, sizeof(w->regs));
	t->pc = w->regs[WIRE_THREAD_PC];
	t->sp = w->regs[WIRE_THREAD_SP];
	take_args(w, t);
}

static int read_all(int fd, thread_at_vec *out)
{
	char buf[64 * sizeof(struct wire_thread)];
	size_t have = 0;
	ssize_t n;

	while ((n = read(fd, buf + have, sizeof(buf) - have)) != 0) {
		size_t at = 0;

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			return -errno;
		for (have += n; have - at >= sizeof(struct wire_thread);
		     at += sizeof(struct wire_thread)) {
			struct wire_thread w;

			memcpy(&w, buf + at, sizeof(w));
			take_thread(&w, out);
		}
		memmove(buf, buf + at, have -= at);
	}
	return 0;
}

static int by_tid(const void *a, const void *b)
{
	const struct thread_at *x = a, *y = b;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

int thread_reader__read(struct thread_reader *r, thread_at_vec *out)
{
	int fd = bpf_iter_create(bpf_link__fd(r->link)), err;

	out->len = 0;
	err = fd < 0 ? -errno : read_all(fd, out);
	util__close(&fd);
	if (err)
		return err__set(-err, "cannot read where threads are: %s", strerror(-err));
	vec__sort(out, by_tid);
	return 0;
}

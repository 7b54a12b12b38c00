// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which calls of programs may change their code: a BPF program that sees them makes the thread stop
 * before it is back in its program, and counts those of others (bpf/alone/text.bpf.c). Without it,
 * changes are searched for.
 */
#include <sys/mman.h>
#include <sys/syscall.h>
#include "target.h"

#define PAGE 4096ull

#ifdef __x86_64__
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "../bpf/alone/wire_text.h"
#include "source/kernel_types.h"
#include "text.skel.h"

/* Returns true if the program has seen this process make a call. */
static bool works(struct text_bpf *skel)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return false;
	skel->bss->address = (uintptr_t)page;
	syscall(SYS_mprotect, page, PAGE, PROT_READ, TEXT_LEARN);
	skel->bss->address = 0;
	munmap(page, PAGE);
	return skel->bss->tracer;
}

static struct text_bpf *load(void)
{
	CLEANUP(types_file__close)
	struct types_file types = types_file__open();
	LIBBPF_OPTS(bpf_object_open_opts, o, );
	struct text_bpf *skel;

	if (types.fd >= 0)
		o.btf_custom_path = types.path;
	skel = text_bpf__open_opts(&o);
	if (!skel)
		return NULL;
	if (!types_file__fill(&types, bpf_object__btf(skel->obj)) && !text_bpf__load(skel) &&
	    !text_bpf__attach(skel) && works(skel))
		return skel;
	text_bpf__destroy(skel);
	return NULL;
}

/* It stays attached until this process ends. */
void text__watch(struct tracer *s)
{
	libbpf_set_print(NULL);
	s->text = load();
}

static struct text_process *slot_of(const struct tracer *s, uint32_t pid, bool is_new)
{
	for (uint32_t i = 0; s->text && i < TEXT_PROBES; i++) {
		struct text_process *p = &s->text->bss->processes[(pid + i) & (TEXT_SLOTS - 1)];

		if (p->pid == (is_new ? 0 : pid))
			return p;
	}
	return NULL;
}

void text__forget_process(const struct tracer *s, pid_t pid)
{
	struct text_process *p = slot_of(s, (uint32_t)pid, false);

	if (p)
		p->pid = 0;
}

static void add_range(struct text_process *p, size_t n, uint64_t start, uint64_t end)
{
	size_t at = min_of(n, (size_t)TEXT_RANGES - 1);

	/* the last one is for all that there is no room for */
	p->at[at].start = n > at ? min_of(p->at[at].start, start) : start;
	p->at[at].end = n > at ? max_of(p->at[at].end, end) : end;
}

bool text__took_call(const struct tracer *s, pid_t tid, int sig)
{
	uint32_t slot = (uint32_t)tid & (TEXT_THREADS - 1);
	__u32 *called;

	if (!s->text || (sig != SIGURG && sig != SIGSTOP))
		return false;
	called = sig == SIGURG ? &s->text->bss->urged[slot] : &s->text->bss->halted[slot];
	if (*called != (__u32)tid)
		return false;
	*called = 0;
	return true;
}

bool text__foreigners_wrote(struct tracer *s)
{
	uint64_t n = s->text ? s->text->bss->foreign : s->foreign + 1;
	bool more = n != s->foreign;

	s->foreign = n;
	return more;
}

static void set_ranges(const struct tracer *s, uint32_t pid, const struct space *space)
{
	struct text_process *p = slot_of(s, pid, false), new = {.pid = pid};
	const struct loaded *l;
	size_t n = 0;

	vec__each (l, &space->loaded)
		if (!l->refused)
			add_range(&new, n++, l->text_start, l->text_end);
	if (!p)
		p = slot_of(s, pid, true);
	if (p)
		*p = new;
}

#else

void text__watch(struct tracer *s)
{
	(void)s;
}

void text__forget_process(const struct tracer *s, pid_t pid)
{
	(void)s, (void)pid;
}

bool text__took_call(const struct tracer *s, pid_t tid, int sig)
{
	(void)s, (void)tid, (void)sig;
	return false;
}

bool text__foreigners_wrote(struct tracer *s)
{
	(void)s;
	return true;
}

static void set_ranges(const struct tracer *s, uint32_t pid, const struct space *space)
{
	(void)s, (void)pid, (void)space;
}

#endif

void space__watch_text(const struct tracer *s, const struct space *space)
{
	const struct process *p;

	for (size_t i = 0; (p = tracer__each_process(s, &i));)
		if (p->space == space)
			set_ranges(s, (uint32_t)p->pid, space);
}

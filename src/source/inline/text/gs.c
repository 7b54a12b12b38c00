// SPDX-License-Identifier: BSD-2-Clause
/*
 * Programs that set the base of gs, which finds the log. By a system call: a BPF program at that
 * makes the thread stop before it is back in its program (bpf/alone/gs.bpf.c). By an instruction,
 * wrgsbase: the code of the files that are mapped is searched for it.
 */
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "text.h"
#include "source/kernel_types.h"

#ifdef __x86_64__
#include "gs.skel.h"

/* ---- the system call ---- */

#define LEARN 0x62746773 /* bpf/alone/gs.bpf.c */

/* Returns true if the program has seen this process make a call. */
static bool works(struct gs_bpf *skel)
{
	skel->bss->address = (uintptr_t)skel;
	syscall(SYS_arch_prctl, LEARN, skel);
	skel->bss->address = 0;
	return skel->bss->tracer;
}

static struct bpf_program *const *program_of(struct gs_bpf *skel, enum gs_way way)
{
	switch (way) {
	case GS_BY_ENTRY:
		return &skel->progs.on_entry;
	case GS_BY_KPROBE:
		return &skel->progs.on_kprobe;
	default:
		return &skel->progs.on_any;
	}
}

/* No time is lost on what doesn't exist: each attempt reads the kernel's types. */
static bool may_be(enum gs_way way)
{
	char first;

	if (way == GS_BY_KPROBE)
		return !access("/sys/bus/event_source/devices/kprobe/type", F_OK);
	if (way == GS_BY_TRACEPOINT)
		return true;
	autoclose int fd =
		open("/sys/kernel/tracing/available_filter_functions", O_RDONLY | O_CLOEXEC);
	/* tracefs may not be mounted */
	return fd < 0 || read(fd, &first, 1) == 1;
}

static struct gs_bpf *load(enum gs_way way)
{
	CLEANUP(types_file__close)
	struct types_file types = types_file__open();
	LIBBPF_OPTS(bpf_object_open_opts, o, );
	struct bpf_program *program, *p;
	struct gs_bpf *skel;

	if (types.fd >= 0)
		o.btf_custom_path = types.path;
	skel = gs_bpf__open_opts(&o);
	if (!skel)
		return NULL;
	program = *program_of(skel, way);
	bpf_object__for_each_program(p, skel->obj) bpf_program__set_autoload(p, p == program);
	if (!types_file__fill(&types, bpf_object__btf(skel->obj)) && !gs_bpf__load(skel))
		return skel;
	gs_bpf__destroy(skel);
	return NULL;
}

/* It stays attached until this process ends. */
static bool attach(struct tracer *s, enum gs_way way)
{
	struct gs_bpf *skel = may_be(way) ? load(way) : NULL;

	if (!skel)
		return false;
	s->gs_program = *program_of(skel, way);
	s->gs_link = bpf_program__attach(s->gs_program);
	if (s->gs_link && works(skel))
		return true;
	bpf_link__destroy(s->gs_link);
	s->gs_link = NULL;
	gs_bpf__destroy(skel);
	return false;
}

/*
 * A tracepoint of all system calls makes each one of the machine slower. So where the kernel has
 * nothing else it is attached when a program is seen that may set gs. That needs no capability: the
 * program is loaded.
 */
void gs__watch(struct tracer *s)
{
	libbpf_set_print(NULL);
	for (s->gs_way = GS_BY_KPROBE; s->gs_way < GS_BY_NOTHING; s->gs_way++)
		if (attach(s, s->gs_way))
			break;
	if (s->gs_way == GS_BY_TRACEPOINT) {
		bpf_link__destroy(s->gs_link);
		s->gs_link = NULL;
	}
}

void gs__unwatch(struct tracer *s)
{
	bpf_link__destroy(s->gs_link);
	s->gs_link = NULL;
}

static void watch_all(struct tracer *s)
{
	if (s->gs_way == GS_BY_TRACEPOINT && !s->gs_link)
		s->gs_link = bpf_program__attach(s->gs_program);
}

/* ---- the instruction ---- */

#define CHUNK (1u << 20)
static void search(const struct tracer *s, int mem, const struct map *m, bool *instruction,
		   bool *number)
{
	autofree uint8_t *code = xmalloc(CHUNK);

	for (uint64_t at = m->start; at < m->end; at += CHUNK - TRACEE_SETTER_MAX) {
		ssize_t n = pread(mem, code, min_of(m->end - at, (uint64_t)CHUNK), (off_t)at);

		*instruction |= n > 0 && s->tracee->sets_log(code, n);
		*number |= n > 0 && s->tracee->asks_to_set_log(code, n);
	}
}

/* Each file once. */
static bool is_searched(struct tracer *s, const struct map *m)
{
	const struct gs_searched *f;

	vec__each (f, &s->gs_searched)
		if (f->dev == m->dev && f->ino == m->ino && f->offset == m->offset &&
		    f->size == m->end - m->start)
			return true;
	return false;
}

bool process__sets_gs(struct tracer *s, pid_t pid, const map_vec *maps)
{
	int mem = process__open_memory(pid, O_RDONLY);
	bool instruction = false, number = false;
	const struct map *m;

	if (mem < 0)
		return false;
	vec__each (m, maps) {
		if (!m->exec || !m->ino || is_searched(s, m))
			continue;
		search(s, mem, m, &instruction, &number);
		if (!instruction)
			vec__push(&s->gs_searched, (struct gs_searched){m->dev, m->ino, m->offset,
									m->end - m->start});
	}
	close(mem);
	if (number)
		watch_all(s);
	return instruction;
}

#else

void gs__watch(struct tracer *s)
{
	(void)s;
}

void gs__unwatch(struct tracer *s)
{
	(void)s;
}

bool process__sets_gs(struct tracer *s, pid_t pid, const map_vec *maps)
{
	(void)s, (void)pid, (void)maps;
	return false;
}

#endif

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

static bool has_kprobes(void)
{
	return !access("/sys/bus/event_source/devices/kprobe/type", F_OK);
}

/* Its kprobe, or its other programs. NULL: the kernel refuses them. */
static struct gs_bpf *load(bool kprobe)
{
	CLEANUP(types_file__close)
	struct types_file types = types_file__open();
	LIBBPF_OPTS(bpf_object_open_opts, o, );
	struct gs_bpf *skel;

	if (types.fd >= 0)
		o.btf_custom_path = types.path;
	skel = gs_bpf__open_opts(&o);
	if (!skel)
		return NULL;
	bpf_program__set_autoload(skel->progs.on_kprobe, kprobe);
	bpf_program__set_autoload(skel->progs.on_entry, !kprobe);
	bpf_program__set_autoload(skel->progs.on_any, !kprobe);
	if (!types_file__fill(&types, bpf_object__btf(skel->obj)) && !gs_bpf__load(skel))
		return skel;
	gs_bpf__destroy(skel);
	return NULL;
}

/* At the entry of arch_prctl(2)'s function. Returns a link, or -1. */
static int attach_entry(const struct bpf_program *p)
{
	LIBBPF_OPTS(bpf_prog_load_opts, o, .expected_attach_type = BPF_TRACE_FENTRY,
		    .attach_btf_id = kernel_types__function("__x64_sys_arch_prctl"));
	autoclose int program =
		o.attach_btf_id ? bpf_prog_load(BPF_PROG_TYPE_TRACING, "on_entry", "Dual BSD/GPL",
						bpf_program__insns(p), bpf_program__insn_cnt(p), &o)
				: -1;

	return program < 0 ? -1 : bpf_raw_tracepoint_open(NULL, program);
}

void gs__unwatch(struct tracer *s)
{
	bpf_link__destroy(s->gs_link);
	s->gs_link = NULL;
	util__close(&s->gs_entry);
	s->gs_entry = -1;
}

static bool attach(struct tracer *s, struct gs_bpf *skel, enum gs_way way)
{
	if (way == GS_BY_ENTRY) {
		s->gs_entry = attach_entry(skel->progs.on_entry);
	} else {
		s->gs_program = way == GS_BY_KPROBE ? skel->progs.on_kprobe : skel->progs.on_any;
		s->gs_link = bpf_program__attach(s->gs_program);
	}
	s->gs_way = way;
	if (works(skel))
		return true;
	gs__unwatch(s);
	s->gs_way = GS_BY_NOTHING;
	return false;
}

/*
 * A tracepoint of all system calls makes each one of the machine slower. So where the kernel has
 * nothing else it is attached when a program is seen that may set gs. That needs no capability: the
 * program is loaded. What is loaded stays until this process ends.
 */
void gs__watch(struct tracer *s)
{
	struct gs_bpf *skel;

	libbpf_set_print(NULL);
	s->gs_way = GS_BY_NOTHING;
	skel = has_kprobes() ? load(true) : NULL;
	if (skel && attach(s, skel, GS_BY_KPROBE))
		return;
	skel = load(false);
	if (skel && !attach(s, skel, GS_BY_ENTRY) && attach(s, skel, GS_BY_TRACEPOINT))
		gs__unwatch(s);
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

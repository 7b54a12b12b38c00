// SPDX-License-Identifier: BSD-2-Clause
/*
 * Probes whose program does the instruction, so that the kernel doesn't single-step it
 * (bpf/execute.h): whether this kernel allows that, and what each site's instruction does.
 */
#include <errno.h>
#include <stddef.h>
#include <unistd.h>
#include <asm/ptrace.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "source/kernel_types.h"
#include "source/probes/session.h"
#include "bbtrace.skel.h"

/* ---- the kernel ---- */

static struct {
	bool asked;
	int err;
	char *why;
	uint64_t per_cpu, debug; /* of configure() */
} answer;

/* Kernels that skip what an instruction pointer has left are those that accept this. */
static int load_writer(void)
{
	struct bpf_insn insns[] = {
		{.code = 0xb7 /* r0 = 0 */},
		{.code = 0x7b /* *(u64 *)(r1 + 0) = r0 */, .dst_reg = 1},
		{.code = 0x95 /* exit */},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, o);
	int fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, NULL, "Dual BSD/GPL", insns, ARRAY_SIZE(insns),
			       &o);

	if (fd >= 0)
		return close(fd);
	return errno == EPERM ? err__set(EPERM, "loading BPF programs is not permitted: needs "
						"CAP_BPF and CAP_PERFMON")
			      : err__set(ENOTSUP, "this kernel doesn't let the programs of probes "
						  "write registers");
}

static int find_variable(const char *name, uint64_t *out)
{
	data_vec found = {0};
	int err = kernel__find_data("kernel", name, &found);

	if (!err && !found.len)
		err = err__set(ENOTSUP, "/proc/kallsyms has no %s (CONFIG_KALLSYMS_ALL)", name);
	if (!err)
		*out = found.data[0].vaddr;
	vec__free(&found);
	return err;
}

/* What bpf/execute.h follows to the other consumers of a uprobe: without one of these the programs
 * would not load. */
static const struct kernel_member followed[] = {
	{"uprobe", "consumers"},
	{"uprobe", "arch"},
	{"arch_uprobe", "insn"},
	{"uprobe_consumer", "cons_node"},
	{"bpf_uprobe_multi_run_ctx", "uprobe"},
	{"bpf_uprobe", "consumer"},
	{"bpf_uprobe", "uprobe"},
	{"uprobe_dispatch_data", "tu"},
	{"trace_uprobe", "consumer"},
	{"trace_uprobe", "uprobe"},
};

/* If threads may have a shadow stack (arch/x86/include/asm/shstk.h), the program must see which
 * ones do: bpf/arch/x86_execute.h, is_special(). */
static int find_shadow_stacks(void)
{
	static const struct kernel_member stacks = {"thread_shstk", "base"};
	static const struct kernel_member which = {"thread_struct", "features"};

	return kernel_types__have(&stacks, 1) ? 0 : kernel_types__have(&which, 1);
}

static int ask(void)
{
	const struct arch *arch = arch__native();
	int err;

	if (!arch || !arch->execution)
		return err__set(ENOTSUP, "no instruction of this machine is done by programs");
	err = load_writer();
	if (err)
		return err;
	err = kernel_types__have(followed, ARRAY_SIZE(followed));
	if (err)
		return err;
	err = find_shadow_stacks();
	if (err)
		return err;
	err = find_variable("__per_cpu_offset", &answer.per_cpu);
	return err ? err : find_variable("cpu_dr7", &answer.debug);
}

int feature__execution(void)
{
	if (!answer.asked) {
		answer.asked = true;
		answer.err = ask();
		answer.why = answer.err ? xstrdup(err__text()) : NULL;
	}
	return answer.err ? err__set(-answer.err, "%s", answer.why) : 0;
}

int feature__executed_multi(void)
{
	int err = feature__uprobe_multi();

	return err ? err : feature__execution();
}

int feature__executed_event(void)
{
	int err = feature__tracefs_uprobes();

	return err ? err : feature__execution();
}

/* ---- a set of probes ---- */

void execution__configure(const struct probe *p, struct wire_config *c)
{
	if (!p->plan->executes)
		return;
	c->per_cpu_offset = answer.per_cpu;
	c->debug_registers = answer.debug;
}

/* What the kernel's copy must be. arch/x86/kernel/uprobes.c, riprel_analyze(), changes the one of
 * an instruction that is relative to itself, but for the displacement, which is its end. */
static void take_code(const struct plan_site *s, const struct object *o, const struct execution *e,
		      struct wire_execution *w)
{
	const size_t displacement = 4;
	size_t avail;

	memcpy(w->code, object__bytes(o, s->vaddr + s->probe_at, &avail), e->len);
	memset(w->cares, 0xff, e->len);
	if (e->base == REG_IP)
		memset(w->cares, 0, e->len - displacement);
}

int execution__fill(struct probe *p, uint32_t site)
{
	const struct plan_site *s = &p->plan->sites.data[site];
	struct wire_execution w = {0};
	struct execution e;

	if (!p->plan->executes ||
	    !plan__execution(p->plan, s->object, s->function, s->vaddr + s->probe_at, &e))
		return 0;
	w = (struct wire_execution){.imm = e.imm,
				    .op = e.op,
				    .bits = e.bits,
				    .dst = e.dst,
				    .base = e.base,
				    .index = e.index,
				    .scale = e.scale,
				    .len = e.len};
	take_code(s, p->plan->objects.data[s->object].object, &e, &w);
	if (bpf_map__update_elem(p->skel->maps.executions, &site, 4, &w, sizeof(w), BPF_ANY))
		return err__set(errno, "cannot fill the table of executions: %s", strerror(errno));
	return 0;
}

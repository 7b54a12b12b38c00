// SPDX-License-Identifier: BSD-2-Clause
/*
 * Measures the cost of kprobes on this machine: a kprobe on each of the first instructions of a
 * short system call, one after the other. debugfs shows how the kernel implements each: by a
 * breakpoint, a jump, or the function's ftrace call.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "calibrate.h"

#define MAX_INSNS   16
#define SETTLE_US   100000
#define SETTLE_MOST 10 /* the kernel optimises kprobes to jumps with a delay */

struct kernel_measurement {
	struct runner runner;
	const struct object *kernel;
	double call; /* ns, without probe */
	int debugfs;
};

static struct plan *make_plan(const struct object *kernel, const struct insn *insn)
{
	struct plan *p = xcalloc(1, sizeof(*p));

	p->arch = arch__by_machine(kernel->machine);
	p->probes = 1;
	vec__push(&p->objects,
		  (struct plan_object){.object = kernel, .path = kernel->path, .kernel = true});
	vec__push(&p->functions,
		  (struct plan_function){.name = "the system call", .entry_site = NO_SITE});
	vec__push(&p->blocks, (struct plan_block){.site = 0});
	vec__push(&p->sites, (struct plan_site){.vaddr = insn->addr,
						.mnemonic = insn->mnemonic,
						.len = insn->len,
						.kind = BRANCH_JCC,
						.probe = PROBE_TRAP});
	return p;
}

/* The flags at the end of its line in kprobes/list: kernel/kprobes.c, report_probe() */
static int class_of(const struct kernel_measurement *m, uint64_t addr, enum cost_class *class)
{
	autoclose int fd = openat(m->debugfs, "kprobes/list", O_RDONLY | O_CLOEXEC);
	autofree char *path = xasprintf("/proc/self/fd/%d", fd), *text = NULL;
	char hex[32], *line, *end;
	int err = fd < 0 ? -ENOENT : file__read(path, 16u << 20, &text, NULL);

	if (err)
		return err__set(EIO, "debugfs does not list the kprobes");
	snprintf(hex, sizeof(hex), "%llx", (unsigned long long)addr);
	line = strstr(text, hex);
	if (!line)
		return err__set(ENOENT, "debugfs does not list the kprobe");
	end = line + strcspn(line, "\n");
	*end = 0;
	*class = strstr(line, "[OPTIMIZED]") ? COST_JUMP
		 : strstr(line, "[FTRACE]")  ? COST_FTRACE
					     : COST_BREAKPOINT;
	return 0;
}

static int settle(const struct kernel_measurement *m, uint64_t addr, enum cost_class *class)
{
	int err = class_of(m, addr, class);

	for (int i = 0; !err && *class == COST_BREAKPOINT && i < SETTLE_MOST; i++) {
		usleep(SETTLE_US);
		err = class_of(m, addr, class);
	}
	return err;
}

static void add_row(const struct kernel_measurement *m, const struct insn *insn, const char *record,
		    enum cost_class class, double ns, calibration_vec *out)
{
	struct calibration *c = vec__add(out);
	char text[128] = "";
	size_t avail;
	const uint8_t *bytes = object__bytes(m->kernel, insn->addr, &avail);

	*c = (struct calibration){
		.mechanism = "kprobe_event", .record = record, .class = class, .ns = ns};
	arch__by_machine(m->kernel->machine)->format(bytes, avail, insn->addr, text, sizeof(text));
	snprintf(c->insn, sizeof(c->insn), "%.*s", (int)strcspn(text, " "), text);
}

/* Measured just before, since a machine's speed varies. */
static int time_call(struct kernel_measurement *m)
{
	struct figures call;
	int err = 0;

	for (int i = 0; !err && i < CALIBRATE_ROUNDS; i++)
		err = runner__time(&m->runner, RUN_SYSCALL, CALIBRATE_HITS, &call.ns[i]);
	m->call = figures__median(&call);
	return err;
}

/* *all: every call hit the probe. */
static int rounds(struct kernel_measurement *m, struct source *p, struct figures *of, bool *all)
{
	uint64_t records;
	int err;

	*all = true;
	for (int i = 0; i < CALIBRATE_ROUNDS; i++) {
		err = calibrate__hit(&m->runner, p, RUN_SYSCALL, false, &of[0].ns[i], &records);
		if (err)
			return err;
		*all &= records >= CALIBRATE_HITS;
		err = calibrate__hit(&m->runner, p, RUN_SYSCALL, true, &of[1].ns[i], &records);
		if (err)
			return err;
	}
	return 0;
}

/* If the kernel refuses the probe, there is no row. Returns -ENOENT if it moved it. */
static int measure_insn(struct kernel_measurement *m, const struct insn *insn, calibration_vec *out)
{
	uint32_t pid = m->runner.pid;
	const struct probe_options o = {.filters.pids = {.data = &pid, .len = 1},
					.attach = "kprobe_event",
					.events = PLAN_BRANCH};
	CLEANUP(plan__free_at) struct plan *plan = make_plan(m->kernel, insn);
	CLEANUP(calibrate__close) struct source *p = NULL;
	struct figures of[2] = {0};
	enum cost_class class;
	bool all;
	int err = time_call(m);

	if (err)
		return err;
	err = probes__open(plan, &o, &p);
	if (err)
		return err;
	if (p->ops->attach(p))
		return 0;
	err = settle(m, insn->addr, &class);
	if (err)
		return err;
	err = rounds(m, p, of, &all);
	if (err || !all)
		return err;
	add_row(m, insn, "stopped", class, figures__median(&of[1]) - m->call, out);
	add_row(m, insn, "branch", class, figures__median(&of[0]) - m->call, out);
	return 0;
}

/* Returns true if the next instruction is executed each time, too. */
static bool goes_on(const struct insn *insn)
{
	return insn->flow == FLOW_NEXT || (insn->flow == FLOW_BRANCH && insn->kind == BRANCH_CALL);
}

static int measure_insns(struct kernel_measurement *m, uint64_t addr, calibration_vec *out)
{
	const struct arch *arch = arch__by_machine(m->kernel->machine);
	struct insn insn = {0};
	const uint8_t *bytes;
	size_t avail;
	int err = 0;

	for (int i = 0; !err && i < MAX_INSNS && goes_on(&insn); i++) {
		bytes = object__bytes(m->kernel, addr, &avail);
		if (!bytes || arch->decode(bytes, avail, addr, true, &insn))
			return 0;
		err = measure_insn(m, &insn, out);
		if (err == -ENOENT) /* the kernel moved it after a landing instruction */
			err = 0;
		addr += insn.len;
	}
	return err;
}

static void end_measurement(struct kernel_measurement *m)
{
	runner__stop(&m->runner);
	util__close(&m->debugfs);
}

int calibrate__kernel(const struct object *kernel, uint64_t entry, calibration_vec *out)
{
	CLEANUP(end_measurement)
	struct kernel_measurement m = {.runner = {.to = -1, .from = -1},
				       .kernel = kernel,
				       .debugfs = kernel_fs__open(KERNEL_DEBUGFS)};
	int err = m.debugfs < 0 ? m.debugfs : runner__start(&m.runner);

	return err ? err : measure_insns(&m, entry, out);
}

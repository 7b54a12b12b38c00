/* SPDX-License-Identifier: BSD-2-Clause */
/* A probe set from the inside, shared by the files of src/probe. */
#ifndef BBTRACE_PROBE_SESSION_H
#define BBTRACE_PROBE_SESSION_H

#include "probe.h"
#include "wholes.h"

struct bbtrace_bpf;
struct bpf_link;
struct bpf_program;
struct drain;
struct side;
struct probe;

/* One way to attach; ranked: the first one that the kernel has is used. */
struct mechanism {
	const char *name; /* --attach, doctor */
	const char *what;
	bool kernel;	/* for kernel functions, else for user space */
	uint8_t lookup; /* enum probe_lookup: how its probes find their word */
	int (*check)(void);
	int (*attach)(struct probe *p);
	void (*detach)(struct probe *p);
	/* Was attached for one process: from now on for all; NULL: it always is. */
	int (*attach_all)(struct probe *p);
	const char *remedy;
};
extern const struct mechanism mechanisms[]; /* ends with name NULL */

struct probe {
	struct plan *plan;
	const struct probe_options *options;
	const struct mechanism *mechanism;
	struct bbtrace_bpf *skel;
	struct drain *drain;
	struct wholes wholes;
	struct side *side;
	VEC(struct bpf_link *) links;
	struct bpf_link *tasks[4]; /* tracepoints: fork, exec, exit, signal */
	bool reattached;	   /* for all processes, after a takeover */
	struct side_event gap;	   /* what happened meanwhile; time 0: none to be told */
	int tracefs, event_fd;	   /* -1: not in use */
	VEC(uint64_t) words;	   /* probe word by site; 0: no probe */
	uint64_t settled;	   /* probe__settled() */
};

/* The mechanisms' functions (multi.c, event.c). */
int uprobe_multi__attach(struct probe *p);
int uprobe_multi__attach_all(struct probe *p);
void uprobe_multi__detach(struct probe *p);
int uprobe_event__attach(struct probe *p);
void uprobe_event__detach(struct probe *p);
int kprobe_event__attach(struct probe *p);
void kprobe_event__detach(struct probe *p);

/* The BPF program that the mechanism's probes run. */
struct bpf_program *probe__program(struct probe *p);
/* The one process to attach to, 0: all (the BPF program filters). */
pid_t probe__attach_pid(const struct probe *p);

/* Tells who waits that so many more sites are done. */
void probe__attached(const struct probe *p, size_t sites);

/* Does the kernel refuse, to who asks now, what p still has to do once it is attached? */
bool probe__is_refused(struct probe *p);

/* Runs fn in a process that SIGKILL sent to bbtrace doesn't reach: what fn returns. */
int steady__run(int (*fn)(struct probe *p), struct probe *p);
/* bbtrace's own number, from within fn as well. */
pid_t steady__pid(void);
/* Within fn: bbtrace has been killed meanwhile. */
bool steady__is_orphan(void);

/* Does this kernel have uprobe_multi; does it filter by process (early ones took the thread for the
 * process)? */
int feature__uprobe_multi(void);
/* What the kernel says to a link of this program to no file; -EBADF: it knows such links. */
int feature__multi_answer(int prog, pid_t pid);
bool feature__uprobe_multi_by_process(void);
/* A kernel that is locked down has no tracefs either. */
int feature__lockdown(void);
int feature__tracefs_uprobes(void);
int feature__tracefs_kprobes(void);

/* A kprobe on this instruction of the kernel would send it astray: the kernel emulates it wrongly.
 */
bool emulation__is_wrong(const uint8_t *bytes, size_t len);

/* The probe word of a site (wire.h); operand: its index in the operand table where it has one;
 * events: enum plan_events. */
uint64_t word__of_site(const struct plan *plan, uint32_t site, uint32_t operand, unsigned events);
/* That of a return probe at the entry. */
uint64_t word__of_return(const struct plan *plan, uint32_t site);
/* The program of Go whose goroutines the probes tell apart; NULL: none. */
const struct object *word__go(const struct plan *plan);
/* Is it that one, or like it? */
bool word__is_go(const struct plan *plan, const struct object *o);
bool word__needs_operand(const struct plan_site *site);
struct wire_operand word__operand(const struct plan_site *site);

#endif

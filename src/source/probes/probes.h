/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probes: the source that hooks the plan's sites, in programs and in the kernel. Part of the public
 * header of src/source, which is the only folder that uses BPF, tracefs and perf.
 *
 * A probe set is opened for a plan (BPF loaded, filters in place, silent) and attached by the best
 * mechanisms that the kernel offers. Its records and sideband events are passed on in order of
 * time.
 */
#ifndef BBTRACE_SOURCE_PROBES_PROBES_H
#define BBTRACE_SOURCE_PROBES_PROBES_H

#include <linux/capability.h>
#include <linux/types.h>
#include <signal.h>
#include "object/tables/tables.h"
#include "plan/plan.h"
#include "event/event.h"
#include "kernel/kernel.h"
#include "process/process.h"

struct probe_filters {
	VEC(uint32_t) pids;
	VEC(uint32_t) tids;
	VEC(uint32_t) uids;
	VEC(const char *) comms;
	VEC(uint32_t) excluded; /* never traced, like bbtrace itself */
	const char *cgroup;	/* cgroup v2 directory, or NULL */
	bool follow;		/* also children of processes that pass */
	uint32_t command;	/* CMD's process, waiting to exec; also in pids. 0: none */
};

#define PROBE_BUFFER_DEFAULT (16u << 20)

/* An instruction of a program whose execution switches recording on or off, or is a mark. */
struct probe_marker {
	const struct object *object;
	uint64_t vaddr;
	enum marker_kind kind;
	const char *name;	     /* for messages, and for what it asks for */
	struct marker_operands mark; /* MARK */
};
typedef VEC(struct probe_marker) probe_marker_vec;

/* An instruction of a static probe of a program, one of the plan's named events. */
struct usdt_site {
	uint32_t named;
	const struct object *object; /* borrowed, and so is: */
	const struct usdt_probe *probe;
	unsigned nargs; /* set by usdt__resolve(), and so is: */
	struct usdt_argument args[USDT_ARGUMENTS];
};

struct probe_options {
	struct probe_filters filters;
	size_t buffer;	 /* bytes, a power of two multiple of the page size; 0: PROBE_BUFFER_DEFAULT
			  */
	unsigned events; /* enum plan_events: the shown ones, for counting losses */
	bool stack;	 /* call stacks on entry */
	/* With stack: at least how many bytes of programs' stacks are copied, a multiple of 1024;
	 * 0: frame pointers are followed. */
	uint32_t copy;
	uint64_t sample_hz; /* NAMED_SAMPLE: how many samples a second on each CPU */
	bool adds_up; /* samples of one thread, CPU and stack are one event, when the program ends;
			 not with copy */
	bool inlines; /* copied functions log: records have the position of their thread's log */
	bool retires; /* probe__change() may be called */
	bool parks;   /* nothing is recorded for long: probes that can be taken away are better */
	bool grows;   /* probe__attach_sites() and probe__detach_sites() may be called */
	/* Each execution of one by a thread that passes the filters is reported (EVENT_SWITCH,
	 * EVENT_MARK). NULL: there will be none. Empty: they may be added. */
	const probe_marker_vec *markers;
	bool all_regs; /* every register of an entry, not just arguments and stack pointer */
	const volatile sig_atomic_t *interrupted; /* set by a signal: attaching ends with -EINTR */
	const struct usdt_site *usdt;		  /* nusdt of them */
	size_t nusdt;
	const char *attach;	     /* the one mechanism to use, by name; NULL: the best */
	const struct object *kernel; /* the running kernel, for its variables; NULL: not needed */
	const char *btf;      /* kernel types from this file; NULL: /sys/kernel/btf/vmlinux */
	const char *btf_name; /* its name for messages */
	/* Called with the number of newly attached or refused sites and their part of
	 * plan__attach_work(); may be NULL. */
	void (*attached)(void *ctx, size_t sites, uint64_t work);
	void *attached_ctx;
	uint64_t last; /* the number of branches of each thread that will be shown; 0 for all */
	bool switches; /* markers may switch recording on and off */
	bool dumps;    /* markers may ask for the last branches */
	const uint32_t *outcomes; /* OUTCOME_CALLS of them: by system call, enum outcome_texts of
				     bpf/wire_named.h; NULL: the plan has no NAMED_OUTCOME */
	bool records;		  /* a trace file has all events */
	bool accounts;		  /* it has to be known what hits cost each process */
};

/* Which processes that aren't traced a probe slows down. */
enum probe_spares {
	SPARES_NOBODY, /* slows every process that maps the file, at each hit */
	SPARES_OTHERS, /* slows children of the traced processes until they exec */
	SPARES_ALL, /* slows none: a breakpoint that a child inherits is removed at its first hit */
};

/* What samples are taken by on this machine, the name of their event: "cycles", else SAMPLED_TIME.
 */
const char *sample__clock(void);

struct probe;
struct source;
/* Returns true if there is an attach mechanism of this name (whether or not the kernel has it). */
bool mechanism__exists(const char *name);

/* ---- watchpoints (watch.c) ---- */

enum probe_watch_access { PROBE_WATCH_WRITE, PROBE_WATCH_ANY, PROBE_WATCH_EXEC };

/* What a hardware breakpoint watches: named event which of the plan. */
struct probe_watch {
	const char *name; /* for messages */
	uint32_t which;
	uint64_t addr; /* running; aligned to len */
	uint8_t len;   /* 1, 2, 4, 8 */
	uint8_t access;
	bool kernel;	/* of the kernel: on all CPUs */
	bool user_only; /* not what the kernel does */
	uint32_t pid;	/* unless kernel: the process, all its threads */
};

/* ---- static tracepoints of the kernel (tracepoint.c) ---- */

/* Calls fn with the name, "GROUP:NAME", of each that matches a pattern with * and ?, of the name or
 * of both; NULL for all. */
int tracepoints__each(const char *pattern, void (*fn)(void *ctx, const char *name), void *ctx);
/* Appends one of these to the plan's named events, with its fields. */
int tracepoint__add(struct plan *p, const char *name);

/* Sets the arguments of a static probe, with the addresses of the symbols in them (usdt.c). */
void usdt__resolve(const struct arch *arch, struct object *o, struct usdt_site *s);
/* Appends the fields of static probes' event to the plan's last named event: of those among all
 * that have the name of probe (usdt.c). */
void usdt__add_fields(struct plan *p, struct object *o, const usdt_vec *all,
		      const struct usdt_probe *probe);

/* ---- privileges: sets of capabilities ---- */

#define PRIVILEGE(name)		     (1ull << CAP_##name)
#define PRIVILEGE_BPF		     PRIVILEGE(BPF)
#define PRIVILEGE_PERFMON	     PRIVILEGE(PERFMON)
#define PRIVILEGE_SYSLOG	     PRIVILEGE(SYSLOG)
#define PRIVILEGE_SYS_PTRACE	     PRIVILEGE(SYS_PTRACE)
#define PRIVILEGE_SYS_ADMIN	     PRIVILEGE(SYS_ADMIN)
#define PRIVILEGE_DAC_OVERRIDE	     PRIVILEGE(DAC_OVERRIDE)
#define PRIVILEGE_DAC_READ_SEARCH    PRIVILEGE(DAC_READ_SEARCH)
#define PRIVILEGE_CHECKPOINT_RESTORE PRIVILEGE(CHECKPOINT_RESTORE)
#define PRIVILEGE_FOWNER	     PRIVILEGE(FOWNER)
#define PRIVILEGE_KILL		     PRIVILEGE(KILL)
#define PRIVILEGE_SETUID	     PRIVILEGE(SETUID)
#define PRIVILEGE_SETGID	     PRIVILEGE(SETGID)

/* The capabilities in wanted that this process lacks. */
uint64_t privileges__missing(uint64_t wanted);
/* Returns whether functions can run as copies (src/source/inline): 0, -ENOSYS (not on this
 * architecture) or -EPERM. */
int feature__copies(void);
/* Returns whether the kernel compiles BPF programs: 0, or -ENOTSUP if that is switched off. */
int feature__jit(void);
/* Returns whether memory can be watched on this machine's processors: 0, or -ENOSYS if not on this
 * architecture. */
int feature__accesses(void);
/* 0, or -EPERM with the message "WHAT needs CAP_A and CAP_B", listing the missing ones. */
int privileges__check(uint64_t wanted, const char *what);
/* Drops all capabilities, after a change of user. */
void privileges__none(void);
/* Drops all but what a tracer of other users' programs needs: root's user, too. 0 or -errno. */
int privileges__keep_tracing(void);

/* ---- where the threads of a process are (threads.c, thread_sample.c) ---- */

#define THREAD_REGS 34
#define THREAD_ARGS 6
struct thread_at {
	uint32_t tid;
	char comm[16];
	bool on_cpu;	   /* it runs: its registers aren't known */
	bool narrow;	   /* it is in 32-bit code */
	uint64_t switches; /* changes before it has run again */
	int64_t call;	   /* the number of the system call that it is in; negative: none */
	uint64_t args[THREAD_ARGS];
	uint64_t pc, sp;
	/* The program's, as in a core dump (struct elf_prstatus), without x86's segments. */
	uint64_t regs[THREAD_REGS];
	size_t nregs;
};
typedef VEC(struct thread_at) thread_at_vec;
struct thread_reader;
/* 0, or -errno with a message. */
int thread_reader__open(uint32_t pid, struct thread_reader **out);
void thread_reader__close(struct thread_reader *r);
/* Replaces out by all threads as they are now, by tid. 0, or -errno with a message. */
int thread_reader__read(struct thread_reader *r, thread_at_vec *out);
/* Sets the place and the registers of a thread that runs, and the bytes from its stack pointer
 * upwards. -ETIME: it didn't run within that time. */
int thread__sample(struct thread_at *t, int timeout_ms, struct str *stack);

/* ---- before the kernel's code is read ---- */

/* Pins the tracepoints that a trace uses, since enabling them patches the code they are in. */
struct tracepoints {
	VEC(int) fds;
};
void tracepoints__pin(struct tracepoints *t);
void tracepoints__release(struct tracepoints *t);

/* ---- what this machine supports: the rows of doctor ---- */

struct feature {
	const char *name;
	const char *what; /* what bbtrace uses it for */
	/* Returns 0 if available; else -errno, with the reason in err__text(). */
	int (*check)(void);
	const char *remedy;
	const char *(*detail)(void); /* more about one that is available; may be NULL */
};
extern const struct feature features[]; /* ends with name NULL */

/* ---- what a hit costs on this machine (calibrate.c) ---- */

struct calibration {
	const char *mechanism;
	char insn[16];
	/* what the BPF program did: "stopped" (silenced), "branch", "value", "entry" (wrote that
	 * record), "return" (what a return probe adds to an entry's) */
	const char *record;
	enum cost_class class;
	double ns; /* a hit, without the instruction itself */
};
typedef VEC(struct calibration) calibration_vec;
/* Measures for some seconds. 0, or -errno with a message; out is the caller's to free. */
int calibrate__run(calibration_vec *out);
/* Adds what a kprobe costs; entry is that of the system call getppid(2). */
int calibrate__kernel(const struct object *kernel, uint64_t entry, calibration_vec *out);

/* Returns whether this machine can trace at all: the rows of doctor without which nothing works. */
int features__check(void);

/* A kernel_read_fn: reads kernel memory by a BPF program. ctx: struct kmem. */
struct kmem;
int kmem__open(struct kmem **out);
int kmem__read(void *kmem, uint64_t vaddr, void *buf, size_t len);
void kmem__close(struct kmem *k);
/* A kprobe_layout_fn: from the kernel's BTF. */
int kprobe_layout__read(struct kprobe_layout *out);

#endif

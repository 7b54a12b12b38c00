// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * All that runs inside the kernel while tracing: one function, hit(), for every probe. An array
 * (wire.h) says what to do at each site; read-only configuration and a few hashes say which tasks
 * are traced. Tracepoint programs update those hashes when tasks fork, exec and exit.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "wire_named.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile struct wire_config config;

#define TEXT_OF(value)	      #value
#define VERSION_TEXT(a, b, c) "clang " TEXT_OF(a) "." TEXT_OF(b) "." TEXT_OF(c)
/* For doctor: what the verifier accepts also depends on the compiler. */
const volatile char built_by[] =
	VERSION_TEXT(__clang_major__, __clang_minor__, __clang_patchlevel__);

/* User space sets it to 1 to disable all probes at once. */
volatile __u32 stopped;
/* CMD has called exec. */
volatile __u32 command_runs;
/* A thread hit a probe that the filters leave out. */
volatile __u32 filtered;
/* Record signals: 1: those that have a handler, 2: all that aren't ignored, 3: with their threads'
 * stacks. Sites that are added may need more of them. */
volatile __u32 signals;
/* Links that follow one process each were added to perf events. */
volatile __u32 links_by_process;
/* The level of bbtrace's PID namespace, determined by own_level(). */
volatile __u32 pid_level;
/* A process was forked in a PID namespace below that. */
volatile __u32 inner_seen;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* set by user space */
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set by user space */
	__type(key, __u64);
	__type(value, __u32); /* cookie */
} kernel_sites SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set by user space */
	__type(key, struct uprobe_key);
	__type(value, __u32); /* cookie */
} uprobe_sites SEC(".maps");

/* By site: what its probe does. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set by user space */
	__type(key, __u32);
	__type(value, __u64);
} sites SEC(".maps");

#include "words.h"
#include "who.h"
#include "arch/arch.h"
#include "context.h"
#include "log.h"

#include "values.h"

#include "ring.h"

/*
 * now was read before the record was reserved in the ring. So a record with a later time than a
 * thread's end follows all of that thread's records in the ring, even if a task was preempted in
 * between.
 */
static __always_inline void fill_event(struct wire_event *e, __u64 now, struct pt_regs *ctx,
				       struct who w, __u32 site, __u32 type, __u16 missing)
{
	e->time = now;
	e->pid = w.pid;
	e->tid = w.tid;
	e->sp = arch_sp(ctx) - w.base;
	e->site_type = site | type << WIRE_SITE_BITS;
	e->state = w.state;
	e->cpu = bpf_get_smp_processor_id();
	e->missing = missing;
	e->logged = config.inlines ? log_position() : 0;
}

#include "losses.h"

/* ---- records ---- */

/* As bpf_get_current_comm(), without the call. */
static __always_inline void copy_comm(char *to)
{
	const struct task_struct *task = bpf_get_current_task_btf();

	((__u64 *)to)[0] = *(const __u64 *)&task->comm[0];
	((__u64 *)to)[1] = *(const __u64 *)&task->comm[8];
}

static __always_inline void fill_task_record(struct wire_event *e, struct who w, __u64 now,
					     __u32 type, __u64 size)
{
	__builtin_memset(e, 0, size);
	e->time = now;
	e->pid = w.pid;
	e->tid = w.tid;
	e->site_type = WIRE_SITE_MASK | type << WIRE_SITE_BITS;
	e->cpu = bpf_get_smp_processor_id();
	e->logged = config.inlines ? log_position() : 0;
}

/* A record of what happened to the thread, without a site, of a constant size, in the ring of all.
 */
static __always_inline struct reserved reserve_task_record(struct who w, __u64 now, __u32 type,
							   __u64 size)
{
	struct reserved r = reserve_common(size, false);

	if (r.is)
		fill_task_record(r.record, w, now, type, size);
	return r;
}

/* The same, among the records of its probes. */
static __always_inline struct reserved reserve_among_hits(struct who *w, __u64 now, __u32 type,
							  __u64 size)
{
	struct reserved r = reserve(w, size, false);

	if (r.is)
		fill_task_record(r.record, *w, now, type, size);
	return r;
}

/* Finds where the thread's program entered the kernel. */
static __always_inline void find_program(struct wire_entry *e)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	if (!task->mm)
		return;
	e->user_ip = arch_user_ip(regs);
	e->user_sp = BPF_CORE_READ(regs, sp);
}

static __always_inline void fill_entry(struct wire_entry *e, __u64 now, struct pt_regs *ctx,
				       __u64 word, struct who w, bool kernel)
{
	__u16 missing = read_values(ctx, word, kernel, e->value);
	struct pt_regs *args = (struct pt_regs *)arch_first_argument(ctx);
	__u64 lowered = SITE_LOWERED(word) * 8;
	bool replaced;

	e->caller = 0;
	if (load_return(ctx, arch_sp(ctx) + lowered, ARCH_LINK, kernel, LOOKUP_CALLED,
			(__u64 *)&e->caller, &replaced))
		missing |= WIRE_NO_CALLER;
	copy_comm(e->comm);
	copy_regs(e->regs, ctx);
	e->regs[ARCH_SP] += lowered;
	if (config.narrow && !arch_stack_arguments((__u64 *)e->regs, arch_sp(ctx) + lowered))
		missing |= WIRE_NO_STACK;
	__builtin_memset(e->args, 0, sizeof(e->args));
	if (kernel && (word & SITE_SYSCALL))
		copy_syscall_args((__u64 *)e->args, args, word & SITE_SYSCALL32);
	else
		missing |= WIRE_NO_SYSCALL;
	e->user_ip = e->user_sp = 0;
	if (kernel && config.both)
		find_program(e);
	if (replaced)
		w.state |= WIRE_PENDING;
	fill_event(&e->event, now, ctx, w, SITE_ID(word), WIRE_ENTRY, missing);
	e->event.sp += lowered;
}

#include "fetch.h"
#include "entry.h"

static __always_inline bool put_value(struct pt_regs *ctx, __u64 word, struct who w, bool kernel)
{
	__u64 now = bpf_ktime_get_ns();
	struct wire_value *v;
	struct reserved r = reserve(&w, sizeof(*v), kernel);
	__u16 missing;

	v = r.record;
	if (!r.is)
		return false;
	missing = read_values(ctx, word, kernel, v->value);
	fill_event(&v->event, now, ctx, w, SITE_ID(word), WIRE_VALUE, missing);
	submit(&w, v, now);
	return true;
}

/* Puts the result of a ret, and what is loaded by it. */
static __always_inline bool put_result(struct pt_regs *ctx, __u64 word, struct who w, bool kernel)
{
	__u64 now = bpf_ktime_get_ns();
	struct wire_value *v;
	struct reserved r = reserve(&w, sizeof(*v) + FETCHED_SIZE, kernel);
	__u16 missing;

	v = r.record;
	if (!r.is)
		return false;
	missing = read_values(ctx, word, kernel, v->value);
	fill_event(&v->event, now, ctx, w, SITE_ID(word), WIRE_VALUE, missing);
	fetch_result(ctx, SITE_ID(word), kernel, &v->event, v + 1);
	submit(&w, v, now);
	return true;
}

/* At a return probe, the registers are those after the ret. */
static __always_inline bool put_return(struct pt_regs *ctx, __u64 word, struct who w, bool kernel)
{
	__u64 now = bpf_ktime_get_ns();
	struct wire_value *v;
	struct reserved r = reserve(&w, sizeof(*v) + FETCHED_SIZE, kernel);

	v = r.record;
	if (!r.is)
		return false;
	v->value[0] = arch_ip(ctx);
	v->value[1] = arch_return_value(ctx);
	fill_event(&v->event, now, ctx, w, SITE_ID(word), WIRE_RETURN, 0);
	/* the ret popped what the call pushed, and where calls link that is nothing */
	if (ARCH_CALL_PUSHES)
		v->event.sp -= kernel ? ARCH_CALL_PUSHES : USER_WORD;
	if (config.fetched)
		fetch_result(ctx, SITE_ID(word) | COOKIE_RETURN, kernel, &v->event, v + 1);
	submit(&w, v, now);
	return true;
}

#include "judge.h"
#include "compact.h"
#include "goroutine.h"
#include "count.h"

static __always_inline bool is_conditional(__u64 word)
{
	return SITE_ACTION(word) == ACTION_CONDITION || SITE_ACTION(word) == ACTION_TEST;
}

static __always_inline bool put(struct pt_regs *ctx, __u64 word, struct who w, bool kernel)
{
	if (is_conditional(word) && arch_taken(ctx, SITE_CONDITION(word)))
		w.state |= WIRE_TAKEN;
	if (word & SITE_ENTRY)
		return put_entry(ctx, word, w, kernel);
	if (config.fetched && SITE_ACTION(word) == ACTION_RET)
		return put_result(ctx, word, w, kernel);
	return SITE_ACTION(word) <= ACTION_CONDITION ? put_branch(ctx, word, w, kernel)
						     : put_value(ctx, word, w, kernel);
}

/* Written once: a line that all CPUs write to would slow down each hit. */
static __always_inline int leave_out(struct who w)
{
	bool waits = (config.filters & FILTER_COMMAND) && !command_runs;

	if (!filtered && config.filters && w.pid != config.self && !waits)
		filtered = 1;
	return 0;
}

/* kernel: a constant for each program */
static __always_inline int hit(struct pt_regs *ctx, __u64 cookie, bool kernel)
{
	__u32 site = cookie & WIRE_SITE_MASK;
	struct who w = who_am_i();
	__u64 *word, what;
	enum whose_hit whose;
	bool done;

	if (!passes(w, kernel))
		return leave_out(w);
	word = bpf_map_lookup_elem(&sites, &site);
	if (!word)
		return 0;
	/* a call that came back to its entry may have several return probes */
	what = cookie & COOKIE_RETURN ? site : *word;
	if (*word & SITE_IGNORED)
		return 0;
	if (!kernel && config.replaces) {
		whose = whose_hit(cookie >> COOKIE_GENERATION_SHIFT, cookie);
		if (whose == HIT_OTHERS)
			return 0;
		if (whose == HIT_UNMARKED && !config.counts)
			return lose(ctx, &w, what);
	}
	if (config.counts)
		return count_hit(ctx, what, &w, kernel);
	if (kernel)
		w.state = interrupt_context(ctx);
	if (config.judges && is_left_out(ctx, what, &w, kernel, cookie & COOKIE_RETURN))
		return 0;
	if (!has_ring(&w))
		return 0;
	if (!kernel && config.go && report_goroutine(ctx, &w, what))
		return lose(ctx, &w, what);
	if (lost_records && report_losses(ctx, &w, kernel))
		return lose(ctx, &w, what);
	if (!kernel && config.returns && cookie & COOKIE_RETURN)
		done = put_return(ctx, what, w, false);
	else
		done = put(ctx, what, w, kernel);
	return done ? 0 : lose(ctx, &w, what);
}

/* ---- probes: one link, or one tracefs event, for thousands of sites ---- */

/*
 * From Linux 6.13 on, a large BPF stack frame is per CPU, not per task (kernel/bpf/verifier.c,
 * bpf_enable_priv_stack()). A uprobe's program can be preempted, and the next task that hits one on
 * that CPU would overwrite its frame. Programs with a tail call keep the ordinary stack, so these
 * empty arrays are the targets of one. Programs that share an array must be attached in the same
 * way (kernel/bpf/core.c, __bpf_prog_map_compatible()). Without ARCH_STACK_BY_CPU the kernel has no
 * such frames, and refuses tail calls in programs that have functions.
 */
#define NOWHERE(name)                                                                              \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_PROG_ARRAY);                                             \
		__uint(max_entries, 1);                                                            \
		__type(key, __u32);                                                                \
		__type(value, __u32);                                                              \
	} name SEC(".maps")

NOWHERE(nowhere);
NOWHERE(nowhere_multi);
NOWHERE(nowhere_executing);
NOWHERE(nowhere_event_executing);
NOWHERE(nowhere_entry);
NOWHERE(nowhere_usdt);

static __always_inline int end_on_own_stack(void *ctx, void *array)
{
	if (ARCH_STACK_BY_CPU)
		bpf_tail_call(ctx, array, 0);
	return 0;
}

SEC("uprobe.multi")
int hit_multi(struct pt_regs *ctx)
{
	return stopped ? end_on_own_stack(ctx, &nowhere_multi)
		       : hit(ctx, bpf_get_attach_cookie(ctx), false);
}

#include "execute.h"

/* Instructions are done for threads that the filters leave out as well: that is cheaper for them.
 */
SEC("uprobe.multi")
int hit_multi_executing(struct pt_regs *ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx);

	if (!stopped)
		hit(ctx, cookie, false);
	if (!(cookie & COOKIE_RETURN))
		execute_multi(ctx, cookie & WIRE_SITE_MASK);
	return stopped > 1 ? end_on_own_stack(ctx, &nowhere_executing) : 0; /* it never is */
}

SEC("kprobe.multi")
int hit_entry(struct pt_regs *ctx)
{
	return stopped ? end_on_own_stack(ctx, &nowhere_entry)
		       : hit(ctx, bpf_get_attach_cookie(ctx), true);
}

static __always_inline __u32 *uprobe_cookie(void)
{
	struct trace_uprobe *tu = hit_event();
	struct uprobe_key key = {.ino = config.ino, .offset = BPF_CORE_READ(tu, offset)};

	if (!config.ino)
		key.ino = BPF_CORE_READ(tu, path.dentry, d_inode, i_ino);
	return bpf_map_lookup_elem(&uprobe_sites, &key);
}

SEC("kprobe")
int hit_uprobe(struct pt_regs *ctx)
{
	__u32 *cookie;

	if (stopped)
		return end_on_own_stack(ctx, &nowhere);
	cookie = uprobe_cookie();
	return cookie ? hit(ctx, *cookie, false) : 0;
}

SEC("kprobe")
int hit_uprobe_executing(struct pt_regs *ctx)
{
	__u32 *cookie = uprobe_cookie();

	if (!cookie)
		return 0;
	if (!stopped)
		hit(ctx, *cookie, false);
	execute_event(ctx, *cookie);
	return stopped > 1 ? end_on_own_stack(ctx, &nowhere_event_executing) : 0;
}

SEC("kprobe")
int hit_kprobe(struct pt_regs *ctx)
{
	__u64 ip = arch_ip(ctx);
	__u32 *cookie;

	if (stopped)
		return end_on_own_stack(ctx, &nowhere);
	cookie = bpf_map_lookup_elem(&kernel_sites, &ip);
	return cookie ? hit(ctx, *cookie, true) : 0;
}

/* The return of a kernel function that may end in a tail call. The site is that of its entry. */
SEC("kprobe")
int hit_kernel_return(struct pt_regs *ctx)
{
	__u64 entry = bpf_get_func_ip(ctx) + ARCH_KPROBE_AFTER;
	struct who w;
	__u64 *word;
	__u32 *site;

	if (stopped)
		return end_on_own_stack(ctx, &nowhere);
	site = bpf_map_lookup_elem(&kernel_sites, &entry);
	w = who_am_i();
	if (!site || !passes(w, true))
		return 0;
	word = bpf_map_lookup_elem(&sites, site);
	if (!word || *word & SITE_IGNORED)
		return 0;
	w.state = interrupt_context(ctx);
	if (config.judges && is_left_out(ctx, *site, &w, true, true))
		return 0;
	/* not an event: most calls end at a ret, which has its own */
	if (lost_records && report_losses(ctx, &w, true))
		return lose(ctx, &w, 0);
	return put_return(ctx, *site, w, true) ? 0 : lose(ctx, &w, 0);
}

#include "named.h"
#include "marker.h"
#include "watch.h"
#include "sample.h"
#include "filter_states.h"
#include "tasks.h"
#include "outcome.h"

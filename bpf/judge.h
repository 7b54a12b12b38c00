/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Conditions of --if: an entry whose arguments don't meet them mutes its thread until that
 * invocation is over, by the stack pointer. User space judges the rest again, so what isn't known
 * here may pass. Included once, by bbtrace.bpf.c.
 */
#ifndef BBTRACE_BPF_JUDGE_H
#define BBTRACE_BPF_JUDGE_H

/* Changes each time that recording starts: nothing is known of what threads did before. */
volatile __u32 mute_era;

/* By the site of an entry. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set by user space */
	__type(key, __u32);
	__type(value, struct wire_conditions);
} conditions SEC(".maps");

enum mute_state {
	MUTE_OVER, /* it returned; other return probes of the same call may follow */
	MUTE_ON,
	MUTE_LEFT, /* by a jump, which may lead to another function's entry */
	MUTE_NOT,  /* likewise, and nothing is muted */
};

struct mute {
	__u64 sp;      /* at the entry; 0: nothing is muted */
	__u64 started; /* the thread's start, which distinguishes it from others with that TID */
	__u64 target;  /* LEFT, NOT: where the jump leads; 0: not known */
	__u64 caller;  /* the word at sp, where calls push it; 0: not known */
	__u32 era;
	__u8 state, level; /* level: of interrupts */
	/* It was entered by a jump in a call that isn't left out, and its own return ends that
	 * call, too: what has this stack pointer is left to user space, what it calls is not. */
	__u8 tail;
	__u8 pad;
};

/* By thread, separately for its program and the kernel. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set by user space */
	__type(key, __u64);
	__type(value, struct mute);
} mutes SEC(".maps");

/* Entries that didn't meet the conditions, and all hits that are left out. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, WIRE_MUTED);
	__type(key, __u32);
	__type(value, __u64);
} muted SEC(".maps");

#define MUTE_KERNEL (1u << 31) /* in a TID's place */
#define MUTE_IDLE   (1ull << 63)

static __always_inline __u64 mute_key(__u32 pid, __u32 tid, bool kernel)
{
	if (!pid && !tid)
		return MUTE_IDLE | bpf_get_smp_processor_id();
	return (__u64)pid << 32 | tid | (kernel ? MUTE_KERNEL : 0);
}

static __always_inline __u64 start_of(struct task_struct *task)
{
	return BPF_CORE_READ(task, start_time);
}

/* Always 0, which the verifier doesn't know: so it need not distinguish what is added to it. */
volatile __u32 unknown_zero;

/* ---- conditions ---- */

enum judged { JUDGED_HOLDS, JUDGED_FAILS, JUDGED_UNKNOWN };

static __always_inline int judge_number(const struct wire_condition *c, __u64 n)
{
	__u32 unused = (64 - c->width) & 63, order, holds;

	n = n >> (c->bit_at & 63) << unused;
	n = c->is_signed ? (__u64)((__s64)n >> unused) : n >> unused;
	if (!c->wide)
		n = c->as_unsigned ? (__u32)n : (__u64)(__s64)(__s32)n;
	/* without branches, since the verifier would follow each path */
	order = n == c->with;
	if (c->as_unsigned ? n < c->with : (__s64)n < (__s64)c->with)
		order = 2;
	holds = (c->orders >> (order & 3)) & 1;
	return !holds + unknown_zero;
}

static __always_inline int judge_text(const struct wire_condition *c, const __u64 *text)
{
	__u64 differ = 0;

	for (int i = 0; i < WIRE_CONDITION_WORDS; i++)
		differ |= (text[i] ^ c->text[i]) & c->mask[i];
	return (!differ == (c->how == WIRE_EQ) ? JUDGED_HOLDS : JUDGED_FAILS) + unknown_zero;
}

/* base is where the path to the value begins, or the value. */
static __noinline int judge_one(const struct wire_condition *c, __u64 base, bool kernel)
{
	struct wire_fetched at = {};
	long len = 0;

	if (c->fetch.nsteps)
		len = fetch(&at, &c->fetch, base, kernel) + unknown_zero;
	else
		*(__u64 *)at.bytes = base;
	if (c->kind == WIRE_IS_NULL && (len >= 0 || len == WIRE_FETCH_ABSENT)) {
		bool null = len < 0 && !*(__u64 *)at.bytes;

		return (null == (c->how == WIRE_EQ) ? JUDGED_HOLDS : JUDGED_FAILS) + unknown_zero;
	}
	if (len < 0)
		return JUDGED_UNKNOWN + unknown_zero;
	return c->kind == WIRE_IS_TEXT ? judge_text(c, (const __u64 *)at.bytes)
				       : judge_number(c, *(__u64 *)at.bytes);
}

static __noinline __u64 condition_register(struct pt_regs *ctx, __u32 reg)
{
	return visible(arch_register(ctx, reg));
}

static __noinline __u64 condition_argument(struct pt_regs *ctx, __u32 n, bool narrow)
{
	struct pt_regs *args = (struct pt_regs *)arch_first_argument(ctx);
	__u64 all[WIRE_ARGS] = {};

	copy_syscall_args(all, args, narrow);
	return n < WIRE_ARGS ? all[n] : 0;
}

/* Returns the stack pointer before the entry's first instruction. */
static __always_inline __u64 condition_base(struct pt_regs *ctx, const struct wire_fetch *f,
					    __u64 word, bool kernel)
{
	if (f->from == FETCH_ARGUMENT)
		return kernel && word & SITE_SYSCALL
			       ? condition_argument(ctx, f->reg, word & SITE_SYSCALL32)
			       : 0;
	if (f->reg == ARCH_SP)
		return arch_sp(ctx) + SITE_LOWERED(word) * 8;
	return condition_register(ctx, f->reg);
}

static __noinline int judge(struct pt_regs *ctx, __u64 word, bool kernel)
{
	__u32 site = SITE_ID(word);
	const struct wire_conditions *l = bpf_map_lookup_elem(&conditions, &site);
	int all = JUDGED_HOLDS;

	if (!l)
		return JUDGED_HOLDS;
	for (__u32 i = 0; i < WIRE_CONDITIONS && i < config.judges && i < l->n; i++) {
		const struct wire_condition *c = &l->of[i];
		int one = judge_one(c, condition_base(ctx, &c->fetch, word, kernel), kernel);

		if (one == JUDGED_FAILS)
			return one;
		all = (one == JUDGED_HOLDS ? all : one) + unknown_zero;
	}
	return all;
}

/* ---- where the thread is ---- */

static __always_inline __u8 interrupt_level(__u16 state)
{
	return state & WIRE_NMI ? 3 : state & WIRE_HARDIRQ ? 2 : state & WIRE_SOFTIRQ ? 1 : 0;
}

/* Returns a number below 0 in what the muted invocation has called, or what interrupts it; 0 in
 * itself, or in what has taken its place; above 0 if it is over. */
static __noinline int position_in(const struct mute *m, __u64 sp, __u8 level, bool kernel)
{
	if (kernel && level != m->level)
		return level > m->level ? -1 : 1;
	if (!kernel) {
		bool alternate = is_on_alternate(sp);

		if (alternate != is_on_alternate(m->sp))
			return alternate ? -1 : 1;
	}
	return sp < m->sp ? -1 : sp > m->sp;
}

/* Returns true if others use the stack below the invocation, as after a longjmp or an exception.
 * Then its return address isn't there any more. */
static __noinline int is_abandoned(const struct mute *m, bool kernel)
{
	__u64 now;

	return ARCH_CALL_PUSHES && !kernel && m->caller && !load_word(&now, m->sp, false) &&
	       now != m->caller && !is_replaced(now);
}

/* In the kernel: is its program in an invocation that is muted? */
static __noinline int program_is_muted(struct who *w)
{
	__u64 key = mute_key(w->pid, w->tid, false);
	const struct mute *m = bpf_map_lookup_elem(&mutes, &key);
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	if (!m || m->state == MUTE_OVER || m->state == MUTE_NOT || m->era != mute_era ||
	    m->started != start_of(task))
		return 0;
	return position_in(m, BPF_CORE_READ(regs, sp), 0, false) <= 0 && !is_abandoned(m, false);
}

/* What a hit with the stack pointer of the invocation does to it. */
static __always_inline void advance(struct mute *m, __u64 word)
{
	m->state = SITE_ACTION(word) == ACTION_RET ? MUTE_OVER
		   : word & SITE_LEAVES		   ? MUTE_LEFT
						   : MUTE_ON;
	m->target = 0;
}

static __always_inline bool is_led_to(struct pt_regs *ctx, const struct mute *m, bool kernel)
{
	__u64 ip = kernel ? arch_kprobe_address(ctx) : arch_ip(ctx);

	return m->state >= MUTE_LEFT && (!m->target || m->target == ip);
}

/* A hit while the invocation is muted. False: it is over, and the hit is of something else. */
static __always_inline bool stays_muted(struct pt_regs *ctx, struct mute *m, __u64 word, int where,
					bool kernel, bool returned)
{
	if (where)
		return where < 0 && !is_abandoned(m, kernel);
	if (returned) {
		m->state = MUTE_OVER;
		return true;
	}
	if (word & SITE_ENTRY && !is_led_to(ctx, m, kernel))
		return false;
	advance(m, word);
	return true;
}

static __always_inline void count_muted(__u32 what)
{
	__u64 *n = bpf_map_lookup_elem(&muted, &what);

	if (n)
		__sync_fetch_and_add(n, 1);
}

static __always_inline __u64 call_sp(struct pt_regs *ctx, __u64 word, bool kernel, bool returned)
{
	if (!returned)
		return arch_sp(ctx) + (word & SITE_ENTRY ? SITE_LOWERED(word) * 8 : 0);
	return arch_sp(ctx) - (!ARCH_CALL_PUSHES ? 0 : kernel ? ARCH_CALL_PUSHES : USER_WORD);
}

enum muted_how {
	NOT_MUTED,
	IS_MUTED,
	IS_ENTERED, /* by a jump in a call that isn't left out */
	IS_TAIL,    /* part of such a one that is muted, and to be passed on */
};

/* Returns true if the hit is part of an invocation that is left out already. returned: of a return
 * probe. */
static __noinline int is_muted(struct pt_regs *ctx, __u64 word, struct who *w, bool kernel,
			       bool returned)
{
	__u64 key = mute_key(w->pid, w->tid, kernel), sp = call_sp(ctx, word, kernel, returned);
	__u8 level = kernel ? interrupt_level(w->state) : 0;
	struct mute *m = bpf_map_lookup_elem(&mutes, &key);

	if (kernel && config.both && program_is_muted(w))
		return IS_MUTED;
	if (!m || !m->sp)
		return NOT_MUTED;
	if (m->era == mute_era &&
	    m->started == start_of((struct task_struct *)bpf_get_current_task())) {
		if (m->state == MUTE_OVER && returned && sp == m->sp)
			return m->tail ? IS_TAIL : IS_MUTED;
		if (m->state == MUTE_NOT && word & SITE_ENTRY && sp == m->sp &&
		    is_led_to(ctx, m, kernel)) {
			m->sp = 0;
			return IS_ENTERED;
		}
		if ((m->state == MUTE_ON || m->state == MUTE_LEFT) &&
		    stays_muted(ctx, m, word, position_in(m, sp, level, kernel), kernel, returned))
			return m->tail && sp == m->sp ? IS_TAIL : IS_MUTED;
	}
	m->sp = 0;
	return NOT_MUTED;
}

enum mute_what {
	MUTE_CALL,
	MUTE_TAIL,
	MUTE_JUMP, /* only where it leads is noted */
};

/* From here on. 0: there are too many threads, so that user space has to leave it out. */
static __noinline int mute(struct pt_regs *ctx, __u64 word, struct who *w, bool kernel,
			   enum mute_what what)
{
	__u64 key = mute_key(w->pid, w->tid, kernel);
	struct mute *m = bpf_map_lookup_elem(&mutes, &key);
	struct mute fresh = {
		.sp = call_sp(ctx, word, kernel, false),
		.started = start_of((struct task_struct *)bpf_get_current_task()),
		.era = mute_era,
		.level = kernel ? interrupt_level(w->state) : 0,
		.tail = what == MUTE_TAIL,
	};

	if (ARCH_CALL_PUSHES && !kernel &&
	    (load_word(&fresh.caller, fresh.sp, false) || is_replaced(fresh.caller)))
		fresh.caller = 0;
	advance(&fresh, word);
	fresh.state = what == MUTE_JUMP ? MUTE_NOT : fresh.state;
	if (m)
		*m = fresh;
	else if (bpf_map_update_elem(&mutes, &key, &fresh, BPF_ANY))
		return 0;
	if (what == MUTE_CALL)
		count_muted(WIRE_MUTED_CALLS);
	return 1;
}

/* Where the jump leads that may have left the function. */
static __noinline void note_target(struct pt_regs *ctx, __u64 word, struct who *w, bool kernel)
{
	__u64 key = mute_key(w->pid, w->tid, kernel), value[2];
	struct mute *m = bpf_map_lookup_elem(&mutes, &key);

	if (m && m->state >= MUTE_LEFT && !read_values(ctx, word, kernel, value))
		m->target = value[0];
}

static __always_inline bool is_indirect(__u64 word)
{
	return SITE_ACTION(word) == ACTION_REG || SITE_ACTION(word) == ACTION_MEM;
}

/* Returns true if the hit is part of an invocation that is left out. */
static __always_inline bool is_left_out(struct pt_regs *ctx, __u64 word, struct who *w, bool kernel,
					bool returned)
{
	int how = is_muted(ctx, word, w, kernel, returned);

	if (word & SITE_ENTRY && (how == NOT_MUTED || how == IS_ENTERED) &&
	    judge(ctx, word, kernel) == JUDGED_FAILS &&
	    mute(ctx, word, w, kernel, how == IS_ENTERED ? MUTE_TAIL : MUTE_CALL))
		how = how == IS_ENTERED ? IS_TAIL : IS_MUTED;
	if (word & SITE_LEAVES && (how == NOT_MUTED || how == IS_ENTERED))
		mute(ctx, word, w, kernel, MUTE_JUMP);
	if (word & SITE_LEAVES && is_indirect(word))
		note_target(ctx, word, w, kernel);
	if (how == IS_MUTED)
		count_muted(WIRE_MUTED_HITS);
	return how == IS_MUTED;
}

/* ---- tasks ---- */

/* A process that is forked in a muted invocation continues in it. */
static __always_inline void inherit_mute(struct who parent, struct who child,
					 struct task_struct *task)
{
	__u64 key = mute_key(parent.pid, parent.tid, false);
	const struct mute *m = bpf_map_lookup_elem(&mutes, &key);
	struct mute copy;

	key = mute_key(child.pid, child.tid, false);
	if (!m || !m->sp || m->state == MUTE_OVER || m->state == MUTE_NOT) {
		bpf_map_delete_elem(&mutes, &key);
		return;
	}
	copy = *m;
	copy.started = start_of(task);
	bpf_map_update_elem(&mutes, &key, &copy, BPF_ANY);
}

static __always_inline void forget_mute(struct who w, bool ends)
{
	__u64 key = mute_key(w.pid, w.tid, false);

	bpf_map_delete_elem(&mutes, &key);
	key = mute_key(w.pid, w.tid, true);
	if (ends)
		bpf_map_delete_elem(&mutes, &key);
}

#endif

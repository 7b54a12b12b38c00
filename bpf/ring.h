/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Where records are written: to the ring buffer that all threads share, which user space reads; or
 * with config.rings to the thread's own ring, which user space reads when something asks for its
 * last records. Included once, by bbtrace.bpf.c.
 */
#ifndef BBTRACE_BPF_RING_H
#define BBTRACE_BPF_RING_H

/* ---- the ring of all ---- */

/*
 * Whether to query how full the ring is. The query costs about half as much as reserve and submit,
 * so only one record in ASK_EVERY makes it, chosen by the low bits of its time. A reader that isn't
 * woken polls after a while.
 */
#define ASK_EVERY 16

static __always_inline __u64 ring_flags(__u64 now)
{
	return now % ASK_EVERY == 0 && bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) >= config.wakeup
		       ? BPF_RB_FORCE_WAKEUP
		       : BPF_RB_NO_WAKEUP;
}

/*
 * A kprobe's breakpoint may count as an NMI, where bpf_ringbuf_reserve() fails while another CPU
 * holds the ring's lock (kernel/bpf/ringbuf.c, __bpf_ringbuf_reserve()), for much less than a
 * microsecond. The verifier checks all that follows once per try, so there are few tries with long
 * pauses, and a machine with one CPU has one.
 */
#define RESERVE_TRIES 6
#define PAUSE_TURNS   20

/* Global, so that the verifier checks it only once. */
__noinline int pause_before_retry(int turns)
{
	__u64 now = 0;

	for (int i = 0; i < turns && i < PAUSE_TURNS; i++)
		now += bpf_ktime_get_ns();
	return now;
}

/*
 * A record in a ring, and whether there is one: a number of its own. The verifier of older kernels
 * (6.1: kernel/bpf/verifier.c, reg_type_not_null()) takes it that a record which was compared with
 * NULL may be NULL when it is compared once more, which compilers do where paths join, and would
 * not be submitted then.
 */
struct reserved {
	void *record;
	__u64 is;
};

static __always_inline struct reserved reserved(void *record)
{
	__u64 is = 1;

	barrier_var(is);
	return (struct reserved){record, is};
}

static __always_inline bool is_full(__u32 size)
{
	return bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) + size + 8 > 4 * (__u64)config.wakeup;
}

static __always_inline struct reserved reserve_common(__u32 size, bool kernel)
{
	for (int i = 0;; i++) {
		void *record = bpf_ringbuf_reserve(&ring, size, 0);

		if (record)
			return reserved(record);
		if (!kernel || !config.retries || i == RESERVE_TRIES || is_full(size))
			break;
		pause_before_retry(PAUSE_TURNS);
	}
	return (struct reserved){};
}

/* ---- a ring for each thread, which overwrites its oldest records ---- */

/* Threads that found no ring free, and their hits. */
volatile __u64 ringless_hits;
/* Ends of threads that found the ring of all full: their rings say it. */
volatile __u64 lost_ends;

/* struct wire_ring, by slot. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set by user space; and so is the size of a value */
	__uint(key_size, 4);
	__uint(value_size, sizeof(struct wire_ring) + WIRE_RING_SLACK);
} rings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set by user space */
	__type(key, __u32);	/* tid */
	__type(value, __u32);	/* slot */
} ring_slots SEC(".maps");

/* Slots without a thread. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 1); /* set by user space */
	__uint(key_size, 0);
	__uint(value_size, 4);
} free_rings SEC(".maps");

static __always_inline struct wire_ring *ring_at(__u32 slot)
{
	return bpf_map_lookup_elem(&rings, &slot);
}

static __always_inline __u64 started(struct task_struct *task)
{
	return BPF_CORE_READ(task, start_time);
}

/* The thread's first hit; or another thread had this TID, whose end was not seen. Returns its slot,
 * -1 if there is none. */
static __noinline int take_ring(struct who *w)
{
	__u32 tid = w->tid, slot;
	struct wire_ring *r;

	if (bpf_map_lookup_elem(&ring_slots, &tid) || bpf_map_pop_elem(&free_rings, &slot))
		return -1;
	r = ring_at(slot);
	if (!r || bpf_map_update_elem(&ring_slots, &tid, &slot, BPF_NOEXIST)) {
		bpf_map_push_elem(&free_rings, &slot, BPF_ANY);
		return -1;
	}
	r->head = r->writing = 0;
	r->started = started((struct task_struct *)bpf_get_current_task());
	r->pid = w->pid;
	r->tid = w->tid;
	r->slot = slot;
	r->state = RING_RUNS;
	return slot;
}

static __always_inline struct wire_ring *own_ring(struct who *w)
{
	const struct task_struct *task = bpf_get_current_task_btf();
	__u32 tid = w->tid, *slot = bpf_map_lookup_elem(&ring_slots, &tid);
	struct wire_ring *r = slot ? ring_at(*slot) : NULL;

	return r && r->started == task->start_time ? r : NULL;
}

/* Before a record that is no hit. Returns false if the thread has no ring, so that it follows no
 * hit. */
static __always_inline bool find_ring(struct who *w)
{
	if (config.rings)
		w->ring = own_ring(w);
	return !config.rings || w->ring;
}

/* The thread ends: returns 1 + its slot; 0 if it has none. */
static __noinline int leave_ring(struct who *w)
{
	struct wire_ring *r = own_ring(w);
	__u32 tid = w->tid;

	if (!r)
		return 0;
	r->state = RING_ENDED;
	bpf_map_delete_elem(&ring_slots, &tid);
	return r->slot + 1;
}

/* Returns false if the hit is counted, but not recorded. */
static __always_inline bool has_ring(struct who *w)
{
	int slot;

	if (!config.rings)
		return true;
	w->ring = own_ring(w);
	if (w->ring)
		return true;
	slot = take_ring(w);
	w->ring = slot < 0 ? NULL : ring_at(slot);
	if (!w->ring)
		__sync_fetch_and_add(&ringless_hits, 1);
	return w->ring != NULL;
}

/* User space may read what is overwritten meanwhile, so the end of that is announced first. */
static __always_inline void announce_writing(struct wire_ring *r, __u64 to)
{
	*(volatile __u64 *)&r->writing = to;
	barrier();
}

/* The record's size follows it, so that the newest are found from the end on. */
static __always_inline void *reserve_own(struct wire_ring *r, __u32 size)
{
	const __u64 room = config.ring_bytes;
	__u8 *data = (__u8 *)(r + 1);
	__u64 at = r->head, off = at & (room - 1), rest = 0;

	if (off + size + 8 > room)
		rest = room - off;
	announce_writing(r, at + rest + size + 8);
	if (rest)
		*(__u64 *)(data + room - 8) = WIRE_RING_REST | (rest - 8);
	off = rest ? 0 : off;
	barrier_var(off);
	data += off & (room - 8);
	*(__u64 *)(data + size) = size;
	return data;
}

static __always_inline void commit_own(struct wire_ring *r)
{
	barrier(); /* own rings are of architectures whose stores are seen in their order */
	*(volatile __u64 *)&r->head = r->writing;
}

/* ---- either of them ---- */

/* size: a constant multiple of 8 */
static __always_inline struct reserved reserve(struct who *w, __u32 size, bool kernel)
{
	return config.rings ? reserved(reserve_own(w->ring, size)) : reserve_common(size, kernel);
}

static __always_inline void submit(struct who *w, void *record, __u64 now)
{
	if (config.rings)
		commit_own(w->ring);
	else
		bpf_ringbuf_submit(record, ring_flags(now));
}

#endif

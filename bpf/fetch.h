/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Values in memory that arguments and results lead to, loaded when a function is entered or
 * returns. They follow the rest of a record. Included once, by bbtrace.bpf.c. */
#ifndef BBTRACE_BPF_FETCH_H
#define BBTRACE_BPF_FETCH_H

/* By site, with COOKIE_RETURN for the return probe of the entry. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set by user space */
	__type(key, __u32);
	__type(value, struct wire_fetches);
} fetches SEC(".maps");

#define FETCHED_SIZE (config.fetched * sizeof(struct wire_fetched))

/* Kernel functions have pointers of programs, too. */
static __always_inline bool is_kernels(__u64 addr, bool kernel)
{
	return kernel && (__s64)addr < 0;
}

static __always_inline long fetch_word(__u64 *to, __u64 addr, bool kernel)
{
	return is_kernels(addr, kernel) ? load_word(to, addr, true) : load_word(to, addr, false);
}

/* Loads as many bytes as there are, or a string with its 0. */
static __always_inline long fetch_bytes(struct wire_fetched *to, const struct wire_fetch *f,
					__u64 addr, bool kernel)
{
	__u32 size = f->size;
	bool of_kernel = is_kernels(addr, kernel);
	long err;

	if (f->text)
		return of_kernel
			       ? bpf_probe_read_kernel_str(to->bytes, WIRE_FETCH_TEXT, (void *)addr)
			       : bpf_probe_read_user_str(to->bytes, WIRE_FETCH_TEXT, (void *)addr);
	if (size > WIRE_FETCH_ROOM)
		return -1;
	err = of_kernel ? bpf_probe_read_kernel(to->bytes, size, (void *)addr)
			: bpf_probe_read_user(to->bytes, size, (void *)addr);
	return err ? err : size;
}

/* Each step except the first one is at a pointer. */
static __always_inline long fetch(struct wire_fetched *to, const struct wire_fetch *f, __u64 addr,
				  bool kernel)
{
	long err;

	addr += f->steps[0];
	for (int i = 1; i < WIRE_FETCH_STEPS && i < f->nsteps; i++) {
		if (fetch_word(&addr, addr, kernel))
			return -1;
		addr += f->steps[i];
	}
	err = fetch_bytes(to, f, addr, kernel);
	if (err < 0) { /* user space may find it in a file */
		*(__u64 *)to->bytes = addr;
		return WIRE_FETCH_ABSENT;
	}
	return err;
}

static __always_inline __u64 fetch_base(const struct wire_fetch *f, const struct wire_entry *e)
{
	if (f->from == FETCH_ARGUMENT)
		return f->reg < WIRE_ARGS ? e->args[f->reg] : 0;
	return f->reg < WIRE_REGS ? e->regs[f->reg] : 0;
}

/* A hit that finds no list has less than there is room for. */
static __noinline int fetch_all(struct wire_entry *e, __u32 site, __u64 result, bool kernel,
				struct wire_fetched *to)
{
	const struct wire_fetches *l = bpf_map_lookup_elem(&fetches, &site);

	for (__u32 i = 0; i < WIRE_FETCHES && i < config.fetched; i++)
		to[i].len = WIRE_FETCH_NONE;
	if (!l)
		return 0;
	for (__u32 i = 0; i < WIRE_FETCHES && i < config.fetched && i < l->n; i++) {
		const struct wire_fetch *f = &l->of[i];

		to[i].len = fetch(&to[i], f, e ? fetch_base(f, e) : result, kernel);
	}
	return 0;
}

static __always_inline void fetch_entry(struct pt_regs *ctx, __u64 word, bool kernel,
					struct wire_entry *e, void *to)
{
	fetch_all(e, SITE_ID(word), 0, kernel, to);
	e->event.state |= WIRE_FETCHED;
}

static __always_inline void fetch_result(struct pt_regs *ctx, __u32 site, bool kernel,
					 struct wire_event *e, void *to)
{
	fetch_all(NULL, site, arch_return_value(ctx), kernel, to);
	e->state |= WIRE_FETCHED;
}

#endif

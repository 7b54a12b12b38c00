// SPDX-License-Identifier: BSD-2-Clause
/*
 * Whether a thread may execute the system calls that it is made to execute. A filter may end its
 * process for one. The filters are evaluated here, as the kernel does (seccomp(2),
 * net/core/filter.c).
 */
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "target.h"

/* All of injected calls and of the beacon. */
static const struct seccomp_data calls[] = {
	{.nr = SYS_memfd_create, .args = {4096, MFD_CLOEXEC | MFD_ALLOW_SEALING}},
	{.nr = SYS_memfd_create, .args = {4096, MFD_CLOEXEC | MFD_ALLOW_SEALING | 8}},
	{.nr = SYS_mmap, .args = {0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 3}},
	{.nr = SYS_close, .args = {3}},
	{.nr = SYS_mmap, .args = {0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS}},
	{.nr = SYS_munmap, .args = {4096, 4096}},
	{.nr = SYS_madvise, .args = {4096, 4096, MADV_DONTDUMP}},
	{.nr = SYS_madvise, .args = {4096, 4096, MADV_DONTFORK}},
	{.nr = SYS_madvise, .args = {4096, 4096, MADV_DOFORK}},
	{.nr = SYS_rt_sigprocmask, .args = {2, 4096, 0, 8}},
	{.nr = SYS_futex, .args = {4096, FUTEX_WAKE, INT_MAX}},
	{.nr = SYS_futex, .args = {4096, FUTEX_WAIT, 1, 4096}},
};
/* Of memory.c, which can do without. */
static const struct seccomp_data opens_memory = {
	.nr = SYS_openat, .args = {(uint64_t)AT_FDCWD, 4096, O_RDWR | O_CLOEXEC}};

struct machine {
	uint32_t a, x, m[BPF_MEMWORDS];
};

static uint32_t calculate(uint16_t code, uint32_t a, uint32_t b)
{
	switch (BPF_OP(code)) {
	case BPF_ADD:
		return a + b;
	case BPF_SUB:
		return a - b;
	case BPF_MUL:
		return a * b;
	case BPF_DIV:
		return b ? a / b : 0;
	case BPF_OR:
		return a | b;
	case BPF_AND:
		return a & b;
	case BPF_XOR:
		return a ^ b;
	case BPF_LSH:
		return b < 32 ? a << b : 0;
	case BPF_RSH:
		return b < 32 ? a >> b : 0;
	default:
		return -a; /* BPF_NEG */
	}
}

static bool compare(uint16_t code, uint32_t a, uint32_t b)
{
	switch (BPF_OP(code)) {
	case BPF_JEQ:
		return a == b;
	case BPF_JGT:
		return a > b;
	case BPF_JGE:
		return a >= b;
	default:
		return a & b; /* BPF_JSET */
	}
}

static uint32_t loaded(const struct sock_filter *f, const struct machine *v,
		       const struct seccomp_data *call)
{
	uint32_t word = 0;

	switch (BPF_MODE(f->code)) {
	case BPF_IMM:
		return f->k;
	case BPF_MEM:
		return v->m[f->k % BPF_MEMWORDS];
	case BPF_LEN:
		return sizeof(*call);
	default: /* BPF_ABS */
		if (f->k <= sizeof(*call) - sizeof(word))
			memcpy(&word, (const char *)call + f->k, sizeof(word));
		return word;
	}
}

/* SECCOMP_RET_... */
static uint32_t evaluate(const struct sock_filter *f, size_t n, const struct seccomp_data *call)
{
	struct machine v = {0};

	for (size_t i = 0; i < n; i++) {
		uint16_t code = f[i].code;
		uint32_t operand = BPF_SRC(code) == BPF_X ? v.x : f[i].k;

		switch (BPF_CLASS(code)) {
		case BPF_LD:
			v.a = loaded(&f[i], &v, call);
			break;
		case BPF_LDX:
			v.x = loaded(&f[i], &v, call);
			break;
		case BPF_ST:
			v.m[f[i].k % BPF_MEMWORDS] = v.a;
			break;
		case BPF_STX:
			v.m[f[i].k % BPF_MEMWORDS] = v.x;
			break;
		case BPF_ALU:
			v.a = calculate(code, v.a, operand);
			break;
		case BPF_JMP:
			i += BPF_OP(code) == BPF_JA	   ? f[i].k
			     : compare(code, v.a, operand) ? f[i].jt
							   : f[i].jf;
			break;
		case BPF_RET:
			return BPF_RVAL(code) == BPF_A ? v.a : f[i].k;
		default:
			if (BPF_MISCOP(code) == BPF_TAX)
				v.x = v.a;
			else
				v.a = v.x;
		}
	}
	return SECCOMP_RET_KILL_PROCESS;
}

static bool allows(const struct sock_filter *f, size_t n, struct seccomp_data call, uint32_t arch)
{
	uint32_t action;

	call.arch = arch;
	action = evaluate(f, n, &call) & SECCOMP_RET_ACTION_FULL;
	return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG;
}

static bool allows_all(const struct sock_filter *f, size_t n, uint32_t arch)
{
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (!allows(f, n, calls[i], arch))
			return false;
	return true;
}

uint32_t thread__filters(pid_t tid)
{
	switch (thread__status_number((uint32_t)tid, "Seccomp")) {
	case SECCOMP_MODE_DISABLED:
		return 0;
	case SECCOMP_MODE_FILTER: /* how many: Linux 5.9 */
		return (uint32_t)thread__status_number((uint32_t)tid, "Seccomp_filters")
			       ?: UINT32_MAX;
	default:
		return UINT32_MAX;
	}
}

bool thread__filters_allow(struct thread *t, uint32_t *filters, bool *opens)
{
	uint32_t arch = t->tracer->tracee->audit, i;
	struct sock_filter f[BPF_MAXINSNS];

	*opens = true;
	*filters = thread__filters(t->tid);
	if (*filters == thread__filters(getpid()))
		return true;
	for (i = 0; *filters != UINT32_MAX && i < *filters; i++) {
		long n = ptrace(PTRACE_SECCOMP_GET_FILTER, t->tid, (long)i, f);

		if (n <= 0 || !allows_all(f, (size_t)n, arch))
			return false;
		*opens &= allows(f, (size_t)n, opens_memory, arch);
	}
	return i == *filters;
}

bool thread__may_call(const struct thread *t)
{
	return thread__filters(t->tid) <= t->process->filters;
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * What an instruction has accessed, by the registers behind it, against the processor: each form is
 * executed in a process that a debug register watches, a byte at a time.
 */
#include "tap.h"

#ifndef __x86_64__
int main(void)
{
	printf("1..0 # SKIP executes x86-64 code\n");
	return 0;
}
#else
#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include "arch/x86/x86.h"
#include "test_arch_access.h"
#include "test_debug_registers.h"

extern const struct form __start_forms[], __stop_forms[];

#define SIZE 8192
static uint8_t *memory; /* shared with the child */
static pid_t child;
static struct user_regs_struct initial;
static uint8_t vectors[1 << 14]; /* as the child had them when it stopped */
static struct iovec vector_state = {vectors, sizeof(vectors)};
static unsigned trials;

/* What a gather reads: every element of its mask, each at index 0. The C library's own use of these
 * registers differs by release. */
static void stop_with_known_vectors(void)
{
	if (__builtin_cpu_supports("avx2"))
		asm volatile("vpxor %%ymm1,%%ymm1,%%ymm1\n vpcmpeqd %%ymm3,%%ymm3,%%ymm3\n int3" ::
				     : "xmm1", "xmm3");
	else
		asm volatile("int3");
}

static void make_child(void)
{
	memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_32BIT,
		      -1, 0);
	child = fork();
	if (!child) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		stop_with_known_vectors();
		_exit(0);
	}
	waitpid(child, NULL, 0);
	ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_EXITKILL);
	ptrace(PTRACE_GETREGS, child, NULL, &initial);
	ptrace(PTRACE_GETREGSET, child, NT_X86_XSTATE, &vector_state);
}

/* DR7: bit 0 enables, bits 16 and 17 are the kind (1: writes, 3: any), 18 and 19 the length less 1.
 */
static bool watch(uint64_t addr, unsigned kind)
{
	size_t at = offsetof(struct user, u_debugreg);

	return !ptrace(PTRACE_POKEUSER, child, at + 7 * 8, NULL) &&
	       !ptrace(PTRACE_POKEUSER, child, at, (void *)addr) &&
	       !ptrace(PTRACE_POKEUSER, child, at + 6 * 8, NULL) &&
	       (!kind ||
		!ptrace(PTRACE_POKEUSER, child, at + 7 * 8, (void *)(uintptr_t)(1 | kind << 16)));
}

static void set_registers(const struct form *f, struct user_regs_struct *r)
{
	uint64_t base = (uintptr_t)memory;

	*r = initial;
	r->rip = (uintptr_t)f->start;
	r->orig_rax = -1;
	r->rax = f->flags & EQUAL ? (uintptr_t)f->end : 0x1122334455667788;
	r->rdx = f->flags & EQUAL ? (uintptr_t)f->end : 0x99aabbccddeeff01;
	r->rbx = base + 1024;
	r->rcx = 3;
	r->rsi = base + 2048;
	r->rdi = base + 3072;
	r->rbp = base + 4096;
	r->rsp = base + 5120;
	r->r8 = 0xfedcba9876543210;
	r->r9 = 77;
	r->r10 = -70;
	r->r11 = base + 1024;
	r->r12 = base + 1152;
	r->r13 = base + 1280;
	r->fs_base = base + 512;
	r->gs_base = base + 768;
	r->eflags = 0x202 | (f->flags & DOWN ? 1 << 10 : 0) | (f->flags & CARRY ? 1 : 0);
}

/* Executes the form. True: the watch was hit; what the registers are then, or behind it. */
static bool execute(const struct form *f, struct user_regs_struct *r)
{
	size_t at = offsetof(struct user, u_debugreg);
	uint64_t end = (uintptr_t)f->end;
	int status;

	for (size_t i = 0; i < SIZE; i += 8)
		memcpy(memory + i, &end, 8);
	set_registers(f, r);
	trials++;
	if (ptrace(PTRACE_SETREGS, child, NULL, r) ||
	    ptrace(PTRACE_SETREGSET, child, NT_X86_XSTATE, &vector_state) ||
	    ptrace(PTRACE_CONT, child, NULL, NULL) || waitpid(child, &status, 0) != child ||
	    !WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP ||
	    ptrace(PTRACE_GETREGS, child, NULL, r)) {
		printf("# %s: did not run: status %x\n", f->text, status);
		exit(1);
	}
	return ptrace(PTRACE_PEEKUSER, child, at + 6 * 8, NULL) & 1;
}

static int accesses(const struct form *f, const struct user_regs_struct *r,
		    struct access out[ACCESS_MOST])
{
	const uint64_t regs[X86_FLAGS + 1] = {r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp,
					      r->rsi, r->rdi, r->r8,  r->r9,  r->r10, r->r11,
					      r->r12, r->r13, r->r14, r->r15, r->rip, r->eflags};
	struct access_state state = {.regs = regs, .fs = r->fs_base, .gs = r->gs_base};

	return x86__accesses(X86_64, f->start, f->end - f->start, (uintptr_t)f->start, &state, out);
}

static bool covers(const struct access *a, uint64_t addr)
{
	return a->located && addr - a->addr < (a->size ? a->size : 512);
}

static bool is_told(const struct access *a, int n, uint64_t addr, unsigned kind)
{
	for (int i = 0; i < n; i++)
		if (covers(&a[i], addr) && (a[i].writes || kind == ANY))
			return true;
	return false;
}

/* Of a repetition: what all its iterations have accessed, instead of those of a group. */
static void narrow(struct access *a, const struct user_regs_struct *behind)
{
	uint64_t bytes = behind->rdi - ((uintptr_t)memory + 3072);
	bool down = (int64_t)bytes < 0;

	if (!a->repeats)
		return;
	bytes = down ? -bytes : bytes;
	a->addr += down ? 0 : a->size - bytes;
	a->size = bytes;
}

/* Is what it says was stored in memory? */
static bool is_stored(const struct access *a, uint64_t addr)
{
	uint64_t at = addr - a->addr;

	if (!a->writes || !covers(a, addr) || (at >= a->known && !a->fills))
		return true;
	return a->stored[at % 16] == memory[addr - (uintptr_t)memory];
}

static unsigned try_byte(const struct form *f, uint64_t addr, unsigned kind, bool expected)
{
	struct access a[ACCESS_MOST];
	struct user_regs_struct r;
	bool hit;
	int n;

	if (addr - (uintptr_t)memory >= SIZE)
		return 0;
	watch(addr, kind);
	hit = execute(f, &r);
	watch(0, 0);
	n = accesses(f, &r, a);
	if (hit != expected || (hit && !is_told(a, n, addr, kind))) {
		printf("# %s: byte %ld, kind %u: hit %d, expected %d\n", f->text,
		       (long)(addr - (uintptr_t)memory), kind, hit, expected);
		return 1;
	}
	for (int i = 0; hit && i < n; i++)
		if (!is_stored(&a[i], addr)) {
			printf("# %s: not what is in memory\n", f->text);
			return 1;
		}
	return 0;
}

/* The bytes of an access, and those around it. */
static unsigned try_access(const struct form *f, const struct access *all, int n,
			   const struct access *a)
{
	uint32_t size = a->size ? a->size : 512;
	unsigned bad = 0;

	for (int64_t i = -2; i < size + 2; i++) {
		if (size > 80 && i > 9 && i < size - 9 && i % 61)
			continue;
		if (!a->size && i > 20) /* it says no end */
			continue;
		bad += try_byte(f, a->addr + i, WRITES, is_told(all, n, a->addr + i, WRITES));
		bad += try_byte(f, a->addr + i, ANY, is_told(all, n, a->addr + i, ANY));
	}
	return bad;
}

static bool is_valued(const struct access *a, int n)
{
	for (int i = 0; i < n; i++)
		if (a[i].writes && a[i].known)
			return true;
	return false;
}

static void test_form(const struct form *f)
{
	struct user_regs_struct r;
	struct access a[ACCESS_MOST];
	bool located = true;
	unsigned bad = 0;
	int n;

	watch(0, 0);
	execute(f, &r);
	n = accesses(f, &r, a);
	for (int i = 0; i < n; i++)
		narrow(&a[i], &r);
	for (int i = 0; i < n; i++) {
		located &= a[i].located;
		if (a[i].located)
			bad += try_access(f, a, n, &a[i]);
	}
	if (n <= 0 || bad || located == !!(f->flags & LOST) ||
	    is_valued(a, n) != !!(f->flags & VALUE))
		ok(false, "%s: %d accesses, %u bytes wrong, located %d, valued %d", f->text, n, bad,
		   located, is_valued(a, n));
}

static bool can_execute(const struct form *f)
{
	if (f->flags & AVX512)
		return __builtin_cpu_supports("avx512f");
	return !(f->flags & AVX) || __builtin_cpu_supports("avx2");
}

int main(void)
{
	unsigned forms = 0;

	if (!debug_registers_report()) {
		printf("1..0 # SKIP this machine's debug registers report no access\n");
		return 0;
	}
	make_child();
	if (!watch((uintptr_t)memory, WRITES)) {
		printf("1..0 # SKIP no debug registers: %s\n", strerror(errno));
		return 0;
	}
	for (const struct form *f = __start_forms; f < __stop_forms; f++)
		if (can_execute(f)) {
			test_form(f);
			forms++;
		}
	ok(forms > 100, "%u forms, executed %u times", forms, trials);
	kill(child, SIGKILL);
	return tap__done();
}
#endif

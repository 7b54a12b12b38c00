// SPDX-License-Identifier: BSD-2-Clause
/*
 * run [NAME...]: runs each form (gen.c) in a child, always with the same registers, memory and
 * stack, and prints the result: the signal, and a hash of all registers, flags, memory and stack.
 * With names: only those, in full. Linked static and without PIE, under setarch -R, two runs print
 * the same.
 *
 * run --stepped: instead of results, whether the kernel single-stepped a probe in the form's child,
 * one for each form.
 */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define COUNT(a)    (sizeof(a) / sizeof(*(a)))
#define STACK_TOP   4096
#define STACK_SHOWN 128
#define DATA_SHOWN  512

struct form {
	void (*fn)(void);
	const char *name;
};
extern struct form forms[];

struct result {
	uint64_t reg[16], flags; /* machine numbers: rax rcx rdx rbx rsp rbp rsi rdi r8 … */
	uint64_t signal, code, addr, rip;
	uint8_t vector[4][64];
	uint64_t mask[2];
	uint8_t data[DATA_SHOWN], stack[2 * STACK_SHOWN];
};

uint8_t data[512] __attribute__((aligned(64)));	  /* what memory operands lie in */
uint8_t stack[8192] __attribute__((aligned(64))); /* what the form runs on */
struct result state;				  /* registers before, then after */
void (*form_fn)(void);
uint64_t own_sp, fs_base;
static sigjmp_buf before;
static int vectors; /* bytes in a vector register */

void go(void);
extern char do_return[];

__asm__(".text\n"
	"go:	push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
	"	mov %rsp, own_sp(%rip)\n"
	"	lea stack+4096(%rip), %rsp\n"
	"	pushq $2; popf\n"
	"	mov state(%rip), %rax; mov state+8(%rip), %rcx; mov state+16(%rip), %rdx\n"
	"	mov state+24(%rip), %rbx; mov state+40(%rip), %rbp; mov state+48(%rip), %rsi\n"
	"	mov state+56(%rip), %rdi; mov state+64(%rip), %r8; mov state+72(%rip), %r9\n"
	"	mov state+80(%rip), %r10; mov state+88(%rip), %r11; mov state+96(%rip), %r12\n"
	"	mov state+104(%rip), %r13; mov state+112(%rip), %r14; mov state+120(%rip), %r15\n"
	"	call *form_fn(%rip)\n"
	"	mov %rax, state(%rip); mov %rcx, state+8(%rip); mov %rdx, state+16(%rip)\n"
	"	mov %rbx, state+24(%rip); mov %rsp, state+32(%rip); mov %rbp, state+40(%rip)\n"
	"	mov %rsi, state+48(%rip); mov %rdi, state+56(%rip); mov %r8, state+64(%rip)\n"
	"	mov %r9, state+72(%rip); mov %r10, state+80(%rip); mov %r11, state+88(%rip)\n"
	"	mov %r12, state+96(%rip); mov %r13, state+104(%rip); mov %r14, state+112(%rip)\n"
	"	mov %r15, state+120(%rip)\n"
	"	lea stack+6144(%rip), %rsp\n"
	"	pushf; pop state+128(%rip)\n"
	"	pushq $2; popf\n"
	"	mov own_sp(%rip), %rsp\n"
	"	mov $158, %eax; mov $0x1002, %edi; mov fs_base(%rip), %rsi; syscall\n" /* restore_fs()
											*/
	"	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
	"do_return:\n"
	"	ret\n");

static void load_vectors(void)
{
	if (vectors == 64)
		__asm__ volatile(
			"vmovdqu64 data+64(%%rip), %%zmm0; vmovdqu64 data+96(%%rip), %%zmm1\n"
			"vmovdqu64 data+128(%%rip), %%zmm2; vmovdqu64 data+70(%%rip), %%zmm6\n"
			"mov $0x5a5, %%eax; kmovw %%eax, %%k1; mov $0x37, %%eax\n"
			"kmovw %%eax, %%k2; kmovw %%eax, %%k6" ::
				: "rax", "memory");
	else if (vectors == 32)
		__asm__ volatile(
			"vmovdqu data+64(%%rip), %%ymm0; vmovdqu data+96(%%rip), %%ymm1\n"
			"vmovdqu data+128(%%rip), %%ymm2; vmovdqu data+70(%%rip), %%ymm6" ::
				: "memory");
}

static void store_vectors(void)
{
	if (vectors == 64)
		__asm__ volatile("vmovdqu64 %%zmm0, (%0); vmovdqu64 %%zmm1, 64(%0)\n"
				 "vmovdqu64 %%zmm2, 128(%0); vmovdqu64 %%zmm6, 192(%0)\n"
				 "kmovw %%k1, %%eax; mov %%eax, 256(%0)\n"
				 "kmovw %%k2, %%eax; mov %%eax, 264(%0)" ::"r"(state.vector)
				 : "rax", "memory");
	else if (vectors == 32)
		__asm__ volatile(
			"vmovdqu %%ymm0, (%0); vmovdqu %%ymm1, 64(%0)\n"
			"vmovdqu %%ymm2, 128(%0); vmovdqu %%ymm6, 192(%0)" ::"r"(state.vector)
			: "memory");
}

/* RF: whether the processor resumes from a fault. */
#define FLAG_RESUME 0x10000

/* A form may change it (lfs, wrfsbase), and what then becomes of it depends on whether the thread
 * is preempted. */
static void restore_fs(void)
{
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(SYS_arch_prctl), "D"(ARCH_SET_FS), "S"(fs_base)
			 : "rcx", "r11", "memory");
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
	static const int order[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
				    REG_RSI, REG_RDI, REG_R8,  REG_R9,	REG_R10, REG_R11,
				    REG_R12, REG_R13, REG_R14, REG_R15};
	const greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;

	restore_fs();
	memset(&state, 0, sizeof(state));
	state.signal = signal;
	if (signal != SIGVTALRM) { /* else it may be anywhere */
		for (size_t i = 0; i < COUNT(order); i++)
			state.reg[i] = g[order[i]];
		state.flags = g[REG_EFL] & ~FLAG_RESUME;
		state.code = info->si_code;
		state.addr = (uint64_t)info->si_addr;
		state.rip = g[REG_RIP];
	}
	siglongjmp(before, 1);
}

static void catch_signals(void)
{
	static const int signals[] = {SIGSEGV, SIGILL, SIGFPE,	  SIGTRAP,
				      SIGBUS,  SIGSYS, SIGVTALRM, SIGALRM};
	static uint8_t other[16384];
	struct sigaction a = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	stack_t s = {.ss_sp = other, .ss_size = sizeof(other)};

	sigaltstack(&s, NULL);
	for (size_t i = 0; i < COUNT(signals); i++)
		sigaction(signals[i], &a, NULL);
}

static void prepare(void)
{
	memset(&state, 0, sizeof(state));
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = i * 37 + 11;
	memcpy(data, &(void *){do_return}, 8); /* call *data(%rip) returns at once */
	memcpy(data + 8, &(uint64_t){3}, 8);
	for (unsigned i = 0; i < 16; i++)
		state.reg[i] = 0x1111111111111111u * i + 0x0102030405060708;
	state.reg[1] = 3; /* rep: three times */
	state.reg[2] = 1;
	state.reg[3] = (uint64_t)data + 32;
	state.reg[5] = (uint64_t)stack + STACK_TOP + 64;
	state.reg[6] = (uint64_t)data + 64;
	state.reg[7] = (uint64_t)data + 128;
	state.reg[8] = (uint64_t)data + 192;
	state.reg[9] = (uint64_t)data + 200;
}

static int is_named(const char *name, char **names)
{
	for (; *names; names++)
		if (!strcmp(*names, name))
			return 1;
	return 0;
}

static void run(const struct form *f)
{
	const struct itimerval limit = {.it_value.tv_usec = 300000};

	prepare();
	form_fn = f->fn;
	setitimer(ITIMER_VIRTUAL, &limit, NULL);
	if (!sigsetjmp(before, 1)) {
		__asm__ volatile("fninit");
		load_vectors();
		go();
		store_vectors();
	}
	memcpy(state.data, data, sizeof(state.data));
	memcpy(state.stack, stack + STACK_TOP - STACK_SHOWN, sizeof(state.stack));
}

static void print(const struct form *f, int full)
{
	const uint8_t *b = (const uint8_t *)&state;
	uint64_t hash = 14695981039346656037u; /* FNV-1a */

	for (size_t i = 0; i < sizeof(state); i++)
		hash = (hash ^ b[i]) * 1099511628211;
	printf("%s signal %d hash %016llx\n", f->name, (int)state.signal, (unsigned long long)hash);
	for (unsigned i = 0; full && i < COUNT(state.reg); i++)
		printf("  %u: %llx\n", i, (unsigned long long)state.reg[i]);
	if (full)
		printf("  flags %llx code %llx addr %llx rip %llx\n",
		       (unsigned long long)state.flags, (unsigned long long)state.code,
		       (unsigned long long)state.addr, (unsigned long long)state.rip);
}

/* A form may take the child along; the next child continues after it. */
static void child(unsigned first, char **names, unsigned *at)
{
	catch_signals();
	for (*at = first; forms[*at].fn; ++*at) {
		if (*names && !is_named(forms[*at].name, names))
			continue;
		run(&forms[*at]);
		print(&forms[*at], !!*names);
		fflush(stdout);
	}
	_exit(0);
}

/* ---- was it single-stepped? ---- */

/* The kernel steps a copy of the instruction, in a page that it maps when it does so first. */
static int has_copies(void)
{
	static char maps[65536];
	int fd = open("/proc/self/maps", O_RDONLY);
	size_t len = 0;
	ssize_t n;

	while ((n = read(fd, maps + len, sizeof(maps) - 1 - len)) > 0)
		len += n;
	close(fd);
	return strstr(maps, "[uprobes]") != NULL;
}

static void tell_stepped(const struct form *f)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		catch_signals();
		run(f);
		_exit(has_copies());
	}
	waitpid(pid, &status, 0);
	if (WIFEXITED(status))
		printf("%s %s\n", f->name, WEXITSTATUS(status) ? "stepped" : "not");
	else
		printf("%s ?\n", f->name);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	unsigned *at =
		mmap(NULL, sizeof(*at), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t pid;

	syscall(SYS_arch_prctl, ARCH_GET_FS, &fs_base);
	vectors = __builtin_cpu_supports("avx512f") ? 64 : __builtin_cpu_supports("avx2") ? 32 : 0;
	if (argc > 1 && !strcmp(argv[1], "--stepped")) {
		for (unsigned i = 0; forms[i].fn; i++)
			tell_stepped(&forms[i]);
		return 0;
	}
	for (unsigned first = 0; forms[first].fn; first = *at + 1) {
		pid = fork();
		if (!pid)
			child(first, argv + 1, at);
		waitpid(pid, &status, 0);
		if (!forms[*at].fn)
			break;
		printf("%s status %d\n", forms[*at].name, status);
		fflush(stdout);
	}
	return 0;
}

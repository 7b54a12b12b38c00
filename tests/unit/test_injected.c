// SPDX-License-Identifier: BSD-2-Clause
/* Errands are executed: what they are for is done, and all else is as before. */
#include "tap.h"

#ifndef __x86_64__
int main(void)
{
	printf("1..0 # SKIP executes x86-64 code\n");
	return 0;
}
#else
#include <elf.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include "copier_fixture.h"

#define CODE_SIZE 65536
#define COUNTER	  8192 /* offsets in the code's memory: a word … */
#define FROM	  4096 /* … and the instruction that adds 1 to it */
#define CASES	  2000
#define RED_ZONE  128

static const struct arch_tracee *tracee;
static uint8_t *code;
static uint64_t wrong_counter, wrong_call, wrong_mask, wrong_register, wrong_flags, wrong_stack;

static uint64_t mask_now(void)
{
	uint64_t mask = 0;

	syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof(mask));
	return mask;
}

/* incq COUNTER, or inc with a prefix of the log's segment */
static size_t put_instruction(uint8_t *out, bool with_gs)
{
	static const uint8_t by_ip[] = {0x48, 0xff, 0x05}, by_gs[] = {0x65, 0x48, 0xff, 0x04, 0x25};
	uint32_t distance = COUNTER - FROM - 7, offset = 16;

	if (with_gs) {
		memcpy(out, by_gs, sizeof(by_gs));
		memcpy(out + sizeof(by_gs), &offset, sizeof(offset));
		return 9;
	}
	memcpy(out, by_ip, sizeof(by_ip));
	memcpy(out + sizeof(by_ip), &distance, sizeof(distance));
	return 7;
}

static void run_case(bool calls, bool with_gs, const int fds[2])
{
	uint64_t *stack = (uint64_t *)(code + CODE_SIZE - 1024), before, mask = random64();
	uint64_t *counter = (uint64_t *)(code + COUNTER);
	struct injected e = {.bytes = code + FROM,
			     .from = (uintptr_t)code + FROM,
			     .calls = calls,
			     .number = SYS_write,
			     .args = {fds[1], (uintptr_t) "called", 6},
			     .mask = mask,
			     .then = (uintptr_t)machine_exit};
	uint8_t zone[RED_ZONE + 64];
	struct injected_code out_code;
	struct machine in, out;
	char got[8] = "";

	e.len = put_instruction(code + FROM, with_gs);
	if (tracee->injected(&e, (uintptr_t)code, &out_code))
		abort();
	memcpy(code, out_code.bytes, out_code.len);
	machine__randomize(&in);
	in.r[RSP] = (uintptr_t)stack;
	for (int i = -RED_ZONE / 8; i < 8; i++)
		stack[i] = random64();
	memcpy(zone, (uint8_t *)stack - RED_ZONE, sizeof(zone));
	before = *counter;
	machine__run(code, &in, &out);
	wrong_counter += *counter != before + 1;
	if (calls)
		wrong_call += read(fds[0], got, 6) != 6 || strcmp(got, "called") != 0;
	mask &= ~(1ull << (SIGKILL - 1) | 1ull << (SIGSTOP - 1));
	wrong_mask += mask_now() != mask;
	for (int i = 0; i < GENERAL; i++)
		wrong_register += in.r[i] != out.r[i];
	/* the instruction itself sets all but CF */
	wrong_flags += (in.flags ^ out.flags) & 1;
	wrong_stack += memcmp(zone, (uint8_t *)stack - RED_ZONE, sizeof(zone)) != 0;
}

static void test_injected_calls(void)
{
	int fds[2];

	if (pipe(fds) || syscall(SYS_arch_prctl, ARCH_SET_GS, code + COUNTER - 16))
		abort();
	for (int i = 0; i < CASES; i++)
		run_case(i & 1, i & 2, fds);
	is(wrong_counter, 0, "the instruction is executed, once, elsewhere");
	is(wrong_call, 0, "so is the system call, with its arguments");
	is(wrong_mask, 0, "the mask is set");
	is(wrong_register, 0, "all registers are as before");
	is(wrong_flags, 0, "and the flags");
	is(wrong_stack, 0, "and the stack, with the red zone");
}

/* ---- branches ---- */

static uint64_t word;
static bool read_word(const void *of, uint64_t addr, void *out, size_t n)
{
	memcpy(out, &word, n);
	return !of && addr != 1;
}
static bool write_word(const void *of, uint64_t addr, const void *bytes, size_t n)
{
	memcpy(&word, bytes, n);
	return !of && addr != 1;
}
static const struct tracee_memory memory = {NULL, read_word, write_word};

#define ADDR	      0x400000
static struct user_regs_struct regs;
static bool branch(const char *bytes, size_t len)
{
	struct insn insn;

	if (arch__by_machine(EM_X86_64)->decode((const uint8_t *)bytes, len, ADDR, false, &insn))
		abort();
	regs.rip = ADDR;
	return tracee->branch(&regs, &insn, &memory);
}
#define BRANCH(bytes) branch((bytes), sizeof(bytes) - 1)

static void test_branches(void)
{
	regs.eflags = 0x40;
	ok(BRANCH("\x74\x10") && regs.rip == ADDR + 0x12, "je, equal: goes there");
	ok(BRANCH("\x75\x10") && regs.rip == ADDR + 2, "jne, equal: goes on");
	ok(BRANCH("\xeb\x20") && regs.rip == ADDR + 0x22, "jmp");
	regs.rcx = 2;
	ok(BRANCH("\xe2\x10") && regs.rip == ADDR + 0x12 && regs.rcx == 1, "loop");
	ok(BRANCH("\xe2\x10") && regs.rip == ADDR + 2 && !regs.rcx, "its end");
	ok(BRANCH("\xe3\x10") && regs.rip == ADDR + 0x12 && !regs.rcx, "jrcxz");
	regs.rsp = 4096;
	ok(BRANCH("\xe8\x00\x01\x00\x00") && regs.rip == ADDR + 0x105 && regs.rsp == 4088 &&
		   word == ADDR + 5,
	   "call");
	ok(BRANCH("\xc3") && regs.rip == ADDR + 5 && regs.rsp == 4096, "ret");
	ok(BRANCH("\xc2\x10\x00") && regs.rsp == 4096 + 8 + 16, "ret that pops arguments");
	word = 0x1234;
	regs.rax = 0x999;
	ok(BRANCH("\xff\x24\xc5\x00\x00\x00\x00") && regs.rip == 0x1234, "jmp through memory");
	ok(BRANCH("\xff\xe0") && regs.rip == 0x999, "jmp through a register");
	regs.rsp = 1;
	ok(!BRANCH("\xc3") && regs.rip == ADDR && regs.rsp == 1,
	   "what can't be read changes nothing");
	ok(!BRANCH("\x90"), "a nop is none");
}

/* ---- beacons ---- */

static bool read_child(const void *of, uint64_t addr, void *out, size_t n)
{
	const struct iovec here = {out, n}, there = {(void *)(uintptr_t)addr, n};

	return process_vm_readv(*(const pid_t *)of, &here, 1, &there, 1, 0) == (ssize_t)n;
}

static struct user_regs_struct returned; /* the registers when it has returned, but for … */

static bool leaves_rightly(pid_t child, struct user_regs_struct *now)
{
	const struct tracee_memory m = {&child, read_child, NULL};
	uint64_t offset = now->rip - (uintptr_t)code, back = 0;

	if (!offset) {
		returned = *now;
		read_child(&child, now->rsp, &back, sizeof(back));
		returned.rip = back;
		returned.rsp += sizeof(back);
	}
	if (!tracee->leave_beacon(now, offset, &m))
		return false;
	returned.eflags = now->eflags; /* … these, which a call may change */
	returned.orig_rax = now->orig_rax;
	return !memcmp(now, &returned, sizeof(*now));
}

/* Calls the beacon twice: nobody answers. */
static void __attribute__((noreturn)) call_beacon(void)
{
	static struct log_ring ring;
	static uint32_t bell;

	ring.base = (uintptr_t)&ring;
	ring.bell = (uintptr_t)&bell;
	syscall(SYS_arch_prctl, 0x1001 /* ARCH_SET_GS */, &ring);
	ptrace(PTRACE_TRACEME);
	raise(SIGTRAP);
	((void (*)(void))(uintptr_t)code)();
	((void (*)(void))(uintptr_t)code)();
	_exit(ring.asks == 1 && bell == 1 ? 0 : 1);
}

/* Stepped through. */
static void test_beacon(void)
{
	struct user_regs_struct now;
	struct iovec block = {&now, sizeof(now)};
	uint64_t reached = 0, wrong = 0, calls = 0;
	size_t n = tracee->beacon(code);
	pid_t child = fork();
	int status;

	if (!child)
		call_beacon();
	while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
		ptrace(PTRACE_GETREGSET, child, NT_PRSTATUS, &block);
		if (now.rip - (uintptr_t)code < n) {
			uint16_t insn = 0;

			reached++;
			read_child(&child, now.rip, &insn, sizeof(insn));
			calls += insn == 0x050f; /* syscall */
			wrong += !leaves_rightly(child, &now);
		}
		ptrace(PTRACE_SINGLESTEP, child, 0, 0);
	}
	ok(n && n <= BEACON_MAX, "a beacon has %zu bytes", n);
	is(status, 0, "a thread returns from a beacon, has rung once, and its question stays");
	is(calls, 2, "the second time it doesn't ask");
	ok(reached > 30, "it is stopped at each of its instructions");
	is(wrong, 0, "from there it returns with its registers");
}

/* What sets gs, or asks the kernel to. */
static void test_log(void)
{
	static const uint8_t wide[] = {0x90, 0xf3, 0x48, 0x0f, 0xae, 0xdf}, /* wrgsbase %rdi */
		high[] = {0xf3, 0x49, 0x0f, 0xae, 0xdc},		    /* %r12 */
		narrow[] = {0xf3, 0x0f, 0xae, 0xd8},			    /* %eax */
		others[] = {0xf3, 0x0f, 0xae, 0xd0, 0x0f,
			    0xae, 0xd8, 0x0f, 0xae}, /* wrfsbase, ldmxcsr, cut */
		number[] = {0xbf, 0x01, 0x10, 0, 0},
			     call[] = {0xbe, 0x01, 0x10, 0, 0, 0x90, 0xbf, 0x9e, 0, 0, 0},
			     fs[] = {0xbf, 0x02, 0x10, 0, 0},
			     data[] = {0x01, 0x10, 0, 0, 0x01, 0x10, 0, 0};
	uint8_t far[TRACEE_CALL_MAX + 5];

	ok(tracee->sets_log(wide, sizeof(wide)) && tracee->sets_log(high, sizeof(high)) &&
		   tracee->sets_log(narrow, sizeof(narrow)),
	   "wrgsbase is found");
	ok(!tracee->sets_log(others, sizeof(others)) && !tracee->sets_log(wide, sizeof(wide) - 1) &&
		   !tracee->sets_log(wide, 0),
	   "others aren't");
	ok(tracee->asks_to_set_log(number, sizeof(number)), "so is ARCH_SET_GS");
	ok(!tracee->asks_to_set_log(fs, sizeof(fs)) &&
		   !tracee->asks_to_set_log(data, sizeof(data)) &&
		   !tracee->asks_to_set_log(number, 4),
	   "others aren't");
	ok(tracee->calls_to_set_log(call, sizeof(call)), "the system call beside it is found");
	memset(far, 0x90, sizeof(far));
	memcpy(far, number, sizeof(number));
	memcpy(far + TRACEE_CALL_MAX, call + 6, 5);
	ok(!tracee->calls_to_set_log(number, sizeof(number)) &&
		   !tracee->calls_to_set_log(call, sizeof(call) - 1) &&
		   !tracee->calls_to_set_log(call + 5, sizeof(call) - 5) &&
		   !tracee->calls_to_set_log(far, sizeof(far)),
	   "one of the two, or far from each other: not");
}

int main(void)
{
	tracee = arch__by_machine(EM_X86_64)->tracee;
	code = map_pages(CODE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC);
	machine__init();
	test_injected_calls();
	test_branches();
	test_beacon();
	test_log();
	return tap__done();
}
#endif

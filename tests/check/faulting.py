#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""faulting.py SEED [asm|throw|sent]: prints a program whose functions are random, and whose handlers see all registers.

asm: C; functions f0, f1 ... in assembly, with loads and stores through a bad pointer and divisions by zero. The handler
prints every register and the flags, and then skips the instruction, goes on at another one, changes registers, or leaves
by siglongjmp.
throw: C++ for -fnon-call-exceptions; the handler throws, and the function returns what its variables are then.
sent: C; functions whose registers always have the same values, though they are dead nearly everywhere; signals are sent
meanwhile, and the handler compares.
Whatever the program prints has to be the same when it is traced.
"""

import random
import sys

FUNCTIONS = 12
REGS = {  # rbp counts, r14 and r15 point to memory
    "rax": ("eax", "ax", "al"), "rcx": ("ecx", "cx", "cl"), "rdx": ("edx", "dx", "dl"), "rbx": ("ebx", "bx", "bl"),
    "rsi": ("esi", "si", "sil"), "rdi": ("edi", "di", "dil"), "r8": ("r8d", "r8w", "r8b"),
    "r9": ("r9d", "r9w", "r9b"), "r10": ("r10d", "r10w", "r10b"), "r11": ("r11d", "r11w", "r11b"),
    "r12": ("r12d", "r12w", "r12b"), "r13": ("r13d", "r13w", "r13b"),
}
CONDITIONS = "o no b ae e ne be a s ns p np l ge le g".split()

HEAD = r"""#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
"""

# What is at the fixed addresses differs from run to run nowhere, so all that is printed is the same.
ASM_HEAD = HEAD + r"""
#define GOOD  0x10000000ul /* two pages */
#define BAD   0x10010000ul /* not mapped */
#define STACK 0x20000000ul
#define SIZE  0x40000ul
#define MOST  60 /* faults of a call */
struct state {
	uint64_t r[16], flags;
} in, out;
uint64_t machine_sp;
void (*machine_function)(void);
void machine_run(void);
extern const char machine_start[], machine_end[];
/* registers by the numbers of REG_R8 ...: see the handler */
__asm__(".globl machine_run\n.type machine_run, @function\nmachine_run:\n"
	"push %rbx\npush %rbp\npush %r12\npush %r13\npush %r14\npush %r15\nmov %rsp, machine_sp(%rip)\n"
	"mov $0x20030000, %esp\npush in+128(%rip)\npopf\n"
	"mov in+0(%rip), %rax\nmov in+8(%rip), %rcx\nmov in+16(%rip), %rdx\nmov in+24(%rip), %rbx\nmov in+40(%rip), %rbp\n"
	"mov in+48(%rip), %rsi\nmov in+56(%rip), %rdi\nmov in+64(%rip), %r8\nmov in+72(%rip), %r9\nmov in+80(%rip), %r10\n"
	"mov in+88(%rip), %r11\nmov in+96(%rip), %r12\nmov in+104(%rip), %r13\nmov in+112(%rip), %r14\n"
	"mov in+120(%rip), %r15\ncall *machine_function(%rip)\n"
	"mov %rax, out+0(%rip)\nmov %rcx, out+8(%rip)\nmov %rdx, out+16(%rip)\nmov %rbx, out+24(%rip)\n"
	"mov %rsp, out+32(%rip)\nmov %rbp, out+40(%rip)\nmov %rsi, out+48(%rip)\nmov %rdi, out+56(%rip)\n"
	"mov %r8, out+64(%rip)\nmov %r9, out+72(%rip)\nmov %r10, out+80(%rip)\nmov %r11, out+88(%rip)\n"
	"mov %r12, out+96(%rip)\nmov %r13, out+104(%rip)\npushf\npop out+128(%rip)\nmov machine_sp(%rip), %rsp\n"
	"pop %r15\npop %r14\npop %r13\npop %r12\npop %rbp\npop %rbx\nret\n.size machine_run, .-machine_run\n"
	".globl leaf\n.type leaf, @function\n.p2align 4\nleaf:\nlea 3(%rax,%rdi), %rax\ntest $1, %al\nje 1f\n"
	"mov (%r15), %rcx\n1: ret\n.size leaf, .-leaf\n");
"""

ASM_TAIL = r"""
#define FLAGS 0xcd5
static const int number[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
			     REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
static sigjmp_buf back;
static uint64_t state = 1;
static unsigned faults, f;
static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}
/* *n: which of its instructions */
static const struct place *find(uint64_t pc)
{
	for (unsigned i = 0; i < functions[f].n; i++)
		if ((uint64_t)functions[f].places[i].at == pc)
			return &functions[f].places[i];
	printf("a fault at +%#lx, where none is possible\n", pc - (uint64_t)functions[f].entry);
	exit(1);
}
static void handler(int sig, siginfo_t *si, void *context)
{
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
	uint64_t pc = r[REG_RIP], entry = (uint64_t)functions[f].entry, at = (uint64_t)si->si_addr;
	const struct place *p;

	printf("signal %d +%#lx code %d error %lld", sig, pc - entry, si->si_code, r[REG_ERR]);
	printf(at - entry < 4096 ? " at +%#lx" : " at %#lx", at - entry < 4096 ? at - entry : at);
	for (unsigned i = 0; i < 16; i++)
		printf(" %llx", r[number[i]]);
	printf(" %llx\n", r[REG_EFL]);
	p = find(pc);
	if (++faults >= MOST)
		siglongjmp(back, 1);
	switch (next() % 8) {
	case 0: /* elsewhere */
		r[REG_RIP] = (greg_t)functions[f].places[next() % functions[f].n].at;
		r[REG_RSP] = 0x20030000 - 8;
		break;
	case 1:
		siglongjmp(back, 1);
	case 2:
		r[number[next() % 4]] = next();
		r[REG_EFL] ^= next() & 0x8d5;
		/* fall through */
	default:
		r[REG_RIP] += p->len;
	}
}
static void call(void)
{
	faults = 0;
	for (unsigned i = 0; i < 16; i++)
		in.r[i] = next() >> next() % 64;
	in.flags = 0x202 | (next() & 0x8d5);
	in.r[5] = 3;
	in.r[14] = BAD;
	in.r[15] = GOOD;
	machine_function = functions[f].entry;
	if (sigsetjmp(back, 1)) {
		puts("left");
		return;
	}
	machine_run();
	for (unsigned i = 0; i < 14; i++)
		printf("%lx ", out.r[i]);
	printf("%lx\n", out.flags & FLAGS);
}
int main(int argc, char **argv)
{
	struct sigaction sa = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
	stack_t alt = {.ss_sp = malloc(1 << 18), .ss_size = 1 << 18};
	int rounds = argc > 1 ? atoi(argv[1]) : 6;

	mmap((void *)GOOD, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	mmap((void *)STACK, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	sigaltstack(&alt, NULL);
	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
	sigaction(SIGFPE, &sa, NULL);
	sigaction(SIGILL, &sa, NULL);
	for (int n = 0; n < rounds; n++)
		for (f = 0; f < sizeof(functions) / sizeof(*functions); f++) {
			memset((void *)GOOD, 0, 4096);
			call();
		}
	return 0;
}
"""


class Asm:
    def __init__(self, rnd):
        self.rnd = rnd
        self.lines = []
        self.labels = 0
        self.places = 0

    def reg(self, size=8):
        r = self.rnd.choice(list(REGS))
        return "%" + (r if size == 8 else REGS[r][{4: 0, 2: 1, 1: 2}[size]])

    def size(self):
        return self.rnd.choice([8, 8, 8, 4, 4, 4, 2, 1])

    def put(self, line):
        self.lines.append(line)

    def plain(self):
        rnd, size = self.rnd, self.size()
        s = {8: "q", 4: "l", 2: "w", 1: "b"}[size]
        wide = max(size, 4)
        a, b = self.reg(size), self.reg(size)
        n = rnd.choice([0, 1, 7, -1, 100, rnd.randrange(-128, 128)])
        return rnd.choice([
            lambda: f"mov ${rnd.randrange(1 << 31)}, {self.reg(wide)}",
            lambda: f"mov {a}, {b}",
            lambda: f"lea {n}({self.reg()},{self.reg()},{rnd.choice([1, 2, 4, 8])}), {self.reg(wide)}",
            lambda: f"{rnd.choice(['add', 'sub', 'xor', 'and', 'or', 'cmp', 'test', 'adc', 'sbb'])}{s} {a}, {b}",
            lambda: f"{rnd.choice(['add', 'sub', 'xor', 'and', 'or', 'cmp', 'test', 'adc', 'sbb'])}{s} ${n}, {b}",
            lambda: f"{rnd.choice(['inc', 'dec', 'neg', 'not'])}{s} {a}",
            lambda: f"{rnd.choice(['shl', 'shr', 'sar', 'rol', 'ror'])}{s} ${rnd.randrange(8)}, {a}",
            lambda: f"{rnd.choice(['shl', 'shr', 'sar'])}{s} %cl, {a}",
            lambda: f"imul {self.reg(wide)}, {self.reg(wide)}",
            lambda: f"set{rnd.choice(CONDITIONS)} {self.reg(1)}",
            lambda: f"cmov{rnd.choice(CONDITIONS)} {self.reg(wide)}, {self.reg(wide)}",
            lambda: f"xor {self.reg(4)}, %{REGS[rnd.choice(list(REGS))][0]}",
            lambda: f"movzbl {self.reg(1)}, {self.reg(4)}",
            lambda: f"bswap {self.reg()}",
            lambda: rnd.choice(["stc", "clc", "cmc", "cltd", "cqto", "cltq", "nop"]),
            lambda: f"mov {8 * rnd.randrange(64)}(%r15), {a}",
            lambda: f"mov {a}, {8 * rnd.randrange(1, 64)}(%r15)",
            lambda: f"add{s} {a}, {8 * rnd.randrange(1, 64)}(%r15)",
        ])()

    def faulting(self):
        rnd, size = self.rnd, self.size()
        s = {8: "q", 4: "l", 2: "w", 1: "b"}[size]
        wide = max(size, 4)
        a, bad = self.reg(size), f"{rnd.randrange(4096)}(%r14)"
        return rnd.choice([
            lambda: f"mov {bad}, {a}",
            lambda: f"mov {bad}, {a}",
            lambda: f"mov {bad}, {self.reg(wide)}",
            lambda: f"mov {a}, {bad}",
            lambda: f"{rnd.choice(['add', 'sub', 'xor', 'and', 'or', 'cmp', 'adc'])}{s} {bad}, {a}",
            lambda: f"{rnd.choice(['add', 'sub', 'xor', 'and', 'or', 'cmp', 'adc'])}{s} {a}, {bad}",
            lambda: f"{rnd.choice(['inc', 'dec', 'neg', 'not', 'div', 'idiv', 'mul'])}{s} {bad}",
            lambda: f"imul {bad}, {self.reg(wide)}",
            lambda: f"movzbl {bad}, {self.reg(4)}",
            lambda: f"movslq {bad}, {self.reg()}",
            lambda: f"cmov{rnd.choice(CONDITIONS)} {bad}, {self.reg(wide)}",
            lambda: f"set{rnd.choice(CONDITIONS)} {bad}",
            lambda: f"bsf {bad}, {self.reg(wide)}",
            lambda: f"xchg {a}, {bad}",
            lambda: f"lock xadd {a}, {bad}",
            lambda: f"lock cmpxchg {a}, {bad}",
            lambda: f"cvttsd2si {bad}, {self.reg(wide)}",
            lambda: f"movaps {rnd.choice([1, 2, 8])}(%r15), %xmm{rnd.randrange(16)}",
            lambda: f"div{'l' if wide == 4 else 'q'} (%r15)",
            lambda: f"idiv{'l' if wide == 4 else 'q'} (%r15)",
            lambda: f"push {bad}",
            lambda: f"pop {bad}",
            lambda: f"call *{bad}",
            lambda: f"jmp *{bad}",
            lambda: "ud2" if rnd.random() < 0 else f"mov {bad}, {a}",
        ])()

    def place(self, function, text):
        self.places += 1
        self.put(f"{function}_p{self.places}: {text}")
        self.put(f"{function}_q{self.places}:")

    def block(self, function, n):
        for _ in range(n):
            if self.rnd.random() < 0.3:
                self.place(function, self.faulting())
            elif self.rnd.random() < 0.05:
                self.put("call leaf")
            else:
                self.put(self.plain())

    def function(self, function):
        rnd = self.rnd
        loop = rnd.random() < 0.6
        self.put(f".globl {function}\n.type {function}, @function\n.p2align 4\n{function}:")
        self.block(function, rnd.randrange(1, 5))
        for _ in range(rnd.randrange(1, 5)):
            self.labels += 1
            label = f"{function}_l{self.labels}"
            if loop:
                self.put(f"mov $2, %ebp\n{label}_loop:")
            self.block(function, rnd.randrange(1, 5))
            self.put(f"j{rnd.choice(CONDITIONS)} {label}")
            self.block(function, rnd.randrange(1, 6))
            if rnd.random() < 0.3:
                self.put(f"jmp {label}_end")
            self.put(f"{label}:")
            self.block(function, rnd.randrange(0, 4))
            self.put(f"{label}_end:")
            if loop:
                self.put(f"dec %bpl\njne {label}_loop")
        self.place(function, "mov 8(%r14), %rax")
        self.put(f"ret\n.size {function}, .-{function}")


def quoted(lines):
    return "\n".join('\t"' + line.replace("\n", "\\n") + '\\n"' for line in lines)


def print_asm(rnd):
    print(ASM_HEAD)
    rows = []
    tables = []
    for i in range(FUNCTIONS):
        a = Asm(rnd)
        name = f"f{i}"
        a.function(name)
        print(f"__asm__(\n{quoted(a.lines)});")
        places = range(1, a.places + 1)
        print(f"void {name}(void);")
        print("extern const char " + ", ".join(f"{name}_{x}{k}[]" for k in places for x in "pq") + ";")
        tables.append((name, places))
    print("struct place {\n\tconst char *at;\n\tlong len;\n};")
    for name, places in tables:
        print(f"static struct place {name}_places[{len(places)}];")
        rows.append(f"\t{{{name}, {name}_places, {len(places)}}},")
    print("static const struct {\n\tvoid (*entry)(void);\n\tconst struct place *places;\n\tunsigned n;\n} functions[] = {")
    print("\n".join(rows) + "\n};")
    print("__attribute__((constructor)) static void fill(void)\n{")
    for name, places in tables:
        for k in places:
            print(f"\t{name}_places[{k - 1}] = (struct place){{{name}_p{k}, {name}_q{k} - {name}_p{k}}};")
    print("}")
    print(ASM_TAIL)


# ---- exceptions ----

THROW_HEAD = r"""#include <csignal>
#include <cstdio>
static unsigned thrown, ended;
static void on_fault(int sig)
{
	thrown++;
	throw sig;
}
struct ends { /* its destructor runs while the exception is on its way */
	const int &what;
	~ends() { ended = ended * 31 + what; }
};
static int zero;
"""

THROW_TAIL = r"""
int main()
{
	struct sigaction action = {};
	int good[16];

	action.sa_handler = on_fault;
	action.sa_flags = SA_NODEFER;
	sigaction(SIGSEGV, &action, 0);
	sigaction(SIGFPE, &action, 0);
	for (int i = 0; i < 16; i++)
		good[i] = i * 77 - 400;
	for (int k = 0; k < 12; k++)
		for (auto f : functions)
			std::printf("%ld %u %u\n", f(k & 1 ? good : 0, k, k * 5 - 9), thrown, ended);
}
"""


def statement(rnd, names, depth):
    a, b, c = (rnd.choice(names) for _ in range(3))
    n = rnd.randrange(1, 9)
    kinds = [
        lambda: f"{a} = {b} * {n} + {c};",
        lambda: f"{a} ^= {b} - {n};",
        lambda: f"{a} += {b};",
        lambda: f"if (i == k) {a} = p[{b} & 15];",
        lambda: f"if ({b} > {c}) {a} = p[i]; else {a} -= i;",
        lambda: f"if (i == k + {n % 3}) {a} = {b} / zero;",
        lambda: f"{a} = {b} & 1 ? {c} + {n} : p[i & 7];",
    ]
    if depth:
        kinds.append(lambda: f"if ({b} & {n}) {{ {' '.join(statement(rnd, names, 0) for _ in range(3))} }}")
    return rnd.choice(kinds)()


def print_throw(rnd):
    print(THROW_HEAD)
    for i in range(FUNCTIONS):
        names = "abcdef"[: rnd.randrange(3, 7)]
        print(f"__attribute__((noinline)) long f{i}(int *p, int k, int m)\n{{")
        print("\tint " + ", ".join(f"{x} = k + m * {rnd.randrange(9)}" for x in names) + ";\n\n\ttry {")
        if rnd.random() < 0.5:
            print(f"\t\tends guard = {{{names[0]}}};")
        print(f"\t\tfor (int i = 0; i < {rnd.randrange(3, 9)}; i++) {{")
        for _ in range(rnd.randrange(2, 7)):
            print("\t\t\t" + statement(rnd, names, 1))
        print("\t\t}\n\t} catch (int s) {")
        print("\t\treturn s" + "".join(f" * 31l + {x}" for x in names) + ";\n\t}")
        print("\treturn 0l" + "".join(f" * 31 + {x}" for x in names) + ";\n}")
    print("static long (*const functions[])(int *, int, int) = {" + ", ".join(f"f{i}" for i in range(FUNCTIONS)) + "};")
    print(THROW_TAIL)


# ---- signals that are sent ----

SENT_TAIL = r"""
#include <sys/time.h>
#define MOST 400
static const int number[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSI, REG_RDI, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12};
static unsigned f, seen, wrong;
static void handler(int sig, siginfo_t *si, void *context)
{
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
	uint64_t at = r[REG_RIP] - (uint64_t)functions[f].entry;

	(void)sig, (void)si;
	if (at < functions[f].from || at >= functions[f].to)
		return;
	seen++;
	for (unsigned i = 0; i < sizeof(number) / sizeof(*number); i++)
		if (r[number[i]] != 0x1000 + i && wrong++ < 5)
			printf("f%u+%#lx: register %u is %#llx\n", f, at, i, r[number[i]]);
}
int main(void)
{
	struct sigaction sa = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
	struct itimerval timer = {{0, 900}, {0, 900}};

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	for (f = 0; f < sizeof(functions) / sizeof(*functions); f++)
		for (seen = 0; seen < MOST / (sizeof(functions) / sizeof(*functions));)
			functions[f].entry(200000);
	printf("%u wrong\n", wrong);
	return 0;
}
"""


def print_sent(rnd):
    """The registers always have their numbers in f(n), though nothing but a few instructions reads some."""
    regs = "rax rcx rdx rbx rsi rdi r8 r9 r10 r11 r12".split()
    print(HEAD)
    rows = []
    for k in range(4):
        name = f"f{k}"
        narrow = [REGS[r][0] for r in regs]
        lines = [f".globl {name}\n.type {name}, @function\n.p2align 4\n{name}:",
                 "push %rbx\npush %r12\npush %r13\npush %rbp\nmov %rdi, %rbp"]
        lines += [f"mov $0x{0x1000 + i:x}, %{r}" for i, r in enumerate(narrow)]
        lines.append(f"{name}_from:\n{name}_loop:")
        for label in range(3):
            for i in rnd.sample(range(len(regs)), rnd.randrange(4, 9)):
                lines.append(f"mov $0x{0x1000 + i:x}, %{narrow[i]}")
                if k & 1 and rnd.random() < 0.3:
                    lines.append("mov -8(%rsp), %r13d")
            lines.append(f"test ${1 << label}, %bpl\nj{rnd.choice(['e', 'ne'])} {name}_{label}")
            i = rnd.randrange(len(regs))
            lines.append(f"mov $0x{0x1000 + i:x}, %{narrow[i]}\n{name}_{label}:")
        lines.append(f"dec %rbp\njne {name}_loop\n{name}_to:")
        lines.append(f"pop %rbp\npop %r13\npop %r12\npop %rbx\nret\n.size {name}, .-{name}")
        print(f"__asm__(\n{quoted(lines)});\nvoid {name}(long n);")
        print(f"extern const char {name}_from[], {name}_to[];")
        rows.append(f"\t{{{name}}},")
    print("static struct {\n\tvoid (*entry)(long);\n\tuint64_t from, to;\n} functions[] = {")
    print("\n".join(rows) + "\n};")
    print("__attribute__((constructor)) static void fill(void)\n{")
    for k in range(4):
        print(f"\tfunctions[{k}].from = f{k}_from - (const char *)f{k};")
        print(f"\tfunctions[{k}].to = f{k}_to - (const char *)f{k};")
    print("}")
    print(SENT_TAIL)


KINDS = {"asm": print_asm, "throw": print_throw, "sent": print_sent}
KINDS[sys.argv[2] if len(sys.argv) > 2 else "asm"](random.Random(int(sys.argv[1])))

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Programs in which control comes back where no edge of the graph leads.

comeback.py make SEED KIND      prints a random one; its functions are f0, f1, ..., and `deep`
comeback.py compare FULL KIND=OTHER...  prints a line for each that differs, and ends with 1 then. KIND: same: OTHER has the
                                branches of FULL (both JSON), or leaves some out and says so; counts: the counts
                                (-c -F json) are those of FULL's branches, where there are any

KIND: pointer (setjmp called through one), builtin, nested (a goto out of a nested function), own (a setjmp of its own),
context (swapcontext), handler (a signal's handler goes on where a table says), mixed (all of these).
"""
import json
import random
import sys

KINDS = ["pointer", "builtin", "nested", "own", "context", "handler"]

HEAD = r"""
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>
#include <unistd.h>
#define NOINLINE __attribute__((noinline, noclone, noipa))
static unsigned x = %uu;
static int armed, calls;
static jmp_buf std;
static void *builtin[8], *own_buf[10];
static ucontext_t here, other;
static char stack[1 << 16];
NOINLINE int f90(int n) { return n > 2 ? n + 1 : n; }
NOINLINE int f91(int n) { return n > 1 ? n * 2 : 0; }
static int (*volatile through[2])(int) = {f90, f91};
static unsigned step(void) { x = x * 1103515245u + 12345u; return x >> 16; }
int keep(void **) __attribute__((returns_twice));
void back(void **) __attribute__((noreturn));
__asm__(".text\n.type keep,@function\nkeep: mov %%rbx,16(%%rdi)\n mov %%rbp,24(%%rdi)\n mov %%r12,32(%%rdi)\n"
	"mov %%r13,40(%%rdi)\n mov %%r14,48(%%rdi)\n mov %%r15,56(%%rdi)\n lea 8(%%rsp),%%rdx\n mov %%rdx,(%%rdi)\n"
	"mov (%%rsp),%%rdx\n mov %%rdx,8(%%rdi)\n xor %%eax,%%eax\n ret\n.size keep,.-keep\n"
	".type back,@function\nback: mov 16(%%rdi),%%rbx\n mov 24(%%rdi),%%rbp\n mov 32(%%rdi),%%r12\n mov 40(%%rdi),%%r13\n"
	"mov 48(%%rdi),%%r14\n mov 56(%%rdi),%%r15\n mov $1,%%eax\n mov (%%rdi),%%rsp\n jmp *8(%%rdi)\n.size back,.-back");
static int (*volatile save)(struct __jmp_buf_tag *) = _setjmp;
NOINLINE void deep(int n, int how)
{
	%s
	if (n > 0)
		deep(n - 1, how);
	if (armed && step() %% 3 == 0) {
		armed = 0;
		switch (how) {
		case 0: longjmp(std, 1);
		case 1: __builtin_longjmp(builtin, 1);
		case 2: back(own_buf);
		}
	}
	%s
}
static void run(void (*f)(int), int n) { f(n); step(); }
static int readable;
static struct fixup { char *at, *to; } none[] __attribute__((section("fixups"), used)) = {{0, 0}};
extern struct fixup __start_fixups[], __stop_fixups[];
static void fault(int sig, siginfo_t *si, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	const struct fixup *f = __start_fixups;

	while (f->at != (char *)regs[REG_RIP])
		if (++f == __stop_fixups)
			_exit(3);
	regs[REG_RIP] = (greg_t)f->to;
}
__attribute__((constructor)) static void catch(void)
{
	struct sigaction sa = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO};
	sigaction(SIGSEGV, &sa, NULL);
}
"""


def statements(r, depth, calls):
    out = []
    for _ in range(r.randint(1, 3)):
        what = r.random()
        if what < 0.3:
            out.append("s += step() & %d;" % r.choice([1, 3, 7, 255]))
        elif what < 0.6 and depth:
            out.append("if (step() %% %d == 0) { %s } else { %s }" %
                       (r.randint(2, 4), statements(r, depth - 1, calls), statements(r, depth - 1, calls)))
        elif what < 0.75 and depth:
            out.append("for (volatile int i%d = 0; i%d < %d; i%d++) { %s }" %
                       (depth, depth, r.randint(1, 3), depth, statements(r, depth - 1, calls)))
        elif what < 0.9 and calls:
            out.append("f%d(n - 1);" % r.randrange(calls))
        elif what < 0.95:
            out.append("s += through[step() & 1](s);")
        else:
            out.append("if (s & %d) s ^= n;" % r.choice([1, 2, 4]))
    return " ".join(out)


ARMS = {
    "pointer": "if (!save(std)) { armed = 1; deep(n & 3, 0); armed = 0; } else { %s }",
    "builtin": "if (!__builtin_setjmp(builtin)) { armed = 1; deep(n & 3, 1); armed = 0; } else { %s }",
    "own": "if (!keep(own_buf)) { armed = 1; deep(n & 3, 2); armed = 0; } else { %s }",
}


def function(r, i, kind):
    rest = lambda: statements(r, 2, i)
    # what a program does a thousand times shows no more than what it does a hundred times
    before = "volatile int s = n; if (n <= 0 || ++calls > 300) return; %s" % rest()
    if kind == "nested":
        body = ("__label__ out; %s void leave(int q) { if (step() %% 3 == 0) goto out; s += q; } "
                "for (volatile int k = 0; k < 3; k++) { run(leave, n); %s } %s out: %s") % (before, rest(), rest(), rest())
    elif kind == "context":
        body = ("%s getcontext(&other); other.uc_stack.ss_sp = stack; other.uc_stack.ss_size = sizeof(stack); "
                "other.uc_link = &here; makecontext(&other, coroutine, 0); "
                "for (volatile int k = 0; k < 4; k++) { swapcontext(&here, &other); %s }") % (before, rest())
    elif kind == "handler":
        body = ("%s for (volatile int k = 0; k < 4; k++) { int *p = step() %% 2 ? &readable : (int *)8; %s "
                "__asm__ goto(\"1: mov (%%0), %%%%eax\\n.pushsection fixups,\\\"aw\\\"\\n.quad 1b, %%l[bad]\\n.popsection\" "
                ": : \"r\"(p) : \"eax\", \"memory\" : bad); %s if (step() & 1) { %s bad: %s } %s } %s") % (
                    before, rest(), rest(), rest(), rest(), rest(), rest())
    else:
        arm = ARMS[kind] % rest()
        body = "%s for (volatile int k = 0; k < 2; k++) { %s %s } %s" % (before, arm, rest(), rest())
    return "NOINLINE void f%d(int n) { %s }" % (i, body)


def make(seed, kind):
    r = random.Random("%s %s" % (seed, kind))
    kinds = [k for k in KINDS if k not in ("builtin",)] + ["builtin"] if kind == "mixed" else [kind]
    count = 4 if kind == "mixed" else 2
    few = lambda: statements(r, 1, 0)
    print(HEAD % (r.randrange(1 << 31), "volatile int s = n; " + few(), few()))
    print("NOINLINE void coroutine(void) { volatile int s = 1, n = 2; for (;;) { %s swapcontext(&other, &here); } }" % few())
    for i in range(count):
        # one that another function of the same program jumps back over has to be another kind
        print(function(r, i, kinds[(i + seed) % len(kinds)]))
    print("int main(void) { for (int i = 0; i < 4; i++) { f%d(3); } printf(\"%%u\\n\", x); return 0; }" % (count - 1))


def branches(path):
    seq, unknown = [], 0
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            e = json.loads(line)
            if e["event"] == "branch":
                seq.append((e["symbol"], e["offset"], e["insn"], e.get("taken")))
            unknown += e["event"] == "unknown"
    return seq, unknown


def same(full, other_path):
    """What is wrong, or None."""
    other, unknown = branches(other_path)
    if full == other:
        return None
    rest = iter(full)
    invented = next((i for i, b in enumerate(other) if b not in rest), None)
    if invented is not None:
        return "not there, or in another order: branch %d, %s" % (invented, other[invented])
    return None if unknown else "%d of %d left out, no gaps" % (len(full) - len(other), len(full))


def counts(full, counts_path):
    """What is wrong, or None."""
    wanted, got, bad = {}, {}, []
    for symbol, offset, insn, taken in full:
        both = wanted.setdefault((symbol, offset), [0, 0])
        both[0 if taken is None or taken else 1] += 1
    with open(counts_path, encoding="utf-8") as lines:
        for line in lines:
            e = json.loads(line)
            if e["event"] == "edge":
                got[e["symbol"], e["offset"]] = e.get("taken_count"), e.get("not_taken_count")
    for at in wanted.keys() | got.keys():
        for side, have in zip(wanted.get(at, [0, 0]), got.get(at, (None, None))):
            if (have or 0) != side and have is not None:
                bad.append((at, wanted.get(at), got.get(at)))
    missing = [at for at in wanted if at not in got]
    if bad or missing or not got:
        return "%d counts; other ones: %s; none: %s" % (len(got), bad[:2], missing[:2])
    return None


def compare(full_path, *others):
    full, _ = branches(full_path)
    differ = 0
    for word in others:
        kind, _, path = word.partition("=")
        wrong = {"same": same, "counts": counts}[kind](full, path)
        if wrong:
            differ = 1
            print("%s: %s" % (path.rpartition("/")[2], wrong))
    return differ


if sys.argv[1] == "make":
    make(int(sys.argv[2]), sys.argv[3])
else:
    sys.exit(compare(*sys.argv[2:]))

// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which instruction accessed what is watched, against single steps: a program is stepped with debug
 * registers that watch what it has just accessed, and the instruction whose step hit one did it.
 */
#include "tap.h"
#include "test_debug_registers.h"

#ifndef __x86_64__
int main(void)
{
	printf("1..0 # SKIP steps x86-64 code\n");
	return 0;
}
#else
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include "arch/x86/x86.h"
#include "code/access.h"

#define WATCHES 4
#define OBJECTS 8

/* The debugged process, its objects as they are mapped, and what it watches. */
static pid_t child;
static struct mapped {
	struct object *object;
	uint64_t start, end, bias;
} objects[OBJECTS];
static unsigned nobjects;
static struct watched {
	uint64_t addr;
	bool writes;
} watched[WATCHES];
static unsigned hits, proved, doubts[ACCESS_RESULTS], wrong, values, wrong_values;

static void start(const char *const *argv)
{
	child = fork();
	if (!child) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		freopen("/dev/null", "w", stdout);
		execvp(argv[0], (char *const *)argv);
		_exit(127);
	}
	waitpid(child, NULL, 0);
	ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_EXITKILL);
}

/* ---- objects ---- */

/* The bias of the object, by its first executable mapping. */
static void add_object(const char *path, uint64_t start, uint64_t end, uint64_t offset)
{
	struct mapped *m = &objects[nobjects];
	uint64_t vaddr;

	if (nobjects == OBJECTS || object__open(path, &m->object) ||
	    !object__offset_to_vaddr(m->object, offset, &vaddr))
		return;
	m->start = start;
	m->end = end;
	m->bias = start - vaddr;
	nobjects++;
}

/* Those that are mapped now: executable mappings of files. */
static void read_maps(void)
{
	char path[64], line[512], perms[8], name[256];
	unsigned long start, end, offset;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", child);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f)) {
		bool known = false;

		*name = 0;
		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %255s", &start, &end, perms, &offset,
			   name) < 4 ||
		    perms[2] != 'x' || *name != '/')
			continue;
		for (unsigned i = 0; i < nobjects; i++)
			known |= objects[i].start == start;
		if (!known)
			add_object(name, start, end, offset);
	}
	if (f)
		fclose(f);
}

static bool place_at(void *ctx, uint64_t addr, struct access_place *out)
{
	for (unsigned i = 0; i < nobjects; i++)
		if (addr - objects[i].start < objects[i].end - objects[i].start) {
			*out = (struct access_place){.object = objects[i].object,
						     .bias = objects[i].bias};
			return true;
		}
	return false;
}

/* ---- the process ---- */

static bool load(uint64_t addr, uint64_t *word)
{
	struct iovec to = {word, 8}, from = {(void *)addr, 8};

	return process_vm_readv(child, &to, 1, &from, 1, 0) == 8;
}

static void put_regs(const struct user_regs_struct *r, uint64_t *regs)
{
	const uint64_t all[X86_FLAGS + 1] = {r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp,
					     r->rsi, r->rdi, r->r8,  r->r9,  r->r10, r->r11,
					     r->r12, r->r13, r->r14, r->r15, r->rip, r->eflags};

	memcpy(regs, all, sizeof(all));
}

static bool watch(unsigned i, uint64_t addr, bool writes)
{
	size_t at = offsetof(struct user, u_debugreg);
	uint64_t control = ptrace(PTRACE_PEEKUSER, child, at + 7 * 8, NULL);

	control &= ~(3ull << 2 * i | 15ull << (16 + 4 * i));
	ptrace(PTRACE_POKEUSER, child, at + 7 * 8, (void *)control);
	if (ptrace(PTRACE_POKEUSER, child, at + i * 8, (void *)addr))
		return false;
	/* 8 bytes: 2 in the length's bits */
	control |= 1ull << 2 * i | (writes ? 1ull : 3ull) << (16 + 4 * i) | 2ull << (18 + 4 * i);
	watched[i] = (struct watched){addr, writes};
	return !ptrace(PTRACE_POKEUSER, child, at + 7 * 8, (void *)control);
}

/* ---- hits ---- */

static void check_value(const struct accessor *a, uint64_t word)
{
	for (unsigned i = 0; i < 8; i++)
		if (a->known >> i & 1) {
			values++;
			wrong_values += (uint8_t)(a->value >> 8 * i) != (uint8_t)(word >> 8 * i);
		}
}

static void see_hit(struct accesses *all, unsigned i, const struct user_regs_struct *r,
		    uint64_t truth)
{
	uint64_t regs[X86_FLAGS + 1];
	struct access_hit hit = {.regs = regs,
				 .fs = r->fs_base,
				 .gs = r->gs_base,
				 .addr = watched[i].addr,
				 .size = 8,
				 .writes = watched[i].writes};
	struct accessor a;

	put_regs(r, regs);
	hit.has_top = load(r->rsp, &hit.top);
	hit.has_word = load(hit.addr, &hit.word);
	accesses__find(all, &hit, &a);
	hits++;
	doubts[a.result]++;
	if (a.result != ACCESS_PROVED)
		return;
	proved++;
	check_value(&a, hit.word);
	if (a.vaddr + a.place.bias == truth)
		return;
	if (wrong++ < 5)
		printf("# at %llx: said %llx, was %llx\n", (unsigned long long)r->rip,
		       (unsigned long long)(a.vaddr + a.place.bias), (unsigned long long)truth);
}

/* Watches what the instruction at from has just accessed, in turn; of any kind in every third. */
static void rearm(const struct user_regs_struct *r, uint64_t from)
{
	uint64_t regs[X86_FLAGS + 1];
	struct access_state state = {.regs = regs, .fs = r->fs_base, .gs = r->gs_base};
	struct access m[ACCESS_MOST];
	static unsigned turn;
	struct access_place p;
	size_t avail;
	int n;

	put_regs(r, regs);
	if (!place_at(NULL, from, &p))
		return;
	n = x86__accesses(X86_64, object__bytes(p.object, from - p.bias, &avail), 15, from, &state,
			  m);
	for (int i = 0; i < n; i++)
		if (m[i].located) {
			watch(turn % WATCHES, m[i].addr & ~7ull, turn % 3);
			turn++;
			return;
		}
}

static void step(struct accesses *all, unsigned most)
{
	size_t at = offsetof(struct user, u_debugreg);
	struct user_regs_struct before, r;
	unsigned steps = 0, wait = 1;
	int status;

	ptrace(PTRACE_GETREGS, child, NULL, &r);
	while (steps++ < most) {
		uint64_t dr6;

		before = r;
		ptrace(PTRACE_POKEUSER, child, at + 6 * 8, NULL);
		if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) ||
		    waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
			break;
		ptrace(PTRACE_GETREGS, child, NULL, &r);
		if (r.orig_rax != (uint64_t)-1) /* a system call: mappings may have changed */
			read_maps();
		dr6 = ptrace(PTRACE_PEEKUSER, child, at + 6 * 8, NULL);
		for (unsigned i = 0; i < WATCHES; i++)
			if (dr6 >> i & 1)
				see_hit(all, i, &r, before.rip);
		if (!--wait) {
			rearm(&r, before.rip);
			wait = 7 + steps % 23;
		}
	}
}

static void test_program(const char *name, const char *const *argv, unsigned steps)
{
	struct accesses *all = accesses__new(place_at, NULL);

	hits = proved = wrong = values = wrong_values = 0;
	memset(doubts, 0, sizeof(doubts));
	start(argv);
	read_maps();
	step(all, steps);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	is(wrong, 0, "%s: %u hits, %u of them proved", name, hits, proved);
	is(wrong_values, 0, "%u bytes that were stored", values);
	for (unsigned i = ACCESS_PROVED + 1; i < ACCESS_RESULTS; i++)
		printf("# %u: %s\n", doubts[i], access_result_text[i]);
	ok(proved > hits / 4 * 3 && values > proved, "most are");
	accesses__free(all);
	while (nobjects)
		object__free(objects[--nobjects].object);
}

int main(void)
{
	if (!debug_registers_report()) {
		printf("1..0 # SKIP this machine's debug registers report no access\n");
		return 0;
	}
	start((const char *const[]){"true", NULL});
	if (!watch(0, 4096, true)) {
		printf("1..0 # SKIP no debug registers: %s\n", strerror(errno));
		return 0;
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	test_program("ls", (const char *const[]){"ls", "-l", "/", NULL}, 40000);
	return tap__done();
}
#endif

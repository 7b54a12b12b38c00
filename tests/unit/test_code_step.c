// SPDX-License-Identifier: BSD-2-Clause
/*
 * The graph compared with the processor: programs are single-stepped, and everything that they do
 * in planned code must be in the plan: instruction starts, edges, tables, noreturn calls, taken(),
 * operands, stack depths.
 *
 * With arguments OBJECT... -- CMD ARG... it tests any program. MATRIX=whole: by more compilers, and
 * longer.
 */
#include <elf.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include "code_fixture.h"

struct place {
	struct object *object;
	struct plan *plan;
	uint64_t bias, start, end; /* running addresses of its executable map */
	uint8_t *starts;	   /* by vaddr - base: an instruction of a block starts here */
	uint64_t base, size;
};

struct frame_seen {
	uint32_t function;
	uint64_t sp;
};

struct call_seen {
	uint64_t back, sp;
	bool noreturn;
};

static struct place places[8];
static unsigned nplaces, faults;
static VEC(struct frame_seen) frames;
static VEC(struct call_seen) calls;
static unsigned long steps, checked, depths_known, depths_unknown;

#define fault(vaddr, ...)                                                                          \
	({                                                                                         \
		if (faults++ < 10) {                                                               \
			printf("# at 0x%llx: ", (unsigned long long)(vaddr));                      \
			printf(__VA_ARGS__);                                                       \
			putchar('\n');                                                             \
		}                                                                                  \
	})

/* ---- the plan's instructions ---- */

static void mark_block(struct place *p, const struct plan_block *b)
{
	uint64_t addr = b->start;
	struct insn insn;
	size_t avail;

	while (addr < b->end) {
		const uint8_t *bytes = object__bytes(p->object, addr, &avail);

		if (!bytes || p->plan->arch->decode(bytes, avail, addr, false, &insn)) {
			fault(addr, "block holds what is no instruction");
			return;
		}
		p->starts[addr - p->base] = 1;
		addr += insn.len;
	}
	if (addr != b->end)
		fault(b->start, "block does not end with an instruction");
}

static bool add_place(const char *path)
{
	static const char *const all[] = {"*", NULL};
	struct place *p = &places[nplaces];
	const struct plan_block *b;

	memset(p, 0, sizeof(*p));
	if (object__open(path, &p->object)) {
		printf("# %s\n", err__text());
		return false;
	}
	p->plan = plan_of(p->object, all, ALL);
	if (!p->plan)
		return false;
	p->base = p->object->segments.data[0].vaddr;
	p->size = vec__last(&p->object->segments)->vaddr + vec__last(&p->object->segments)->size -
		  p->base;
	p->starts = xcalloc(p->size, 1);
	vec__each (b, &p->plan->blocks)
		mark_block(p, b);
	nplaces++;
	return true;
}

static void drop_places(void)
{
	for (unsigned i = 0; i < nplaces; i++) {
		free(places[i].starts);
		plan__free(places[i].plan);
		object__free(places[i].object);
	}
	nplaces = 0;
}

/* Where the objects are mapped now. */
static void locate(pid_t pid)
{
	char path[64], *text;
	struct map *m;
	map_vec maps = {0};
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	if (file__read(path, 1 << 20, &text, &len) || maps__parse(text, &maps))
		return;
	for (unsigned i = 0; i < nplaces; i++)
		places[i].start = places[i].end = 0;
	vec__each (m, &maps)
		for (unsigned i = 0; i < nplaces && m->exec; i++) {
			uint64_t vaddr;

			if (m->ino != places[i].object->ino ||
			    !object__offset_to_vaddr(places[i].object, m->offset, &vaddr))
				continue;
			places[i].start = m->start;
			places[i].end = m->end;
			places[i].bias = m->start - vaddr;
		}
	maps__free(&maps);
	free(text);
}

static struct place *place_of(uint64_t ip)
{
	for (unsigned i = 0; i < nplaces; i++)
		if (ip - places[i].start < places[i].end - places[i].start)
			return &places[i];
	return NULL;
}

/* ---- what each step is compared with ---- */

/* The last planned instruction, until the next step. */
static struct {
	struct place *place;
	uint64_t vaddr, sp;
	uint32_t site;
	uint64_t expect; /* where control has to go, 0: unknown */
	bool taken;
} last;

static uint64_t reg_of(const struct user_regs_struct *r, uint8_t n)
{
	const unsigned long long regs[] = {r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp,
					   r->rsi, r->rdi, r->r8,  r->r9,  r->r10, r->r11,
					   r->r12, r->r13, r->r14, r->r15};

	return n < 16 ? regs[n] : 0;
}

static uint64_t target_of(pid_t pid, const struct operand *op, const struct user_regs_struct *r,
			  unsigned len)
{
	uint64_t addr;

	if (op->kind == OPERAND_REG)
		return reg_of(r, op->base);
	addr = op->base == REG_IP ? r->rip + len : reg_of(r, op->base);
	addr += reg_of(r, op->index) * op->scale + op->disp;
	if (op->addr32)
		addr = (uint32_t)addr;
	addr += op->seg == SEG_FS ? r->fs_base : op->seg == SEG_GS ? r->gs_base : 0;
	return ptrace(PTRACE_PEEKDATA, pid, addr, NULL);
}

static void before_site(pid_t pid, const struct user_regs_struct *r)
{
	const struct plan_site *s = &last.place->plan->sites.data[last.site];

	switch (s->kind) {
	case BRANCH_JCC:
	case BRANCH_LOOP:
		last.taken = last.place->plan->arch->taken(s->kind, s->cond,
							   (const uint64_t[]){r->eflags, r->rcx});
		last.expect = last.place->bias + (last.taken ? s->target : s->vaddr + s->len);
		break;
	case BRANCH_JMP:
	case BRANCH_CALL:
		last.expect = last.place->bias + s->target;
		break;
	case BRANCH_IJMP:
	case BRANCH_ICALL:
		last.expect = target_of(pid, &s->operand, r, s->len);
		break;
	case BRANCH_RET:
		last.expect = ptrace(PTRACE_PEEKDATA, pid, r->rsp, NULL);
		break;
	}
	if (s->kind == BRANCH_CALL || s->kind == BRANCH_ICALL)
		vec__push(&calls,
			  (struct call_seen){r->rip + s->len, r->rsp,
					     last.place->plan->blocks.data[s->block].noreturn});
}

static bool in_table(const struct plan *p, const struct plan_block *b, uint64_t vaddr)
{
	for (uint32_t i = 0; i < b->ntable; i++)
		if (p->blocks.data[p->table.data[b->table + i]].start == vaddr)
			return true;
	return false;
}

/* Control went from last to ip: is that an edge? */
static void check_edge(uint64_t ip)
{
	const struct plan *p = last.place->plan;
	const struct plan_site *s = &p->sites.data[last.site];
	const struct plan_block *b = &p->blocks.data[s->block];
	uint64_t vaddr = ip - last.place->bias;

	if (last.expect && last.expect != ip)
		fault(last.vaddr, "%s was to go to 0x%llx, went to 0x%llx",
		      s->mnemonic ? s->mnemonic : "?",
		      (unsigned long long)(last.expect - last.place->bias),
		      (unsigned long long)vaddr);
	if (s->kind == BRANCH_JCC || s->kind == BRANCH_LOOP || s->kind == BRANCH_JMP) {
		uint32_t to = s->kind == BRANCH_JMP || last.taken ? b->taken : b->next;

		if (to != NO_BLOCK && p->blocks.data[to].start != vaddr)
			fault(last.vaddr, "edge leads to another block");
		if (to == NO_BLOCK && plan__function_at(p, 0, vaddr) != NO_FUNCTION)
			fault(last.vaddr, "edge to 0x%llx is missing", (unsigned long long)vaddr);
	}
	if (s->kind == BRANCH_IJMP && b->ntable && !b->unresolved && !in_table(p, b, vaddr))
		fault(last.vaddr, "0x%llx is not in its table", (unsigned long long)vaddr);
}

static void check_return(uint64_t ip, uint64_t sp)
{
	while (calls.len && vec__last(&calls)->sp < sp)
		calls.len--;
	if (calls.len && vec__last(&calls)->sp == sp && vec__last(&calls)->back == ip &&
	    vec__last(&calls)->noreturn)
		fault(ip, "behind a call that doesn't return");
}

static void check_depth(const struct plan *p, uint32_t site, uint64_t sp)
{
	const struct plan_site *s = &p->sites.data[site];

	while (frames.len && vec__last(&frames)->sp < sp)
		frames.len--;
	if (s->entry)
		vec__push(&frames, (struct frame_seen){s->function, sp});
	if (s->sp_delta == SP_UNKNOWN) {
		depths_unknown++;
		return;
	}
	depths_known++;
	if (!frames.len || vec__last(&frames)->function != s->function)
		return;
	if (vec__last(&frames)->sp - sp != (uint64_t)(int64_t)s->sp_delta)
		fault(s->vaddr, "stack depth is %lld, the plan says %d",
		      (long long)(vec__last(&frames)->sp - sp), s->sp_delta);
}

static void check(pid_t pid, const struct user_regs_struct *r)
{
	struct place *pl = place_of(r->rip);
	uint64_t vaddr = pl ? r->rip - pl->bias : 0;
	uint32_t function;

	if (last.place && last.site != NO_SITE)
		check_edge(r->rip);
	check_return(r->rip, r->rsp);
	last.place = NULL;
	function = pl ? plan__function_at(pl->plan, 0, vaddr) : NO_FUNCTION;
	if (function == NO_FUNCTION)
		return;
	checked++;
	if (!pl->starts[vaddr - pl->base] && !pl->plan->functions.data[function].unresolved)
		fault(vaddr, "ran, but the plan of %s doesn't reach it",
		      pl->plan->functions.data[function].name);
	last.place = pl;
	last.vaddr = vaddr;
	last.expect = 0;
	last.site = plan__site_at(pl->plan, 0, vaddr);
	if (last.site == NO_SITE)
		return;
	check_depth(pl->plan, last.site, r->rsp);
	before_site(pid, r);
}

/* ---- the program ---- */

/* Runs to main(), if the program has one: the dynamic loader's work is long and always the same. */
static void run_to_main(pid_t pid, int *status)
{
	struct place *pl = &places[0];
	struct user_regs_struct r;
	const struct plan_function *f;
	uint64_t at = 0;
	long word;

	vec__each (f, &pl->plan->functions)
		if (f->raw && !strcmp(f->raw, "main"))
			at = f->ranges[0].vaddr + pl->bias;
	if (!at || !pl->start)
		return;
	word = ptrace(PTRACE_PEEKTEXT, pid, at, NULL);
	ptrace(PTRACE_POKETEXT, pid, at, (word & ~0xffl) | 0xcc);
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	waitpid(pid, status, 0);
	ptrace(PTRACE_POKETEXT, pid, at, word);
	ptrace(PTRACE_GETREGS, pid, NULL, &r);
	r.rip = at;
	ptrace(PTRACE_SETREGS, pid, NULL, &r);
}

static void step_program(char *const *argv, unsigned long limit)
{
	struct user_regs_struct r;
	int status;
	pid_t pid = fork();

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "r", stdin))
			_exit(99);
		execvp(argv[0], argv);
		_exit(99);
	}
	waitpid(pid, &status, 0);
	locate(pid);
	run_to_main(pid, &status);
	frames.len = calls.len = 0;
	last.place = NULL;
	for (steps = 0; steps < limit && WIFSTOPPED(status); steps++) {
		int sig = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);

		if (steps % 4096 == 0)
			locate(pid);
		if (ptrace(PTRACE_GETREGS, pid, NULL, &r))
			break;
		if (sig)
			last.place = NULL;
		check(pid, &r);
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, sig))
			break;
		waitpid(pid, &status, 0);
	}
	if (WIFSTOPPED(status)) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	printf("# %s: %lu steps, %lu in planned code, depth known at %lu branches, unknown at %lu\n",
	       argv[0], steps, checked, depths_known, depths_unknown);
}

static void try_program(const char *const *objects, char *const *argv, unsigned long limit,
			const char *what)
{
	faults = checked = depths_known = depths_unknown = 0;
	for (; *objects; objects++)
		ok(add_place(*objects), "%s is planned", *objects);
	step_program(argv, limit);
	ok(checked > 1000, "%s ran through planned code", what);
	is(faults, 0, "%s ran as its plan allows", what);
	drop_places();
}

static const char switch_c[] =
	"#include <setjmp.h>\n#include <stdlib.h>\n#include <alloca.h>\n#include <string.h>\n"
	"static jmp_buf env; volatile int sink; typedef int (*fn)(int);\n"
	"__attribute__((noinline)) int sw(int x) { switch (x) { case 0: return 7; case 1: return x * 3;"
	" case 2: sink = 4; break; case 3: return sink + 1; case 4: sink++; /* fall */ case 5: return 9;"
	" case 7: return 11; case 9: return 2; default: return -1; } return sink; }\n"
	"__attribute__((noinline)) int chars(const char *s) { int n = 0; for (; *s; s++) switch (*s) {"
	" case 'a': n += 1; break; case 'b': n ^= 3; break; case 'c': n <<= 1; break; case 'd': n--; break;"
	" case 'e': n += 5; break; case 'f': n |= 9; break; default: n = ~n; } return n; }\n"
	"__attribute__((noinline)) int var(int n) { char *p = alloca(n); memset(p, n, n); sink = p[n / 2];"
	" return sink; }\n"
	"__attribute__((noinline,noreturn)) void out(int n) { longjmp(env, n); }\n"
	"__attribute__((noinline)) int risky(int n) { if (__builtin_expect(n > 40, 0)) out(n); return n; }\n"
	"__attribute__((noinline)) int many(int a, int b, int c, int d, int e, int f, int g, int h, int i)"
	" { return a + b * c - d + e * f - g + h * i; }\n"
	"__attribute__((noinline)) int push(int n) { return many(n, 1, 2, 3, 4, 5, 6, n, 8) + sw(n); }\n"
	"static fn ops[] = { sw, var, risky };\n"
	"__attribute__((noinline)) int tail(int n) { return ops[n % 3](n % 30 + 1); }\n"
	"__attribute__((noinline)) int fact(int n) { return n < 2 ? 1 : n * fact(n - 1); }\n"
	"int main(void) { int s = 0; for (volatile int i = 0; i < 64; i++) { if (!setjmp(env))"
	" s += sw(i % 11) + risky(i) + tail(i) + push(i) + fact(i % 7); s += chars(\"abcdefgh\"); }"
	" return s == 3; }\n";

static const char throw_cc[] =
	"#include <stdexcept>\n#include <string>\n#include <vector>\nvolatile int sink;\n"
	"struct G { int n; G(int k) : n(k) { sink += n; } ~G() { sink -= n; } };\n"
	"__attribute__((noinline)) int many(int a, int b, int c, int d, int e, int f, int g, int h)"
	" { if (h == 3) throw h; return a + b + c + d + e + f + g + h; }\n"
	"__attribute__((noinline)) int leaf(int n) { if (n % 3 == 0) throw std::runtime_error(\"x\");"
	" if (n % 5 == 0) throw n; return n * 2; }\n"
	"__attribute__((noinline)) int mid(int n) { G g(n); std::string s(n, 'x'); G h(n + 1);"
	" return leaf(n) + (int)s.size(); }\n"
	"__attribute__((noinline)) int args(int n) { G g(n); return many(1, 2, 3, 4, 5, 6, n, n) + n; }\n"
	"__attribute__((noinline)) int top(int n) { std::vector<int> v; try { v.push_back(mid(n));"
	" v.push_back(args(n)); } catch (const std::exception &e) { return 1; } catch (int i) { return i; }"
	" return v[0]; }\n"
	"int main() { int s = 0; for (int i = 1; i < 12; i++) s += top(i); return s == 7; }\n";

static void try_source(const char *name, const char *text, const char *compile, const char *what)
{
	const char *source = scratch__path(name), *program = scratch__path("program");
	const char *objects[] = {program, NULL};
	char *argv[] = {(char *)program, NULL};

	setenv("LD_BIND_NOW", "1", 1);
	scratch__write(name, text);
	if (!run("%s -o %s %s 2>/dev/null", compile, program, source)) {
		ok(1, "%s # SKIP can't be compiled here", what);
		return;
	}
	try_program(objects, argv, runs_whole() ? 300000 : 150000, what);
}

static int try_arguments(int argc, char **argv)
{
	const char *objects[8] = {0};
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--") && i < 8; i++)
		objects[i - 1] = argv[i];
	if (i + 1 >= argc)
		return 2;
	try_program(objects, argv + i + 1, 20000000, argv[i + 1]);
	return tap__done();
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return try_arguments(argc, argv);
	try_source("a.c", switch_c, "gcc -O2 -fno-pie -no-pie -fcf-protection",
		   "C by gcc -O2 -no-pie");
	try_source("a.c", switch_c, "gcc -O0 -static", "C by gcc -O0 -static");
	try_source("a.c", switch_c, "gcc -Os -fno-omit-frame-pointer",
		   "C by gcc -Os with frame pointer");
	try_source("a.c", switch_c, "clang -O1 -fno-pie -no-pie", "C by clang -O1 -no-pie");
	try_source("a.cc", throw_cc, "g++ -O2 -static", "C++ with its unwinder by g++ -O2 -static");
	try_source("a.cc", throw_cc, "clang++ -O2", "C++ with exceptions by clang++ -O2");
	if (runs_whole()) {
		try_source("a.c", switch_c, "gcc -O2", "C by gcc -O2");
		try_source("a.c", switch_c, "clang -O2", "C by clang -O2");
		try_source("a.cc", throw_cc, "g++ -O2", "C++ with exceptions by g++ -O2");
		try_source("a.cc", throw_cc, "g++ -O0", "C++ with exceptions by g++ -O0");
	}
	vec__free(&frames);
	vec__free(&calls);
	return tap__done();
}

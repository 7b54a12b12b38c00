// SPDX-License-Identifier: BSD-2-Clause
/*
 * What one thread did, instruction by instruction: the lines for entries, branches and returns. A
 * return is identified by the stack alone: the ret that takes its target from the slot where a
 * listed function found its return address, and goes there, ends that call, even if another
 * function executes it (a tail call's callee need not be listed).
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "step.h"

unsigned long long steps;
static int threads_seen;

static void line__begin(struct thread *t)
{
	if (t->index < 0) {
		t->index = threads_seen++;
		fprintf(out, "# thread %d pid %d tid %d\n", t->index, t->process->pid, t->tid);
	}
	fprintf(out, "%d ", t->index);
}

/* ---- calls that are open ---- */

static void frame__remove(struct thread *t, size_t i)
{
	memmove(t->frames + i, t->frames + i + 1, (--t->nframes - i) * sizeof(*t->frames));
}

/* A call wrote a new return address into slot: what had its own there has been left by longjmp or
 * an exception. */
static void frames__overwritten(struct thread *t, uint64_t slot)
{
	for (size_t i = t->nframes; i--;)
		if (t->frames[i].slot == slot)
			frame__remove(t, i);
}

/*
 * A jump back to the first instruction is an entry, but no second call; nor is coming back to it
 * behind the handler of a signal that it raised; nor, in Go, starting anew because the goroutine
 * was preempted before its frame was there (runtime.asyncPreempt returns to it).
 */
static bool is_open(const struct thread *t, unsigned function)
{
	const struct frame *top = t->nframes ? &t->frames[t->nframes - 1] : NULL;
	bool branch = t->by >= K_JCC && t->by <= K_RET;

	if (!top || top->function != function)
		return false;
	if (!branch || (t->goroutine && t->by == K_RET && t->from < 0))
		return top->slot == t->regs.rsp;
	return t->from == (int)function && t->by != K_CALL && t->by != K_ICALL && t->by != K_RET;
}

static uint64_t word_at(const struct thread *t, uint64_t addr)
{
	uint64_t word = ptrace(PTRACE_PEEKDATA, t->tid, (void *)addr, NULL);

	return t->process->narrow ? (uint32_t)word : word;
}

static void frames__push(struct thread *t, const struct range *r, uint64_t vaddr)
{
	uint64_t slot = t->regs.rsp;

	if (is_open(t, r->function))
		return;
	t->frames = grow(t->frames, &t->frames_cap, t->nframes + 1, sizeof(*t->frames));
	t->frames[t->nframes++] = (struct frame){
		.function = r->function,
		.vaddr = vaddr,
		.slot = slot,
		.ret = word_at(t, slot + t->base),
	};
}

static void return__print(struct thread *t, uint64_t vaddr, uint64_t value, const char *note)
{
	line__begin(t);
	fprintf(out, "return 0x%llx - - rax=0x%llx%s\n", (unsigned long long)vaddr,
		(unsigned long long)value, note);
}

/*
 * The calls that a ret at slot to address to ends: innermost first. here: the listed range that it
 * lies in; NULL: it is not in a listed function, but in what one jumped to. A listed one that
 * nothing entered (it was jumped into) may be said to return, or not.
 */
static void frames__return(struct thread *t, uint64_t slot, uint64_t to, uint64_t value,
			   const struct range *here)
{
	bool any = false;
	uint64_t vaddr;

	for (size_t i = t->nframes; i--;) {
		struct frame f = t->frames[i];

		if (f.slot != slot || f.ret != to)
			continue;
		any = true;
		frame__remove(t, i);
		return__print(t, f.vaddr, value,
			      f.inherited ? " inherited"
			      : here	  ? ""
					  : " elsewhere");
	}
	if (!any && here && !process__range(t->process, to, &vaddr))
		return__print(t, ranges__start(here->function), value, " unentered");
}

void thread__inherit(struct thread *t, const struct thread *parent)
{
	t->frames = grow(NULL, &t->frames_cap, parent->nframes + 1, sizeof(*t->frames));
	t->nframes = parent->nframes;
	if (t->nframes)
		memcpy(t->frames, parent->frames, t->nframes * sizeof(*t->frames));
	for (size_t i = 0; i < t->nframes; i++)
		t->frames[i].inherited = true;
}

/* ---- instructions ---- */

static void entry__print(struct thread *t, uint64_t vaddr)
{
	const struct range *r = t->arrived ? ranges__entry(vaddr) : NULL;

	t->arrived = false;
	if (!r)
		return;
	frames__push(t, r, vaddr);
	line__begin(t);
	fprintf(out, "entry 0x%llx - -\n", (unsigned long long)vaddr);
}

/* By the flags or the counter; that it went there, too, path.c has seen. */
static void branch__print(struct thread *t, const struct insn *insn, uint64_t vaddr,
			  const struct user_regs_struct *now, uint64_t next)
{
	const char *taken = "-";
	char to[PLACE];

	if (insn->kind == K_JCC || insn->kind == K_LOOP)
		taken = insn__taken(insn, &t->regs) ? "taken" : "not-taken";
	line__begin(t);
	process__place(t->process, next, to);
	fprintf(out, "%s 0x%llx %s %s", kind_names[insn->kind], (unsigned long long)vaddr, taken,
		to);
	if (insn->kind == K_RET)
		fprintf(out, " rax=0x%llx", (unsigned long long)now->rax);
	fputc('\n', out);
}

/* A pushf that is stepped pushes the trap flag too: the program must not find it there. */
static void hide_trap_flag(struct thread *t, uint64_t sp)
{
	long flags = ptrace(PTRACE_PEEKDATA, t->tid, (void *)sp, NULL);

	ptrace(PTRACE_POKEDATA, t->tid, (void *)sp, (void *)(flags & ~0x100l));
}

/* mmap, mprotect, munmap, mremap, shmat, shmdt, execve, execveat: the maps held are old. By 32-bit
 * code: uselib, mmap, mmap2 and ipc, too. */
static void note_syscall(uint64_t number, bool narrow)
{
	static const uint16_t narrow_ones[] = {11, 86, 90, 91, 117, 125, 163, 192, 358};

	for (size_t i = 0; narrow && i < sizeof(narrow_ones) / sizeof(*narrow_ones); i++)
		maps_generation += number == narrow_ones[i];
	if (narrow)
		return;
	if ((number >= 9 && number <= 11) || number == 25 || number == 30 || number == 67 ||
	    number == 59 || number == 322)
		maps_generation++;
}

/* ---- goroutines of programs that Go 1.18 to 1.24 compiled and that are not linked with C ---- */

#define G_FROM_BASE (-8) /* in the thread's own memory */
#define G_STACK_HI  8
#define VERSION_AT  33 /* in the linker's record of the build */

static uint64_t goid_at; /* the place of its number in g; 0: lines are by thread */
static struct thread *goroutines;

void goroutines__show(const char *object)
{
	static const char magic[] = "\xff Go buildinf:";
	int fd = open(object, O_RDONLY | O_CLOEXEC);
	off_t len = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	char *file = len <= 0 ? MAP_FAILED : mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
	const char *at;
	char version[8] = "";
	int minor;

	if (file == MAP_FAILED)
		die("%s: %s", object, strerror(errno));
	at = memmem(file, len, magic, sizeof(magic) - 1);
	if (at && file + len - at > (ptrdiff_t)(VERSION_AT + sizeof(version)))
		memcpy(version, at + VERSION_AT, sizeof(version) - 1);
	if (sscanf(version, "go1.%d", &minor) != 1 || minor < 18 || minor > 24)
		die("%s: its goroutines are not known: not of Go 1.18 to 1.24", object);
	goid_at = minor < 23 ? 152 : 160;
	munmap(file, len);
	close(fd);
}

static uint64_t peek(const struct thread *t, uint64_t addr)
{
	return ptrace(PTRACE_PEEKDATA, t->tid, (void *)addr, NULL);
}

/* What runs on the thread: the goroutine, as a thread of its own, with the registers of this one;
 * or the thread. */
static struct thread *thread_of(struct thread *t)
{
	uint64_t g = goid_at && t->regs.fs_base ? peek(t, t->regs.fs_base + G_FROM_BASE) : 0;
	uint64_t goid = g && g != ~0ull ? peek(t, g + goid_at) : 0;
	struct thread *s;

	if (!goid || goid == ~0ull)
		return t;
	for (s = goroutines; s && (s->goroutine != goid || s->process != t->process); s = s->next)
		;
	if (!s) {
		s = calloc(1, sizeof(*s));
		if (!s)
			die("out of memory");
		s->goroutine = goid;
		s->process = t->process;
		s->index = -1;
		s->next = goroutines;
		goroutines = s;
	}
	s->tid = t->tid;
	s->base = peek(t, g + G_STACK_HI);
	s->regs = t->regs;
	s->regs.rsp -= s->base;
	s->arrived = t->arrived;
	s->by = t->by;
	s->from = t->from;
	return s;
}

static void executed(struct thread *t, const struct insn *insn, uint64_t pc,
		     const struct user_regs_struct *now, uint64_t next)
{
	bool branch = insn->kind >= K_JCC && insn->kind <= K_RET;
	const struct range *r;
	struct thread *s;
	uint64_t vaddr;

	r = process__range(t->process, pc, &vaddr);
	s = r ? thread_of(t) : t;
	if (r)
		entry__print(s, vaddr);
	if (r && branch)
		branch__print(s, insn, vaddr, now, next);
	if (insn->kind == K_CALL || insn->kind == K_ICALL)
		frames__overwritten(s, now->rsp - s->base);
	else if (insn->kind == K_RET)
		frames__return(s, s->regs.rsp, next, now->rax, r);
	else if (insn->kind == K_SYSCALL)
		note_syscall(t->regs.rax, t->process->narrow);
	else if (insn->kind == K_PUSHF)
		hide_trap_flag(t, now->rsp);
	t->arrived = branch || next != pc; /* a string instruction's next round is no arrival */
	t->by = insn->kind;
	t->from = r ? (int)r->function : -1;
	steps++;
}

void thread__ran(struct thread *t, const struct user_regs_struct *now)
{
	uint64_t pc = t->regs.rip, behind = pc + t->insn.len;
	struct insn second;

	if (t->insn.kind != K_MOVSS || now->rip == behind) {
		executed(t, &t->insn, pc, now, now->rip);
		return;
	}
	executed(t, &t->insn, pc, now, behind);
	process__decode(t->process, behind, &second);
	executed(t, &second, behind, now, now->rip);
}

void thread__faulted(struct thread *t)
{
	uint64_t vaddr;

	if (!process__range(t->process, t->regs.rip, &vaddr))
		return;
	entry__print(t, vaddr);
	t->arrived = true;
}

void thread__placed(struct thread *t)
{
	t->arrived = true;
	t->by = K_OTHER;
	t->from = -1;
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * stepref: runs a program instruction by instruction with ptrace(2) and prints every branch that it
 * executes in the given functions of one object. It is slow (some microseconds per instruction) and
 * exact: bbtrace's output is compared with it. The README in this folder has the format of its
 * lines and its definitions.
 */
#include <elf.h>
#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "step.h"

FILE *out;
static struct thread *threads;
static pid_t first;
static int first_status;
static bool follow, from_entry;
#define CS_32 0x23		/* __USER32_CS of the kernel's asm/segment.h */
static unsigned long long drop; /* the step in the ranges to lose on purpose, counted from 1 */

void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("stepref: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(125);
}

void *grow(void *array, size_t *cap, size_t want, size_t size)
{
	if (want <= *cap)
		return array;
	*cap = want * 2;
	array = realloc(array, *cap * size);
	if (!array)
		die("out of memory");
	return array;
}

/* ---- threads ---- */

static struct thread *thread__get(pid_t tid)
{
	struct thread *t;

	for (t = threads; t; t = t->next)
		if (t->tid == tid)
			return t;
	t = calloc(1, sizeof(*t));
	if (!t)
		die("out of memory");
	t->tid = tid;
	t->index = -1;
	t->from = -1;
	t->next = threads;
	threads = t;
	return t;
}

static void thread__join(struct thread *t, struct process *p)
{
	p->threads++;
	t->process = p;
	t->known = true;
}

static void thread__free(struct thread *t)
{
	struct thread **link;

	for (link = &threads; *link != t; link = &(*link)->next)
		;
	*link = t->next;
	if (t->process)
		process__put(t->process);
	free(t->frames);
	free(t);
}

/* 0, or -1. 32-bit code sees half of each: the kernel leaves the rest of a system call's result. */
static long registers(struct thread *t, struct user_regs_struct *regs)
{
	long err = ptrace(PTRACE_GETREGS, t->tid, NULL, regs);

	if (err || !t->process)
		return err;
	t->process->narrow = regs->cs == CS_32;
	if (t->process->narrow) {
		regs->rax = (uint32_t)regs->rax;
		regs->rcx = (uint32_t)regs->rcx;
		regs->rdx = (uint32_t)regs->rdx;
		regs->rbx = (uint32_t)regs->rbx;
		regs->rsi = (uint32_t)regs->rsi;
		regs->rdi = (uint32_t)regs->rdi;
		regs->rbp = (uint32_t)regs->rbp;
		regs->rsp = (uint32_t)regs->rsp;
	}
	return 0;
}

/* ESRCH: killed in the meantime; wait() will tell. */
static void thread__resume(struct thread *t, int sig)
{
	if (t->stepping && !t->have_regs)
		registers(t, &t->regs);
	if (t->stepping) {
		process__decode(t->process, t->regs.rip, &t->insn);
		path__expect(t);
	}
	t->have_regs = false;
	if (ptrace(t->stepping ? PTRACE_SINGLESTEP : PTRACE_CONT, t->tid, NULL,
		   (void *)(long)sig) &&
	    errno != ESRCH)
		die("cannot resume thread %d: %s", t->tid, strerror(errno));
}

/* ---- birth, exec ---- */

static bool same_process(pid_t pid, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", pid, tid);
	return !access(path, F_OK);
}

static void on_birth(struct thread *parent)
{
	unsigned long tid = 0;
	struct thread *t;

	ptrace(PTRACE_GETEVENTMSG, parent->tid, NULL, &tid);
	t = thread__get(tid);
	t->stepping = true;
	thread__placed(t);
	if (same_process(parent->process->pid, tid)) {
		thread__join(t, parent->process);
	} else {
		thread__join(t, process__new(tid));
		thread__inherit(t, parent);
	}
	if (t->stopped)
		thread__resume(t, 0);
}

/* Of a 32-bit program words of 4 bytes. */
static bool next_aux(FILE *f, bool narrow, Elf64_auxv_t *aux)
{
	Elf32_auxv_t half;

	if (!narrow)
		return fread(aux, sizeof(*aux), 1, f) == 1;
	if (fread(&half, sizeof(half), 1, f) != 1)
		return false;
	aux->a_type = half.a_type;
	aux->a_un.a_val = half.a_un.a_val;
	return true;
}

static uint64_t entry_point(pid_t pid)
{
	Elf64_auxv_t aux;
	uint64_t entry = 0;
	char path[64];
	bool narrow;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	narrow = image__is_narrow(path);
	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	f = fopen(path, "re");
	while (f && !entry && next_aux(f, narrow, &aux))
		if (aux.a_type == AT_ENTRY)
			entry = aux.a_un.a_val;
	if (f)
		fclose(f);
	return entry;
}

/* What was at the program's entry, where an int3 is until the program gets there. */
static uint64_t entry_at;
static long entry_word;

/* It runs free up to the program's entry. No debug register: some hypervisors don't pass its trap
 * on. */
static bool run_to_entry(pid_t pid)
{
	entry_at = entry_point(pid);
	errno = 0;
	entry_word = entry_at ? ptrace(PTRACE_PEEKTEXT, pid, (void *)entry_at, NULL) : 0;
	return entry_at && !errno &&
	       !ptrace(PTRACE_POKETEXT, pid, (void *)entry_at, (entry_word & ~0xffl) | 0xcc);
}

/* The int3 is behind it: takes it away, and goes back to where it was. */
static void reach_entry(pid_t pid)
{
	struct user_regs_struct now;

	ptrace(PTRACE_POKETEXT, pid, (void *)entry_at, entry_word);
	ptrace(PTRACE_GETREGS, pid, NULL, &now);
	now.rip = entry_at;
	ptrace(PTRACE_SETREGS, pid, NULL, &now);
}

/* The whole process is this one thread now, under the leader's number, whoever called exec. */
static void on_exec(struct thread *t)
{
	unsigned long former = t->tid;

	ptrace(PTRACE_GETEVENTMSG, t->tid, NULL, &former);
	if (former != (unsigned long)t->tid)
		thread__free(thread__get(former));
	maps_generation++;
	t->nframes = 0;
	t->stepping = !from_entry || !run_to_entry(t->tid);
	thread__placed(t);
	thread__resume(t, 0);
}

/* ---- stops ---- */

/* An instruction has run: the processor's trap, or the kernel's behind a system call (a child's
 * first step, too). */
/* What follows is not what the program did: the reference is worth nothing, and ends. */
static void lose(struct thread *t)
{
	static const char text[] = "lost a step: behind %s came %s, which it doesn't lead to";
	struct user_regs_struct now = {0};
	char from[PLACE], to[PLACE], what[2 * PLACE + sizeof(text)];

	registers(t, &now);
	process__place(t->process, t->regs.rip, from);
	process__place(t->process, now.rip, to);
	snprintf(what, sizeof(what), text, from, to);
	fprintf(out, "# %s\n", what);
	fflush(out);
	fprintf(stderr, "stepref: %s\n", what);
	exit(124);
}

/* --drop: as a machine that loses a step, it runs on from here to the next one's end. */
static bool dropped(struct thread *t)
{
	uint64_t vaddr;

	if (!drop || !process__range(t->process, t->regs.rip, &vaddr) || --drop)
		return false;
	ptrace(PTRACE_SINGLESTEP, t->tid, NULL, NULL);
	return true;
}

static void on_step(struct thread *t, int code)
{
	bool ran = code == TRAP_TRACE || t->insn.kind == K_SYSCALL;
	struct user_regs_struct now;

	if (dropped(t) || registers(t, &now))
		return;
	if (!(ran ? path__stepped : path__still_there)(t, &now))
		lose(t);
	if (ran)
		thread__ran(t, &now);
	t->regs = now;
	t->have_regs = true;
	thread__resume(t, 0);
}

static void on_trap(struct thread *t)
{
	siginfo_t info = {0};

	ptrace(PTRACE_GETSIGINFO, t->tid, NULL, &info);
	if (t->stepping && (info.si_code == TRAP_TRACE || info.si_code == TRAP_BRKPT)) {
		on_step(t, info.si_code);
	} else if (!t->stepping && info.si_code == SI_KERNEL) {
		reach_entry(t->tid);
		t->stepping = true;
		thread__placed(t);
		thread__resume(t, 0);
	} else if (info.si_code ==
		   SIGTRAP) { /* signal_setup_done(): at a handler's first instruction */
		thread__placed(t);
		thread__resume(t, 0);
	} else {
		thread__resume(t, SIGTRAP);
	}
}

static void on_signal(struct thread *t, int sig)
{
	struct user_regs_struct now;
	siginfo_t info = {0};

	ptrace(PTRACE_GETSIGINFO, t->tid, NULL, &info);
	if (t->stepping && !registers(t, &now) && !path__interrupted(t, &now))
		lose(t);
	if (t->stepping && info.si_code > 0 && info.si_code < SI_KERNEL &&
	    (sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGILL))
		thread__faulted(t);
	thread__resume(t, sig);
}

static void on_group_stop(struct thread *t, int sig)
{
	if (sig != SIGTRAP)
		ptrace(PTRACE_LISTEN, t->tid, NULL, NULL);
	else if (t->known)
		thread__resume(t, 0);
	else
		t->stopped = true; /* born, but its parent hasn't said so yet */
}

static void on_stop(struct thread *t, int status)
{
	int sig = WSTOPSIG(status);

	switch (status >> 16) {
	case PTRACE_EVENT_CLONE:
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
		if (t->stepping && !path__called(t))
			lose(t);
		on_birth(t);
		thread__resume(t, 0);
		break;
	case PTRACE_EVENT_EXEC:
		on_exec(t);
		break;
	case PTRACE_EVENT_STOP:
		on_group_stop(t, sig);
		break;
	default:
		if (sig == SIGTRAP)
			on_trap(t);
		else
			on_signal(t, sig);
	}
}

static void loop(void)
{
	int status;
	pid_t tid;

	while ((tid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
		if (tid < 0)
			continue;
		if (WIFSTOPPED(status)) {
			on_stop(thread__get(tid), status);
			continue;
		}
		if (tid == first)
			first_status =
				WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
		thread__free(thread__get(tid));
	}
}

/* ---- start ---- */

/* Tracer and traced take turns: on one CPU a step costs a third. */
static void pin(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	sched_setaffinity(first, sizeof(one), &one);
}

static void run_command(char **argv, int go)
{
	char c;

	signal(SIGINT, SIG_DFL);
	if (read(go, &c, 1) != 1)
		_exit(125);
	close(go);
	execvp(argv[0], argv);
	fprintf(stderr, "stepref: %s: %s\n", argv[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

static void start(char **argv)
{
	long options = PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC | PTRACE_O_TRACECLONE;
	int go[2];

	if (follow)
		options |= PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;
	if (pipe(go))
		die("pipe: %s", strerror(errno));
	first = fork();
	if (!first) {
		close(go[1]);
		run_command(argv, go[0]);
	}
	close(go[0]);
	if (first < 0 || ptrace(PTRACE_SEIZE, first, NULL, (void *)options))
		die("cannot trace: %s", strerror(errno));
	thread__join(thread__get(first), process__new(first));
	pin();
	signal(SIGINT, SIG_IGN);
	if (write(go[1], "", 1) != 1)
		die("the command did not start");
	close(go[1]);
}

static void usage(void)
{
	fputs("usage: stepref --object PATH --ranges FILE [--out FILE] [-f] [--from-entry] [--go] [--drop N] -- CMD [ARG...]\n"
	      "  -f            children too\n"
	      "  --from-entry  run free up to the program's entry point: the same lines, sooner, where no\n"
	      "                listed function is run by the dynamic loader (an IFUNC resolver, a library's\n"
	      "                constructor, what interposes malloc)\n"
	      "  --go          lines by goroutine, not by thread\n"
	      "  --drop N      lose the Nth step of those in the ranges, as a machine may\n",
	      stderr);
	exit(125);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"object", 1, NULL, 'O'},
		{"ranges", 1, NULL, 'r'},
		{"out", 1, NULL, 'o'},
		{"from-entry", 0, NULL, 'e'},
		{"go", 0, NULL, 'g'},
		{"drop", 1, NULL, 'd'},
		{0},
	};
	const char *object = NULL, *ranges = NULL, *path = NULL;
	bool go = false;
	int c;

	while ((c = getopt_long(argc, argv, "+fo:", options, NULL)) != -1) {
		if (c == 'O')
			object = optarg;
		else if (c == 'r')
			ranges = optarg;
		else if (c == 'o')
			path = optarg;
		else if (c == 'f')
			follow = true;
		else if (c == 'e')
			from_entry = true;
		else if (c == 'g')
			go = true;
		else if (c == 'd')
			drop = strtoull(optarg, NULL, 10);
		else
			usage();
	}
	if (!object || !ranges || optind >= argc)
		usage();
	out = path ? fopen(path, "we") : stdout;
	if (!out)
		die("%s: %s", path, strerror(errno));
	setvbuf(out, NULL, _IOFBF, 1 << 20);
	ranges__load(object, ranges);
	if (go)
		goroutines__show(object);
	start(argv + optind);
	loop();
	if (drop)
		die("--drop: %llu steps more would have had to be in the ranges", drop);
	fprintf(out, "# %llu steps, status %d\n", steps, first_status);
	if (fclose(out))
		die("%s: %s", path ? path : "stdout", strerror(errno));
	return first_status;
}

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --engine inline and programs that forbid what it needs, or use it themselves: their results are right, and it is said.
# shellcheck disable=SC2154 # lib.sh sets status
. "$(dirname "$0")/lib.sh"
needs root uprobes
[[ $(uname -m) == x86_64 ]] || skip_all 'functions are copied on x86-64 only'

# What the programs below are traced in.
cat >"$T/work.h" <<'END'
#include <unistd.h>
__attribute__((noipa)) static unsigned work(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n % 7; i++)
		sum += (sum ^ i) * n;
	return sum;
}
static unsigned all(void)
{
	unsigned sum = 0;

	for (int i = 0; i < 1000; i++)
		sum = sum * 31 + work(i);
	return sum;
}
/* 0: the result is as before each time, until the file is there. */
__attribute__((unused)) static int works_until(const char *file, unsigned before)
{
	while (access(file, F_OK)) {
		if (all() != before)
			return 3;
		usleep(1000);
	}
	return all() != before;
}
END

# ---- filters of system calls ----
source_program filters c <<'END'
/* filters ACTION FILE: from now on mapping memory that can be executed has this SECCOMP_RET_; ends when FILE is there. */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "work.h"
int main(int argc, char **argv)
{
	unsigned action = !strcmp(argv[1], "kill")    ? SECCOMP_RET_KILL_PROCESS
			  : !strcmp(argv[1], "errno") ? SECCOMP_RET_ERRNO | 13
						      : SECCOMP_RET_ALLOW;
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ, SYS_mmap, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JSET, PROT_EXEC, 0, 1),
		BPF_STMT(BPF_RET, action),
		BPF_STMT(BPF_RET, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(f) / sizeof(*f), f};
	unsigned before = all();

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 1;
	if (write(1, "x", 1) != 1)
		return 2;
	return works_until(argv[2], before);
}
END
: >"$T/until"
for action in kill errno allow; do
	bb user "$T/filters" work --engine inline -c -- "$T/filters" $action "$T/until"
	exits 0 "$action: a program that forbids to map code once it has begun"
	rm "$T/until"
	: >"$T/out.filters"
	"$T/filters" $action "$T/until" >"$T/out.filters" &
	filters=$!
	at_end "kill $filters 2>/dev/null"
	wait_for "$PATIENCE" test -s "$T/out.filters"
	bb user "$T/filters" work -p $filters --engine inline -l 2000 -F json -o "$T/json"
	if [[ $action == allow ]]; then
		exits 0 'with a filter that allows it a process is traced'
		unlike "$T/err" 'by probes' 'by copies'
	else
		exits 0 "$action: a process that forbids it is traced"
		like "$T/err" "tracing by probes instead, since process $filters may not map memory \(seccomp\)" \
			'by probes, which is said'
	fi
	ok $(($(entries work) < 100)) 'its calls are shown'
	: >"$T/until"
	wait $filters
	is $? 0 'its results are right'
done

# ---- memory that may not be both written and executed (PR_SET_MDWE, as systemd's MemoryDenyWriteExecute) ----
source_program denies c <<'END'
/* denies FILE: such a process, until the file is there; "denies again" is executed by one. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "work.h"
int main(int argc, char **argv)
{
	unsigned before = all();

	if (!strcmp(argv[1], "again")) {
		void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		printf("%s\n", p == MAP_FAILED ? "denied" : "allowed");
		return 0;
	}
	if (prctl(65 /* PR_SET_MDWE */, 1, 0, 0, 0))
		return 9;
	if (!strcmp(argv[1], "exec"))
		return execl(argv[0], argv[0], "again", NULL);
	if (write(1, "x", 1) != 1)
		return 2;
	return works_until(argv[1], before);
}
END
"$T/denies" exec >"$T/plain"
if [[ $? == 9 ]]; then
	skip 'PR_SET_MDWE' 'this kernel has it not'
else
	is "$(<"$T/plain")" denied 'PR_SET_MDWE: a program that is executed then may not have such memory'
	bb user "$T/denies" work --engine inline -F json -o "$T/json" -- "$T/denies" exec
	exits 0 'PR_SET_MDWE: it is traced'
	is "$(<"$T/out") $(entries work)" 'denied 2000' 'PR_SET_MDWE: by copies, in both programs, and still may not'
	unlike "$T/err" 'not traced' 'PR_SET_MDWE: nothing is refused'
	rm -f "$T/until"
	: >"$T/out.denies"
	"$T/denies" "$T/until" >"$T/out.denies" &
	denies=$!
	at_end "kill $denies 2>/dev/null"
	wait_for "$PATIENCE" test -s "$T/out.denies"
	bb user "$T/denies" work -p $denies --engine inline -l 2000 -F json -o "$T/json"
	exits 0 'PR_SET_MDWE: a process that runs is traced'
	unlike "$T/err" 'by probes' 'PR_SET_MDWE: by copies'
	ok $(($(entries work) < 100)) 'PR_SET_MDWE: its calls are shown'
	: >"$T/until"
	wait $denies
	is $? 0 'PR_SET_MDWE: its results are right'
fi

# ---- too little address space (RLIMIT_AS) ----
rm -f "$T/until" "$T/out.filters"
(ulimit -v 20000 && exec "$T/filters" allow "$T/until") >"$T/out.filters" &
limited=$!
at_end "kill $limited 2>/dev/null"
wait_for "$PATIENCE" test -s "$T/out.filters"
mapped() { awk '$6 !~ /vdso|uprobes/ { print $1, $2, $6 }' "/proc/$1/maps"; }
mapped $limited >"$T/before"
bb user "$T/filters" work -p $limited --engine inline -l 2000 -F json -o "$T/json"
exits 0 'a process that may not map so much is traced'
like "$T/err" "tracing by probes instead, since process $limited can't be traced by copies: it has too little room for a log: RLIMIT_AS \(ulimit -v\) leaves [0-9]+ of at least 3[23] MB" \
	'by probes, which is said'
ok $(($(entries work) < 100)) 'its calls are shown'
mapped $limited >"$T/after"
same "$T/after" "$T/before" 'and nothing more is mapped in it'
: >"$T/until"
wait $limited
is $? 0 'its results are right'

# ---- gs ----
source_program gs c -O1 -mfsgsbase <<'END'
/* gs call|blocked|none [FILE]: sets gs by arch_prctl(2), also with all signals blocked, once FILE is there, and goes on.
 * With -DINSN by wrgsbase, if there is that. */
#include <asm/prctl.h>
#include <immintrin.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>
static unsigned long own[1 << 18]; /* a ring would fit */
static volatile int urgent;
static void handler(int sig) { urgent++; }
#include "work.h"
int main(int argc, char **argv)
{
	unsigned sum = 0, changed = 0;
	unsigned long gs = 0;
	sigset_t set;

	signal(SIGURG, handler);
	sigfillset(&set);
	if (!strcmp(argv[1], "blocked"))
		sigprocmask(SIG_SETMASK, &set, NULL);
	if (argc > 2 && write(1, "x\n", 2) != 2)
		return 2;
	do
		sum = all();
	while (argc > 2 && access(argv[2], F_OK));
#ifdef INSN
	if (getauxval(AT_HWCAP2) & 2) /* the kernel allows it */
		_writegsbase_u64((unsigned long)own);
#else
	if (strcmp(argv[1], "none"))
		syscall(SYS_arch_prctl, ARCH_SET_GS, own);
#endif
	for (int i = 0; i < 1000; i++)
		sum = sum * 31 + all();
	syscall(SYS_arch_prctl, ARCH_GET_GS, &gs);
	for (int i = 0; i < 1 << 18; i++)
		changed += own[i] != 0;
	printf("%u %u %d %d\n", sum, changed, gs == (unsigned long)own, urgent);
	return 0;
}
END
"${CC:-cc}" -O1 -mfsgsbase -DINSN -o "$T/insn" "$T/gs.c"
# as $process, which has begun
run_gs() {
	rm -f "$T/until" "$T/out.gs"
	"$gs" "$how" "$T/until" >"$T/out.gs" &
	process=$!
	at_end "kill $process 2>/dev/null"
	wait_for "$PATIENCE" test -s "$T/out.gs"
}
for how in call blocked instruction; do
	gs=$T/gs
	[[ $how != instruction ]] || gs=$T/insn
	"$gs" "$how" >"$T/plain"
	for options in '-F json' '-c -F json'; do
		# shellcheck disable=SC2086 # two words
		bb user "$gs" work --engine inline $options -o "$T/json" -- "$gs" "$how"
		# by an instruction: none of it could be traced
		exits "$([[ $how == instruction ]] && echo 1 || echo 0)" "$how $options: a program that sets gs"
		same "$T/out" "$T/plain" 'its results, its gs and its memory are as ever'
		like "$T/err" 'is not traced by copies: it uses the gs segment' 'and it is said that it is let go'
	done
	if [[ $how == instruction ]]; then
		run_gs
		bb user "$gs" work -p $process --engine inline -l 2000 -F json -o "$T/json"
		exits 0 'a process that may set gs by an instruction is traced'
		like "$T/err" 'tracing by probes instead, since process .*wrgsbase' 'by probes, which is said'
		: >"$T/until"
		wait "$process"
		is "$? $(tail -n 1 "$T/out.gs")" "0 $(<"$T/plain")" 'its results are right, too'
		continue
	fi
	# at any moment of attaching
	wrong=0
	for ((i = 0; i < 20; i++)); do
		run_gs
		"$BBTRACE" user "$gs" work -p "$process" --engine inline -c -F json -o "$T/json" 2>"$T/err" &
		tracer=$!
		wait_for "$PATIENCE" grep -q '^TracerPid:[[:space:]]*[1-9]' "/proc/$process/status"
		: >"$T/until"
		wait "$process" && [[ $(tail -n 1 "$T/out.gs") == "$(<"$T/plain")" ]] || ((++wrong))
		wait $tracer
	done
	is $wrong 0 "$how: a process that sets gs while it is attached to: its results are right 20 times" ||
		diag "$(cat "$T/out.gs" "$T/err")"
done
# where the kernel has no kprobes, by a program at the entry of arch_prctl's function
if [[ -e /sys/devices/kprobe/type ]]; then
	gs=$T/gs how=call
	"$gs" call >"$T/plain"
	run_gs
	unshare -m sh -c 'mount -t tmpfs none /sys/devices/kprobe && exec "$@"' sh \
		"$BBTRACE" user "$gs" work -p "$process" --engine inline -c -F json -o "$T/json" 2>"$T/err" &
	tracer=$!
	wait_for "$PATIENCE" grep -q '^TracerPid:[[:space:]]*[1-9]' "/proc/$process/status"
	grep -q '^link_type:[[:space:]]*tracing' /proc/"$(sed -n 's/^TracerPid:[[:space:]]*//p' "/proc/$process/status")"/fdinfo/*
	ok $? 'without kprobes, a program is at the entry of the function'
	: >"$T/until"
	wait "$process"
	is "$? $(tail -n 1 "$T/out.gs")" "0 $(<"$T/plain")" 'and a process that sets gs has its results'
	wait $tracer
	like "$T/err" 'is not traced.* by copies.*it uses the gs segment' 'and is let go'
else
	skip 'without kprobes, by the entry of the function' 'this kernel has none to hide'
fi
"$T/gs" none >"$T/plain"
bb user "$T/gs" work --engine inline -c -F json -o "$T/json" -- "$T/gs" none
same "$T/out" "$T/plain" 'one that only might'
unlike "$T/err" 'not traced any more' 'is traced'

# a thread that works, by which its copies are made, and one that uses gs, which shows only then
source_program other_gs c -pthread <<'END'
#include <asm/prctl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
static long own[16];
static int ready[2];
#include "work.h"
static void *use(void *until)
{
	syscall(SYS_arch_prctl, ARCH_SET_GS, own);
	if (write(ready[1], "", 1) == 1)
		while (access(until, F_OK))
			usleep(1000);
	return NULL;
}
int main(int argc, char **argv)
{
	unsigned sum, wrong = 0;
	pthread_t thread;
	char c;

	if (pipe(ready) || pthread_create(&thread, NULL, use, argv[1]) || read(ready[0], &c, 1) != 1)
		return 2;
	setvbuf(stdout, NULL, _IONBF, 0);
	puts("x");
	for (sum = all(); access(argv[1], F_OK);)
		for (int i = 0; i < 100000; i++)
			wrong += all() != sum;
	pthread_join(thread, NULL);
	return wrong != 0;
}
END
rm -f "$T/until" "$T/out.gs"
"$T/other_gs" "$T/until" >"$T/out.gs" &
process=$!
at_end "kill $process 2>/dev/null"
wait_for "$PATIENCE" test -s "$T/out.gs"
mappings() { mapped $process; }
mappings >"$T/before"
for ((i = 0; i < 5; i++)); do
	bb user "$T/other_gs" '*' -p $process --engine inline -l 100
	exits 0 'a process with a thread that uses gs is traced'
	like "$T/err" 'tracing by probes instead, since process [0-9]+ uses the gs segment' 'by probes, which is said'
	mappings >"$T/after"
	same "$T/after" "$T/before" 'and nothing more is mapped in it'
done
: >"$T/until"
wait $process
is $? 0 'its results are right'

# ---- gs, set over and over: whatever moment it is refused at, no signal is left that stops it ----
source_program sets c <<'END'
#include <asm/prctl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "work.h"
static unsigned long own[8];
int main(int argc, char **argv)
{
	unsigned before = all(), wrong = 0;
	sigset_t set;

	sigfillset(&set);
	if (!strcmp(argv[1], "blocked"))
		sigprocmask(SIG_SETMASK, &set, NULL);
	if (write(1, "x", 1) != 1)
		return 2;
	while (access(argv[2], F_OK))
		for (int i = 0; i < 100; i++) {
			syscall(SYS_arch_prctl, ARCH_SET_GS, i % 2 ? own : NULL);
			wrong += all() != before;
		}
	return wrong != 0;
}
END
for how in blocked open; do
	rm -f "$T/until" "$T/out.sets"
	"$T/sets" $how "$T/until" >"$T/out.sets" &
	process=$!
	at_end "kill -9 $process 2>/dev/null"
	wait_for "$PATIENCE" test -s "$T/out.sets"
	for ((i = 0; i < 12; i++)); do
		bb user "$T/sets" work -p $process --engine inline -l 500 -t 1
		[[ $status == 0 ]] || diag "$(<"$T/err")"
	done
	: >"$T/until"
	wait_for "$PATIENCE" test ! -e /proc/$process/exe
	ok $? "$how: a program that sets gs over and over is not stopped by being refused"
	wait $process
	is $? 0 "$how: its results are right"
done

# ---- signals that stop, and other tracers ----
source_program stops c <<'END'
/* stops N: a child stops itself N times, and its parent sees that, and lets it go on. stops seize PID: may it be traced? */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
#include "work.h"
int main(int argc, char **argv)
{
	int n = atoi(argv[1]), status, stops = 0;
	pid_t pid;

	if (argc > 2) {
		if (ptrace(PTRACE_SEIZE, atoi(argv[2]), 0, 0))
			printf("%s\n", strerror(errno));
		return 0;
	}
	pid = fork();
	if (!pid) {
		unsigned sum = all();

		for (int i = 0; i < n; i++) {
			raise(SIGSTOP);
			if (all() != sum)
				_exit(1);
		}
		_exit(7);
	}
	while (waitpid(pid, &status, WUNTRACED) == pid && !WIFEXITED(status)) {
		if (!WIFSTOPPED(status))
			continue;
		stops += WSTOPSIG(status) == SIGSTOP;
		kill(pid, SIGCONT);
	}
	printf("%d stops, status %d\n", stops, WEXITSTATUS(status));
	return 0;
}
END
"$T/stops" 20 >"$T/plain"
for options in '' '-f'; do
	# shellcheck disable=SC2086 # may be none
	bb user "$T/stops" '*' --engine inline $options -o "$T/trace" -- "$T/stops" 20
	same "$T/out" "$T/plain" "${options:-no -f}: its parent sees that a process stops, and goes on"
done
rm -f "$T/until" "$T/out.gs"
"$T/gs" none "$T/until" >"$T/out.gs" &
process=$!
at_end "kill $process 2>/dev/null"
wait_for "$PATIENCE" test -s "$T/out.gs"
"$BBTRACE" user "$T/gs" work -p $process --engine inline -c -F json -o "$T/json" 2>"$T/err" &
tracer=$!
at_end "kill $tracer 2>/dev/null"
wait_for "$PATIENCE" grep -q '^TracerPid:[[:space:]]*[1-9]' "/proc/$process/status"
like <("$T/stops" seize $process) '^Operation not permitted$' 'another tracer is refused'
: >"$T/until"
wait $process
is $? 0 'and the process goes on'
wait $tracer

# ---- CLONE_UNTRACED ----
source_program untraced c <<'END'
/* untraced FOLDER: a thread and a child that no tracer is told of; each works until FOLDER/until is there. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static char stack[1 << 16], path[300];
static volatile unsigned wrong;
static int running = 1;
#include "work.h"
static unsigned expected;
static int run(void *arg)
{
	do
		wrong += all() != expected;
	while (access(path, F_OK));
	return wrong;
}
int main(int argc, char **argv)
{
	int status;

	snprintf(path, sizeof(path), "%s/until", argv[1]);
	expected = all();
	if (!syscall(SYS_clone, CLONE_UNTRACED | SIGCHLD, 0, 0, 0, 0))
		_exit(run(NULL));
	clone(run, stack + sizeof(stack),
	      CLONE_UNTRACED | CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
		      CLONE_CHILD_CLEARTID, NULL, NULL, NULL, &running);
	run(NULL);
	while (__atomic_load_n(&running, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &running, FUTEX_WAIT, 1, NULL, NULL, 0);
	wait(&status);
	printf("%u %d\n", wrong, status);
	return 0;
}
END
for follow in '' -f; do
	rm -f "$T/until" "$T/out.gs"
	: >"$T/err"
	# shellcheck disable=SC2086
	"$BBTRACE" user "$T/untraced" work --engine inline -c $follow -o "$T/counts" -- "$T/untraced" "$T" >"$T/out" 2>"$T/err" </dev/null &
	tracer=$!
	wait_for "$PATIENCE" grep -q 'CLONE_UNTRACED' "$T/err"
	ok $? "${follow:-no -f}: threads that its tracer isn't told of are found"
	: >"$T/until"
	wait $tracer
	is "$? $(<"$T/out")" '0 0 0' 'all results are right'
done

# ---- a main thread that has ended ----
source_program ended c -pthread <<'END'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static char **args;
static void *run(void *arg)
{
	while (access(args[1], F_OK))
		usleep(1000);
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t t;

	args = argv;
	pthread_create(&t, NULL, run, NULL);
	pthread_exit(NULL);
}
END
rm "$T/until"
"$T/ended" "$T/until" &
pid=$!
wait_for "$PATIENCE" grep -q '^State:[[:space:]]*Z' /proc/$pid/status
for engine in inline probe; do
	bb user "$T/ended" run -p $pid --engine $engine
	exits 1 "$engine: a process whose main thread has ended"
	like "$T/err" "the main thread of process $pid has ended.*trace without -p" 'why, and what to do instead'
done
: >"$T/until"
wait $pid
done_testing

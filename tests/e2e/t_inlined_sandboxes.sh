#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --engine inline and programs that may not execute what copies do, or what their threads are made to call: the time stamp
# counter is forbidden, system calls are filtered, or answered by the program itself. They end as untraced.
# MODES, USES: others than those that make check has time for (tests/long/t_sandboxes.sh).
# shellcheck disable=SC2154 # lib.sh sets status
. "$(dirname "$0")/lib.sh"
needs root uprobes
[[ $(uname -m) == x86_64 ]] || skip_all 'functions are copied on x86-64 only'

# ---- the time stamp counter ----
# Not each machine keeps it from a program that has forbidden it to itself (a paravirtual guest doesn't). So this program puts
# hlt, which faults as that does, where its copies read it. It prints how many there were, and how many are left in the end.
source_program untimed c -pthread <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
__attribute__((noipa)) int work(int n)
{
	return n > 3 ? n * 2 : n - 1;
}
/* The code of its copies: anonymous memory that may be executed. */
static unsigned each(int put)
{
	unsigned char *start, *end, *p;
	unsigned found = 0, before;
	unsigned long ino;
	char line[512], prot[8];
	FILE *maps = fopen("/proc/self/maps", "r");

	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%p-%p %7s %*s %*s %lu", (void **)&start, (void **)&end, prot, &ino) != 4 ||
		    strcmp(prot, "r-xp") || ino || strchr(line, '['))
			continue;
		if (put)
			mprotect(start, end - start, PROT_READ | PROT_WRITE | PROT_EXEC);
		for (before = found, p = start; p < end - 4; p++)
			if (p[0] == (put ? 0x0f : 0xf4) && p[1] == 0x31 &&
			    (p[2] == 0x89 || p[3] == 0x89 || (p[2] == 0x48 && p[3] == 0xc1))) {
				found++;
				if (put)
					p[0] = 0xf4; /* hlt */
			}
		if (put)
			mprotect(start, end - start, PROT_READ | PROT_EXEC);
	}
	fclose(maps);
	return found;
}
static void *loop(void *n)
{
	long s = 0;

	for (int i = 0; i < *(int *)n; i++)
		s += work(i % 8);
	return (void *)s;
}
int main(int argc, char **argv)
{
	pthread_t threads[4];
	int begin = 10, n = atoi(argv[1]);
	unsigned found;
	long sum = (long)loop(&begin);
	void *one;

	found = each(1);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, loop, &n);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &one);
		sum += (long)one;
	}
	fprintf(stderr, "there were %u, %u are left\n", found, each(0));
	printf("%ld\n", sum);
	return 5;
}
END
plain=$("$T/untimed" 1000 2>"$T/err")
is "$(<"$T/err")" 'there were 0, 0 are left' 'the program itself has none'

# traced NAME OPTION...
traced() {
	local name=$1
	shift
	bb user "$T/untimed" work --engine inline "$@" -F json -o "$T/json" -- "$T/untimed" "${calls:-1000}"
	exits 5 "$name: the program ends as untraced"
	is "$(<"$T/out")" "${result:-$plain}" "$name: with its result"
	like "$T/err" 'there were [1-9][0-9]*, 0 are left' "$name: no instruction that faults is left"
}
traced 'all events'
is "$(json "$T/json" '$e->{event} eq "entry"')" 4010 'all entries are there'
is "$(json "$T/json" '$e->{event} eq "entry" && defined $e->{ts}' | sed 's/^1[0-9]$/10 or few more/')" '10 or few more' \
	'those of before have times'
like "$T/err" 'may not read the time stamp counter' 'the others have none, which is said'
is "$(json "$T/json" '$e->{event} eq "return" && defined $e->{duration_ns} && !defined $e->{ts}')" 0 'nor a duration'
traced 'the last ones' --last 10
traced 'what is added up' -F summary
calls=300000 result=$("$T/untimed" 300000 2>/dev/null)
traced 'more than a ring has room for' -F summary
unset calls result

# ---- all sandboxes ----
source_program boxed c <<'END'
/* boxed MODE [N]: from now on it may do little; computes N times, or until there is something to be read, 1000 signals a
 * second; its result says whether all was right. dispatch: it answers system calls itself, and has more to answer than it
 * called if it says so. */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
static volatile char selector;
static volatile unsigned answered, ticks, wrong, six;
__attribute__((noipa)) unsigned work(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n % 7; i++)
		sum += (sum ^ i) * n;
	return sum;
}
static void on_call(int sig)
{
	selector = 0;
	answered++;
}
static void on_tick(int sig)
{
	wrong |= work(6) != six;
	ticks++;
}
static long call(long nr, long a, const void *b, long c, long d)
{
	register long r10 __asm__("r10") = d;

	__asm__ volatile("syscall" : "+a"(nr) : "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
	return nr;
}
/* Handlers return by code that may always call. */
void back(void);
__asm__("back: mov $15,%rax\n syscall\n nop\n");
static void handle(int sig, void (*handler)(int))
{
	struct {
		void (*handler)(int);
		unsigned long flags;
		void (*restorer)(void);
		unsigned long mask;
	} a = {handler, SA_NODEFER | SA_RESTART | 0x04000000 /* SA_RESTORER */, back, 0};

	call(SYS_rt_sigaction, sig, &a, 0, 8);
}
static unsigned all(void)
{
	unsigned sum = 0;

	for (int i = 0; i < 1000; i++)
		sum = sum * 31 + work(i);
	return sum;
}
static int enter(const char *mode)
{
#define CALL(nr) BPF_JUMP(BPF_JMP | BPF_JEQ, nr, 0, 1), BPF_STMT(BPF_RET, SECCOMP_RET_ALLOW)
	struct sock_filter f[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
				  CALL(SYS_read), CALL(SYS_write), CALL(SYS_exit), CALL(SYS_exit_group),
				  CALL(SYS_rt_sigreturn), CALL(SYS_restart_syscall),
				  BPF_STMT(BPF_RET, !strcmp(mode, "kill")    ? SECCOMP_RET_KILL_PROCESS
						    : !strcmp(mode, "trap") ? SECCOMP_RET_TRAP
									     : SECCOMP_RET_ERRNO | EPERM)};
	struct sock_fprog program = {sizeof(f) / sizeof(*f), f};

	if (!strcmp(mode, "none"))
		return 0;
	if (!strcmp(mode, "time"))
		return prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
	if (!strcmp(mode, "dispatch"))
		return prctl(59 /* PR_SET_SYSCALL_USER_DISPATCH */, 1, back, 16, &selector);
	if (!strcmp(mode, "strict"))
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
int main(int argc, char **argv)
{
	struct itimerval timer = {{0, 1000}, {0, 1000}};
	unsigned before = all();
	long n = argc > 2 ? atol(argv[2]) : -1;
	char c;

	six = work(6);
	handle(SIGSYS, on_call);
	handle(SIGALRM, on_tick);
	setitimer(ITIMER_REAL, &timer, NULL);
	fcntl(0, F_SETFL, O_NONBLOCK);
	if (enter(argv[1]))
		call(SYS_exit, 77, NULL, 0, 0);
	call(SYS_write, 2, "x", 1, 0);
	do {
		selector = 1;
		wrong |= all() != before;
		selector = 0;
	} while (n > 0 ? --n || (!ticks && ++n) : call(SYS_read, 0, &c, 1, 0) != 1);
	call(SYS_write, 1, answered ? "answered\n" : wrong ? "wrong\n" : "right\n", answered ? 9 : 6, 0);
	call(SYS_exit, 5, NULL, 0, 0);
}
END

# in_box MODE OPTION...: traced from its start.
in_box() {
	local mode=$1
	shift
	bb user "$T/boxed" work --engine "${engine:-inline}" "$@" -F json -o "$T/json" -- "$T/boxed" "$mode" 30
	exits 5 "$mode, ${*:-all}: it ends as untraced"
	is "$(<"$T/out")" right "$mode, ${*:-all}: and all that it computes is right"
}

# attached MODE OPTION...: bbtrace attaches while it runs.
attached() {
	local mode=$1 box
	shift
	mkfifo "$T/ask"
	"$T/boxed" "$mode" <>"$T/ask" >"$T/told" 2>"$T/began" &
	box=$!
	at_end "kill -9 $box 2>/dev/null"
	wait_for "$PATIENCE" test -s "$T/began"
	bb user "$T/boxed" work --engine "${engine:-inline}" "$@" -p $box -t 5 -l 1000 -F json -o "$T/json"
	exits 0 "$mode, ${*:-all}, attached: bbtrace ends well"
	[[ " $* " == *' -c '* ]] || is "$(json "$T/json" '$e->{event} =~ /entry|branch/' | sed 's/^[1-9].*/some/')" some \
		"$mode, ${*:-all}, attached: with events"
	echo >"$T/ask"
	wait $box
	is "$? $(<"$T/told")" '5 right' "$mode, ${*:-all}, attached: the program ends as untraced"
	rm -f "$T/ask" "$T/began"
}

"$T/boxed" dispatch 1 >"$T/told" 2>&1
[[ $? == 77 ]] && { skip dispatch 'this kernel has no syscall user dispatch' && MODES=${MODES:-strict kill}; }
read -ra modes <<<"${MODES:-strict kill dispatch}"
for mode in "${modes[@]}"; do
	while read -ra use; do
		in_box "$mode" "${use[@]}"
		attached "$mode" "${use[@]}"
	done <<<"${USES-}"
done

done_testing

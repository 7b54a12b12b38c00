#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --engine inline -p PID: processes that run already. They are stopped, continue in copies wherever their threads are, and are
# detached again; what they compute stays the same, and what is shown is what probes show.
# ATTACHES=12: how often (tests/long/t_matrices.sh).
# shellcheck disable=SC2154 # lib.sh sets status
. "$(dirname "$0")/lib.sh"
needs root uprobes
[[ $(uname -m) == x86_64 ]] || skip_all 'functions are copied on x86-64 only'

# ---- wherever the threads are ----
program inlined -pthread
"$T/inlined" mix 30 >"$T/plain" || exit 2
attaches=0
for ((round = 0; attaches < ${ATTACHES:-4}; round++)); do
	"$T/inlined" mix 200 >"$T/mixed" 2>&1 &
	pid=$!
	while kill -0 $pid 2>/dev/null && ((attaches < ${ATTACHES:-4})); do
		bb user "$T/inlined" '*' -p $pid --engine inline -f -t 0.0$((1 + attaches % 7)) -o "$T/trace"
		[[ $status == 0 ]] || grep -q 'no process\|no such process' "$T/err" || diag "$(<"$T/err")"
		attaches=$((attaches + 1))
	done
	wait $pid
	is $? 0 "after $attaches attaches and detaches: threads, children, timers and jumps did what they do" || diag "$(<"$T/mixed")"
done
ok $((round > 20)) 'it is attached to several times in one life'

# ---- in system calls ----
source_program waits c -pthread <<'END'
/* Threads in system calls that go on as if nothing had been. The first argument: a file that ends it when it is there. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>
static int fds[2];
static volatile int bad;
#define CHECK(x) ((x) ? (void)0 : (void)(bad++, fprintf(stderr, "%d: %s, errno %d\n", __LINE__, #x, errno)))
static char *until;
__attribute__((noipa)) static int work(int n)
{
	int sum = 0;

	for (int i = 0; i < n % 5; i++)
		sum += (sum ^ i) * n;
	return sum;
}
static void *reads(void *arg)
{
	char c;
	CHECK(read(fds[0], &c, 1) == 1);
	return arg;
}
static void *polls(void *arg)
{
	struct pollfd p = {fds[0], POLLIN, 0};
	CHECK(poll(&p, 1, -1) == 1);
	return arg;
}
static void *selects(void *arg)
{
	fd_set set;
	FD_ZERO(&set);
	FD_SET(fds[0], &set);
	CHECK(select(fds[0] + 1, &set, NULL, NULL, NULL) == 1);
	return arg;
}
static void *sleeps(void *arg)
{
	struct timespec third = {0, 300000000};
	while (access(until, F_OK))
		CHECK(!nanosleep(&third, NULL));
	return arg;
}
static void *polls_for_a_time(void *arg)
{
	while (access(until, F_OK)) {
		struct timespec a, b;
		clock_gettime(CLOCK_MONOTONIC, &a);
		CHECK(!poll(NULL, 0, 300));
		clock_gettime(CLOCK_MONOTONIC, &b);
		CHECK((b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000 >= 299);
	}
	return arg;
}
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *locks(void *arg)
{
	CHECK(!pthread_mutex_lock(&lock));
	pthread_mutex_unlock(&lock);
	return arg;
}
int main(int argc, char **argv)
{
	void *(*all[])(void *) = {reads, polls, selects, sleeps, polls_for_a_time, locks};
	pthread_t threads[6];
	unsigned sum = 0;

	until = argv[1];
	if (pipe(fds))
		return 1;
	pthread_mutex_lock(&lock);
	for (int i = 0; i < 6; i++)
		pthread_create(&threads[i], NULL, all[i], NULL);
	do {
		sum = 0;
		for (int i = 0; i < 100; i++)
			sum = sum * 31 + work(i);
		usleep(1000);
	} while (access(until, F_OK));
	pthread_mutex_unlock(&lock);
	CHECK(write(fds[1], "xxxxxxxx", 8) == 8);
	for (int i = 0; i < 6; i++)
		pthread_join(threads[i], NULL);
	printf("%u\n", sum);
	return bad;
}
END
: >"$T/until"
"$T/waits" "$T/until" >"$T/plain"
rm "$T/until"
"$T/waits" "$T/until" >"$T/waited" 2>&1 &
waits=$!
at_end "kill $waits 2>/dev/null"
# what a process has mapped, but for the kernel's page for probes
mapped() { awk '$6 != "[uprobes]" { print $1, $2, $6 }' "/proc/$1/maps"; }
works() { (($(awk '{ print $14 }' /proc/$waits/stat) > 0)); }
wait_for "$PATIENCE" works
mapped $waits >"$T/maps"
for options in '-l 5000 -F json' '-c -F json' '--last 30 -F json' '-l 5000 --placement witness -F json'; do
	# shellcheck disable=SC2086
	bb user "$T/waits" '*' -p $waits --engine inline -t 1 $options -o "$T/json"
	exits 0 "$options: a process whose threads wait in system calls"
	ok $(($(grep -c '"symbol":"work"' "$T/json") < 1)) "$options: what it does then is shown"
	is "$(json "$T/json" '$e->{event} eq "entry" && $e->{comm} ne "waits"')" 0 "$options: with its name"
	mapped $waits >"$T/maps.then"
	same "$T/maps.then" "$T/maps" "$options: nothing else is mapped then"
done

# ---- in handlers, which return to where the code is another one then ----
source_program handles c -O1 <<'END'
/* handles FOLDER [alt]: interrupts itself; the handler touches FOLDER/in.N and waits for FOLDER/go.N. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>
#define ROUNDS 8
static volatile sig_atomic_t rounds;
static char *folder;
static char stack[65536];
/* Where the time goes: to instructions that a springboard covers, whose bytes are another instruction's then. */
unsigned slow(unsigned n);
__asm__(".globl slow\n.type slow, @function\n.p2align 4\nslow:\n"
	"mov %edi, %eax\n"
	"div %edi\n" /* edx is less than edi */
	"mov %edi, %ecx\n"
	"imul %ecx, %ecx\n"
	"lea 1(%rax,%rcx), %eax\n"
	"ret\n.size slow, .-slow\n");
__attribute__((noipa)) static unsigned mix(unsigned n)
{
	for (unsigned i = 0; i < 64; i++) {
		unsigned out;

		__asm__ volatile("xor %%edx, %%edx; call slow" : "=a"(out) : "D"(n | 1) : "rdx", "rcx", "cc", "memory");
		n = n * 2654435761u + out;
	}
	return n;
}
static void handler(int sig)
{
	char in[300], go[300];

	snprintf(in, sizeof(in), "%s/in.%d", folder, rounds);
	snprintf(go, sizeof(go), "%s/go.%d", folder, rounds);
	fclose(fopen(in, "w"));
	while (access(go, F_OK))
		usleep(1000);
	rounds++;
}
int main(int argc, char **argv)
{
	struct sigaction sa = {.sa_handler = handler, .sa_flags = argc > 2 ? SA_ONSTACK : 0};
	stack_t alt = {.ss_sp = stack, .ss_size = sizeof(stack)};
	unsigned n, sum = 0;

	folder = argv[1];
	sigaltstack(&alt, NULL);
	sigaction(SIGVTALRM, &sa, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		struct itimerval soon = {.it_value = {0, 1000 + 777 * i}};
		unsigned k, at;

		n = i + 1;
		setitimer(ITIMER_VIRTUAL, &soon, NULL);
		for (k = 0; rounds == i; k++)
			n = mix(n);
		/* the same without being interrupted */
		at = i + 1;
		while (k--)
			at = mix(at);
		if (at != n)
			printf("round %d: %u, %u\n", i, n, at);
		sum = sum * 31 + (at == n);
	}
	printf("%u\n", sum);
	return 0;
}
END
for kind in '' alt; do
	rm -rf "$T/f"
	mkdir "$T/f"
	touch "$T/f"/go.{0..7}
	# shellcheck disable=SC2086
	"$T/handles" "$T/f" $kind >"$T/plain.handles"
	rm "$T/f"/*
	# shellcheck disable=SC2086
	"$T/handles" "$T/f" $kind >"$T/handled" 2>&1 &
	handles=$!
	for n in {0..7}; do
		wait_for "$PATIENCE" test -e "$T/f/in.$n"
		: >"$T/err" # what the one before said is no sign of this one
		"$BBTRACE" user "$T/handles" '*' -p $handles --engine inline -o "$T/trace" -v >"$T/out" 2>"$T/err" </dev/null &
		tracer=$!
		wait_for "$PATIENCE" grep -qs 'has its copies' "$T/err"
		touch "$T/f/go.$n"
		((n == 7)) || wait_for "$PATIENCE" test -e "$T/f/in.$((n + 1))"
		kill -TERM $tracer
		wait $tracer
	done
	wait $handles
	is "$? $(<"$T/handled")" "0 $(<"$T/plain.handles")" "handlers${kind:+ on another stack} return to code that was changed meanwhile"
done

# ---- the same as by probes ----
# once NAME: the events of work(9), without what differs.
once() {
	json_lines "$T/json" '$e->{event} =~ /^(entry|branch|return)$/ ? join(" ", @{$e}{qw(event symbol offset)},
		map { $e->{$_} // "" } qw(kind taken value)) . ($e->{event} eq "entry" ? $e->{regs}{rdi} : "") : ""' |
		awk '/^entry work/ { n = /0x9$/ && !seen++ } n' >"$T/$1"
}
for engine in probe inline; do
	bb user "$T/waits" work -p $waits --engine $engine -l 2000 -F json -o "$T/json"
	exits 0 "$engine: a running process is traced"
	once $engine
done
same "$T/inline" "$T/probe" 'a call is shown as by probes'
ok $(($(wc -l <"$T/inline") < 4)) 'with its branches'

# ---- counts of what runs ----
# Each call of run() makes 1000 indirect jumps, whose targets are logged, and 999 of them are followed by a counted branch.
# Only the calls that begin before or end after the trace make less: one a thread each.
source_program dispatches c -O2 -fno-gcse -pthread <<'END'
#include <pthread.h>
#include <unistd.h>
__attribute__((noipa)) static int run(const unsigned char *p, int n)
{
	static void *ways[] = {&&a, &&b, &&c, &&d};
	int s = 0;
#define NEXT do { if (!n--) return s; goto *ways[*p++ & 3]; } while (0)
	NEXT;
a:	s += 1; NEXT;
b:	s ^= n; NEXT;
c:	if (s & 1) s += 3; NEXT;
d:	s -= n; NEXT;
}
static unsigned char code[1000];
static volatile int sink;
static void *runs(void *until)
{
	while (access(until, F_OK))
		for (int i = 0; i < 100; i++)
			sink += run(code, sizeof(code));
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t thread;

	for (int i = 0; i < sizeof(code); i++)
		code[i] = i * 7 + i / 3;
	pthread_create(&thread, NULL, runs, argv[1]);
	runs(argv[1]);
	pthread_join(thread, NULL);
	return 0;
}
END
"$T/dispatches" "$T/end" &
dispatches=$!
at_end "kill $dispatches 2>/dev/null"
wait_for "$PATIENCE" has_threads $dispatches 2
bb user "$T/dispatches" run -p $dispatches --engine inline -c -t 0.4 -F json -o "$T/json"
exits 0 'a process that runs: its branches are counted'
is "$(json_lines "$T/json" '
	our ($jumps, $rets);
	$jumps += $e->{taken_count} if ($e->{kind} // "") eq "ijmp";
	$rets += $e->{taken_count} if ($e->{kind} // "") eq "ret";
	$e->{event} eq "summary" || return "";
	my ($residue, $cut) = map { $e->{$_} // 0 } qw(residue cut);
	$rets > 10 && abs($jumps - 1000 * $rets) <= 2000 && $residue <= $cut && $cut <= 4 ? "right"
		: "$jumps jumps, $rets rets, residue $residue, cut $cut"')" right \
	'they tell of whole calls, but for those that the trace begins or ends in'
: >"$T/end"
wait $dispatches

# ---- bbtrace is killed ----
: >"$T/err"
"$BBTRACE" user "$T/waits" '*' -p $waits --engine inline -o "$T/trace" -v >"$T/out" 2>"$T/err" </dev/null &
tracer=$!
wait_for "$PATIENCE" grep -qs 'has its copies' "$T/err"
supervisor=$(sed -n 's/^TracerPid:[[:space:]]*//p' /proc/$waits/status)
like "$T/err" "^bbtrace: process $waits was stopped for [0-9.]+ ms\$" '-v says for how long it was stopped'
like "$T/err" "^bbtrace: process $waits: .*/waits has its copies at .*, made while it ran\$" 'the copies were made before it was stopped'
isnt "$supervisor" 0 'while it is traced it has a tracer'
bb user "$T/waits" work -p $waits --engine inline -t 1
exits 1 'what is traced already is not traced inline again'
like "$T/err" "tracing by probes instead, since .*process $supervisor does already" 'and says who does'
like "$T/err" "process $waits runs copies of functions" 'nor by probes'
kill -9 $tracer
wait $tracer 2>/dev/null
wait_for "$PATIENCE" grep -q '^TracerPid:[[:space:]]*0$' /proc/$waits/status
ok $? 'bbtrace is killed: it is let go'
bb user "$T/waits" work -p $waits --engine inline -l 20 -F json -o "$T/json"
exits 0 'and can be traced again'

: >"$T/until"
wait $waits
is "$? $(<"$T/waited")" "0 $(<"$T/plain")" 'no system call has failed, and its result is what it always is'

# ---- several, and their children ----
rm "$T/until"
"$T/waits" "$T/until" >/dev/null 2>&1 &
one=$!
"$T/waits" "$T/until" >/dev/null 2>&1 &
two=$!
at_end "kill $one $two 2>/dev/null"
bb user "$T/waits" work -p $one -p $two --engine inline -t 1 -l 20000 -F json -o "$T/json"
exits 0 'two processes at once'
for pid in $one $two; do
	ok $(($(json "$T/json" '$e->{event} eq "entry" && $e->{pid} == '$pid) < 1)) "process $pid is traced"
done
: >"$T/until"
wait $one
is $? 0 'the one ends as it does'
wait $two
is $? 0 'and the other'

# ---- thousands of functions, some of whose patches are in two pages ----
python=$(realpath /usr/bin/python3)
if "$BBTRACE" list "$python" PyLong_FromLong >/dev/null 2>&1; then
	rm -f "$T/until"
	background "$python" -S -c 'import os, sys
n = 0
while not os.path.exists(sys.argv[1]):
    n += sum(i * i for i in range(1000)) == 332833500 or 10 ** 9
print(n < 10 ** 9)' "$T/until"
	bb user "$python" '*' -p "$background" --engine inline -c -t 0.5 -o "$T/counts"
	exits 0 'all functions of python3, while it runs'
	ok $(($(summary events) < 1000)) 'it is traced' || diag "$(<"$T/err")"
	unlike "$T/err" 'is not traced' 'nothing of it is refused'
	: >"$T/until"
	wait "$background"
	is "$? $(<"$T/bg.out")" '0 True' 'its sums are right'
else
	skip 'all functions of python3' 'it has no symbols here'
fi

# ---- what can't be ----
source_program gs c <<'END'
#include <asm/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
static long own[8];
int main(void)
{
	syscall(SYS_arch_prctl, ARCH_SET_GS, own);
	if (write(1, "x", 1) == 1)
		pause();
	return 0;
}
END
"$T/gs" >"$T/out" &
gs=$!
at_end "kill $gs 2>/dev/null"
wait_for "$PATIENCE" test -s "$T/out"
bb user "$T/gs" main -p $gs --engine inline -t 0.1
exits 0 'a process that uses the gs segment is traced'
like "$T/err" 'tracing by probes instead, since process [0-9]+ uses the gs segment' 'by probes, which is said'
is "$(sed -n 's/^TracerPid:[[:space:]]*//p' /proc/$gs/status)" 0 'nothing is left of it'
bb user "$T/gs" main -p $gs --engine auto -v -t 0.1
exits 0 '--engine auto: a running process is traced'
like "$T/err" 'by probes' 'by probes'
true &
ended=$!
wait $ended
bb user "$T/waits" work -p $ended --engine inline -t 1
exits 1 'a process that does not exist'
done_testing

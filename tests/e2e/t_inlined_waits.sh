#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Nobody is held, and nobody waits for ever: copies in processes that are stopped, frozen, that wait for a child of vfork(2) or
# for memory that somebody else provides. Each trace ends by itself; each process is then as it was found, and continues.
# shellcheck disable=SC2154 # lib.sh sets status
. "$(dirname "$0")/lib.sh"
needs root uprobes
[[ $(uname -m) == x86_64 ]] || skip_all 'functions are copied on x86-64 only'

source_program waits c -pthread <<'END'
/* waits MODE UNTIL [FILE]: threads that execute work(), and one that waits as MODE says, until the file UNTIL is there. */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int handled, fed;
static char *page;
static int fault_fd;
static const char *until;
__attribute__((noipa)) long work(const char *from, long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += i % 3 ? from[i % 64] + i : sum ^ i;
	return sum;
}
static int is_over(void) { return !access(until, F_OK); }
/* One thread is always in work(), the other sleeps now and then: other tests run at the same time. */
static void *compute(void *sleeps)
{
	static const char zeros[64];
	long want = work(zeros, 1000), bad = 0;

	while (!is_over() || !fed) {
		for (int i = 0; i < 200; i++)
			bad += work(zeros, 1000) != want;
		if (sleeps)
			usleep(1000);
	}
	return (void *)bad;
}
static void on_signal(int sig) { handled++; }
static void *touch(void *unused)
{
	return (void *)(long)(work(page, 1000) != work(memset(malloc(64), 0, 64), 1000));
}
/* Provides its page at the end. */
static void *feed(void *unused)
{
	struct uffdio_zeropage z = {.range = {(unsigned long)page, 4096}};

	while (!is_over())
		usleep(10000);
	fed = 1;
	ioctl(fault_fd, UFFDIO_ZEROPAGE, &z);
	return 0;
}
static int begin_faults(void)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register r = {.mode = UFFDIO_REGISTER_MODE_MISSING};

	fault_fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	r.range.start = (unsigned long)page;
	r.range.len = 4096;
	return fault_fd < 0 || ioctl(fault_fd, UFFDIO_API, &api) || ioctl(fault_fd, UFFDIO_REGISTER, &r);
}
static int begin_file(const char *name)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);

	page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	return page == MAP_FAILED;
}
static void *fork_it(void *unused)
{
	pid_t pid = vfork();

	if (!pid) {
		while (!is_over())
			usleep(10000);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	return 0;
}
int main(int argc, char **argv)
{
	void *(*run)(void *) = compute, *bad[3] = {0};
	pthread_t t[3];
	int n = 2;

	until = argv[2];
	signal(SIGUSR1, on_signal);
	fed = strcmp(argv[1], "fault") != 0;
	if (!fed && begin_faults())
		return 77;
	if (argc > 3 && begin_file(argv[3]))
		return 77;
	run = !fed || argc > 3 ? touch : !strcmp(argv[1], "vfork") ? fork_it : compute;
	pthread_create(&t[0], 0, compute, 0);
	pthread_create(&t[1], 0, run, argv);
	if (!strcmp(argv[1], "fault"))
		pthread_create(&t[n++], 0, feed, 0);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], &bad[i]);
	printf("%ld %d\n", (long)bad[0] + (long)bad[1], handled);
	return 0;
}
END

finds_command() { pid=$(pgrep -f "^$T/waits fault"); }

# MODE [THREADS [FILE]]: what it waits for; the process is $pid.
begin() {
	rm -f "$T/until"
	"$T/waits" "$1" "$T/until" ${3:+"$3"} >"$T/said" &
	pid=$!
	wait_for 60 has_threads $pid $((1 + ${2:-2}))
	sleep 0.2
}

are_stopped() { [[ $(states) == 'T T T' ]]; }
states() { sed -n 's/^State:\t\(.\).*/\1/p' /proc/$pid/task/*/status | sort | xargs; }
# Does bbtrace end by itself? The process lives until goes_on.
traced() {
	timeout -k 5 60 "$BBTRACE" user "$T/waits" work -p $pid -t 1 "$@" -F summary -o "$T/text" >/dev/null 2>"$T/err"
	status=$?
	[[ $status == 0 || $status == 1 ]]
	ok $? "$mode ($*): the trace ends by itself, with status $status" || diag "$(<"$T/err")"
}
goes_on() {
	ok "$(kill -0 $pid; echo $?)" "$mode: the process has not ended"
	: >"$T/until"
	wait $pid
	is $? 0 "$mode: it goes on and ends well"
	is "$(<"$T/said")" "0 0" '… with its results'
}

for options in '--engine inline' '-c --engine inline' '--last 10 --engine inline'; do
	mode=stopped
	begin plain
	kill -STOP $pid
	wait_for 60 are_stopped
	# shellcheck disable=SC2086 # several
	traced $options
	is "$(states)" 'T T T' "$mode ($options): it is stopped as before"
	is "$(sed -n 's/^TracerPid:\t//p' /proc/$pid/status)" 0 '… and nobody traces it'
	kill -CONT $pid
	goes_on
done

mode=vfork
begin vfork
traced --engine inline
is "$(sed -n 's/^TracerPid:\t//p' /proc/$pid/task/*/status | sort -u)" 0 "$mode: nobody traces it"
goes_on

mode=fault
begin fault 3
if [[ -d /proc/$pid ]]; then
	traced --engine inline
	is "$(sed -n 's/^TracerPid:\t//p' /proc/$pid/task/*/status | sort -u)" 0 "$mode: nobody traces it"
	goes_on
	# from the beginning, and a signal comes while it waits in a copy
	rm "$T/until"
	timeout -k 5 100 "$BBTRACE" user "$T/waits" '*' --engine inline -F summary -o "$T/text" -- "$T/waits" fault "$T/until" >"$T/said" 2>"$T/err" &
	tracer=$!
	wait_for 60 finds_command
	wait_for 60 has_threads "$pid" 4
	sleep 1
	kill -USR1 "$(printf '%s\n' /proc/"$pid"/task/* | sed -n '3s/.*\///p')"
	: >"$T/until"
	wait $tracer
	is $? 0 "$mode: a command that waits in a copy is traced to its end" || diag "$(<"$T/err")"
	is "$(<"$T/said")" '0 1' '… with its results, and its signal'
else
	skip "$mode: a page that somebody else provides" 'no userfaultfd'
fi

# as one of a server that is gone
mode='file'
hang() {
	rm -f "$T/go"
	umount -l "$T/hung" 2>/dev/null
	mkdir -p "$T/hung"
	python3 "$ROOT/tests/check/hung_file.py" "$T/hung" "$T/go" >"$T/fuse" 2>&1 &
	wait_for 20 test -e "$T/hung/file"
}
at_end "umount -l '$T/hung' 2>/dev/null"
for options in '--engine inline' '--last 10 --engine inline' '--engine probe'; do
	if ! hang; then
		skip "$mode ($options): a file that nobody provides" "no FUSE: $(<"$T/fuse")"
		continue
	fi
	begin file 2 "$T/hung/file"
	# shellcheck disable=SC2086 # several
	traced $options
	is "$(sed -n 's/^TracerPid:\t//p' /proc/$pid/task/*/status | sort -u)" 0 "$mode ($options): nobody traces it"
	touch "$T/go"
	goes_on
done

mode=frozen
group=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
if [[ -n $group ]] && mkdir "$group/bbtrace-test.$$" 2>/dev/null; then
	group+=/bbtrace-test.$$
	at_end "echo 0 >$group/cgroup.freeze; rmdir $group 2>/dev/null"
	begin plain
	echo $pid >"$group/cgroup.procs"
	echo 1 >"$group/cgroup.freeze"
	wait_for 60 grep -q 'frozen 1' "$group/cgroup.events"
	traced --engine inline
	is "$(sed -n 's/^TracerPid:\t//p' /proc/$pid/task/*/status | sort -u)" 0 "$mode: nobody traces it"
	grep -q 'frozen 1' "$group/cgroup.events"
	ok $? '… and it is frozen as before'
	echo 0 >"$group/cgroup.freeze"
	goes_on
else
	skip "$mode: a control group that is frozen" 'no cgroup v2 that may be changed'
fi

done_testing

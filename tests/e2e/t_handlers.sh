#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Counts (-c) of code that handlers of signals interrupt: one that returns to where it interrupted leaves no count open, where
# the kernel has kprobes; one that goes elsewhere does.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes

cat >"$T/handlers.c" <<'END'
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
static sigjmp_buf back;
static volatile sig_atomic_t handled;
static char *page;
static void count(int sig) { handled++; }
static void leave(int sig) { siglongjmp(back, sig); }
static void skip(int sig, siginfo_t *info, void *context)
{
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2;
}
static void map(int sig) { mprotect(page, 4096, PROT_READ); }
int read_it(const void *p);
__asm__(".globl read_it\n.type read_it,@function\nread_it: mov (%rdi),%eax\nret\n.size read_it,.-read_it\n");
__attribute__((noipa)) int spin(volatile long *n)
{
	do
		++*n;
	while (handled < 40);
	return 0;
}
static void handle(int sig, void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

	sigaction(sig, &action, NULL);
}
int main(int argc, char **argv)
{
	const struct itimerval often = {{0, 2000}, {0, 2000}};
	static char stack[1 << 16];
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	volatile long n = 0;

	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!strcmp(argv[1], "skip")) handle(SIGSEGV, (void (*)(int))skip, SA_SIGINFO);
	if (!strcmp(argv[1], "leave")) handle(SIGSEGV, leave, 0);
	if (!strcmp(argv[1], "map")) handle(SIGSEGV, map, 0);
	if (strcmp(argv[1], "timer") && strcmp(argv[1], "onstack"))
		return sigsetjmp(back, 1) ? 0 : read_it(page) & 0;
	sigaltstack(&alternate, NULL);
	handle(SIGALRM, count, !strcmp(argv[1], "onstack") ? SA_ONSTACK : 0);
	setitimer(ITIMER_REAL, &often, NULL);
	spin(&n);
	printf("%ld\n", n);
	return 0;
}
END
cc -O1 -g -o "$T/handlers" "$T/handlers.c" || exit 2
open_counts() { json_lines "$T/json" '$e->{event} eq "summary" && ($e->{cut} // 0)'; }
counts() { json_lines "$T/json" '$e->{event} eq "edge" && join "/", $e->{taken_count}, $e->{not_taken_count} // ()' | xargs; }

for way in timer onstack; do
	bb user "$T/handlers" spin -c -F json -o "$T/json" -- "$T/handlers" $way
	exits 0 "$way: handlers that return"
	n=$(<"$T/out")
	if pmu kprobe; then
		is "$(open_counts) $(counts)" "0 $((n - 1))/1 1" "$way: they leave no count open, and all are exact"
	else
		skip "$way: they leave no count open" 'this kernel has no kprobes'
		is "$(($(open_counts) <= 41))" 1 "$way: each may leave one open"
	fi
	unlike "$T/err" 'contradict' "$way: the counts agree"
done
mechanisms
for way in skip leave map; do
	bb user "$T/handlers" read_it -c -F json -o "$T/json" -- "$T/handlers" $way
	exits 0 "$way: a fault and its handler"
	rets=$(counts)
	# where the ret carries the probe, whose program does it, what faulted isn't counted again: that is exact
	wanted=1
	if [[ $way == map ]] && has_mechanism executed_event; then
		wanted=0
		is "$rets" 1 "$way: the ret was counted once"
	fi
	is "$(open_counts)" "$wanted" "$way: a handler that goes elsewhere, or to an instruction that is counted again, leaves one open"
	ok $((rets < 0 || rets > 2)) "$way: it is off by one at most: $rets of 1"
done
done_testing

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# profile, -k: the callers of the vDSO, of what is no code, and the names of generated code that a short run writes at its
# end only. The programs themselves know who called, and how often.
# shellcheck disable=SC2154,SC2034 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes

# share FILE NAME: the per cent of the samples in folded lines with this function
share() { awk -v name="$2" '{ n = $NF; all += n } $0 ~ "(^|;)" name "(_\\[[a-z]\\])?(;| )" { in_it += n } END { printf "%d\n", all ? 100 * in_it / all : 0 }' "$1"; }
between() { (($1 >= $2 && $1 <= $3)); }

# ---- the vDSO ----
cat >"$T/clock.c" <<'END'
	#include <signal.h>
	#include <sys/time.h>
	#include <time.h>

	static volatile long sink;
	#define READ(name, clock, times) __attribute__((noinline)) void name(void) \
		{ struct timespec t; for (int i = 0; i < times; i++) clock_gettime(clock, &t); sink += t.tv_nsec; }
	READ(few, CLOCK_MONOTONIC, 4000000)
	READ(many, CLOCK_MONOTONIC, 16000000)
	READ(wall, CLOCK_REALTIME, 10000000)
	__attribute__((noinline)) void here(void) { sink++; }
	static void on_alarm(int sig) { here(); }

	int main(int argc, char **argv)
	{
		struct itimerval every = {{0, 2000}, {0, 2000}};

		if (argc > 1) {
			signal(SIGALRM, on_alarm);
			setitimer(ITIMER_REAL, &every, 0);
		}
		few();
		many();
		wall();
		return 0;
	}
END
"${CC:-cc}" -O1 -g -fno-optimize-sibling-calls -o "$T/clock" "$T/clock.c" || exit 2
has_vdso() { ldd "$T/clock" | grep -q 'vdso'; }
if has_vdso; then
	bb profile --freq 997 -F folded --record "$T/trace" -o "$T/folded" -- "$T/clock"
	exits 0 'a program that reads the clock'
	few=$(share "$T/folded" few) many=$(share "$T/folded" many) wall=$(share "$T/folded" wall)
	between $((few + many + wall)) 85 100
	ok $? 'nearly all samples have their caller' || diag "few $few, many $many, wall $wall"
	between "$many" $((few * 2)) $((few * 8))
	ok $? 'four times as many where it was read four times as often' || diag "few $few, many $many"
	between "$(share "$T/folded" '(__vdso_)?clock_gettime')" 50 100
	ok $? 'the function of the vDSO has its name' || diag "$(head -3 "$T/folded")"
	bb report "$T/trace" -F folded
	is "$(sort "$T/out")" "$(sort "$T/folded")" 'in a trace file, too'
	# a signal that interrupts it: its handler's callers
	bb user "$T/clock" here -k -e entry -F json -o "$T/json" -- "$T/clock" alarm
	json_lines "$T/json" '$e->{event} eq "entry" ? join(" ", ($e->{stack_end} // "whole"), map { $_->{symbol} // $_->{object} // "?" } @{$e->{stack}}) : ""' >"$T/stacks"
	grep -cE 'clock_gettime.* (few|many|wall) main ' "$T/stacks" >"$T/count"
	(($(<"$T/count") * 2 > $(grep -c . "$T/stacks")))
	ok $? 'most signals interrupt the vDSO, and lead to who called it' || diag "$(sort "$T/stacks" | uniq -c | sort -rn | head -5)"
	is "$(grep -E ' clock_gettime|__vdso' "$T/stacks" | grep -cv '^whole')" 0 'all these stacks are whole'
else
	skip 'the vDSO' 'there is none'
fi

# ---- a handler of a call of what is no code ----
cat >"$T/bad.c" <<'END'
	#include <setjmp.h>
	#include <signal.h>
	#include <stdlib.h>

	static volatile long sink;
	static sigjmp_buf back;
	typedef int call(int);
	__attribute__((noinline)) void here(void) { sink++; }
	static void on_fault(int sig) { here(); siglongjmp(back, 1); }
	__attribute__((noinline)) static int leaf(call *f, int x) { return f(x) + 1; }
	__attribute__((noinline)) static int tail(call *f, int x) { return f(x); }

	int main(int argc, char **argv)
	{
		call *bad[] = {0, (call *)0x123, (call *)malloc(10), (call *)&sink};

		signal(SIGSEGV, on_fault);
		for (volatile int i = 0; i < 4; i++)
			if (!sigsetjmp(back, 1))
				sink += leaf(bad[i], i);
		if (!sigsetjmp(back, 1))
			sink += tail(0, 1);
		return 0;
	}
END
"${CC:-cc}" -O1 -g -o "$T/bad" "$T/bad.c" || exit 2
bb user "$T/bad" here -k -e entry -F json -o "$T/json" -- "$T/bad"
json_lines "$T/json" '$e->{event} eq "entry" ? join(" ", map { $_->{symbol} // "?" } @{$e->{stack}}) . " " . ($e->{stack_end} // "whole") : ""' >"$T/stacks"
is "$(sed -E 's/^here on_fault [^ ]+ (\S+) (.*) main .*/\1 \2/' "$T/stacks" | sed 's/^sink/?/')" "? leaf
? leaf
? leaf
? leaf
? tail" 'what was called, and by whom'

# ---- a handler on an alternate stack ----
cat >"$T/other.c" <<'END'
	#include <signal.h>
	#include <stdlib.h>
	#include <string.h>

	static volatile long sink;
	__attribute__((noinline)) void here(void) { sink++; }
	__attribute__((noinline)) void spin(long n) { for (long i = 0; i < n; i++) sink += i; here(); }
	__attribute__((noinline)) static void nested(int n) { if (n) nested(n - 1), sink++; else raise(SIGUSR2); }
	static void on_other(int sig) { spin(20000000); if (sig == SIGUSR1) nested(3); }
	__attribute__((noinline)) static void inner(int sig) { volatile char room[300]; room[sig] = 1; raise(sig); sink += room[sig]; }
	__attribute__((noinline)) void outer(int sig) { inner(sig); sink++; }

	int main(int argc, char **argv)
	{
		size_t size = 65536 + atoi(argv[1]);
		stack_t other = {.ss_sp = (char *)calloc(1, size + 64) + atoi(argv[1]) % 64, .ss_size = size};
		struct sigaction sa = {.sa_handler = on_other, .sa_flags = SA_ONSTACK};

		sigaltstack(&other, NULL);
		sigaction(SIGUSR1, &sa, NULL);
		sigaction(SIGUSR2, &sa, NULL);
		for (int i = 0; i < 4; i++)
			outer(SIGUSR1);
		return 0;
	}
END
if [[ $(uname -m) == x86_64 ]]; then
	"${CC:-cc}" -O1 -g -fno-optimize-sibling-calls -o "$T/other" "$T/other.c" || exit 2
	for size in 0 8 24 40 1000; do # whatever its alignment
		bb profile --freq 997 --stack-size 16K -F folded -o "$T/folded" -- "$T/other" $size
		between "$(awk '/;spin/ { all += $NF } /;main;outer;inner;.*on_other;spin/ { n += $NF } END { print all < 20 ? "few" : int(100 * n / all) }' "$T/folded")" 85 100
		ok $? "$size: the samples in the handler have the frames of both stacks" || diag "$(head -5 "$T/folded")"
		bb user "$T/other" here -k --stack-size 16K -e entry -F json -o "$T/json" -- "$T/other" $size
		json_lines "$T/json" '$e->{event} eq "entry" ? join(" ", (map { $_->{symbol} // "?" } @{$e->{stack}}), $e->{stack_end} // "whole") : ""' |
			sed -E 's/ (__restore_rt|\?)//g; s/ (__libc_|_start|__pthread|raise|gsignal|pthread)[^ ]*//g' | sort | uniq -c | sed 's/^ *//' >"$T/stacks"
		is "$(<"$T/stacks")" "4 here spin on_other inner outer main whole
4 here spin on_other nested nested nested nested on_other inner outer main whole" "$size: stacks are whole, also of a signal in the handler"
	done
else
	skip 'a handler on an alternate stack' 'x86-64 only'
fi

# ---- generated code whose names are written at the end ----
cat >"$T/jit.c" <<'END'
	#include <stdio.h>
	#include <stdlib.h>
	#include <string.h>
	#include <sys/mman.h>
	#include <unistd.h>

	/* mov $30000000,%ecx; 1: dec %ecx; jne 1b; ret */
	static const unsigned char code[] = {0xb9, 0x80, 0xc3, 0xc9, 0x01, 0xff, 0xc9, 0x75, 0xfc, 0xc3};

	/* jit LOOPS: hot is called three times as often as warm. */
	int main(int argc, char **argv)
	{
		char *at = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), path[64];
		FILE *f;

		memcpy(at, code, sizeof(code));
		memcpy(at + 256, code, sizeof(code));
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
		f = fopen(path, "w");
		fprintf(f, "%lx 10 hot\n%lx 10 warm\n", (long)at, (long)at + 256); /* in its buffer */
		for (int i = 0; i < atoi(argv[1]); i++)
			((void (*)(void))(at + (i % 4 ? 0 : 256)))();
		printf("%s\n", path);
		return 0;
	}
END
if [[ $(uname -m) == x86_64 ]]; then
	"${CC:-cc}" -O2 -w -o "$T/jit" "$T/jit.c" || exit 2
	for loops in 20 100; do
		bb profile --freq 997 -F folded --record "$T/trace" -o "$T/folded" -- "$T/jit" $loops
		rm -f "$(<"$T/out")"
		hot=$(share "$T/folded" hot) warm=$(share "$T/folded" warm)
		between $((hot + warm)) 80 100 && between "$hot" $((warm * 2)) $((warm * 5))
		ok $? "$loops calls: named, three to one" || diag "hot $hot, warm $warm"
		bb report "$T/trace" -F folded
		is "$(sort "$T/out")" "$(sort "$T/folded")" "$loops calls: in a trace file, too"
	done
	# another user's file isn't read
	bb profile --freq 997 -F folded -o "$T/folded" -- bash -c ': >/tmp/perf-$$.map; chown 12345 /tmp/perf-$$.map; echo /tmp/perf-$$.map; exec "$@"' - "$T/jit" 20
	rm -f "$(head -1 "$T/out")"
	is "$(share "$T/folded" hot)" 0 "a file of another user's names nothing"
else
	skip 'generated code' 'x86-64 only'
fi
done_testing

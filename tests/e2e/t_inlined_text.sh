#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --engine inline and programs that change their own code, or execute copies of it: they do as untraced, and it is said.
# shellcheck disable=SC2154 # lib.sh sets status
. "$(dirname "$0")/lib.sh"
needs root uprobes
[[ $(uname -m) == x86_64 ]] || skip_all 'functions are copied on x86-64 only'

source_program patcher c -O2 -pthread <<'END'
/* patcher WAY [ROUNDS]: replaces nops in its functions, and calls them between any two changes. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#define FUNCTIONS 24
/* Each adds what its nop was replaced by; loops and branches are around it. */
#define F(n)                                                                                       \
	extern unsigned char spot##n[];                                                            \
	__attribute__((noinline, aligned(64))) long f##n(long x)                                   \
	{                                                                                          \
		long sum = n;                                                                      \
		for (long i = 0; i < x; i++)                                                       \
			sum += i & 1 ? 3 : i;                                                      \
		__asm__ volatile(".globl spot" #n "\nspot" #n ": .byte 0x0f, 0x1f, 0x44, 0, 0"      \
				 : "+a"(sum));                                                     \
		return sum;                                                                        \
	}
#define ALL(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11) M(12) M(13) M(14) M(15) M(16) M(17) M(18)      \
	M(19) M(20) M(21) M(22) M(23)
ALL(F)
#define NAME(n) f##n,
#define SPOT(n) spot##n,
static long (*volatile functions[])(long) = {ALL(NAME)};
static unsigned char *const spots[] = {ALL(SPOT)};
static const unsigned char nop[5] = {0x0f, 0x1f, 0x44, 0, 0};
static int memory = -1;
static void change(int n, int by, const char *way)
{
	unsigned char add[5] = {0x05, (unsigned char)by, 0, 0, 0}; /* add $by, %eax */
	char *page = (char *)((uintptr_t)spots[n] & -4096l);
	const unsigned char *code = by ? add : nop;

	if (!strcmp(way, "file")) {
		pwrite(memory, code, 5, (off_t)(uintptr_t)spots[n]);
		return;
	}
	mprotect(page, 8192, PROT_READ | PROT_WRITE | (strcmp(way, "plain") ? PROT_EXEC : 0));
	memcpy(spots[n], code, 5);
	mprotect(page, 8192, PROT_READ | PROT_EXEC);
}
/* So that none of this is in the pages that can't be executed for a moment. */
static int random_rounds(const char *way, int rounds)
{
	unsigned long state = 12345, sum = 0;

	for (int i = 0; i < rounds; i++) {
		state = state * 6364136223846793005ul + 1442695040888963407ul;
		change(state >> 33 & 15, state >> 40 & 3 ? state >> 48 & 127 : 0, way);
		for (int k = 0; k < FUNCTIONS; k++)
			sum = sum * 31 + (unsigned long)functions[k](state >> 56 & 7);
	}
	printf("%lu\n", sum);
	return 0;
}
static volatile int stop;
__asm__(".globl spin, spin_at\n.type spin, @function\n.p2align 6\nspin: xor %eax, %eax\n1: test %edi, %edi\nje 2f\nadd $1, %rdx\n"
	"spin_at: .byte 0x0f, 0x1f, 0x44, 0, 0\ncmp $7, %eax\njne 1b\n2: ret\n.size spin, .-spin\n");
extern unsigned char spin_at[];
extern int spin(int);
static void *spinner(void *unused)
{
	stop = spin(1);
	return unused;
}
/* A thread that is in a loop sees what another one changes. */
static int threads(void)
{
	static const unsigned char mov[5] = {0xb8, 7, 0, 0, 0};
	char *page = (char *)((uintptr_t)spin_at & -4096l);
	pthread_t t;

	pthread_create(&t, NULL, spinner, NULL);
	usleep(200000);
	mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
	memcpy(spin_at, mov, 5);
	mprotect(page, 8192, PROT_READ | PROT_EXEC);
	pthread_join(t, NULL);
	printf("%d\n", stop);
	return 0;
}
__attribute__((noinline, aligned(64))) static long other(long x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1000;
}
/* A function is redirected by a jump over its first bytes, and back. */
static int redirect(void)
{
	unsigned char was[5], jump[5] = {0xe9};
	char *at = (char *)f3, *page = (char *)((uintptr_t)at & -4096l);
	int far = (int)((char *)other - (at + 5));
	long a = functions[3](4), b, c;

	memcpy(was, at, 5);
	memcpy(jump + 1, &far, 4);
	mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
	memcpy(was, at, 5);
	memcpy(at, jump, 5);
	b = functions[3](4);
	memcpy(at, was, 5);
	mprotect(page, 8192, PROT_READ | PROT_EXEC);
	c = functions[3](4);
	printf("%ld %ld %ld\n", a, b, c);
	return 0;
}
/* Another process writes: it is seen within seconds. */
static int foreign(void)
{
	unsigned char add[5] = {0x05, 100, 0, 0, 0};
	struct iovec from = {add, 5}, to = {spots[5], 5};
	char *page = (char *)((uintptr_t)spots[5] & -4096l);
	long first = functions[5](4), last = first;
	pid_t me = getpid(), child;

	mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
	mprotect(page, 8192, PROT_READ | PROT_EXEC);
	if (!(child = fork())) {
		char path[64];
		int fd;

		snprintf(path, sizeof(path), "/proc/%d/mem", me);
		fd = open(path, O_RDWR);
		_exit(process_vm_writev(me, &from, 1, &to, 1, 0) != 5 &&
		      pwrite(fd, add, 5, (off_t)(uintptr_t)spots[5]) != 5);
	}
	waitpid(child, NULL, 0);
	for (int i = 0; i < 300 && last == first; i++, usleep(100000))
		last = functions[5](4);
	printf("%ld %ld\n", first, last);
	return 0;
}
/* Functions as data, executed elsewhere. */
static int copies(void)
{
	unsigned char *m = mmap(0, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long sum = 0;

	for (int n = 0; n < FUNCTIONS; n++) {
		memcpy(m + n * 256, (void *)functions[n], 128);
		sum = sum * 7 + ((long (*)(long))(m + n * 256))(n) + functions[n](n);
	}
	printf("%ld\n", sum);
	return 0;
}
int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 0;

	memory = open("/proc/self/mem", O_RDWR);
	if (!strcmp(argv[1], "threads"))
		return threads();
	if (!strcmp(argv[1], "redirect"))
		return redirect();
	if (!strcmp(argv[1], "foreign"))
		return foreign();
	if (!strcmp(argv[1], "copies"))
		return copies();
	if (!strcmp(argv[1], "once")) {
		long a = functions[2](10);

		change(2, 100, "mprotect");
		printf("%ld %ld\n", a, functions[2](10));
		return 0;
	}
	return random_rounds(argv[1], rounds);
}
END

functions=$(seq -f 'f%g' 0 23)
# NAME ARGUMENTS... [-- OPTIONS...]: the output is that without tracing
as_untraced() {
	local name=$1 program=()
	shift
	while [[ $# -gt 0 && $1 != -- ]]; do program+=("$1"); shift; done
	shift
	# shellcheck disable=SC2086
	bb user "$T/patcher" $functions spin --engine inline -F json -o "$T/json" "$@" -- "$T/patcher" "${program[@]}"
	is "$status $(cat "$T/out")" "0 $("$T/patcher" "${program[@]}")" "$name" || diag "$(head -5 "$T/err")"
}
for option in '' -c '--last 10'; do
	# shellcheck disable=SC2086
	as_untraced "an instruction is replaced${option:+ ($option)}" once -- $option
	# shellcheck disable=SC2086
	as_untraced "random changes, calls between any two${option:+ ($option)}" mprotect 100 -- $option
done
bb user "$T/patcher" f2 --engine inline -F json -o "$T/json" -- "$T/patcher" once
is "$(grep -c '"event":"entry"' "$T/json")" 2 'entries of what was changed are logged'
like "$T/err" 'f2 of .*is not traced any more, but for its entries: the program has changed its code' 'which is said'
as_untraced 'a thread in a loop sees what another one changes' threads --
as_untraced 'a function is redirected, and back' redirect --
as_untraced 'written as a file' file 60 --
as_untraced 'another process writes' foreign --
as_untraced 'functions that were copied as data' copies --
like "$T/err" 'executes a copy that it has made' 'which is said'

# ---- where linkers put code ----

# Two segments may meet within a page of the file, which is mapped twice then: what is mapped is found again whenever something
# is loaded, or made unwritable.
for link in '' -Wl,-z,noseparate-code -fuse-ld=lld '-fuse-ld=lld -Wl,-z,separate-code' '-fuse-ld=lld -no-pie' \
	'-fuse-ld=gold'; do
	[[ $link != *-fuse-ld=* ]] || command -v "ld.$(sed 's/.*-fuse-ld=\([a-z]*\).*/\1/' <<<"$link")" >/dev/null ||
		{ skip "linked with $link" 'no such linker' && continue; }
	# shellcheck disable=SC2086 # options
	source_program linked c $link -ldl <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
__attribute__((noinline)) int work(int n)
{
	int s = 0;
	for (int i = 0; i < n; i++)
		s += i % 3 ? i : 1;
	return s;
}
int main(void)
{
	int sum = work(10);
	for (int i = 0; i < 4; i++) {
		void *lib = dlopen("libm.so.6", RTLD_NOW), *page = aligned_alloc(4096, 4096);
		if (!lib || mprotect(page, 4096, PROT_READ))
			return 1;
		sum += work(20 + i);
		dlclose(lib);
		sum += work(30 + i);
	}
	printf("%d\n", sum);
	return 7;
}
END
	bb user "$T/linked" work --engine inline -F json -o "$T/json" -- "$T/linked"
	is "$status $(cat "$T/out") $(grep -c '"event":"entry"' "$T/json")" "7 $("$T/linked") 9" "linked with ${link:-the usual options}" ||
		diag "$(head -5 "$T/err")"
done
done_testing

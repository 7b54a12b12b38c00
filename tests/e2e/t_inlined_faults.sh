#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --engine inline and handlers of faults: they find the bytes of the instruction that has faulted, skip it, continue elsewhere in
# its function, leave, call it again, or fork, in several threads; also if the supervisor is killed while they run.
# shellcheck disable=SC2154 # lib.sh sets status
. "$(dirname "$0")/lib.sh"
needs root uprobes
[[ $(uname -m) == x86_64 ]] || skip_all 'functions are copied on x86-64 only'

source_program mends c -O1 -pthread <<'END'
/* mends THREADS ROUNDS [FOLDER FAULTS]: functions fault, at instructions that springboards cover. FOLDER: the handler waits
 * there, and so many FAULTS are enough. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#define FUNCTION(name, body) \
	__asm__(".globl " #name "\n.type " #name ", @function\n.p2align 4\n" #name ":\n" body ".size " #name ", .-" #name "\n")
/* Each faults at NAME_at, a mov (%rdi), %rax; NAME_else is another place to go on from. */
#define FAULTS(name) #name "_at: mov (%rdi), %rax\n"
#define ELSE(name) #name "_else:\n"
FUNCTION(leaf, "lea 1(%rsi), %rcx\ntest $1, %sil\nje 1f\ninc %rcx\n1: ret\n");
FUNCTION(first, FAULTS(first) "add %rsi, %rax\ntest $1, %al\nje 1f\n" ELSE(first) "lea 3(%rsi,%rsi), %rax\n1: ret\n");
FUNCTION(second, "push %rbx\n" FAULTS(second) "mov %rax, %rbx\n" ELSE(second)
	"lea 7(%rsi), %rax\ntest $2, %sil\njne 1f\nadd %rsi, %rax\n1: pop %rbx\nret\n");
FUNCTION(behind, "sub $8, %rsp\ncall leaf\n" FAULTS(behind) "add %rcx, %rax\ntest $1, %al\nje behind_else\nadd $3, %rax\n"
	"jmp 1f\n" ELSE(behind) "lea 5(%rsi), %rax\n1: add $8, %rsp\nret\n");
FUNCTION(inner, "push %rbx\nmov %rsi, %rbx\n1: dec %rbx\njg 1b\nxor %eax, %eax\n" FAULTS(inner) "add %rsi, %rax\n" ELSE(inner)
	"inc %rax\npop %rbx\nret\n");
typedef long function(long *where, long n);
function first, second, behind, inner;
extern const unsigned char first_at[], first_else[], second_at[], second_else[], behind_at[], behind_else[], inner_at[],
	inner_else[];
static const struct {
	function *f;
	const unsigned char *at, *other;
} all[] = {{first, first_at, first_else}, {second, second_at, second_else}, {behind, behind_at, behind_else},
	   {inner, inner_at, inner_else}};
static const unsigned char expected[] = {0x48, 0x8b, 0x07};
static __thread long *page, good = 4;
static __thread sigjmp_buf back;
static __thread unsigned faults;
static unsigned wrong;
static int rounds;
static char *folder;
static unsigned most;
static void await(unsigned n)
{
	char in[300], go[300];

	snprintf(in, sizeof(in), "%s/in.%u", folder, n);
	snprintf(go, sizeof(go), "%s/go.%u", folder, n);
	fclose(fopen(in, "w"));
	while (access(go, F_OK))
		usleep(1000);
}
static void handler(int sig, siginfo_t *si, void *context)
{
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
	unsigned i, n = faults++;

	for (i = 0; i < 4 && (greg_t)all[i].at != r[REG_RIP]; i++)
		;
	if (i == 4 || memcmp((const void *)r[REG_RIP], expected, sizeof(expected))) {
		__atomic_fetch_add(&wrong, 1, __ATOMIC_SEQ_CST);
		_exit(9);
	}
	if (folder)
		await(n);
	switch (n % 6) {
	case 0: /* as an emulator does */
		r[REG_RIP] += 3;
		r[REG_RAX] = n;
		break;
	case 1:
		r[REG_RIP] = (greg_t)all[i].other;
		break;
	case 2:
		mprotect(page, 4096, PROT_READ);
		break;
	case 3:
		siglongjmp(back, 1);
	case 4:
		for (long k = 0; k < 20; k++)
			r[REG_RSI] += all[i].f(&good, k) % 3;
		r[REG_RIP] = (greg_t)all[i].other;
		break;
	case 5:
		if (rounds <= 12) {
			int status = 0;
			pid_t pid = fork();
			if (!pid) {
				for (long k = 0; k < 20; k++)
					r[REG_RSI] += all[i].f(&good, k) % 3;
				_exit(r[REG_RSI] % 100);
			}
			waitpid(pid, &status, 0);
			r[REG_RSI] += status >> 8;
		}
		r[REG_RIP] += 3;
		r[REG_RAX] = 1;
		break;
	}
}
__attribute__((noipa)) static long attempt(unsigned i, long n)
{
	if (sigsetjmp(back, n & 1))
		return -n;
	return all[i].f(page, n);
}
static void *run(void *arg)
{
	unsigned long sum = (unsigned long)arg;

	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*page = 9;
	for (int n = 0; n < rounds; n++)
		for (unsigned i = 0; i < 4; i++) {
			if (folder && faults == most)
				return (void *)sum;
			mprotect(page, 4096, PROT_NONE);
			sum = sum * 31 + attempt(i, n);
			for (long k = 0; k < 50; k++)
				sum = sum * 31 + all[k & 3].f(&good, n + k);
		}
	return (void *)sum;
}
int main(int argc, char **argv)
{
	struct sigaction sa = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_NODEFER};
	int n = atoi(argv[1]);
	pthread_t threads[16];
	unsigned long sum = 0;
	void *one;

	rounds = atoi(argv[2]);
	folder = argv[3];
	most = folder ? atoi(argv[4]) : 0;
	sigaction(SIGSEGV, &sa, NULL);
	for (long i = 1; i < n; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	sum = (unsigned long)run(NULL);
	for (int i = 1; i < n; i++) {
		pthread_join(threads[i], &one);
		sum = sum * 31 + (unsigned long)one;
	}
	printf("%lu %u\n", sum, wrong);
	return 0;
}
END
for run in '1 12' '4 12' '8 30'; do
	# shellcheck disable=SC2086 # words
	"$T/mends" $run >"$T/plain"
	for options in "-o $T/trace" "-c -F json -o $T/json" '--last 20 -F json'; do
		for functions in 'first second behind inner leaf' '*'; do
			set -f
			# shellcheck disable=SC2086
			bb user "$T/mends" $functions --engine inline -f $options -- "$T/mends" $run
			set +f
			grep -v '^[^0-9]' "$T/out" | head -1 >"$T/result"
			same "$T/result" "$T/plain" "$run ${options%% *} $functions: what handlers do with faults has its result" ||
				diag "$status $(head -c 2000 "$T/err")"
		done
	done
done

# ---- the supervisor is killed while a handler runs ----
mkdir "$T/f"
for last in {0..7}; do
	touch "$T/f"/go.{0..7}
	"$T/mends" 1 2 "$T/f" $((last + 1)) >"$T/plain"
	rm "$T/f"/*
	"$BBTRACE" user "$T/mends" '*' --engine inline -f -o "$T/trace" -- "$T/mends" 1 2 "$T/f" $((last + 1)) >"$T/out" 2>"$T/err" </dev/null &
	tracer=$!
	for ((n = 0; n <= last; n++)); do
		wait_for "$PATIENCE" test -e "$T/f/in.$n" || break
		if ((n == last)); then
			pid=$(pgrep -P $tracer -x mends)
			kill -9 "$(sed -n 's/^TracerPid:[[:space:]]*//p' "/proc/$pid/status")"
			wait_for "$PATIENCE" grep -q '^TracerPid:[[:space:]]*0$' "/proc/$pid/status"
		fi
		touch "$T/f/go.$n"
	done
	wait $tracer
	same "$T/out" "$T/plain" "killed in handler $last: it does what it does"
done
done_testing

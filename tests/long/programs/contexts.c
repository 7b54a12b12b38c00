/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
#include <string.h>
#include <sys/mman.h>
static ucontext_t m, c[4];
static int n, faults;
static char st[4][65536];
static sigjmp_buf jb;
static void co(int k)
{
	for (int i = 0; i < 5; i++) {
		n = n * 31 + k * i;
		swapcontext(&c[k], &c[(k + 1) % 4]);
	}
}
static char alt[65536];
static char *page;
static void segv(int s, siginfo_t *i, void *u)
{
	faults++;
	if (faults % 2) {
		mprotect(page, 4096, PROT_READ | PROT_WRITE);
	} else
		siglongjmp(jb, 1);
}
static int over(int k)
{
	volatile char b[4096];
	b[0] = k;
	return over(k + 1) + b[0];
}
static void so(int s)
{
	siglongjmp(jb, 2);
}
int main(void)
{
	for (int k = 0; k < 4; k++) {
		getcontext(&c[k]);
		c[k].uc_stack.ss_sp = st[k];
		c[k].uc_stack.ss_size = 65536;
		c[k].uc_link = &m;
		makecontext(&c[k], (void (*)())co, 1, k);
	}
	swapcontext(&m, &c[0]);
	printf("%d\n", n);
	stack_t ss = {.ss_sp = alt, .ss_size = 65536};
	sigaltstack(&ss, 0);
	struct sigaction sa = {.sa_sigaction = segv, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	sigaction(SIGSEGV, &sa, 0);
	page = mmap(0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 100; i++) {
		mprotect(page, 4096, PROT_NONE);
		if (!sigsetjmp(jb, 1)) {
			page[i] = i;
			*(volatile int *)page += 1;
			mprotect(page, 4096, PROT_NONE);
			page[i + 1] = 3;
			puts("no");
		}
	}
	printf("%d\n", faults);
	signal(SIGSEGV, so);
	sa.sa_handler = so;
	sa.sa_flags = SA_ONSTACK;
	sigaction(SIGSEGV, &sa, 0);
	if (sigsetjmp(jb, 1) == 2)
		puts("overflow");
	else
		over(0);
	return 0;
}

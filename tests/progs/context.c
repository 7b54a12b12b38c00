// SPDX-License-Identifier: BSD-2-Clause
/* Two coroutines and main alternate within open calls: makecontext, swapcontext. */
#include <ucontext.h>
#include "prog.h"

static ucontext_t main_context, contexts[2];
static char stacks[2][65536];
static int log_sum;

NOINLINE int step(int who, int n)
{
	log_sum = log_sum * 3 + who + n;
	if (n == 0)
		return 0;
	swapcontext(&contexts[who], &main_context);
	return step(who, n - 1) + touch(1);
}

NOINLINE void run(int who)
{
	log_sum += step(who, 3 + who);
}

int main(void)
{
	for (int i = 0; i < 2; i++) {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = stacks[i];
		contexts[i].uc_stack.ss_size = sizeof(stacks[i]);
		contexts[i].uc_link = &main_context;
		makecontext(&contexts[i], (void (*)(void))run, 1, i);
	}
	for (int round = 0; round < 5; round++)
		for (int i = 0; i < 2; i++)
			if (round < 4 + i)
				swapcontext(&main_context, &contexts[i]);
	printf("%d\n", log_sum);
	return 0;
}

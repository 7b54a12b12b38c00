// SPDX-License-Identifier: BSD-2-Clause
/*
 * How much of the processor's state a signal saves: by a signal of our own, on an alternate stack,
 * whose layout has to be the one that bpf/arch expects.
 */
#include <signal.h>
#include <ucontext.h>
#include "source/probes/session.h"

#ifdef __x86_64__

#define SIGNAL		SIGURG
#define STACK_SIZE	(256u << 10)
#define STATE_ALIGNMENT 64
/* arch/x86/include/uapi/asm/sigcontext.h: struct _fpx_sw_bytes */
#define SW_BYTES 464
#define SW_MAGIC 0x46505853
#define LEGACY	 512

static volatile uintptr_t context, state;

static void on_signal(int sig, siginfo_t *info, void *ctx)
{
	const ucontext_t *uc = ctx;

	context = (uintptr_t)uc;
	state = (uintptr_t)uc->uc_mcontext.fpregs;
}

static bool raise_on(const stack_t *own)
{
	struct sigaction sa = {.sa_sigaction = on_signal, .sa_flags = SA_ONSTACK | SA_SIGINFO},
			 before;
	sigset_t one, mask;
	stack_t old;
	bool raised;

	context = state = 0;
	sigemptyset(&one);
	sigaddset(&one, SIGNAL);
	if (sigaltstack(own, &old) || sigaction(SIGNAL, &sa, &before))
		return false;
	pthread_sigmask(SIG_UNBLOCK, &one, &mask);
	raised = !raise(SIGNAL);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	sigaction(SIGNAL, &before, NULL);
	sigaltstack(&old, NULL);
	return raised && context && state;
}

/* As arch_saved_by_signal() in bpf/arch/x86.h */
static uintptr_t expected_context(uintptr_t top, uint32_t size)
{
	return ((((top - size) & -(uintptr_t)STATE_ALIGNMENT) - 440) & -(uintptr_t)16);
}

static uint32_t size_in(const uint8_t *at)
{
	uint32_t sw[2];

	memcpy(sw, at + SW_BYTES, sizeof(sw));
	return sw[0] == SW_MAGIC ? sw[1] : LEGACY;
}

uint32_t signal_state__size(void)
{
	autofree uint8_t *room = xcalloc(1, STACK_SIZE);
	stack_t own = {.ss_sp = room, .ss_size = STACK_SIZE};
	uintptr_t start = (uintptr_t)room;
	uint32_t size;

	if (!raise_on(&own) || state - start > STACK_SIZE - LEGACY)
		return 0;
	size = size_in(room + (state - start));
	return expected_context(start + STACK_SIZE, size) == context ? size : 0;
}

#else

uint32_t signal_state__size(void)
{
	return 0;
}

#endif

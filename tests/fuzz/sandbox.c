// SPDX-License-Identifier: BSD-2-Clause
/*
 * Replaces src/object/debug/sandbox.c under libFuzzer: the search runs in this process, since
 * libFuzzer gets no coverage from another one and its own is slow to fork. A crash within libdw is
 * not a finding, since the sandbox contains it; any other crash is.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <setjmp.h>
#include <signal.h>
#include "fuzz.h"
#include "object/debug/sandbox.h"

static sigjmp_buf gave_up;
static unsigned crashes;

static bool in_libdw(void)
{
	void *frames[24];
	int n = backtrace(frames, ARRAY_SIZE(frames));
	Dl_info info;

	for (int i = 0; i < n; i++)
		if (dladdr(frames[i], &info) && info.dli_fname &&
		    (strstr(info.dli_fname, "/libdw") || strstr(info.dli_fname, "/libelf")))
			return true;
	return false;
}

static void on_crash(int sig)
{
	static const char text[] = "a crash that is not libdw's\n";

	if (in_libdw())
		siglongjmp(gave_up, 1);
	CHECK(write(2, text, sizeof(text) - 1) > 0);
	abort();
}

void sandbox__give_up(void)
{
	siglongjmp(gave_up, 2);
}

static const struct sandbox *running;

void sandbox__write(const void *bytes, size_t n)
{
	if (!running->take(running->take_ctx, bytes, n))
		siglongjmp(gave_up, 2);
}

int sandbox__run(const struct sandbox *s, struct str *answer)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE};
	struct sigaction sa = {.sa_handler = on_crash}, old[ARRAY_SIZE(signals)];
	volatile int err = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &sa, &old[i]);
	switch (sigsetjmp(gave_up, 1)) {
	case 0:
		running = s;
		s->fn(s->ctx, answer);
		if (s->take) {
			sandbox__write(answer->data, answer->len);
			str__clear(answer);
		}
		break;
	case 1:
		fprintf(stderr, "libdw has crashed %u times\n", ++crashes);
		/* fall through */
	default:
		/* what was handed over is nobody's any more; memory is left (run.sh) */
		for (i = 0; i < s->nfds; i++)
			if (s->fds[i] >= 0)
				close(s->fds[i]);
		str__free(answer);
		err = err__set(EIO, "it can't be read");
	}
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &old[i], NULL);
	return err;
}

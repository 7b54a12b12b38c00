// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stands for src/target/apart.c under libFuzzer, which learns nothing of what happens in another
 * process, and whose own is slow to copy: the search runs here. A crash within libdw is what
 * apart.c is for, and is no find; any other is.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <setjmp.h>
#include <signal.h>
#include "fuzz.h"
#include "target/apart.h"

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

void apart__allow(unsigned seconds)
{
}

int apart__run(apart_fn fn, void *ctx, struct str *answer)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE};
	struct sigaction sa = {.sa_handler = on_crash}, old[ARRAY_SIZE(signals)];
	volatile int err = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &sa, &old[i]);
	if (sigsetjmp(gave_up, 1)) {
		fprintf(stderr, "libdw has crashed %u times\n", ++crashes);
		str__clear(answer);
		err = err__set(EIO, "reading it ended in a crash");
	} else {
		fn(ctx, answer);
	}
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &old[i], NULL);
	return err;
}

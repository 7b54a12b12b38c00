// SPDX-License-Identifier: BSD-2-Clause
/* pthread_exit and pthread_cancel, deferred and asynchronous, end threads within traced calls:
 * forced unwinding that runs cleanups. */
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>
#include "prog.h"

static sem_t ready;
static int cleaned;

NOINLINE void cleanup(void *arg)
{
	cleaned += touch((int)(long)arg);
}

NOINLINE int leave(int n)
{
	if (n == 0)
		pthread_exit((void *)4l);
	return leave(n - 1) + touch(1);
}

NOINLINE int wait_for_it(int n)
{
	if (n == 0) {
		sem_post(&ready);
		for (;;)
			pause();
	}
	return wait_for_it(n - 1) + touch(1);
}

NOINLINE int at_once(int n)
{
	if (n == 0) {
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
		pthread_cancel(pthread_self());
	}
	return at_once(n - 1) + touch(1);
}

static void *sudden(void *arg)
{
	pthread_cleanup_push(cleanup, (void *)1000l);
	at_once((int)(long)arg);
	pthread_cleanup_pop(0);
	return NULL;
}

static void *leaver(void *arg)
{
	pthread_cleanup_push(cleanup, (void *)10l);
	leave((int)(long)arg);
	pthread_cleanup_pop(0);
	return NULL;
}

static void *waiter(void *arg)
{
	pthread_cleanup_push(cleanup, (void *)100l);
	wait_for_it((int)(long)arg);
	pthread_cleanup_pop(0);
	return NULL;
}

int main(void)
{
	pthread_t a, b;
	void *got, *canceled, *gone;

	sem_init(&ready, 0, 0);
	pthread_create(&a, NULL, leaver, (void *)3l);
	pthread_join(a, &got);
	pthread_create(&b, NULL, waiter, (void *)2l);
	sem_wait(&ready);
	pthread_cancel(b);
	pthread_join(b, &canceled);
	pthread_create(&b, NULL, sudden, (void *)2l);
	pthread_join(b, &gone);
	printf("%ld %d %d\n", (long)got, canceled == PTHREAD_CANCELED && gone == canceled, cleaned);
	return 0;
}

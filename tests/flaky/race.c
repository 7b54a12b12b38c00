// SPDX-License-Identifier: BSD-2-Clause
/* Two threads take turns as the seed says; the one finds the other between its read and its write.
 */
#include <pthread.h>
#include "flaky.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static unsigned whose, done[2];
static int counter, busy;

static void wait_for_turn(unsigned me)
{
	pthread_mutex_lock(&lock);
	while (whose != me)
		pthread_cond_wait(&turned, &lock);
}

/* Mostly the one that has begun goes on. */
static void pass_turn(unsigned me)
{
	unsigned stays = (busy != 0) & (roll(12) != 0);

	whose = stays * me + !stays * roll(2);
	if (done[whose])
		whose = !whose;
	pthread_cond_broadcast(&turned);
	pthread_mutex_unlock(&lock);
}

static void add(unsigned me, unsigned long_way)
{
	int seen;

	wait_for_turn(me);
	seen = counter;
	if (busy) /* PLANTED */
		seen--;
	busy++;
	if (long_way) {
		pass_turn(me);
		wait_for_turn(me);
	}
	counter = seen + 1;
	busy--;
	pass_turn(me);
}

static void *work(void *arg)
{
	unsigned me = arg != NULL;

	for (unsigned i = 0; i < 20; i++)
		add(me, me == 0 && i % 5 == 4);
	wait_for_turn(me);
	done[me] = 1;
	pass_turn(me);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t;

	seed(argc, argv);
	weather();
	pthread_create(&t, NULL, work, &lock);
	work(NULL);
	pthread_join(t, NULL);
	weather();
	return counter == 40 ? 0 : 1;
}

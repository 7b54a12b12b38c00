// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include "clock.h"

struct sample {
	uint64_t ticks, ns;
};

#define KEPT	   4096 /* samples */
#define EVERY_NS   1000000
#define FIRST_NS   2000000
#define TRIES	   5
#define SECOND	   1000000000ull
#define DRIFT_OVER SECOND /* the rate of so long a time predicts the next one */

struct ticks_clock {
	uint64_t (*ticks)(void);
	VEC(struct sample) samples; /* ascending, at least two */
	size_t last;		    /* index of the interval that was used last */
	struct sample first;	    /* of all */
	struct sample from;	    /* of the drift */
	double rate;		    /* ns a tick, of an earlier time; 0: not known */
	uint64_t drift;		    /* the most that a second was off by that rate, ns */
};

/* Takes the sample, of several tries, that took the least time. */
static struct sample now(const struct ticks_clock *c)
{
	struct sample best = {0};
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = c->ticks(), ns = now_ns(CLOCK_MONOTONIC);
		uint64_t took = c->ticks() - before;

		if (took < least)
			best = (struct sample){before + took / 2, ns};
		least = min_of(least, took);
	}
	return best;
}

static void note_drift(struct ticks_clock *c, struct sample s)
{
	double ns = s.ns - c->from.ns, ticks = s.ticks - c->from.ticks, off;

	if (ns < DRIFT_OVER)
		return;
	if (c->rate) {
		off = (ns - ticks * c->rate) * SECOND / ns;
		c->drift = max_of(c->drift, (uint64_t)(off < 0 ? -off : off));
	}
	c->rate = ns / ticks;
	c->from = s;
}

static void add(struct ticks_clock *c, struct sample s)
{
	const struct sample *last = c->samples.len ? vec__last(&c->samples) : NULL;

	if (last && (s.ticks <= last->ticks || s.ns < last->ns))
		return;
	if (c->samples.len == KEPT) {
		memmove(c->samples.data, c->samples.data + KEPT / 2,
			KEPT / 2 * sizeof(*c->samples.data));
		c->samples.len -= KEPT / 2;
		c->last = 0;
	}
	vec__push(&c->samples, s);
	note_drift(c, s);
}

struct ticks_clock *ticks_clock__new(uint64_t (*ticks)(void))
{
	const struct timespec pause = {.tv_nsec = FIRST_NS};
	struct ticks_clock *c = xcalloc(1, sizeof(*c));

	c->ticks = ticks;
	c->first = c->from = now(c);
	vec__push(&c->samples, c->first);
	while (c->samples.len < 2) {
		nanosleep(&pause, NULL);
		add(c, now(c));
	}
	return c;
}

void ticks_clock__free(struct ticks_clock *c)
{
	if (!c)
		return;
	vec__free(&c->samples);
	free(c);
}

void ticks_clock__sample(struct ticks_clock *c)
{
	if (now_ns(CLOCK_MONOTONIC) >= vec__last(&c->samples)->ns + EVERY_NS)
		add(c, now(c));
}

/* The index of the sample that ticks is at or after, other than the last one. */
static size_t interval_of(struct ticks_clock *c, uint64_t ticks)
{
	const struct sample *s = c->samples.data;
	size_t low = 0, high = c->samples.len - 1;

	if (s[c->last].ticks <= ticks && ticks < s[c->last + 1].ticks)
		return c->last;
	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		*(s[middle].ticks <= ticks ? &low : &high) = middle;
	}
	return c->last = low;
}

uint64_t ticks_clock__ns(void *ctx, uint64_t ticks)
{
	struct ticks_clock *c = ctx;
	const struct sample *a, *b;
	__int128 ns;

	if (ticks > vec__last(&c->samples)->ticks)
		add(c, now(c));
	if (ticks >= vec__last(&c->samples)->ticks)
		return vec__last(&c->samples)->ns;
	a = &c->samples.data[interval_of(c, ticks)];
	b = a + 1;
	ns = a->ns + ((__int128)ticks - a->ticks) * (int64_t)(b->ns - a->ns) /
			     (int64_t)(b->ticks - a->ticks);
	return ns < 0 ? 0 : ns;
}

uint64_t ticks_clock__second(const struct ticks_clock *c)
{
	const struct sample *last = vec__last(&c->samples);

	return (double)(last->ticks - c->first.ticks) * SECOND / (last->ns - c->first.ns);
}

void ticks_clock__report(const struct ticks_clock *c)
{
	note_verbose("the log's times: %.3f GHz, off by at most %llu ns in a second",
		     ticks_clock__second(c) / 1e9, (unsigned long long)c->drift);
}

// SPDX-License-Identifier: BSD-2-Clause
/* The source of a trace: a made-up one alone, and one that is put over another. */
#include <errno.h>
#include <stdlib.h>
#include "source/source.h"
#include "tap.h"

/* Passes its times on, takes of them at a time. */
struct made {
	struct source source;
	const uint64_t *times;
	size_t ntimes, takes, given;
	uint32_t pid;
	uint64_t lost, missed;
	int waited;	 /* ms, in all its takes */
	size_t ready;	 /* events that catch_up passes on */
	uint32_t sites;	 /* the number that was attached */
	unsigned closed; /* how often */
};

static int pass(struct made *m, size_t n, const struct source_sink *sink)
{
	int err = 0;

	for (size_t i = 0; !err && i < n && m->given < m->ntimes; i++) {
		struct event e = {.time = m->times[m->given++], .pid = m->pid};

		err = sink->event(sink->ctx, &e);
	}
	return err;
}

static int take(struct source *s, struct source_wait wait, const struct source_sink *sink)
{
	struct made *m = (struct made *)s;

	m->waited += wait.timeout_ms;
	return m->given == m->ntimes ? SOURCE_ENDED : pass(m, m->takes, sink);
}

static uint64_t settled(const struct source *s)
{
	const struct made *m = (const struct made *)s;

	return m->given ? m->times[m->given - 1] : 0;
}

static int losses(struct source *s, const struct source_sink *sink)
{
	struct made *m = (struct made *)s;

	sink->missed(sink->ctx, &(struct missed){.site = m->pid, .hits = m->missed});
	return m->lost ? sink->lost(sink->ctx, m->pid, m->pid, m->lost) : 0;
}

/* As many as there are by now. */
static int catch_up(struct source *s, const struct source_sink *sink)
{
	struct made *m = (struct made *)s;

	return pass(m, m->ready - m->given, sink);
}

static void misses(struct source *s, const struct source_sink *sink)
{
	struct made *m = (struct made *)s;

	sink->missed(sink->ctx, &(struct missed){.site = m->pid, .hits = m->missed});
}

static int attach_sites(struct source *s, const uint32_t *sites, size_t n)
{
	((struct made *)s)->sites += n;
	return n > 2 ? -ENOSPC : 0;
}

static void facts(const struct source *s, struct source_facts *f)
{
	f->left_children += ((const struct made *)s)->pid;
}

static void close_made(struct source *s)
{
	((struct made *)s)->closed++;
	if (s->inner)
		s->inner->ops->close(s->inner);
}

static const struct source_ops made_ops = {.take = take,
					   .settled = settled,
					   .catch_up = catch_up,
					   .misses = misses,
					   .losses = losses,
					   .attach_sites = attach_sites,
					   .facts = facts,
					   .close = close_made};
/* What it doesn't have, its inner source has. */
static const struct source_ops over_ops = {.take = take, .settled = settled, .close = close_made};

/* ---- the sink ---- */

static struct str got;
static uint64_t missed;

static int on_event(void *ctx, const struct event *e)
{
	str__printf(&got, "%u:%llu ", e->pid, (unsigned long long)e->time);
	return 0;
}

static int on_sideband(void *ctx, const struct sideband_event *e)
{
	return 0;
}

static int on_lost(void *ctx, uint32_t pid, uint32_t tid, uint64_t count)
{
	str__printf(&got, "%u lost %llu ", pid, (unsigned long long)count);
	return 0;
}

static void on_missed(void *ctx, const struct missed *m)
{
	missed += m->hits;
}

static const struct source_sink sink = {NULL, on_event, on_sideband, on_lost, on_missed};

static void run(struct source *s, int expected)
{
	int err;

	str__clear(&got);
	do {
		err = source__take(s, (struct source_wait){1, -1}, &sink);
		str__puts(&got, "| ");
	} while (!err);
	is(err, expected, "a trace ends as its source does");
	is(source__losses(s, &sink), 0, "the losses of a source are reported");
	str__put(&got, "", 0);
}

static const uint64_t early[] = {2, 4, 6, 8}, late[] = {1, 5, 6, 20, 22};
static const uint32_t sites[] = {1, 2, 3};

static void test_alone(void)
{
	struct made one = {{&made_ops}, early, 4, 4, .pid = 1, .lost = 3, .missed = 4, .ready = 1};
	struct source *s = &one.source;

	is(source__catch_up(s, &sink), 0, "a source catches up");
	is(one.given, 1, "what is ready is passed on then");
	is(source__settled(s), 2, "a trace is settled as its source is");
	run(s, SOURCE_ENDED);
	is_str(got.data, "1:4 1:6 1:8 | | 1 lost 3 ", "a source's events and losses are passed on");
	is(one.waited, 2, "a source waits in each take");
	is(missed, 4, "missed hits are reported");
	is(source__attach_sites(s, sites, 2), 0, "a source that can attaches sites");
	is(source__attach_sites(s, sites, 3), -ENOSPC, "its error is returned");
	is(source__detach_sites(s, sites, 3), -ENOTSUP, "one that can't detach them fails");
	is_str(err__text(), "no source of this trace can remove probes", "with a message");
	is(source__drop_privileges(s, 0, 0), 0, "one without privileges has nothing to drop");
	is(source__park(s), 0, "one that can't be parked stays as it is");
	is(source__counts(s, &sink), 0, "one that doesn't count has no counts");
	source__close(s);
	is(one.closed, 1, "it is closed");
}

static void test_inner(void)
{
	struct made in = {{&made_ops}, early, 4, 4, .pid = 1, .missed = 5, .ready = 2};
	struct made over = {{&over_ops, &in.source}, late, 5, 2, .pid = 2, .lost = 7};
	struct source *s = &over.source;

	missed = 0;
	run(s, SOURCE_ENDED);
	is_str(got.data, "2:1 2:5 | 2:6 2:20 | 2:22 | | ",
	       "the outer source's events are passed on");
	is(missed, 5, "losses are those of the inner source, if the outer one reports none");
	is(source__attach_sites(s, sites, 2), 0, "the inner source does what the outer one can't");
	is(in.sites, 2, "it attaches the sites");
	is(over.sites, 0, "the outer one doesn't");
	is(source__facts(s).left_children, 1, "its facts are those of the inner one");
	str__clear(&got);
	is(source__catch_up(s, &sink), 0, "the inner one catches up");
	is_str(got.data, "1:2 1:4 ", "with its events");
	is(source__watch(s, NULL), -ENOTSUP, "what none of them can fails");
	source__close(s);
	is(over.closed + in.closed, 2, "both are closed");
}

int main(void)
{
	test_alone();
	test_inner();
	is(source__facts(NULL).spares, SPARES_ALL, "a trace without a source has no facts");
	source__close(NULL);
	str__free(&got);
	return tap__done();
}

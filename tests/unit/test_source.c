// SPDX-License-Identifier: BSD-2-Clause
/* Several sources as one: made-up sources whose events are in order of time, each at its own pace.
 */
#include <stdlib.h>
#include "source/source.h"
#include "tap.h"

#define MOST 16

/* Passes its times on in takes of takes[0], takes[1], ... events; 0 ends the source. */
struct made {
	struct source source;
	const uint64_t *times;
	const unsigned *takes;
	size_t given, take;
	uint64_t settled;
	uint32_t pid;
	uint64_t lost, missed;
	int waited;   /* ms, in all its takes */
	size_t ready; /* events that catch_up passes on */
};

static int take(struct source *s, struct source_wait wait, const struct source_sink *sink)
{
	struct made *m = (struct made *)s;
	unsigned n = m->takes[m->take];
	int err = 0;

	m->waited += wait.timeout_ms;
	if (!n) {
		m->settled = UINT64_MAX;
		return SOURCE_ENDED;
	}
	m->take++;
	for (unsigned i = 0; !err && i < n; i++) {
		static char comm[8];
		struct event_entry entry = {.comm = comm};
		struct event e = {.time = m->times[m->given++], .pid = m->pid};

		strcpy(comm, "made");
		if (e.time % 2)
			e.entry = &entry;
		m->settled = e.time;
		err = sink->event(sink->ctx, &e);
		strcpy(comm, "gone"); /* what waits must have been copied */
	}
	return err;
}

static uint64_t settled(const struct source *s)
{
	return ((const struct made *)s)->settled;
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
	int err = 0;

	while (!err && m->given < m->ready) {
		struct event e = {.time = m->times[m->given++], .pid = m->pid};

		err = sink->event(sink->ctx, &e);
	}
	return err;
}

static void misses(struct source *s, const struct source_sink *sink)
{
	struct made *m = (struct made *)s;

	sink->missed(sink->ctx, &(struct missed){.site = m->pid, .hits = m->missed});
}

static unsigned closed;

static void close_made(struct source *s)
{
	closed++;
}

static const struct source_ops made_ops = {.name = "made",
					   .take = take,
					   .settled = settled,
					   .misses = misses,
					   .losses = losses,
					   .close = close_made};
static const struct source_ops quick_ops = {
	.name = "quick", .take = take, .catch_up = catch_up, .close = close_made};

/* ---- the sink ---- */

static struct str got;
static uint64_t missed, missed_at[4]; /* by the source's pid */

static int on_event(void *ctx, const struct event *e)
{
	str__printf(&got, "%u:%llu%s%s ", e->pid, (unsigned long long)e->time, e->entry ? " " : "",
		    e->entry ? e->entry->comm : "");
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
	missed_at[m->site] += m->hits;
}

static const struct source_sink sink = {NULL, on_event, on_sideband, on_lost, on_missed};

static void run(struct sources *s)
{
	int err;

	str__clear(&got);
	missed = 0;
	for (int i = 0; i < MOST; i++) {
		err = sources__take(s, (struct source_wait){1, -1}, &sink);
		str__puts(&got, "| ");
		if (err)
			break;
	}
	is(err, SOURCE_ENDED, "several sources end when all have ended");
	is(sources__losses(s, &sink), 0, "the losses of all sources are reported");
	str__put(&got, "", 0);
}

int main(void)
{
	static const uint64_t early[] = {2, 4, 6, 8}, late[] = {1, 5, 6, 20, 22};
	static const unsigned by_two[] = {2, 2, 0}, all[] = {5, 0}, four[] = {4, 0}, none[] = {0};
	struct made one = {{&made_ops}, early, four, .pid = 1, .lost = 3};
	struct made a = {{&made_ops}, early, by_two, .pid = 1, .missed = 4};
	struct made b = {{&made_ops}, late, all, .pid = 2, .lost = 7, .missed = 5};
	struct made c = {{&made_ops}, late, all, .pid = 1, .lost = 7};
	struct made d = {{&made_ops}, early, by_two, .pid = 2, .lost = 3};
	struct made e = {{&made_ops}, late, none, .pid = 3};
	struct made f = {{&quick_ops}, early, none, .pid = 1, .ready = 1};
	struct made g = {{&quick_ops}, late, none, .pid = 2, .ready = 2};
	struct sources *s = sources__new();

	sources__add(s, &one.source);
	run(s);
	is_str(got.data, "1:2 1:4 1:6 1:8 | | 1 lost 3 ", "one source alone is passed on at once");
	sources__close(s);

	s = sources__new();
	sources__add(s, &a.source);
	sources__add(s, &b.source);
	sources__misses(s, &sink);
	is(missed_at[1], 4, "missed hits are told while the sources run");
	is(missed_at[2], 5, "those of each source");
	run(s);
	is_str(got.data, "2:1 made 1:2 1:4 | 2:5 made 1:6 2:6 1:8 | 2:20 2:22 | 2 lost 7 ",
	       "events wait until every source was asked about their time, and come in its order");
	is(missed, 9, "the missed hits of all sources are added up");
	sources__close(s);
	is(closed, 3, "each source is closed");

	s = sources__new();
	sources__add(s, &c.source);
	sources__add(s, &d.source);
	sources__add(s, &e.source);
	run(s);
	is_str(got.data, "1:1 made 2:2 2:4 | 1:5 made 1:6 2:6 2:8 | 1:20 1:22 | 2 lost 3 1 lost 7 ",
	       "a source's losses come behind its events, in the order of these");
	is(c.waited, 2, "the first source waits until it has ended");
	is(d.waited, 2, "the second source waits from then on");
	is(e.waited, 0, "a source that ended before does not wait");
	sources__close(s);

	str__clear(&got);
	s = sources__new();
	sources__add(s, &f.source);
	is(sources__catch_up(s, &sink), 0, "one source catches up");
	sources__add(s, &g.source);
	sources__add(s, &e.source);
	f.ready = 4;
	is(sources__catch_up(s, &sink), 0, "several sources catch up, and one that can't");
	is_str(got.data, "1:2 2:1 1:4 2:5 1:6 1:8 ", "all that there is, in order of time");
	sources__close(s);
	str__free(&got);
	return tap__done();
}

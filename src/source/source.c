// SPDX-License-Identifier: BSD-2-Clause
/* The source of a trace. An operation that it doesn't have is that of its inner source. */
#include <errno.h>
#include "source/source.h"

/* The outermost source that has this operation. NULL: none has, or there is no source. */
#define WITH(s, operation)                                                                         \
	({                                                                                         \
		__typeof__(s) with_ = (s);                                                         \
                                                                                                   \
		while (with_ && !with_->ops->operation)                                            \
			with_ = with_->inner;                                                      \
		with_;                                                                             \
	})

/* ---- operations that each source has ---- */

int source__attach(struct source *s)
{
	struct source *of = WITH(s, attach);

	return of->ops->attach(of);
}

void source__start(struct source *s)
{
	struct source *of = WITH(s, start);

	of->ops->start(of);
}

void source__stop(struct source *s)
{
	struct source *of = WITH(s, stop);

	of->ops->stop(of);
}

int source__take(struct source *s, struct source_wait wait, const struct source_sink *sink)
{
	struct source *of = WITH(s, take);

	return of->ops->take(of, wait, sink);
}

uint64_t source__settled(const struct source *s)
{
	const struct source *of = WITH(s, settled);

	return of->ops->settled(of);
}

int source__losses(struct source *s, const struct source_sink *sink)
{
	struct source *of = WITH(s, losses);

	return of->ops->losses(of, sink);
}

/* ---- those that it may have ---- */

int source__park(struct source *s)
{
	struct source *of = WITH(s, park);

	return of ? of->ops->park(of) : 0;
}

int source__unpark(struct source *s)
{
	struct source *of = WITH(s, unpark);

	return of ? of->ops->unpark(of) : 0;
}

void source__cut(struct source *s)
{
	struct source *of = WITH(s, cut);

	if (of)
		of->ops->cut(of);
}

int source__catch_up(struct source *s, const struct source_sink *sink)
{
	struct source *of = WITH(s, catch_up);

	return of ? of->ops->catch_up(of, sink) : 0;
}

int source__counts(struct source *s, const struct source_sink *sink)
{
	struct source *of = WITH(s, counts);

	return of ? of->ops->counts(of, sink) : 0;
}

void source__misses(struct source *s, const struct source_sink *sink)
{
	struct source *of = WITH(s, misses);

	if (of)
		of->ops->misses(of, sink);
}

struct source_facts source__facts(const struct source *s)
{
	static const pid_vec any;
	struct source_facts facts = {.spares = SPARES_ALL, .processes = &any};
	const struct source *of = WITH(s, facts);

	if (of)
		of->ops->facts(of, &facts);
	return facts;
}

void source__mechanisms(const struct source *s, struct str *out)
{
	const struct source *of = WITH(s, mechanisms);

	if (of)
		of->ops->mechanisms(of, out);
}

uint64_t source__lost_switches(const struct source *s, size_t *last)
{
	const struct source *of = WITH(s, lost_switches);

	*last = 0;
	return of ? of->ops->lost_switches(of, last) : 0;
}

void source__each_cost(struct source *s, void (*fn)(void *ctx, uint32_t pid, uint64_t ns),
		       void *ctx)
{
	struct source *of = WITH(s, each_cost);

	if (of)
		of->ops->each_cost(of, fn, ctx);
}

int source__drop_privileges(struct source *s, uint64_t keep, unsigned forbidden)
{
	struct source *of = WITH(s, drop_privileges);

	return of ? of->ops->drop_privileges(of, keep, forbidden) : 0;
}

void source__note_value(struct source *s, const struct probe_watch *w)
{
	struct source *of = WITH(s, note_value);

	if (of)
		of->ops->note_value(of, w);
}

void source__exclude(struct source *s, uint32_t pid, bool excluded)
{
	struct source *of = WITH(s, exclude);

	if (of)
		of->ops->exclude(of, pid, excluded);
}

void source__forget_sideband(struct source *s)
{
	struct source *of = WITH(s, forget_sideband);

	if (of)
		of->ops->forget_sideband(of);
}

/* ---- those whose result matters ---- */

static int cannot(const char *what)
{
	return err__set(ENOTSUP, "no source of this trace can %s", what);
}

int source__change(struct source *s)
{
	struct source *of = WITH(s, change);

	return of ? of->ops->change(of) : cannot("change its probes");
}

int source__attach_sites(struct source *s, const uint32_t *sites, size_t n)
{
	struct source *of = WITH(s, attach_sites);

	return of ? of->ops->attach_sites(of, sites, n) : cannot("get further probes");
}

int source__detach_sites(struct source *s, const uint32_t *sites, size_t n)
{
	struct source *of = WITH(s, detach_sites);

	return of ? of->ops->detach_sites(of, sites, n) : cannot("remove probes");
}

int source__attach_markers(struct source *s, size_t from)
{
	struct source *of = WITH(s, attach_markers);

	return of ? of->ops->attach_markers(of, from) : cannot("see markers");
}

int source__watch(struct source *s, const struct probe_watch *w)
{
	struct source *of = WITH(s, watch);

	return of ? of->ops->watch(of, w) : cannot("watch memory");
}

/* ---- the end ---- */

void source__close(struct source *s)
{
	if (s)
		s->ops->close(s);
}

// SPDX-License-Identifier: BSD-2-Clause
/* The source of a trace. An operation that it doesn't have is that of its inner source. */
#include <errno.h>
#include <stdlib.h>
#include "source/source.h"

struct sources {
	struct source *source; /* NULL: none yet */
};

struct sources *sources__new(void)
{
	return xcalloc(1, sizeof(struct sources));
}

void sources__add(struct sources *s, struct source *source)
{
	s->source = source;
}

/* The outermost source that has this operation. NULL: none has. */
#define WITH(s, operation)                                                                         \
	({                                                                                         \
		struct source *with_ = (s)->source;                                                \
                                                                                                   \
		while (with_ && !with_->ops->operation)                                            \
			with_ = with_->inner;                                                      \
		with_;                                                                             \
	})

/* ---- operations that each source has ---- */

int sources__attach(struct sources *s)
{
	struct source *of = WITH(s, attach);

	return of->ops->attach(of);
}

void sources__start(struct sources *s)
{
	struct source *of = WITH(s, start);

	of->ops->start(of);
}

void sources__stop(struct sources *s)
{
	struct source *of = WITH(s, stop);

	of->ops->stop(of);
}

int sources__take(struct sources *s, struct source_wait wait, const struct source_sink *sink)
{
	struct source *of = WITH(s, take);

	return of->ops->take(of, wait, sink);
}

uint64_t sources__settled(const struct sources *s)
{
	const struct source *of = WITH(s, settled);

	return of->ops->settled(of);
}

int sources__losses(struct sources *s, const struct source_sink *sink)
{
	struct source *of = WITH(s, losses);

	return of->ops->losses(of, sink);
}

/* ---- those that it may have ---- */

int sources__park(struct sources *s)
{
	struct source *of = WITH(s, park);

	return of ? of->ops->park(of) : 0;
}

int sources__unpark(struct sources *s)
{
	struct source *of = WITH(s, unpark);

	return of ? of->ops->unpark(of) : 0;
}

void sources__cut(struct sources *s)
{
	struct source *of = WITH(s, cut);

	if (of)
		of->ops->cut(of);
}

int sources__catch_up(struct sources *s, const struct source_sink *sink)
{
	struct source *of = WITH(s, catch_up);

	return of ? of->ops->catch_up(of, sink) : 0;
}

int sources__counts(struct sources *s, const struct source_sink *sink)
{
	struct source *of = WITH(s, counts);

	return of ? of->ops->counts(of, sink) : 0;
}

void sources__misses(struct sources *s, const struct source_sink *sink)
{
	struct source *of = WITH(s, misses);

	if (of)
		of->ops->misses(of, sink);
}

struct source_facts sources__facts(const struct sources *s)
{
	static const pid_vec any;
	struct source_facts facts = {.spares = SPARES_ALL, .processes = &any};
	const struct source *of = WITH(s, facts);

	if (of)
		of->ops->facts(of, &facts);
	return facts;
}

void sources__mechanisms(const struct sources *s, struct str *out)
{
	const struct source *of = WITH(s, mechanisms);

	if (of)
		of->ops->mechanisms(of, out);
}

uint64_t sources__lost_switches(const struct sources *s, size_t *last)
{
	const struct source *of = WITH(s, lost_switches);

	*last = 0;
	return of ? of->ops->lost_switches(of, last) : 0;
}

void sources__each_cost(struct sources *s, void (*fn)(void *ctx, uint32_t pid, uint64_t ns),
			void *ctx)
{
	struct source *of = WITH(s, each_cost);

	if (of)
		of->ops->each_cost(of, fn, ctx);
}

int sources__drop_privileges(struct sources *s, uint64_t keep, unsigned forbidden)
{
	struct source *of = WITH(s, drop_privileges);

	return of ? of->ops->drop_privileges(of, keep, forbidden) : 0;
}

void sources__note_value(struct sources *s, const struct probe_watch *w)
{
	struct source *of = WITH(s, note_value);

	if (of)
		of->ops->note_value(of, w);
}

void sources__exclude(struct sources *s, uint32_t pid, bool excluded)
{
	struct source *of = WITH(s, exclude);

	if (of)
		of->ops->exclude(of, pid, excluded);
}

void sources__forget_sideband(struct sources *s)
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

int sources__change(struct sources *s)
{
	struct source *of = WITH(s, change);

	return of ? of->ops->change(of) : cannot("change its probes");
}

int sources__attach_sites(struct sources *s, const uint32_t *sites, size_t n)
{
	struct source *of = WITH(s, attach_sites);

	return of ? of->ops->attach_sites(of, sites, n) : cannot("get further probes");
}

int sources__detach_sites(struct sources *s, const uint32_t *sites, size_t n)
{
	struct source *of = WITH(s, detach_sites);

	return of ? of->ops->detach_sites(of, sites, n) : cannot("remove probes");
}

int sources__attach_markers(struct sources *s, size_t from)
{
	struct source *of = WITH(s, attach_markers);

	return of ? of->ops->attach_markers(of, from) : cannot("see markers");
}

int sources__watch(struct sources *s, const struct probe_watch *w)
{
	struct source *of = WITH(s, watch);

	return of ? of->ops->watch(of, w) : cannot("watch memory");
}

/* ---- the end ---- */

void sources__close(struct sources *s)
{
	if (!s)
		return;
	if (s->source)
		s->source->ops->close(s->source);
	free(s);
}

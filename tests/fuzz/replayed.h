/* SPDX-License-Identifier: BSD-2-Clause */
/* The replay of a trace file's items. */
#ifndef REPLAYED_H
#define REPLAYED_H

#include "fuzz.h"
#include "file/file.h"
#include "process/process.h"

/* The first member of what the reader's functions get as ctx. */
struct replayed {
	struct trace *t;
	struct spaces *spaces;
	struct resolver resolver;
	unsigned records, most; /* most: with more of them it ends */
};

static inline void replayed__locate(void *ctx, uint32_t pid, uint64_t time, uint64_t addr,
				    struct location *out)
{
	struct replayed *r = ctx;
	const struct symbol *s;
	struct mapped_place p;

	spaces__find(r->spaces, pid, addr, &p);
	out->object = p.path;
	out->vaddr = p.vaddr;
	s = p.object ? object__symbol_at(p.object, p.vaddr) : NULL;
	if (s) {
		out->symbol = s->shown;
		out->offset = p.vaddr - s->vaddr;
	}
	out->inlined = p.object ? object__inlined_at(p.object, p.vaddr) : NULL;
}

static inline void replayed__begin(struct replayed *r, const struct plan *plan,
				   const struct trace_meta *meta, step_fn on_step)
{
	struct trace_options t = {.events = meta->events & 7, .max_depth = meta->max_depth};

	r->spaces = spaces__recorded();
	r->resolver = (struct resolver){r, replayed__locate};
	r->t = trace__new(plan, &t, &r->resolver, on_step, r);
}

static inline int replayed__mapped(void *ctx, uint64_t dev, uint64_t ino, const char *path,
				   const struct object *o)
{
	struct replayed *r = ctx;

	if (r->spaces)
		spaces__know(r->spaces, dev, ino, path, o);
	return 0;
}

static inline int replayed__event(void *ctx, const struct event *e)
{
	struct replayed *r = ctx;

	return ++r->records > r->most ? 1 : trace__feed(r->t, e);
}

static inline int replayed__sideband(void *ctx, const struct sideband_event *e)
{
	struct replayed *r = ctx;
	struct map m = {.start = e->start,
			.end = e->start + e->len,
			.offset = e->offset,
			.dev = e->minor,
			.ino = e->ino,
			.path = (char *)e->text,
			.exec = true};

	if (++r->records > r->most)
		return 1;
	switch (e->type) {
	case SIDEBAND_FORK:
		spaces__fork(r->spaces, e->pid, e->ppid);
		return trace__fork(r->t, e->time, e->pid, e->tid, e->ppid, e->ptid);
	case SIDEBAND_EXEC:
		spaces__exec(r->spaces, e->pid);
		return trace__exec(r->t, e->time, e->pid, e->tid, e->text);
	case SIDEBAND_COMM:
		return trace__comm(r->t, e->pid, e->tid, e->text);
	case SIDEBAND_EXIT:
		spaces__exit(r->spaces, e->pid);
		return trace__exit(r->t, e->time, e->pid, e->tid);
	case SIDEBAND_MAP:
		spaces__map(r->spaces, e->pid, &m);
		return 0;
	case SIDEBAND_GAP:
		return trace__gap(r->t, e->pid, e->tid);
	default:
		return 0;
	}
}

static inline void replayed__end(struct replayed *r)
{
	trace__free(r->t);
	spaces__free(r->spaces);
	r->t = NULL;
	r->spaces = NULL;
}

#endif

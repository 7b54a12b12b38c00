// SPDX-License-Identifier: BSD-2-Clause
/* Finds planned objects among a process's mappings, and maps their copies near them. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include "text.h"

#define PAGE 4096ull

/* ---- which object is mapped ---- */

static size_t exec_segments(const struct object *o)
{
	const struct segment *g;
	size_t n = 0;

	vec__each (g, &o->segments)
		n += g->exec;
	return n;
}

static bool is_known(const struct space *s, const struct object *o, uint64_t bias)
{
	const struct loaded *l;

	vec__each (l, &s->loaded)
		if (l->object == o && l->bias == bias)
			return true;
	return false;
}

/*
 * Returns true if all of its segments of code are mapped, at a place that isn't known yet
 * (namespaces of the loader have objects of their own). Sets the bias, and where the first one is.
 */
static bool find_object(const struct thread *t, const map_vec *maps, const struct object *o,
			uint64_t *bias, uint64_t *start)
{
	const struct map *m;
	size_t found = 0;

	vec__each (m, maps) {
		uint64_t b;

		if (!map__is_code(t->process->pid, m, o, &b))
			continue;
		if (found ? b != *bias : is_known(t->process->space, o, b))
			continue;
		if (!found)
			*start = m->start;
		*bias = b;
		found++;
	}
	return found && found == exec_segments(o);
}

/* ---- putting them there ---- */

static void notify_refused(struct thread *t, const struct loaded *l, const char *why)
{
	if (!t->process->quiet)
		tracer__notify_text(t->tracer, NOTICE_REFUSED, t->process, l->image->object, why);
}

static void notify_mapped(struct thread *t, const struct loaded *l)
{
	struct notice notice = {.type = NOTICE_MAPPED,
				.pid = (uint32_t)t->process->pid,
				.tid = (uint32_t)t->tid,
				.object = l->image->object,
				.base = l->base,
				.size = l->size,
				.position = l->prepared,
				.bias = l->bias,
				.time = now_ns(CLOCK_MONOTONIC)};

	if (!t->process->quiet)
		tracer__notify(t->tracer, &notice, -1);
}

uint8_t *loaded__code(const struct loaded *l, const struct arch *arch, bool untimed)
{
	uint8_t *code = xmalloc(l->image->code.len + 1);

	if (!copy_image__relocate(l->image, l->bias, l->base, code)) {
		free(code);
		return NULL;
	}
	if (untimed)
		copy_image__untime(l->image, arch, code);
	return code;
}

static const char *write_copies(struct thread *t, const map_vec *maps, struct loaded *l)
{
	autofree uint8_t *code = NULL;

	l->base = thread__map_near(t, maps, l->start, l->object->pie, l->size);
	if (!l->base)
		return "the process may not map memory for its copies, or has none within reach "
		       "of its code";
	code = loaded__code(l, t->tracer->arch, t->process->space->untimed);
	if (code && space__write(t->process->space, l->base, code, l->image->code.len))
		return NULL;
	thread__call(t, SYS_munmap, l->base, l->size, 0, 0, 0, 0);
	return "its copies can't be written";
}

static const char *reason(int err)
{
	return err == -ESTALE ? "its code in memory is not that of the file"
			      : "its code can't be changed";
}

/* Nothing leads to the copies yet. */
static void load(struct thread *t, const map_vec *maps, struct loaded *l)
{
	bool prepared = thread__take_prepared(t, maps, l);
	int err = loaded__check(t->process->space, t->tracer, l);
	const char *why = err ? reason(err) : prepared ? NULL : write_copies(t, maps, l);

	loaded__find_text(t->tracer, maps, l);
	if (!why && !loaded__count(l, STATE_IN_PLACE))
		why = "the program may write to its code";

	if (prepared && why)
		thread__call(t, SYS_munmap, l->base, l->size, 0, 0, 0, 0);

	l->refused = why;
	if (why)
		notify_refused(t, l, why);
}

void thread__patch(struct thread *t)
{
	struct space *s = t->process->space;
	struct loaded *l;
	int err;

	vec__each (l, &s->loaded) {
		if (l->refused || l->patched)
			continue;
		if (t->tracer->disarmed) {
			loaded__drop_text(l);
			continue;
		}
		l->patched = true;
		err = loaded__patch(s, t->tracer, l);
		loaded__drop_text(l);
		if (err) /* threads may be in the copies */
			notify_refused(t, l, reason(err));
		else if (!l->notified)
			notify_mapped(t, l);
		l->notified = true;
		loaded__notify_states(t->tracer, s, t->process, l);
	}
	space__watch_text(t->tracer, s);
}

/* An object that was unloaded takes its copies along. */
static void forget(struct thread *t, const map_vec *maps)
{
	struct space *s = t->process->space;
	size_t kept = 0;

	for (size_t i = 0; i < s->loaded.len; i++) {
		struct loaded *l = &s->loaded.data[i];

		if (loaded__is_mapped(t->tracer, l, maps)) {
			s->loaded.data[kept++] = *l;
			continue;
		}
		if (!l->refused)
			thread__call(t, SYS_munmap, l->base, l->size, 0, 0, 0, 0);
		loaded__free_states(l);
	}
	s->loaded.len = kept;
}

/* False is reported, unless the process has ended. */
static bool read_maps(const struct thread *t, map_vec *maps)
{
	const struct copy_image *i;

	if (!maps__read(t->process->pid, maps))
		return true;
	if (!kill(t->tid, 0) && !t->process->quiet)
		vec__each (i, &t->tracer->copies->images)
			tracer__notify_text(t->tracer, NOTICE_REFUSED, t->process, i->object,
					    "its mappings can't be read");
	return false;
}

bool thread__find_object(const struct thread *t, const map_vec *maps,
			 const struct copy_image **image, struct loaded *out)
{
	const struct tracer *tracer = t->tracer;
	const struct copy_image *i = *image;

	for (; i < vec__end(&tracer->copies->images); i++) {
		*out = (struct loaded){.image = i,
				       .object = tracer->plan->objects.data[i->object].object,
				       .size = ((i->code.len + PAGE - 1) & -PAGE) + PAGE};
		if (i->patches.len && find_object(t, maps, out->object, &out->bias, &out->start)) {
			loaded__init_states(out);
			break;
		}
	}
	*image = i;
	return i < vec__end(&tracer->copies->images);
}

bool thread__map_copies(struct thread *t)
{
	const struct tracer *tracer = t->tracer;
	struct space *s = t->process->space;
	const struct copy_image *i = tracer->copies->images.data;
	struct loaded l;
	map_vec maps = {0};

	if (!read_maps(t, &maps))
		return true;
	if (process__sets_gs(t->tracer, t->process->pid, &maps)) {
		maps__free(&maps);
		return false;
	}
	forget(t, &maps);
	while (thread__find_object(t, &maps, &i, &l)) {
		load(t, &maps, &l);
		vec__push(&s->loaded, l);
		maps__free(&maps);
		maps = (map_vec){0};
		if (!read_maps(t, &maps))
			return true;
	}
	maps__free(&maps);
	return true;
}

void thread__refuse_new(struct thread *t, const char *why)
{
	const struct copy_image *i = t->tracer->copies->images.data;
	map_vec maps = {0};
	struct loaded l;

	if (!read_maps(t, &maps))
		return;
	while (thread__find_object(t, &maps, &i, &l)) {
		l.refused = true;
		notify_refused(t, &l, why);
		vec__push(&t->process->space->loaded, l);
	}
	maps__free(&maps);
}

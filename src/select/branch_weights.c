// SPDX-License-Identifier: BSD-2-Clause
/*
 * --profile FILE: how often each branch ran in an earlier run, from a trace file or from the output
 * of -c -F json. It only affects where probes are placed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "branch_weights.h"
#include "pipeline/read/edge_line.h"
#include "pipeline/show.h"
#include "util/given.h"

struct branch_weight {
	uint64_t vaddr;
	struct branch_counts counts;
};

struct object_weights {
	char *path;
	struct map64 at; /* vaddr -> 1 + index into branches */
	VEC(struct branch_weight) branches;
};

struct branch_weights {
	VEC(struct object_weights) objects;
};

static struct object_weights *object_of(struct branch_weights *p, const char *path)
{
	struct object_weights *o;

	vec__each (o, &p->objects)
		if (!strcmp(o->path, path))
			return o;
	o = vec__add(&p->objects);
	o->path = xstrdup(path);
	return o;
}

static struct branch_counts *counts_of(struct object_weights *o, uint64_t vaddr)
{
	uint64_t *slot = map64__put(&o->at, vaddr);

	if (!*slot) {
		vec__add(&o->branches)->vaddr = vaddr;
		*slot = o->branches.len;
	}
	return &o->branches.data[*slot - 1].counts;
}

bool branch_weights__counts(void *weights, const struct object *o, uint64_t vaddr,
			    struct branch_counts *counts)
{
	struct branch_weights *p = weights;
	struct object_weights *po;
	const uint64_t *slot;

	vec__each (po, &p->objects) {
		if (strcmp(po->path, o->path))
			continue;
		slot = map64__get(&po->at, vaddr);
		*counts = slot ? po->branches.data[*slot - 1].counts : (struct branch_counts){0};
		return true;
	}
	return false;
}

/* ---- from a trace file: counts its steps ---- */

struct counting {
	struct branch_weights *weights;
	int fd;
	struct output *output;
	struct show show;
	struct branch_counts *sites; /* by site of the file's plan */
	size_t nsites;
};

static int count_step(struct output *o, const struct step *s)
{
	struct counting *source = o->write_ctx;
	struct branch_counts *c;

	if (s->type != STEP_BRANCH || s->site == NO_SITE)
		return 0;
	c = &source->sites[s->site];
	*(s->taken ? &c->taken : &c->not_taken) += 1;
	return 0;
}

static const struct output_format counting = {
	.name = "branch weights", .size = 1, .step = count_step};

static void make_room(struct counting *s, const struct plan *plan)
{
	s->sites = xextend(s->sites, s->nsites, plan->sites.len + 1, sizeof(*s->sites));
	s->nsites = plan->sites.len + 1;
}

static int on_begin(void *ctx, const struct plan *plan, const struct trace_meta *meta)
{
	struct counting *s = ctx;
	struct trace_options options = {.events = meta->events};
	struct output_options none = {0};

	make_room(s, plan);
	s->output = output__new(&counting, &none, plan, NULL, s);
	show__open(&s->show, plan, &options, spaces__recorded(), s->output, 0);
	return 0;
}

static int on_plan(void *ctx, const struct plan *plan)
{
	struct counting *s = ctx;

	make_room(s, plan);
	show__plan_extended(&s->show);
	return 0;
}

static int on_mapped(void *ctx, uint64_t dev, uint64_t ino, const char *path,
		     const struct object *o)
{
	struct counting *s = ctx;

	spaces__know(s->show.spaces, dev, ino, path, o);
	return 0;
}

static int on_event(void *ctx, const struct event *e)
{
	struct counting *s = ctx;

	return show__event(&s->show, e);
}

static int on_sideband(void *ctx, const struct sideband_event *e)
{
	struct counting *s = ctx;

	return show__sideband(&s->show, e);
}

static int on_lost(void *ctx, uint32_t pid, uint32_t tid, uint64_t count)
{
	struct counting *s = ctx;

	return show__lost(&s->show, pid, tid, count);
}

static ssize_t read_fd(void *ctx, void *data, size_t len)
{
	struct counting *s = ctx;
	ssize_t n = read(s->fd, data, len);

	return n < 0 ? -errno : n;
}

static void keep_counts(struct counting *s)
{
	const struct plan *plan = s->show.plan;

	for (size_t i = 0; i < plan->sites.len; i++) {
		const struct plan_site *site = &plan->sites.data[i];

		if (site->kind)
			*counts_of(object_of(s->weights, plan->objects.data[site->object].path),
				   site->vaddr) = s->sites[i];
	}
}

static int read_trace(struct branch_weights *p, int fd)
{
	static const struct trace_calls calls = {.begin = on_begin,
						 .plan = on_plan,
						 .mapped = on_mapped,
						 .event = on_event,
						 .sideband = on_sideband,
						 .lost = on_lost};
	struct counting s = {.weights = p, .fd = fd};
	struct trace_reader *reader = trace_reader__new(read_fd, &s);
	int err = trace_reader__run(reader, &calls, &s);

	/* a truncated trace is usable, too */
	if (s.sites && (!err || err == -ENODATA)) {
		err = show__finish(&s.show, false);
		keep_counts(&s);
	}
	if (s.sites)
		show__close(&s.show);
	output__free(s.output);
	free(s.sites);
	trace_reader__free(reader);
	return err;
}

/* ---- from the output of -c -F json: one line a branch ---- */

static int take_line(struct branch_weights *p, const char *line, size_t len)
{
	struct edge e;
	struct branch_counts *c;
	int got = edge_line__read(line, len, &e);

	if (got <= 0)
		return got;
	c = counts_of(object_of(p, e.object), e.vaddr);
	c->taken += e.taken;
	c->not_taken += e.not_taken;
	free(e.object);
	return 1;
}

#define COUNTS_LIMIT (1u << 30)

static int no_counts(const char *name)
{
	return err__set(EINVAL, "%s is neither a trace file (-o FILE) nor what -c -F json writes",
			name);
}

static int read_counts(struct branch_weights *p, int fd, const char *name)
{
	autofree char *text = NULL;
	const char *line, *next, *end;
	unsigned number = 1;
	bool any = false;
	size_t len;
	int err = fd__read(fd, name, COUNTS_LIMIT, &text, &len);

	if (err)
		return err;
	end = text + len;
	for (line = text; line < end && *text == '{'; line = next, number++) {
		const char *newline = memchr(line, '\n', end - line);
		int got = take_line(p, line, (newline ? newline : end) - line);

		if (got < 0)
			return err__prefix(got, "%s:%u", name, number);
		any |= got;
		next = newline ? newline + 1 : end;
	}
	return any ? 0 : no_counts(name);
}

int branch_weights__read(const char *name, struct branch_weights **out)
{
	with_own_rights;
	struct stat st;
	autoclose int fd = file__open_given(name, &st);
	struct branch_weights *p = *out = xcalloc(1, sizeof(*p));
	char magic[16];
	ssize_t n = fd < 0 ? 0 : pread(fd, magic, sizeof(magic), 0);
	int err;

	if (fd < 0)
		return fd;
	if (n < 0)
		return err__set(errno, "cannot read %s: %s", name, strerror(errno));
	if (!trace_reader__is_magic(magic, n)) {
		if (!n || *magic != '{' || st.st_size > COUNTS_LIMIT)
			return no_counts(name);
		return read_counts(p, fd, name);
	}
	err = read_trace(p, fd);
	return err ? err__prefix(err, "%s", name) : 0;
}

void branch_weights__free(struct branch_weights *p)
{
	struct object_weights *o;

	if (!p)
		return;
	vec__each (o, &p->objects) {
		free(o->path);
		map64__free(&o->at);
		vec__free(&o->branches);
	}
	vec__free(&p->objects);
	free(p);
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * The probes of markers: links of uprobe_multi. Those at which a program switches recording stay
 * while all others are attached and detached; those of marks are parked with these. Each execution
 * is reported by a record in the ring, like all others, so that its place among the events of its
 * thread is known.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "source/probes/session.h"
#include "bbtrace.skel.h"

/* The places of an object: marks, or switches. */
struct places {
	const struct object *object;
	bool marks;
	VEC(unsigned long) offsets;
	VEC(uint64_t) cookies;
	VEC(size_t) which;
};

static void places__free(struct places *s)
{
	vec__free(&s->offsets);
	vec__free(&s->cookies);
	vec__free(&s->which);
}

static const struct probe_marker *marker_at(const struct probe *p, size_t i)
{
	return &p->options->markers->data[i];
}

static bool is_of(const struct places *s, const struct probe_marker *m)
{
	return m->object == s->object && (m->kind == MARKER_MARK) == s->marks;
}

/* The markers from this one on. */
static int collect(const struct probe *p, size_t from, struct places *out)
{
	for (size_t i = from; i < p->options->markers->len; i++) {
		const struct probe_marker *m = marker_at(p, i);
		uint64_t offset;

		if (!is_of(out, m))
			continue;
		if (!object__vaddr_to_offset(m->object, m->vaddr, &offset))
			return err__set(EINVAL, "%s of %s is not in the file", m->name,
					m->object->path);
		vec__push(&out->offsets, offset);
		vec__push(&out->cookies, i | (m->kind == MARKER_STOP ? COOKIE_STOPS : 0));
		vec__push(&out->which, i);
	}
	return 0;
}

static struct bpf_link *link_places(struct probe *p, const struct places *s, size_t from, size_t n,
				    pid_t pid)
{
	LIBBPF_OPTS(bpf_uprobe_multi_opts, o, .offsets = s->offsets.data + from,
		    .cookies = (const __u64 *)s->cookies.data + from, .cnt = n);

	return bpf_program__attach_uprobe_multi(s->marks ? p->skel->progs.hit_mark
							 : p->skel->progs.hit_switch,
						pid ? pid : -1, s->object->attach_path, NULL, &o);
}

/* ---- what the kernel would refuse, which only a mapped file shows (multi.c) ---- */

static int try_each(struct probe *p, const struct places *s)
{
	for (size_t i = 0; i < s->offsets.len; i++) {
		struct bpf_link *link = link_places(p, s, i, 1, getpid());

		if (!link)
			return err__set(
				ENOTSUP,
				"the kernel accepts no probe at %s of %s, which is to switch "
				"recording: choose another place",
				marker_at(p, s->which.data[i])->name, s->object->path);
		bpf_link__destroy(link);
	}
	return 0;
}

static int try_places(struct probe *p, const struct places *s)
{
	autoclose int fd = open(s->object->attach_path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *map;
	int err;

	if (fd < 0 || fstat(fd, &st) || !feature__uprobe_multi_by_process())
		return 0;
	map = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return 0;
	err = try_each(p, s);
	munmap(map, st.st_size);
	return err;
}

/* ---- links ---- */

/* pid 0: all. */
static int link_process(struct probe *p, const struct places *s, pid_t pid)
{
	struct bpf_link *link = link_places(p, s, 0, s->offsets.len, pid);

	if (link)
		attachment__add_link(s->marks ? &p->marks : &p->switches, link, pid, 0);
	return link || errno == ESRCH ? 0
				      : err__set(errno, "cannot attach to the markers of %s: %s",
						 s->object->path, strerror(errno));
}

static int link_all(struct probe *p, const struct places *s, const pid_vec *pids)
{
	const uint32_t *pid;
	int err = 0;

	if (uprobe_multi__spares(p->scope.kind) == SPARES_NOBODY)
		return link_process(p, s, 0);
	vec__each (pid, pids)
		if (!err)
			err = link_process(p, s, *pid);
	return err;
}

static bool is_first(const struct probe *p, const struct places *s, size_t from, size_t i)
{
	for (size_t k = from; k < i; k++)
		if (is_of(s, marker_at(p, k)))
			return false;
	return true;
}

/* An object at a time. pids: if links are by process. */
static int attach(struct probe *p, bool marks, size_t from, const pid_vec *pids)
{
	int err = 0;

	for (size_t i = from; !err && i < p->options->markers->len; i++) {
		struct places s = {.object = marker_at(p, i)->object, .marks = marks};

		if (!is_of(&s, marker_at(p, i)) || !is_first(p, &s, from, i))
			continue;
		err = collect(p, from, &s);
		if (!err && !marks && pids == &p->scope.pids)
			err = try_places(p, &s);
		if (!err)
			err = link_all(p, &s, pids);
		places__free(&s);
	}
	return err;
}

static bool switches(const struct probe *p)
{
	const struct probe_marker *m;

	vec__each (m, p->options->markers)
		if (m->kind != MARKER_MARK)
			return true;
	return false;
}

/* This was checked at the start: later there may be no capability left. Without switches, the trace
 * is one without marks. */
static int check(const struct probe *p)
{
	if (p->can_mark || !p->options->markers->len)
		return 0;
	if (switches(p))
		return err__set(ENOTSUP, "probes that switch recording need uprobe_multi, which "
					 "Linux 6.6 or newer has");
	note("marks of programs need uprobe_multi, which Linux 6.6 or newer has: there are none");
	return 0;
}

static int describe(struct probe *p, size_t from)
{
	for (uint32_t i = from; i < p->options->markers->len; i++) {
		const struct marker_operands *m = &marker_at(p, i)->mark;
		const struct wire_mark_spec spec = {.constant = m->constant,
						    .name = m->name,
						    .value = m->value,
						    .when = m->when};

		if (i >= MARKERS_MOST)
			return err__set(ENOSPC, "the traced files have more than %u markers",
					MARKERS_MOST);
		if (bpf_map__update_elem(p->skel->maps.mark_specs, &i, sizeof(i), &spec,
					 sizeof(spec), BPF_ANY))
			return err__set(errno, "cannot describe a mark: %s", strerror(errno));
	}
	return 0;
}

static int attach_from(struct probe *p, size_t from)
{
	int err = check(p);

	if (err || !p->can_mark)
		return err;
	err = describe(p, from);
	if (!err)
		err = attach(p, false, from, &p->scope.pids);
	return err || p->parked ? err : attach(p, true, from, &p->scope.pids);
}

int markers__attach(struct probe *p)
{
	return attach_from(p, 0);
}

static int attach_added(struct probe *p)
{
	return attach_from(p, p->markers_from);
}

int probe__attach_markers(struct source *s, size_t from)
{
	struct probe *p = (struct probe *)s;
	p->markers_from = from;
	return shield__run(attach_added, p);
}

int markers__park(struct probe *p)
{
	attachment__drop_links(&p->marks, 0);
	return 0;
}

int markers__unpark(struct probe *p)
{
	return p->can_mark ? attach(p, true, 0, &p->scope.pids) : 0;
}

/* Its old links are dead. */
int markers__attach_again(struct probe *p, uint32_t pid)
{
	const pid_vec pids = {.data = &pid, .len = 1, .cap = 1};
	int err;

	if (!p->can_mark || uprobe_multi__spares(p->scope.kind) == SPARES_NOBODY)
		return 0;
	attachment__drop_links(&p->switches, pid);
	attachment__drop_links(&p->marks, pid);
	err = attach(p, false, 0, &pids);
	return err || p->parked ? err : attach(p, true, 0, &pids);
}

void markers__choose_programs(struct probe *p)
{
	p->can_mark = p->options->markers && !feature__uprobe_multi();
	if (p->can_mark)
		feature__uprobe_multi_by_process();
	bpf_program__set_autoload(p->skel->progs.hit_switch, p->can_mark);
	bpf_program__set_autoload(p->skel->progs.hit_mark, p->can_mark);
}

uint64_t probe__lost_switches(const struct source *s, size_t *last)
{
	const struct probe *p = (const struct probe *)s;
	*last = p->skel->bss->switch_lost & ~COOKIE_STOPS;
	return p->skel->bss->switches_lost;
}

/* ---- marks ---- */

/*
 * The page of a string constant may not be in memory, since the program itself never reads it. The
 * constant is that of the file, mapped at the same distance from its link-time address as the
 * instruction.
 */
const char *mark__text(const struct probe *p, const struct event *e, char room[MARK_TEXT + 1])
{
	const struct probe_marker *m;
	const uint8_t *bytes;
	uint64_t vaddr;
	size_t len;

	if (e->count >= p->options->markers->len)
		return NULL;
	m = marker_at(p, e->count);
	vaddr = e->target - (e->sp - m->vaddr);
	bytes = object__bytes(m->object, vaddr, &len);
	if (!bytes)
		return NULL;
	len = strnlen((const char *)bytes, min_of(len, (size_t)MARK_TEXT));
	if (!object__is_constant(m->object, vaddr, len + 1))
		return NULL;
	memcpy(room, bytes, len);
	room[len] = 0;
	return room;
}

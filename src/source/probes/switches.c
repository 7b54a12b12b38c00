// SPDX-License-Identifier: BSD-2-Clause
/*
 * The probes at which a program switches recording on and off: links of uprobe_multi that stay
 * while the others come and go. Each execution of such an instruction is told, by a record in the
 * ring as all others are, so that its place among the events of its thread is known.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include "session.h"
#include "bbtrace.skel.h"

struct places {
	const struct object *object;
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

static const struct probe_switch *switch_at(const struct probe *p, size_t i)
{
	return &p->options->switches->data[i];
}

/* Those of the object, from this switch on. */
static int collect(const struct probe *p, size_t from, struct places *out)
{
	for (size_t i = from; i < p->options->switches->len; i++) {
		const struct probe_switch *s = switch_at(p, i);
		uint64_t offset;

		if (s->object != out->object)
			continue;
		if (!object__vaddr_to_offset(s->object, s->vaddr, &offset))
			return err__set(EINVAL, "%s of %s is not in the file", s->name,
					s->object->path);
		vec__push(&out->offsets, offset);
		vec__push(&out->cookies, i | (s->stops ? COOKIE_STOPS : 0));
		vec__push(&out->which, i);
	}
	return 0;
}

static struct bpf_link *link_places(struct probe *p, const struct places *s, size_t from, size_t n,
				    pid_t pid)
{
	LIBBPF_OPTS(bpf_uprobe_multi_opts, o, .offsets = s->offsets.data + from,
		    .cookies = (const __u64 *)s->cookies.data + from, .cnt = n);

	return bpf_program__attach_uprobe_multi(p->skel->progs.hit_switch, pid ? pid : -1,
						s->object->attach_path, NULL, &o);
}

/* ---- what would the kernel refuse? It tells where the file is mapped alone (multi.c) ---- */

static int try_each(struct probe *p, const struct places *s)
{
	for (size_t i = 0; i < s->offsets.len; i++) {
		struct bpf_link *link = link_places(p, s, i, 1, getpid());

		if (!link)
			return err__set(
				ENOTSUP,
				"the kernel accepts no probe at %s of %s, which is to switch "
				"recording: choose another place",
				switch_at(p, s->which.data[i])->name, s->object->path);
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
		attachment__add_link(&p->switches, link, pid, 0);
	return link || errno == ESRCH
		       ? 0
		       : err__set(errno, "cannot attach to what switches recording in %s: %s",
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

static bool is_first(const struct probe *p, size_t from, size_t i)
{
	for (size_t k = from; k < i; k++)
		if (switch_at(p, k)->object == switch_at(p, i)->object)
			return false;
	return true;
}

/* An object at a time. */
static int attach(struct probe *p, size_t from, const pid_vec *pids, bool again)
{
	int err = 0;

	for (size_t i = from; !err && i < p->options->switches->len; i++) {
		struct places s = {.object = switch_at(p, i)->object};

		if (!is_first(p, from, i))
			continue;
		err = collect(p, from, &s);
		if (!err && !again)
			err = try_places(p, &s);
		if (!err)
			err = link_all(p, &s, pids);
		places__free(&s);
	}
	return err;
}

static int check(void)
{
	int err = feature__uprobe_multi();

	return err ? err__prefix(err, "probes that switch recording need uprobe_multi") : 0;
}

int switches__attach(struct probe *p)
{
	int err = p->options->switches->len ? check() : 0;

	return err ? err : attach(p, 0, &p->scope.pids, false);
}

static size_t added;

static int attach_added(struct probe *p)
{
	return attach(p, added, &p->scope.pids, false);
}

int probe__attach_switches(struct probe *p, size_t from)
{
	int err = check();

	added = from;
	return err ? err : shield__run(attach_added, p);
}

/* Its old links are dead. */
int switches__attach_again(struct probe *p, uint32_t pid)
{
	const pid_vec pids = {.data = &pid, .len = 1, .cap = 1};

	if (!p->options->switches || uprobe_multi__spares(p->scope.kind) == SPARES_NOBODY)
		return 0;
	attachment__drop_links(&p->switches, pid);
	return attach(p, 0, &pids, true);
}

uint64_t probe__lost_switches(const struct probe *p, size_t *last)
{
	*last = p->skel->bss->switch_lost & ~COOKIE_STOPS;
	return p->skel->bss->switches_lost;
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * Code that a process runs and that isn't its file's. Copied functions (src/source/inline) of
 * another bbtrace, or of one that was killed: the kernel doesn't check, it writes its breakpoint
 * over whatever is there, executes the file's instruction in its place, and the program continues
 * in the middle of a springboard. A file that overlayfs has copied since it was mapped: the path
 * names the copy, and the kernel writes no breakpoint into the process.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include "source/probes/session.h"

#define INSN_MAX 15

/* One that has copies has logs, in a place of their own. */
static bool has_logs(const map_vec *maps)
{
	const struct map *m;

	vec__each (m, maps)
		if (log_areas__hold(m->start))
			return true;
	return false;
}

/* Returns true if the instruction, apart from breakpoints of the kernel, is that of the file. What
 * can't be read is assumed to be. */
static bool is_original(const struct plan *p, int mem, const struct object *o, uint64_t vaddr,
			size_t len, uint64_t bias)
{
	const struct breakpoint *b = &p->arch->uprobe_breakpoint;
	uint8_t now[INSN_MAX];
	size_t avail = 0;
	const uint8_t *was = object__bytes(o, vaddr, &avail);

	len = min_of(len, min_of(avail, sizeof(now)));
	if (!was || pread(mem, now, len, (off_t)(vaddr + bias)) != (ssize_t)len)
		return true;
	if (len >= b->len && !memcmp(now, b->bytes, b->len))
		memcpy(now, was, b->len);
	return !memcmp(was, now, len);
}

/* Returns the function of one of the sites whose code was changed; NO_FUNCTION if there is none. */
static uint32_t find_changed(const struct plan *p, const id_vec *sites, uint32_t object, int mem,
			     uint64_t bias)
{
	const struct plan_site *s;
	const uint32_t *id;

	vec__each (id, sites) {
		s = &p->sites.data[*id];
		if (s->object == object &&
		    !is_original(p, mem, p->objects.data[object].object, s->vaddr + s->probe_at,
				 s->probe_at ? 1 : s->len, bias))
			return s->function;
	}
	return NO_FUNCTION;
}

static uint32_t find_in_map(const struct plan *p, const id_vec *sites, uint32_t pid, int mem,
			    const struct map *m)
{
	uint32_t found = NO_FUNCTION;
	uint64_t bias;

	for (uint32_t i = 0; found == NO_FUNCTION && i < p->objects.len; i++) {
		const struct object *o = p->objects.data[i].object;

		if (o && map__is_code(pid, m, o, &bias))
			found = find_changed(p, sites, i, mem, bias);
	}
	return found;
}

static int open_memory(uint32_t pid)
{
	autofree char *path = xasprintf("/proc/%u/mem", pid);

	return open(path, O_RDONLY | O_CLOEXEC);
}

static int check_process(const struct plan *p, const id_vec *sites, uint32_t pid)
{
	CLEANUP(maps__free) map_vec maps = {0};
	uint32_t found = NO_FUNCTION;
	const struct map *m;
	autoclose int mem = -1;

	if (maps__read(pid, &maps) || !has_logs(&maps))
		return 0;
	mem = open_memory(pid);
	vec__each (m, &maps)
		if (mem >= 0 && found == NO_FUNCTION)
			found = find_in_map(p, sites, pid, mem, m);
	if (found == NO_FUNCTION)
		return 0;
	return err__set(EBUSY,
			"process %u runs copies of functions, %s() among them, of another bbtrace "
			"--engine inline or of one that was killed: probes there would end it; "
			"end that bbtrace, or restart the process",
			pid, p->functions.data[found].name);
}

int probe__check_code(const struct probe *p, const id_vec *sites)
{
	bool all = p->scope.kind == SCOPE_ALL || p->unspared;
	pid_vec pids = {0};
	const uint32_t *pid;
	int err = 0;

	if (!sites->len)
		return 0;
	if (all)
		processes__all(&pids);
	vec__each (pid, all ? &pids : &p->scope.pids)
		if (!err)
			err = check_process(p->plan, sites, *pid);
	vec__free(&pids);
	return err;
}

/* ---- after attaching ---- */

struct placed {
	const struct plan *plan;
	const id_vec *sites;
	unsigned there, missing; /* processes */
};

/* Returns true if the process has the file's bytes at all of these sites: no breakpoint, and
 * nothing else in place of one. */
static bool lacks_probes(const struct placed *c, uint32_t object, int mem, uint64_t bias)
{
	const struct object *o = c->plan->objects.data[object].object;
	const uint32_t *id;
	bool any = false;

	vec__each (id, c->sites) {
		const struct plan_site *s = &c->plan->sites.data[*id];
		const uint8_t *was;
		uint8_t now;
		size_t avail = 0;

		if (s->object != object || s->refusal)
			continue;
		was = object__bytes(o, s->vaddr + s->probe_at, &avail);
		if (!was || !avail ||
		    pread(mem, &now, 1, (off_t)(s->vaddr + s->probe_at + bias)) != 1 || now != *was)
			return false;
		any = true;
	}
	return any;
}

static void look_for_probes(struct placed *c, uint32_t pid)
{
	CLEANUP(maps__free) map_vec maps = {0};
	autoclose int mem = maps__read(pid, &maps) ? -1 : open_memory(pid);
	const struct map *m;
	uint64_t bias;

	vec__each (m, &maps)
		for (uint32_t i = 0; mem >= 0 && i < c->plan->objects.len; i++) {
			const struct object *o = c->plan->objects.data[i].object;

			if (!o || !map__is_code(pid, m, o, &bias))
				continue;
			if (!lacks_probes(c, i, mem, bias)) {
				c->there++;
				continue;
			}
			c->missing++;
			err__set(ESTALE,
				 "process %u has mapped %s from before that file was copied or "
				 "replaced (overlayfs copies what is changed): probes don't reach "
				 "it; use --engine inline, or restart the process",
				 pid, o->path);
		}
}

int probe__check_mapped(const struct probe *p, const id_vec *sites)
{
	struct placed c = {.plan = p->plan, .sites = sites};
	const uint32_t *pid;

	if (p->scope.kind == SCOPE_ALL)
		return 0;
	vec__each (pid, &p->scope.pids)
		look_for_probes(&c, *pid);
	if (c.missing && !c.there)
		return -ESTALE;
	if (c.missing)
		note("%s", err__text());
	err__clear();
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "filters.h"
#include "bbtrace.skel.h"

void map__set_most(struct bpf_map *map, size_t entries)
{
	bpf_map__set_max_entries(map, max_of(entries, (size_t)1));
}

#define CHILDREN 65536 /* most children that are followed */
#define OWN	 8     /* most children of bbtrace that are excluded, besides its pager */
#define INNER	 16384 /* most recent processes of inner PID namespaces */

/* Entries of hash tables are allocated in advance. */
void filters__size(struct probe *p)
{
	const struct probe_filters *f = &p->options->filters;
	bool born = f->follow || p->scope.kind != SCOPE_PROCESSES;

	map__set_most(p->skel->maps.pids, f->pids.len);
	map__set_most(p->skel->maps.tids, f->tids.len);
	map__set_most(p->skel->maps.comms, f->comms.len);
	map__set_most(p->skel->maps.uids, f->uids.len);
	map__set_most(p->skel->maps.excluded, f->excluded.len + OWN);
	map__set_most(p->skel->maps.followed, f->follow ? CHILDREN : 0);
	map__set_most(p->skel->maps.inner, born ? INNER : 0);
}

static int set_u32s(struct bpf_map *map, const uint32_t *keys, size_t n)
{
	uint8_t yes = 1;

	for (size_t i = 0; i < n; i++)
		if (bpf_map__update_elem(map, &keys[i], 4, &yes, 1, BPF_ANY))
			return err__set(errno, "cannot fill the filters: %s", strerror(errno));
	return 0;
}

static int set_comms(struct bpf_map *map, const struct probe_filters *f)
{
	struct comm_key comm;
	const char **name;
	uint8_t yes = 1;

	vec__each (name, &f->comms) {
		memset(&comm, 0, sizeof(comm));
		memcpy(comm.name, *name, min_of(strlen(*name), sizeof(comm.name) - 1));
		if (bpf_map__update_elem(map, &comm, sizeof(comm), &yes, 1, BPF_ANY))
			return err__set(errno, "cannot fill the filters: %s", strerror(errno));
	}
	return 0;
}

static int set_cgroup(struct probe *p, const char *path)
{
	autoclose int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint32_t zero = 0;

	if (fd < 0)
		return err__set(errno,
				"cannot open cgroup %s: %s; cgroups are folders, mostly below "
				"/sys/fs/cgroup",
				path, strerror(errno));
	if (!bpf_map__update_elem(p->skel->maps.cgroup, &zero, 4, &fd, 4, BPF_ANY))
		return 0;
	if (errno == EBADF) /* kernel/cgroup/cgroup.c, cgroup_get_from_fd() */
		return err__set(EINVAL,
				"%s is not a cgroup v2 folder; they are mostly below "
				"/sys/fs/cgroup",
				path);
	return err__set(errno, "cannot filter by cgroup %s: %s", path, strerror(errno));
}

int filters__fill(struct probe *p)
{
	const struct probe_filters *f = &p->options->filters;
	int err = set_comms(p->skel->maps.comms, f);

	if (err)
		return err;
	err = set_u32s(p->skel->maps.pids, f->pids.data, f->pids.len);
	if (err)
		return err;
	err = set_u32s(p->skel->maps.tids, f->tids.data, f->tids.len);
	if (err)
		return err;
	err = set_u32s(p->skel->maps.uids, f->uids.data, f->uids.len);
	if (err)
		return err;
	err = set_u32s(p->skel->maps.excluded, f->excluded.data, f->excluded.len);
	if (err)
		return err;
	return f->cgroup ? set_cgroup(p, f->cgroup) : 0;
}

void probe__exclude(struct source *s, uint32_t pid, bool excluded)
{
	struct probe *p = (struct probe *)s;
	uint8_t yes = 1;

	if (excluded)
		bpf_map__update_elem(p->skel->maps.excluded, &pid, 4, &yes, 1, BPF_ANY);
	else
		bpf_map__delete_elem(p->skel->maps.excluded, &pid, 4, 0);
}

void filters__add_children(struct probe *p, const uint32_t *pids, size_t n)
{
	set_u32s(p->skel->maps.followed, pids, n);
}

// SPDX-License-Identifier: BSD-2-Clause
/* Core dumps: their notes, what was mapped, and the stacks. Files that they name are not here. */
#include <fcntl.h>
#include "object/core/core.h"
#include "fuzz.h"
#include "object/object.h"

static char path[] = "/tmp/bbtrace-fuzz-core-XXXXXX";

static void remove_file(void)
{
	unlink(path);
}

static int file(void)
{
	int fd;

	if (!strstr(path, "XXXXXX"))
		return open(path, O_WRONLY | O_TRUNC);
	fd = mkstemp(path);
	atexit(remove_file);
	return fd;
}

static void look(const struct core *c)
{
	const struct core_map *m, *before = NULL;
	const struct core_thread *t;
	uint64_t vaddr;

	vec__each (m, &c->maps) {
		CHECK(m->start < m->end && m->file < c->files.len);
		CHECK(!before || before->end <= m->start);
		CHECK(core__map_at(c, m->start) == m && core__map_at(c, m->end - 1) == m);
		core__find(c, m->start, &vaddr);
		before = m;
	}
	vec__each (t, &c->threads) {
		CHECK(t->first + t->n <= c->frames.len && t->end < CORE_STACK_ENDS);
		for (size_t i = 0; i < t->n; i++)
			core__find(c, c->frames.data[t->first + i].pc, &vaddr);
	}
	CHECK(strlen(c->comm) < sizeof(c->comm) && strlen(c->command) < sizeof(c->command));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct core_from from = {NULL};
	struct core *c;
	int fd = file();

	CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	close(fd);
	note__set_level(NOTE_QUIET);
	err__clear();
	if (core__open(path, &from, &c)) {
		CHECK(*err__text());
		return 0;
	}
	look(c);
	core__free(c);
	return 0;
}

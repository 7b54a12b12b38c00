// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <sys/stat.h>
#include "util/named_file.h"
#include "file_keeper.h"

enum keeper_request { ROTATE, OPEN, REMOVE };

/* ---- in the keeper ---- */

struct job {
	const struct kept_files *files;
	struct stat current; /* of the file to rotate */
};

static int rotate(struct job *j)
{
	const struct kept_files *f = j->files;
	int fd = f->place ? sink_place__rotate(f->place, f->path, &j->current)
			  : err__set(EINVAL, "no file is rotated");

	if (fd >= 0 && fstat(fd, &j->current))
		memset(&j->current, 0, sizeof(j->current));
	return fd;
}

static int answer(void *ctx, int32_t request)
{
	struct job *j = ctx;

	if (request == ROTATE)
		return rotate(j);
	if (request == OPEN && j->files->output)
		return sink__open_file(j->files->output, NULL);
	if (request == REMOVE && j->files->removed)
		named_file__remove(j->files->removed);
	return request == REMOVE ? 0 : err__set(EINVAL, "no such request");
}

#define NAMES (PRIVILEGE_DAC_OVERRIDE | PRIVILEGE_DAC_READ_SEARCH | PRIVILEGE_FOWNER)

static int give_up(void *ctx)
{
	const struct kept_files *f = ((struct job *)ctx)->files;
	uint64_t names = f->place || f->output ? NAMES & ~privileges__missing(NAMES) : 0;
	int err = rights__keep(names, true);

	return err ? err : rights__forbid(FORBID_EXEC | FORBID_TRACING | FORBID_NETWORK);
}

/* ---- in bbtrace ---- */

int file_keeper__start(struct keeper *k, const struct kept_files *f)
{
	struct job j = {.files = f};
	const struct keeper_job job = {
		.name = "bbtrace-files",
		.ctx = &j,
		.give_up = give_up,
		.answer = answer,
		.kept = {f->place ? f->place->dir : -1, f->removed ? f->removed->folder : -1},
		.keeps_all = f->output, /* its name may be that of a descriptor */
	};

	if (f->place && fstat(f->current, &j.current))
		return err__set(errno, "cannot look at %s: %s", f->path, strerror(errno));
	return keeper__start(k, &job);
}

int file_keeper__rotate(const struct keeper *k)
{
	return keeper__ask(k, ROTATE);
}

int file_keeper__open(const struct keeper *k)
{
	return keeper__ask(k, OPEN);
}

void file_keeper__end(struct keeper *k)
{
	if (k->pid > 0)
		keeper__ask(k, REMOVE);
	keeper__end(k);
}

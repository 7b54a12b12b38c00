// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <unistd.h>
#include "confine.h"
#include "pipeline/write/file_keeper.h"
#include "pipeline/pager.h"

#define VERB_READS (VERB_REPORT | VERB_MERGE | VERB_DIFF | VERB_CORE | VERB_LIST)

static struct keeper output;

static bool names_kernel(const struct request *req)
{
	for (size_t i = 0; i < req->operands.len; i++)
		if (!strcmp(req->operands.data[i], "kernel") ||
		    !strncmp(req->operands.data[i], "kernel:", strlen("kernel:")))
			return true;
	return false;
}

/* True if the verb only reads files. What the kernel and processes are asked needs other rights. */
static bool reads_files(const struct request *req)
{
	if (req->verb->bit == VERB_LIST)
		return !req->who.filters.pids.len && !req->list.events && !names_kernel(req);
	return req->verb->bit & VERB_READS;
}

/*
 * Returns the capabilities that are needed. report, merge and diff read the user's own files;
 * programs may be readable only by others, and root may read all; list names the processes that run
 * a deleted program.
 */
static uint64_t needed(const struct request *req)
{
	uint64_t read = PRIVILEGE_DAC_READ_SEARCH;

	if (req->verb->bit & VERB_LIST)
		read |= PRIVILEGE_SYS_PTRACE;
	else if (rights__user() && !(req->verb->bit & VERB_CORE))
		return 0;
	return read & ~privileges__missing(read);
}

static int open_output(void)
{
	return file_keeper__open(&output);
}

static int keep_output(const struct request *req)
{
	const struct kept_files f = {.output = req->show.output};
	int err;

	if (rights__user() || sink__is_stdout(req->show.output))
		return 0;
	err = file_keeper__start(&output, &f);
	if (!err)
		sink__open_by(open_output);
	return err;
}

/* debuginfod's cache belongs to the user. */
int confine__reader(const struct request *req)
{
	int err;

	if (!reads_files(req))
		return 0;
	if (req->verb->bit == VERB_REPORT && !req->show.output && !req->show.tui &&
	    isatty(STDOUT_FILENO))
		pager__prepare();
	err = keep_output(req);
	if (err)
		return err;
	err = rights__keep(needed(req), req->what.debuginfod);
	if (err)
		return err__set(-err, "cannot give up privileges: %s", strerror(-err));
	return rights__forbid(FORBID_EXEC | FORBID_TRACING |
			      (req->what.debuginfod ? 0 : FORBID_NETWORK));
}

int confine__no_files(void)
{
	int err = rights__keep(0, true);

	return err ? err__set(-err, "cannot give up privileges: %s", strerror(-err)) : 0;
}

void confine__end(void)
{
	file_keeper__end(&output);
}

// SPDX-License-Identifier: BSD-2-Clause
/* The client of debuginfod(8), which is a library of elfutils; it is loaded only on request. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "debuginfod.h"

#define LIBRARY "libdebuginfod.so.1"
#define URLS	"DEBUGINFOD_URLS"

/* A server may send without end, or a byte now and then. The library watches the time; of the size,
 * it only checks what the server announced. */
#define FILE_SECONDS "600"
#define FILE_MOST    (4l << 30)
#define FAILS_MOST   2 /* the most failed fetches; further ones would take as long */

struct debuginfod_client;
static struct {
	struct debuginfod_client *(*begin)(void);
	int (*find)(struct debuginfod_client *client, const unsigned char *id, int len,
		    char **path);
	void (*watch)(struct debuginfod_client *client,
		      int (*fn)(struct debuginfod_client *client, long some, long all));
	struct debuginfod_client *client; /* NULL until a file is asked for */
	bool too_large;			  /* the file that was fetched last was too large */
	unsigned fails;
	/* Builds that were not found: a server that doesn't answer takes a minute each time. */
	VEC(uint64_t) missing;
} fetcher;

/* The library calls this while it waits; a result other than 0 stops it. some is the number of
 * bytes so far; until a server has answered, it is the number of calls. */
static int check_size(struct debuginfod_client *client, long some, long all)
{
	fetcher.too_large = some > FILE_MOST || all > FILE_MOST;
	return fetcher.too_large;
}

#define CACHE "DEBUGINFOD_CACHE_PATH"

/* sudo may leave HOME unchanged: links in a user's folder would redirect what root writes. */
static bool is_cache_foreign(void)
{
	const char *home = getenv("HOME");
	struct stat st;

	return !rights__user() && !getenv(CACHE) && home && !stat(home, &st) && st.st_uid;
}

/* CMD's environment must not change. */
static int find(const uint8_t *id, size_t len)
{
	bool foreign = is_cache_foreign();
	int fd;

	if (foreign)
		setenv(CACHE, "/var/cache/bbtrace/debuginfod", 1);
	fd = fetcher.find(fetcher.client, id, (int)len, NULL);
	if (foreign)
		unsetenv(CACHE);
	return fd;
}

int debuginfod__enable(void)
{
	static const char *const names[] = {"debuginfod_begin", "debuginfod_find_debuginfo",
					    "debuginfod_set_progressfn"};
	/* A user who runs a bbtrace with file capabilities doesn't choose its servers. */
	const char *urls = secure_getenv(URLS);
	void *found[ARRAY_SIZE(names)];

	if (!urls || !urls[strspn(urls, " ")])
		return err__set(EINVAL,
				"no server is known: set " URLS "; with sudo, --preserve-env=" URLS
				" keeps it; with file capabilities it is ignored");
	if (!library__load(LIBRARY, names, found, ARRAY_SIZE(names)))
		return err__set(EINVAL, "needs " LIBRARY
					", of elfutils; Debian: apt install libdebuginfod1");
	memcpy(&fetcher.begin, &found[0], sizeof(found[0]));
	memcpy(&fetcher.find, &found[1], sizeof(found[1]));
	memcpy(&fetcher.watch, &found[2], sizeof(found[2]));
	setenv("DEBUGINFOD_MAXTIME", FILE_SECONDS, 0);
	fetcher.client = fetcher.begin();
	if (!fetcher.client)
		return err__set(EINVAL, LIBRARY " can't be used");
	fetcher.watch(fetcher.client, check_size);
	return 0;
}

static bool is_missing(uint64_t key)
{
	for (size_t i = 0; i < fetcher.missing.len; i++)
		if (fetcher.missing.data[i] == key)
			return true;
	return false;
}

void debuginfod__reject(const uint8_t *id, size_t len)
{
	vec__push(&fetcher.missing, map64__hash(id, len));
}

static void note_failure(const char *name, int err)
{
	note("%s: its debug information can't be fetched: %s", name,
	     fetcher.too_large ? "it is larger than 4 GiB" : strerror(-err));
	if (++fetcher.fails < FAILS_MOST)
		return;
	note("nothing more is fetched from " URLS ": %u fetches have failed", FAILS_MOST);
	fetcher.client = NULL;
}

int debuginfod__fetch(const uint8_t *id, size_t len, const char *name)
{
	uint64_t key = map64__hash(id, len);
	int fd;
	with_own_rights; /* the cache is the user's */

	if (!fetcher.client || !len || is_missing(key))
		return -1;
	fetcher.too_large = false;
	fd = find(id, len);
	if (fd >= 0) {
		note_verbose("%s: its debug file is that of a debuginfod server", name);
		return fd;
	}
	debuginfod__reject(id, len);
	if (fd == -ENOENT && !fetcher.too_large)
		note("%s: no debuginfod server has its debug information", name);
	else
		note_failure(name, fd);
	return -1;
}

// SPDX-License-Identifier: BSD-2-Clause
/* debuginfod(8)'s client, which elfutils has as a library of its own: it is loaded on request only.
 */
#include <errno.h>
#include <unistd.h>
#include "debuginfod.h"

#define LIBRARY "libdebuginfod.so.1"
#define URLS	"DEBUGINFOD_URLS"

struct debuginfod_client;
static struct {
	struct debuginfod_client *(*begin)(void);
	int (*find)(struct debuginfod_client *client, const unsigned char *id, int len,
		    char **path);
	struct debuginfod_client *client; /* NULL: not asked for */
	/* builds that were not found: a server that doesn't answer takes a minute each time */
	VEC(uint64_t) missing;
} fetcher;

int debuginfod__enable(void)
{
	static const char *const names[] = {"debuginfod_begin", "debuginfod_find_debuginfo"};
	const char *urls = getenv(URLS);
	void *found[ARRAY_SIZE(names)];

	if (!urls || !urls[strspn(urls, " ")])
		return err__set(EINVAL, "no server is known: set " URLS
					"; with sudo, --preserve-env=" URLS " keeps it");
	if (!library__load(LIBRARY, names, found, ARRAY_SIZE(names)))
		return err__set(EINVAL, "needs " LIBRARY
					", of elfutils; Debian: apt install libdebuginfod1");
	memcpy(&fetcher.begin, &found[0], sizeof(found[0]));
	memcpy(&fetcher.find, &found[1], sizeof(found[1]));
	fetcher.client = fetcher.begin();
	return fetcher.client ? 0 : err__set(EINVAL, LIBRARY " can't be used");
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

int debuginfod__fetch(const uint8_t *id, size_t len, const char *name)
{
	uint64_t key = map64__hash(id, len);
	int fd;
	with_own_rights; /* its cache is the user's */

	if (!fetcher.client || !len || is_missing(key))
		return -1;
	fd = fetcher.find(fetcher.client, id, (int)len, NULL);
	if (fd >= 0) {
		note_verbose("%s: its debug file is that of a debuginfod server", name);
		return fd;
	}
	debuginfod__reject(id, len);
	if (fd == -ENOENT)
		note("%s: no debuginfod server has its debug information", name);
	else
		note("%s: its debug information can't be fetched: %s", name, strerror(-fd));
	return -1;
}

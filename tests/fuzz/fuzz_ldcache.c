// SPDX-License-Identifier: BSD-2-Clause
/* /etc/ld.so.cache. Input: the soname to find, a NUL, then the cache. */
#include "arch/arch.h"
#include "fuzz.h"
#include "resolve/ldcache.h"
#include "resolve/near.h"

static void check_soname(void *near, const char *soname)
{
	near__soname(near, soname);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = memchr(data, 0, size);
	size_t len = nul ? size - (nul + 1 - data) : 0;
	struct near near = {.name = (const char *)data};
	struct str text = {0};
	const char *path;
	char *cache;

	if (!nul)
		return 0;
	cache = xmalloc(len);
	memcpy(cache, nul + 1, len);
	ldcache__each(arch__native(), cache, len, check_soname, &near);
	near__put(&near, &text);
	CHECK(!near.best[0] || strstr(text.data, near.best[0]));
	near__free(&near);
	str__free(&text);
	path = ldcache__find(arch__native(), cache, len, (const char *)data);
	CHECK(!path || (path >= cache && path + strlen(path) < cache + len));
	free(cache);
	return 0;
}

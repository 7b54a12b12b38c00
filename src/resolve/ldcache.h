/* SPDX-License-Identifier: BSD-2-Clause */
/* ldcache: the dynamic loader's cache. Private to src/resolve. */
#ifndef BBTRACE_RESOLVE_LDCACHE_H
#define BBTRACE_RESOLVE_LDCACHE_H

#include "util/util.h"

struct arch;

/* The subdirectories of glibc-hwcaps that the loader of these programs searches on this CPU, best
 * first, NULL-terminated. */
const char *const *hwcaps__names(const struct arch *arch);

/*
 * Returns the path that the loader of these programs takes for soname, from the bytes of an
 * ld.so.cache; NULL if there is none, or if the cache has another format or is damaged. Points into
 * bytes.
 */
const char *ldcache__find(const struct arch *arch, const char *bytes, size_t len,
			  const char *soname);
/* Calls fn with the soname of each entry for them, perhaps more than once. */
void ldcache__each(const struct arch *arch, const char *bytes, size_t len,
		   void (*fn)(void *ctx, const char *soname), void *ctx);

#endif

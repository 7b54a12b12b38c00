/* SPDX-License-Identifier: BSD-2-Clause */
/* ldcache: the dynamic loader's cache. Private to src/resolve. */
#ifndef BBTRACE_RESOLVE_LDCACHE_H
#define BBTRACE_RESOLVE_LDCACHE_H

#include "util/util.h"

/* Best first: the subfolders of glibc-hwcaps that the loader looks into, NULL-terminated, of this
 * machine's CPU. */
const char *const *hwcaps__names(void);

/*
 * The path that the loader takes for soname, out of the bytes of an ld.so.cache; NULL: none, or the
 * cache is of another format or damaged. Points into bytes.
 */
const char *ldcache__find(const char *bytes, size_t len, const char *soname);

#endif

// SPDX-License-Identifier: BSD-2-Clause
/*
 * The folder: XDG_CACHE_HOME/bbtrace, /var/cache/bbtrace for root, else ~/.cache/bbtrace. A file is
 * a header and the content, compressed; it is replaced by rename(2). The time of its last change is
 * that of its last use.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#include "store.h"

#define MAGIC	    0x3165686361636262ull /* "bbcache1" */
#define FILE_MAX    (128u << 20)	  /* bytes of a file */
#define CONTENT_MAX (1ull << 30)
#define FOLDER_MAX  (512u << 20) /* bytes of all files */
#define LEVEL	    1		 /* of compression */

#define SYSTEM_FOLDER "/var/cache/bbtrace"

struct header {
	uint64_t magic, size; /* of the content */
	struct key key;
	struct key digest; /* of the compressed content */
};

/* ---- the folder ---- */

static char *folder_name(void)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (cache && *cache == '/')
		return xasprintf("%s/bbtrace", cache);
	if (!rights__user())
		return xstrdup(SYSTEM_FOLDER);
	return home && *home == '/' ? xasprintf("%s/.cache/bbtrace", home) : NULL;
}

/* Returns true if it belongs to this user, and nobody else may write it. */
static bool is_own(int fd, mode_t type, struct stat *st)
{
	return !fstat(fd, st) && (st->st_mode & S_IFMT) == type && st->st_uid == rights__user() &&
	       !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* Opens the folder; makes it if make is set. Returns -1 if there is none to use. */
static int open_folder(bool make)
{
	autofree char *name = folder_name();
	struct stat st;
	int fd;

	if (!name)
		return -1;
	if (make)
		(void)folder__make(name, 0700);
	fd = open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && make)
		note_verbose("nothing is kept for the next start: %s: %s", name, strerror(errno));
	if (fd >= 0 && !is_own(fd, S_IFDIR, &st)) {
		note_verbose("%s is not used: others may write it, or it belongs to user %u", name,
			     st.st_uid);
		close(fd);
		return -1;
	}
	return fd;
}

static char *name_of(const struct key *key, const char *kind)
{
	struct str s = {0};

	for (size_t i = 0; i < KEY_SIZE; i++)
		str__printf(&s, "%02x", key->bytes[i]);
	str__printf(&s, ".%s", kind);
	return s.data;
}

/* ---- reading ---- */

static bool is_good(const struct header *h, const struct key *key, const void *data, size_t len)
{
	struct key digest;

	if (h->magic != MAGIC || memcmp(&h->key, key, sizeof(*key)) != 0 || h->size > CONTENT_MAX)
		return false;
	key__of_bytes(data, len, &digest);
	return !memcmp(&digest, &h->digest, sizeof(digest));
}

static bool expand(const struct header *h, const void *data, size_t len, struct str *out)
{
	size_t n;

	str__reserve(out, h->size);
	n = ZSTD_decompress(out->data + out->len, h->size, data, len);
	if (ZSTD_isError(n) || n != h->size)
		return false;
	out->len += n;
	out->data[out->len] = 0;
	return true;
}

static bool take(const char *bytes, size_t len, const struct key *key, struct str *out)
{
	struct header h;

	if (len < sizeof(h))
		return false;
	memcpy(&h, bytes, sizeof(h));
	return is_good(&h, key, bytes + sizeof(h), len - sizeof(h)) &&
	       expand(&h, bytes + sizeof(h), len - sizeof(h), out);
}

bool store__find(const struct key *key, const char *kind, struct str *out)
{
	with_own_rights;
	autoclose int folder = own_rights.lowered ? -1 : open_folder(false);
	autofree char *name = name_of(key, kind), *bytes = NULL;
	size_t len;
	struct stat st;

	autoclose int fd =
		folder < 0 ? -1
			   : openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 || !is_own(fd, S_IFREG, &st))
		return false;
	if (fd__read(fd, name, FILE_MAX, &bytes, &len) || !take(bytes, len, key, out)) {
		err__clear();
		note_verbose("%s of the cache is damaged: it is made again", name);
		unlinkat(folder, name, 0);
		return false;
	}
	futimens(fd, NULL);
	note_verbose("the %s of an earlier start is used: %s", kind, name);
	return true;
}

/* ---- writing ---- */

struct kept {
	char *name;
	uint64_t used; /* ns */
	uint64_t size;
};
typedef VEC(struct kept) kept_vec;

static int by_use(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;

	return x->used < y->used ? -1 : x->used > y->used;
}

/* Returns the size of all files. */
static uint64_t list(DIR *d, kept_vec *out)
{
	const struct dirent *e;
	uint64_t all = 0;
	struct stat st;

	while ((e = readdir(d))) {
		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		all += st.st_size;
		vec__push(out, (struct kept){xstrdup(e->d_name),
					     st.st_mtim.tv_sec * 1000000000ull + st.st_mtim.tv_nsec,
					     st.st_size});
	}
	return all;
}

/* Parts of files that nobody finished are removed like others. */
static void remove_oldest(int folder)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	kept_vec files = {0};
	struct kept *k;
	uint64_t all;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return;
	}
	all = list(d, &files);
	vec__sort(&files, by_use);
	vec__each (k, &files) {
		if (all > FOLDER_MAX && !unlinkat(folder, k->name, 0))
			all -= k->size;
		free(k->name);
	}
	vec__free(&files);
	closedir(d);
}

/* What is compressed goes to a file with another name: only what is whole gets its own. */
struct writing {
	int folder, fd;
	char *name, *temporary;
	struct header h;
	ZSTD_CCtx *zstd;
	crypto_generichash_state digest;
	uint64_t len; /* of the compressed content */
	bool failed;
	uint8_t out[64 << 10];
};

struct writing *store__begin(const struct key *key, const char *kind)
{
	with_own_rights;
	int folder = own_rights.lowered ? -1 : open_folder(true);
	struct writing *w;

	if (folder < 0)
		return NULL;
	w = xcalloc(1, sizeof(*w));
	w->folder = folder;
	w->h = (struct header){.magic = MAGIC, .key = *key};
	w->name = name_of(key, kind);
	w->temporary = xasprintf(".%s.%d", w->name, getpid());
	w->fd = openat(folder, w->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		       0600);
	w->zstd = ZSTD_createCCtx();
	w->failed = w->fd < 0 || !w->zstd || !fd__write(w->fd, &w->h, sizeof(w->h)) ||
		    ZSTD_isError(ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, LEVEL));
	crypto_generichash_init(&w->digest, NULL, 0, KEY_SIZE);
	return w;
}

static void put_compressed(struct writing *w, size_t len)
{
	crypto_generichash_update(&w->digest, w->out, len);
	w->len += len;
	w->failed |= sizeof(w->h) + w->len > FILE_MAX || !fd__write(w->fd, w->out, len);
}

static void compress(struct writing *w, const void *data, size_t len, ZSTD_EndDirective how)
{
	ZSTD_inBuffer in = {data, len, 0};
	ZSTD_outBuffer out;
	size_t left;

	do {
		out = (ZSTD_outBuffer){w->out, sizeof(w->out), 0};
		left = ZSTD_compressStream2(w->zstd, &out, &in, how);
		w->failed |= ZSTD_isError(left);
		if (!w->failed)
			put_compressed(w, out.pos);
	} while (!w->failed && (how == ZSTD_e_end ? left : in.size - in.pos));
}

void store__write(void *writing, const void *data, size_t len)
{
	struct writing *w = writing;

	w->h.size += len;
	w->failed |= w->h.size > CONTENT_MAX;
	if (!w->failed)
		compress(w, data, len, ZSTD_e_continue);
}

/* Returns true if the file is whole and has its name. */
static bool finish(struct writing *w)
{
	compress(w, NULL, 0, ZSTD_e_end);
	crypto_generichash_final(&w->digest, w->h.digest.bytes, KEY_SIZE);
	return !w->failed && pwrite(w->fd, &w->h, sizeof(w->h), 0) == sizeof(w->h) &&
	       !renameat(w->folder, w->temporary, w->folder, w->name);
}

void store__end(struct writing *w, bool whole)
{
	with_own_rights;

	if (w->failed || !whole || !finish(w)) {
		if (whole)
			note_verbose("nothing is kept for the next start: %s", strerror(errno));
		if (w->fd >= 0)
			unlinkat(w->folder, w->temporary, 0);
	}
	remove_oldest(w->folder);
	ZSTD_freeCCtx(w->zstd);
	if (w->fd >= 0)
		close(w->fd);
	close(w->folder);
	free(w->name);
	free(w->temporary);
	free(w);
}

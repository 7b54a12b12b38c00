// SPDX-License-Identifier: BSD-2-Clause
/*
 * Opens the running kernel and prints, as TAP, whether its data is consistent. For a guest with the
 * module xfs loaded: tests/vm/run.sh -m xfs -f build/vm/kernel_open -- build/vm/kernel_open
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include "../unit/tap.h"
#include "resolve/resolve.h"

static struct object *kernel, **modules;
static size_t nmodules;
static function_vec found;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static int resolve(const char *text)
{
	struct spec s;
	int err;

	functions__free(&found);
	if (spec__parse(text, true, &s))
		return -1;
	err = kernel__resolve(kernel, modules, nmodules, &s, &found);
	spec__free(&s);
	if (err)
		printf("# %s\n", err__text());
	return err;
}

static struct object *module(const char *name)
{
	for (size_t i = 0; i < nmodules; i++)
		if (!strcmp(modules[i]->path, name))
			return modules[i];
	return NULL;
}

static void check_object(struct object *o)
{
	size_t unreadable = 0, disorder = 0, empty = 0, avail;
	const struct symbol *s;
	uint64_t last = 0;

	vec__each (s, &o->symbols) {
		unreadable += !object__bytes(o, s->vaddr, &avail) || avail < s->size;
		disorder += s->vaddr < last;
		empty += !s->size;
		last = s->vaddr;
	}
	ok(o->symbols.len > 100, "%s: %zu functions", o->path, o->symbols.len);
	is(unreadable, 0, "%s: each with its code", o->path);
	is(disorder, 0, "%s: ascending", o->path);
	is(empty, 0, "%s: none empty", o->path);
	is(o->segments.len, 1, "%s: the code is one piece", o->path);
	is(o->build_id_len, 20, "%s: has a build-id", o->path);
	last = vec__last(&o->symbols)->vaddr;
	printf("# %s: 0x%llx to 0x%llx, the last function %s has 0x%llx bytes\n", o->path,
	       (unsigned long long)o->segments.data[0].vaddr,
	       (unsigned long long)(o->segments.data[0].vaddr + o->segments.data[0].size),
	       vec__last(&o->symbols)->name, (unsigned long long)vec__last(&o->symbols)->size);
}

/* What a traceable function begins with: endbr64 or the nop it was sealed with, the 5-byte nop or
 * call of ftrace. */
static bool plausible_entry(const uint8_t *p)
{
	return !memcmp(p, "\xf3\x0f\x1e\xfa", 4) || !memcmp(p, "\x0f\x1f", 2) ||
	       !memcmp(p, "\x66\x0f\x1f", 3) || !memcmp(p, "\x66\x66\x66\x66\x90", 5) || *p == 0xe8;
}

static void check_resolve(void)
{
	size_t avail;
	double start;

	is(resolve("vfs_read"), 0, "vfs_read resolves");
	ok(found.len && plausible_entry(object__bytes(kernel, found.data[0].entry, &avail)),
	   "its live code starts as a traceable function does");
	is(resolve("__x64_sys_openat"), 0, "a system call resolves");
	ok(found.len && found.data[0].flags & FUNCTION_SYSCALL, "and is flagged");
	is(resolve("xfs:xfs_file_open"), 0, "a module's function resolves");
	is(resolve("m_show"), -ENOTUNIQ, "a name of several is refused");
	is(resolve("do_syscall_64"), -EINVAL, "a blacklisted one is refused");
	is(resolve("vfs_raed"), -ENOENT, "an unknown one is refused");
	is(resolve("xfs:*"), 0, "a module's every function resolves");
	printf("# %zu functions\n", found.len);
	start = now();
	is(resolve("*"), 0, "every function resolves");
	printf("# %zu functions in %.0f ms\n", found.len, now() - start);
}

static size_t noprobe_bytes(void)
{
	const struct noprobe *n;
	size_t sum = 0;

	vec__each (n, &kernel->noprobe)
		sum += n->size;
	return sum;
}

int main(void)
{
	autofree char *before = NULL, *after = NULL;
	size_t len;
	double start;
	int err;

	note__set_level(NOTE_VERBOSE);
	file__read("/proc/self/mountinfo", 1 << 20, &before, &len);
	start = now();
	err = kernel__open(NULL, NULL, NULL, &kernel, &modules, &nmodules);
	is(err, 0, "the kernel opens");
	if (err) {
		printf("# %s\n", err__text());
		return tap__done();
	}
	printf("# in %.0f ms\n", now() - start);
	file__read("/proc/self/mountinfo", 1 << 20, &after, &len);
	is_str(after, before, "no mount is left");
	check_object(kernel);
	ok(kernel->noprobe.len > 10, "%zu stretches on the blacklist, %zu bytes",
	   kernel->noprobe.len, noprobe_bytes());
	ok(module("xfs"), "xfs is a module, of %zu", nmodules);
	if (module("xfs"))
		check_object(module("xfs"));
	check_resolve();
	functions__free(&found);
	for (size_t i = 0; i < nmodules; i++)
		object__free(modules[i]);
	free(modules);
	object__free(kernel);
	return tap__done();
}

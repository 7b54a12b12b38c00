// SPDX-License-Identifier: BSD-2-Clause
/* A library that is loaded twice: the same file in two namespaces (dlmopen), which call each other,
 * and another build of it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include "prog.h"

typedef int relay_fn(int, void *);

static relay_fn *load(const char *self, const char *name, Lmid_t space)
{
	const char *slash = strrchr(self, '/');
	char path[4096];
	void *handle;

	snprintf(path, sizeof(path), "%.*s%s", slash ? (int)(slash - self + 1) : 0, self, name);
	handle = dlmopen(space, path, RTLD_NOW);
	if (!handle) {
		puts(dlerror());
		exit(1);
	}
	return (relay_fn *)dlsym(handle, "relay_pick");
}

int main(int argc, char **argv)
{
	relay_fn *here = load(argv[0], "relay.so", LM_ID_BASE);
	relay_fn *there = load(argv[0], "relay.so", LM_ID_NEWLM);
	relay_fn *other = load(argv[0], "relay-other.so", LM_ID_BASE);
	int sum = 0;

	if (here == there || here == other)
		return 1;
	for (int i = 3; i < 12; i++) {
		sum = sum * 3 + here(i, (void *)there) + there(i, (void *)here);
		sum = sum * 3 + here(i, (void *)other) + other(i, (void *)there);
	}
	printf("%d %d\n", sum, argc);
	return 0;
}

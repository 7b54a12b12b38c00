// SPDX-License-Identifier: BSD-2-Clause
#include <dlfcn.h>
#include "util/util.h"

bool library__load(const char *file, const char *const *functions, void **found, size_t n)
{
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);

	for (size_t i = 0; library && i < n; i++) {
		found[i] = dlsym(library, functions[i]);
		if (!found[i])
			return false;
	}
	return library;
}

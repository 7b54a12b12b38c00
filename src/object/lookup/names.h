/* SPDX-License-Identifier: BSD-2-Clause */
/* names: mangled names. Does not include util/util.h: demangle.c includes libiberty's headers,
 * which declare an xrealloc() and an ARRAY_SIZE of their own. */
#ifndef BBTRACE_OBJECT_LOOKUP_NAMES_H
#define BBTRACE_OBJECT_LOOKUP_NAMES_H

#include <stdbool.h>

enum demangle_form {
	DEMANGLE_FULL,	    /* as c++filt shows it: ns::f(int), int ns::g<int>(int) */
	DEMANGLE_NO_RETURN, /* without a template's return type: ns::g<int>(int) */
	DEMANGLE_NAME,	    /* without parameters: ns::f, ns::g<int> */
	DEMANGLE_VERBOSE,   /* Rust: with its hash */
	DEMANGLE_FORMS
};

bool name__is_mangled(const char *name);
/* Returns a malloc()ed name; NULL if the name is not mangled, or if the demangled one is too
 * long. */
char *name__demangle(const char *name, enum demangle_form form);

#endif

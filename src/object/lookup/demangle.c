// SPDX-License-Identifier: BSD-2-Clause
/*
 * Demangles C++ and Rust names with libiberty. Names are untrusted: a short one can expand without
 * bound, so the output is limited, and a name that exceeds the limit stays mangled.
 */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <libiberty/demangle.h>
#include "names.h"

#define MANGLED_LIMIT	4096
#define DEMANGLED_LIMIT (16u << 10)

static const int form_options[DEMANGLE_FORMS] = {
	[DEMANGLE_FULL] = DMGL_PARAMS | DMGL_ANSI,
	[DEMANGLE_NO_RETURN] = DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP,
	[DEMANGLE_NAME] = DMGL_NO_OPTS,
	[DEMANGLE_VERBOSE] = DMGL_PARAMS | DMGL_ANSI | DMGL_VERBOSE,
};

struct output {
	char text[DEMANGLED_LIMIT];
	size_t len;
	jmp_buf too_long;
};

static void collect(const char *text, size_t len, void *ctx)
{
	struct output *out = ctx;

	if (len >= sizeof(out->text) - out->len)
		longjmp(out->too_long, 1);
	if (len) /* libiberty passes NULL for empty text */
		memcpy(out->text + out->len, text, len);
	out->len += len;
}

bool name__is_mangled(const char *name)
{
	/* Itanium C++ ABI 5.1.2; Rust RFC 2603 (v0), whose legacy names are C++ names */
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

char *name__demangle(const char *name, enum demangle_form form)
{
	static _Thread_local struct output out;

	if (!name__is_mangled(name) || strnlen(name, MANGLED_LIMIT) == MANGLED_LIMIT)
		return NULL;
	/* longjmp from libiberty's callbacks leaks at most a buffer, of Rust names in Punycode */
	if (setjmp(out.too_long))
		return NULL;
	out.len = 0;
	if (rust_demangle_callback(name, form_options[form], collect, &out))
		return strndup(out.text, out.len);
	out.len = 0;
	if (cplus_demangle_v3_callback(name, form_options[form], collect, &out))
		return strndup(out.text, out.len);
	return NULL;
}

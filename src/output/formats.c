// SPDX-License-Identifier: BSD-2-Clause
/* The table of formats: each is a row of the file that renders it, and is named here once. */
#include "output.h"

/* clang-format off */ /* one per line */
#define FORMATS(format) \
	format(text) \
	format(json) \
	format(chrome) \
	format(perfetto) \
	format(annotate) \
	format(dot) \
	format(html) \
	format(summary) \
	format(folded) \
	format(folded_count) \
	format(svg) \
	format(svg_count) \
	format(callgrind) \
	format(pprof) \
	format(pprof_lines) \
	format(coverage) \
	format(lcov) \
	format(cobertura) \
	format(drcov) \
	format(bolt) \
	format(autofdo) \
	format(autofdo_gcc) \
	format(paths) \
	format(paths_json) \
	format(slow) \
	format(tests) \
	format(tests_names)
/* clang-format on */

#define DECLARE(name) extern const struct output_format output_##name;
FORMATS(DECLARE)

#define ROW(name) &output_##name,
const struct output_format *const output_formats[] = {FORMATS(ROW) NULL};

const struct output_format *output__by_name(const char *name)
{
	for (const struct output_format *const *f = output_formats; *f; f++)
		if (!strcmp((*f)->name, name))
			return *f;
	return NULL;
}

/* Returns true if the name ends in one of the suffixes, with something before it. */
static bool has_suffix(const char *name, const char *suffixes)
{
	size_t len, all = strlen(name);

	for (const char *s = suffixes; *s; s += len + strspn(s + len, " ")) {
		len = strcspn(s, " ");
		if (all > len && !strncmp(name + all - len, s, len))
			return true;
	}
	return false;
}

const struct output_format *output__by_file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	for (const struct output_format *const *f = output_formats; *f; f++)
		if ((*f)->suffixes && has_suffix(slash ? slash + 1 : path, (*f)->suffixes))
			return *f;
	return NULL;
}

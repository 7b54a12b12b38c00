// SPDX-License-Identifier: BSD-2-Clause
/* What libbpf prints. */
#include <stdlib.h>
#include <bpf/libbpf.h>
#include "source/probes/session.h"

/* The verifier's log has thousands of lines: the last ones say why. */
#define LOG_LINES 40

int probe__print(int level, const char *fmt, va_list ap)
{
	autofree char *text = NULL;
	char *line = NULL, *save;
	int len, lines = 0;

	if (note__level() < NOTE_VERBOSE || level == LIBBPF_DEBUG)
		return 0;
	len = vasprintf(&text, fmt, ap);
	if (len < 0)
		return 0;
	for (char *p = text + len; p > text && lines < LOG_LINES; p--)
		if (p[-1] == '\n' && *p) {
			lines++;
			line = p;
		}
	if (lines < LOG_LINES)
		line = text;
	for (line = strtok_r(line, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		note_verbose("%s", line);
	return 0;
}

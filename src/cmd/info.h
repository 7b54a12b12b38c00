/* SPDX-License-Identifier: BSD-2-Clause */
/* info: metadata of a trace file, for report --info. */
#ifndef BBTRACE_CMD_INFO_H
#define BBTRACE_CMD_INFO_H

#include "file/file.h"

/* Lines of a key and a value, collected while the file is read; ctx of info_calls. */
struct info {
	struct str text;
	uint64_t records, lost;
	bool begun;
};
extern const struct trace_calls info_calls;
/* "2026-11-20 14:42:26 +0000", in the time zone of the recording. */
void info__time(const struct trace_meta *meta, char *out, size_t size);
/* The last lines. end NULL: the file has no end. */
void info__end(struct info *i, const struct trace_end *end);

#endif

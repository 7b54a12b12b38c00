/* SPDX-License-Identifier: BSD-2-Clause */
/* info: shows metadata of a trace file, for report --info. */
#ifndef BBTRACE_VERBS_INFO_H
#define BBTRACE_VERBS_INFO_H

#include "cli/request.h"
#include "file/file.h"

/* Lines of a key and a value, collected while the file is read; the ctx of info_calls. */
struct info {
	struct str text;
	uint64_t records, lost;
	bool begun, counts;
	const struct request *request; /* set by the caller: which part of it is shown */
};
extern const struct trace_calls info_calls;
/* Appends the last lines. end is NULL if the file has no end. */
void info__end(struct info *i, const struct trace_end *end);

#endif

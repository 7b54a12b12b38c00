/* SPDX-License-Identifier: BSD-2-Clause */
/* dump_on: --dump-on: the functions that dump the last branches when they are called or return. */
#ifndef BBTRACE_SELECT_EVENTS_DUMP_ON_H
#define BBTRACE_SELECT_EVENTS_DUMP_ON_H

#include <stdint.h>

/* FUNC[=VALUE] */
struct dump_on {
	char *name;   /* malloc()ed */
	uint8_t when; /* enum wire_when */
	int64_t value;
};
void dump_on__parse(const char *text, struct dump_on *out);

#endif

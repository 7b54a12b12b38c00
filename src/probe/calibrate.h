/* SPDX-License-Identifier: BSD-2-Clause */
/* The sites that are measured. Private to src/probe. */
#ifndef BBTRACE_PROBE_CALIBRATE_H
#define BBTRACE_PROBE_CALIBRATE_H

#include <stdint.h>

struct calibrate_site {
	const char *name;
	void (*run)(void);
	const uint8_t *at;
};
/* Three of each name, one behind the other; ends with name NULL. */
extern const struct calibrate_site calibrate_sites[];

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* json: one object for each step, or for each branch with its counts. Private to src/output. */
#ifndef BBTRACE_OUTPUT_JSON_JSON_H
#define BBTRACE_OUTPUT_JSON_JSON_H

#include "output/output.h"

extern const struct output_format output_json_counted;

#endif

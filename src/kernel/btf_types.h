/* SPDX-License-Identifier: BSD-2-Clause */
/* btf_types: prototypes of functions by BTF. Private to src/kernel, and for tests. */
#ifndef BBTRACE_KERNEL_BTF_TYPES_H
#define BBTRACE_KERNEL_BTF_TYPES_H

#include "types/types.h"

struct btf;
/* first: the number of the first type that may be a function. */
void btf_types__read(const struct btf *btf, uint32_t first, const struct type_query *queries,
		     size_t n, const struct type_names *members, struct types *out);

#endif

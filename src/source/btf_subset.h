/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * btf_subset: of a kernel's type information (BTF), the little that the relocations of a BPF
 * program need. libbpf checks each type that it is given, and searches them all for each type that
 * is relocated.
 */
#ifndef BBTRACE_SOURCE_BTF_SUBSET_H
#define BBTRACE_SOURCE_BTF_SUBSET_H

#include "util/util.h"

/* Where each type is. It takes most of the time, so that one serves for many subsets. */
struct btf_index;
/* btf, which must outlive it, is aligned to 4 bytes. -EINVAL, without a message: it isn't
 * understood. */
int btf_index__make(const void *btf, size_t size, struct btf_index **out);
void btf_index__free(struct btf_index *index);
/*
 * Appends BTF with the types that have one of these names, in their order, and all that these
 * contain. As in libbpf, NAME___flavour is NAME, here and there. Pointers become pointers to void:
 * relocations don't follow them. -EINVAL, without a message: it isn't understood.
 */
int btf_index__subset(const struct btf_index *index, const char *const *names, size_t n,
		      struct str *out);
/* The number of the function of this name, as attach_btf_id of bpf(2) has it; 0: there is none. */
uint32_t btf_index__function(const struct btf_index *index, const char *name);

#endif

// SPDX-License-Identifier: BSD-2-Clause
/* The layout of the running kernel's struct kprobe, for src/kernel/kprobes.c, from BTF. */
#include <errno.h>
#include <bpf/btf.h>
#include "source/source.h"
#include "source/kernel_types.h"

#define BITS 8u

/* Finds a struct's member. Returns false if there is none, or if it has another size (0: any). */
static bool find_member(const struct btf *btf, const char *type, const char *name, int64_t size,
			uint32_t *offset)
{
	int id = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT);
	const struct btf_type *t = id < 0 ? NULL : btf__type_by_id(btf, id);
	const struct btf_member *m = t ? btf_members(t) : NULL;

	for (uint32_t i = 0; t && i < btf_vlen(t); i++) {
		const char *called = btf__name_by_offset(btf, m[i].name_off);

		if (!called || strcmp(called, name))
			continue;
		*offset = btf_member_bit_offset(t, i) / BITS;
		return !size || btf__resolve_size(btf, m[i].type) == size;
	}
	return false;
}

static uint32_t size_of(const struct btf *btf, const char *type)
{
	int id = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT);
	int64_t size = id < 0 ? 0 : btf__resolve_size(btf, id);

	return size > 0 ? size : 0;
}

static bool find_kprobe(const struct btf *btf, struct kprobe_layout *l)
{
	l->size = size_of(btf, "kprobe");
	return find_member(btf, "kprobe", "hlist", 2 * sizeof(uint64_t), &l->hlist) &&
	       find_member(btf, "kprobe", "addr", sizeof(uint64_t), &l->addr) &&
	       find_member(btf, "kprobe", "opcode", sizeof(uint8_t), &l->opcode) &&
	       find_member(btf, "kprobe", "flags", sizeof(uint32_t), &l->flags);
}

/* Kernels without CONFIG_OPTPROBES don't have it. */
static bool find_optimized(const struct btf *btf, struct kprobe_layout *l)
{
	uint32_t kp, instructions, covered, detour;

	l->optimized_size = size_of(btf, "optimized_kprobe");
	if (!l->optimized_size)
		return true;
	if (!find_member(btf, "optimized_kprobe", "kp", l->size, &kp) ||
	    !find_member(btf, "optimized_kprobe", "optinsn", 0, &instructions) ||
	    !find_member(btf, "arch_optimized_insn", "copied_insn", sizeof(uint32_t), &covered) ||
	    !find_member(btf, "arch_optimized_insn", "insn", sizeof(uint64_t), &detour))
		return false;
	l->covered = instructions + covered;
	l->detour = instructions + detour;
	return !kp;
}

int kprobe_layout__read(struct kprobe_layout *out)
{
	static const char *const names[] = {"kprobe", "optimized_kprobe", "arch_optimized_insn"};
	struct btf *btf;
	bool known;
	int err = kernel_types__open(names, ARRAY_SIZE(names), &btf);

	*out = (struct kprobe_layout){0};
	if (err)
		return err;
	known = find_kprobe(btf, out) && find_optimized(btf, out);
	btf__free(btf);
	return known ? 0 : err__set(ENOTSUP, "this kernel's struct kprobe has an unknown layout");
}

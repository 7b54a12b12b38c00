// SPDX-License-Identifier: BSD-2-Clause
/* Machine code: whatever the bytes are, an instruction or none. Its first byte says for which mode,
 * two follow as flags; the code is decoded at an address made of the next eight. */
#include <elf.h>
#include "fuzz.h"
#include "plan/plan.h"

static void look_at(const struct arch *arch, const uint8_t *p, size_t len, const struct insn *i,
		    uint16_t flags)
{
	struct insn_detail detail;
	char text[128];
	uint64_t max;

	CHECK(i->len && i->len <= len && i->len <= arch->longest);
	CHECK(i->kind < BRANCH_KINDS && i->user_refusal < PROBE_REFUSALS);
	CHECK(i->flow != FLOW_BRANCH || i->kind != BRANCH_NONE);
	CHECK(i->kind == BRANCH_NONE || (i->mnemonic && *i->mnemonic));
	if (i->kind == BRANCH_JCC || i->kind == BRANCH_LOOP) {
		CHECK(i->reads[0] < arch->nregs &&
		      (i->reads[1] < arch->nregs || i->reads[1] == REG_NONE));
		arch->taken(i->kind, i->cond, (const uint64_t[]){flags, i->addr});
		if (i->kind == BRANCH_JCC)
			arch->bound(i->cond, true, false, i->addr, &max);
	}
	if (arch->format(p, len, i->addr, text, sizeof(text)))
		CHECK(strlen(text) < sizeof(text) && is_safe(text, strlen(text)));
	if (arch->detail(p, len, i->addr, &detail))
		CHECK(detail.bits <= 64);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct arch *arch = arch__by_machine(EM_X86_64);
	struct input in = {data, data + size};
	bool kernel = input__number(&in, 1) & 1;
	uint16_t flags = input__number(&in, 2);
	uint64_t addr = input__number(&in, 8);
	size_t len = input__left(&in), at = 0;
	uint8_t *code = xmalloc(len);
	struct insn insn;

	memcpy(code, in.p, len);
	while (at < len) {
		if (arch->decode(code + at, len - at, addr + at, kernel, &insn)) {
			at++;
			continue;
		}
		look_at(arch, code + at, len - at, &insn, flags);
		at += insn.len;
	}
	free(code);
	return 0;
}

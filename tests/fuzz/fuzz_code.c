// SPDX-License-Identifier: BSD-2-Clause
/* Machine code: any bytes decode to an instruction or to none. The first byte's low bit selects the
 * mode, the others the machine; the next two bytes are flags; the next eight give the address. */
#include <elf.h>
#include "fuzz.h"
#include "plan/plan.h"

static const uint16_t machines[] = {EM_X86_64, EM_AARCH64, EM_RISCV, EM_ARM};

static void look_at_test(const struct arch *arch, const uint8_t *p, size_t len,
			 const struct insn *i, uint16_t flags)
{
	uint64_t value[2] = {i->addr, (uint64_t)flags << 48 | flags};
	struct test t;

	if (!arch->test || !arch->test(p, len, i->addr, &t))
		return;
	CHECK(t.how && (t.n == 1 || t.n == 2));
	CHECK(t.bits == 8 || t.bits == 16 || t.bits == 32 || t.bits == 64);
	for (unsigned k = 0; k < t.n; k++) {
		const struct test_operand *o = &t.operand[k];

		CHECK(o->kind == OPERAND_NONE || o->kind == OPERAND_REG || o->kind == OPERAND_MEM);
		CHECK(o->kind != OPERAND_REG || o->at.base < arch->nregs);
		CHECK(o->kind != OPERAND_MEM || o->at.base < arch->nregs ||
		      o->at.base == REG_NONE || o->at.base == REG_IP);
		CHECK(!(o->constant & ~test__mask(&t)) && o->shift < 64);
	}
	CHECK(t.how == TEST_READS || test__decide(&t, arch, BRANCH_JCC, flags & 15, value) <= 1);
}

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
		for (unsigned k = 0; k < ARRAY_SIZE(i->reads); k++)
			CHECK(i->reads[k] < arch->nregs || i->reads[k] == REG_NONE);
		if (arch->taken)
			arch->taken(i->kind, i->cond, (const uint64_t[]){flags, i->addr});
		if (i->kind == BRANCH_JCC)
			arch->bound(i->cond, true, false, i->addr, &max);
	}
	if (arch->format(p, len, i->addr, text, sizeof(text)))
		CHECK(strlen(text) < sizeof(text) && is_safe(text, strlen(text)));
	look_at_test(arch, p, len, i, flags);
	if (arch->detail(p, len, i->addr, &detail))
		CHECK(detail.bits <= 64);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, data + size};
	uint8_t mode = input__number(&in, 1);
	const struct arch *arch = arch__by_machine(machines[(mode >> 1) % ARRAY_SIZE(machines)]);
	bool kernel = mode & 1;
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

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What plugins for QEMU's TCG use. Debian has no package with QEMU's header: what is used of it is
 * declared here, as QEMU 10's include/qemu/qemu-plugin.h has it.
 */
#ifndef TESTS_VM_PLUGIN_H
#define TESTS_VM_PLUGIN_H

#include <stdlib.h>
#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
typedef uint64_t qemu_plugin_id_t;
typedef void (*vcpu_udata_cb)(unsigned int vcpu, void *udata);

EXPORT extern int qemu_plugin_version;
int qemu_plugin_version = 3;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   void (*cb)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, vcpu_udata_cb cb,
					    enum qemu_plugin_cb_flags flags, void *udata);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*cb)(qemu_plugin_id_t, void *),
				    void *udata);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t idx);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *dest, size_t len);

static inline void on_insn(struct qemu_plugin_insn *insn, vcpu_udata_cb cb, uintptr_t udata)
{
	qemu_plugin_register_vcpu_insn_exec_cb(insn, cb, QEMU_PLUGIN_CB_NO_REGS, (void *)udata);
}

/* The number in a nop of kernel_mark.c; -1: it is none. */
static inline int mark_of(struct qemu_plugin_insn *insn)
{
	/* x86: nopl 0xNN746262(%rax,%rax,1) */
	static const uint8_t mark[] = {0x0f, 0x1f, 0x84, 0x00, 0x62, 0x62, 0x74};
	uint8_t bytes[sizeof(mark) + 1];
	size_t len = qemu_plugin_insn_data(insn, bytes, sizeof(bytes));
	uint32_t word;

	memcpy(&word, bytes, sizeof(word));
	if (len == sizeof(bytes) && !memcmp(bytes, mark, sizeof(mark)))
		return bytes[sizeof(mark)];
	if (len == sizeof(word) && (word & 0xffffe01f) == 0xd28c401f) /* movz xzr, #0x62NN */
		return word >> 5 & 0xff;
	if (len == sizeof(word) && (word & 0xfff00fff) == 0x62600037) /* lui zero, 0x626NN */
		return word >> 12 & 0xff;
	return -1;
}

/* out=, from= and to=. False: they aren't complete. */
static inline int take_options(int argc, char **argv, const char **out, uint64_t *from,
			       uint64_t *to)
{
	for (int i = 0; i < argc; i++)
		if (!strncmp(argv[i], "out=", 4))
			*out = strdup(argv[i] + 4);
		else if (!strncmp(argv[i], "from=", 5))
			*from = strtoull(argv[i] + 5, NULL, 0);
		else if (!strncmp(argv[i], "to=", 3))
			*to = strtoull(argv[i] + 3, NULL, 0);
	return *out && *to > *from;
}

#endif

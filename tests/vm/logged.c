// SPDX-License-Identifier: BSD-2-Clause
/*
 * logged: a plugin for QEMU's TCG. Logs, in order, which blocks of instructions in a range of
 * addresses ran. A program in the guest begins a window by running a nop that contains a number
 * (kernel_mark.c); with 0 it ends it.
 *
 *   -plugin logged.so,out=PREFIX,from=ADDRESS,to=ADDRESS
 *
 * PREFIX.1, PREFIX.2 and so on, one for each window: words of 64 bits, an address shifted left by
 * one each. 0 is added for the first instruction of a block, 1 for its last: each branch is one.
 * Both come right before they run. Only one process may have code in the range.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "plugin.h"

static uint64_t from, to;
static const char *out;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *file; /* of the window; NULL: nothing is logged */
static unsigned windows;

static void end_window(void)
{
	if (file && fclose(file))
		abort();
	file = NULL;
}

static void on_mark(unsigned int vcpu, void *number)
{
	char path[4096];

	(void)vcpu;
	pthread_mutex_lock(&lock);
	end_window();
	if (number) {
		snprintf(path, sizeof(path), "%s.%u", out, ++windows);
		file = fopen(path, "w");
		if (!file)
			abort();
	}
	pthread_mutex_unlock(&lock);
}

static void on_run(unsigned int vcpu, void *word)
{
	uint64_t value = (uintptr_t)word;

	(void)vcpu;
	if (!__atomic_load_n(&file, __ATOMIC_RELAXED))
		return;
	pthread_mutex_lock(&lock);
	if (file && fwrite(&value, sizeof(value), 1, file) != 1)
		abort();
	pthread_mutex_unlock(&lock);
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);
	struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(tb, 0);
	struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, n - 1);
	uint64_t at = qemu_plugin_insn_vaddr(first);

	(void)id;
	if (at >= from && at < to) {
		on_insn(first, on_run, at << 1);
		on_insn(last, on_run, qemu_plugin_insn_vaddr(last) << 1 | 1);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		int number = mark_of(qemu_plugin_tb_get_insn(tb, i));

		if (number >= 0)
			on_insn(qemu_plugin_tb_get_insn(tb, i), on_mark, number);
	}
}

static void finish(qemu_plugin_id_t id, void *unused)
{
	(void)id;
	(void)unused;
	pthread_mutex_lock(&lock);
	end_window();
	pthread_mutex_unlock(&lock);
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	(void)info;
	if (!take_options(argc, argv, &out, &from, &to))
		return 1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	qemu_plugin_register_atexit_cb(id, finish, NULL);
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * executed: a plugin for QEMU's TCG. Counts how often blocks of instructions in a range of
 * addresses ran, separately for each window. A program in the guest starts a window by running a
 * nop that contains its number (kernel_mark.c); 0: none.
 *
 *   -plugin executed.so,out=FILE,from=ADDRESS,to=ADDRESS
 *
 * FILE, when QEMU ends: "WINDOW ADDRESS FIRST LAST" a line.
 */
#include <stdio.h>
#include <stdlib.h>
#include "plugin.h"

#define PAGE	4096
#define WINDOWS 64

/* Of the instructions that begin at an address: how often a block of QEMU's began with it, and how
 * often one ended with it. Each branch ends one. */
struct count {
	uint64_t first, last;
};

static uint64_t from, to;
static struct count **pages[WINDOWS]; /* 0: nothing is recorded */
static const char *out;
static unsigned window;

static struct count *count_at(uint64_t at)
{
	struct count **page = &pages[window][(at - from) / PAGE], *none = NULL, *made;

	if (!__atomic_load_n(page, __ATOMIC_ACQUIRE)) {
		made = calloc(PAGE, sizeof(*made));
		if (!made)
			abort();
		if (!__atomic_compare_exchange_n(page, &none, made, 0, __ATOMIC_ACQ_REL,
						 __ATOMIC_ACQUIRE))
			free(made);
	}
	return &__atomic_load_n(page, __ATOMIC_ACQUIRE)[(at - from) % PAGE];
}

static void on_mark(unsigned int vcpu, void *number)
{
	(void)vcpu;
	window = (uintptr_t)number % WINDOWS;
}

static void on_first(unsigned int vcpu, void *at)
{
	(void)vcpu;
	if (window)
		__atomic_fetch_add(&count_at((uintptr_t)at)->first, 1, __ATOMIC_RELAXED);
}

static void on_last(unsigned int vcpu, void *at)
{
	(void)vcpu;
	if (window)
		__atomic_fetch_add(&count_at((uintptr_t)at)->last, 1, __ATOMIC_RELAXED);
}

static void count_block(struct qemu_plugin_tb *tb, size_t n)
{
	struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(tb, 0);
	struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, n - 1);

	on_insn(first, on_first, qemu_plugin_insn_vaddr(first));
	on_insn(last, on_last, qemu_plugin_insn_vaddr(last));
}

static void look_for_mark(struct qemu_plugin_insn *insn)
{
	int number = mark_of(insn);

	if (number >= 0)
		on_insn(insn, on_mark, number);
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);
	uint64_t at = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0));

	(void)id;
	if (at >= from && at < to - PAGE)
		count_block(tb, n);
	for (size_t i = 0; at < from && i < n; i++)
		look_for_mark(qemu_plugin_tb_get_insn(tb, i));
}

static void write_page(FILE *f, unsigned number, uint64_t base, const struct count *page)
{
	for (unsigned i = 0; page && i < PAGE; i++)
		if (page[i].first || page[i].last)
			fprintf(f, "%u %llx %llu %llu\n", number, (unsigned long long)base + i,
				(unsigned long long)page[i].first,
				(unsigned long long)page[i].last);
}

static void finish(qemu_plugin_id_t id, void *unused)
{
	FILE *f = fopen(out, "w");

	(void)id;
	(void)unused;
	for (unsigned w = 1; f && w < WINDOWS; w++)
		for (uint64_t at = from; at < to; at += PAGE)
			write_page(f, w, at, pages[w][(at - from) / PAGE]);
	if (f)
		fclose(f);
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	(void)info;
	if (!take_options(argc, argv, &out, &from, &to))
		return 1;
	for (int i = 0; i < WINDOWS; i++)
		pages[i] = calloc((to - from) / PAGE + 1, sizeof(*pages[i]));
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	qemu_plugin_register_atexit_cb(id, finish, NULL);
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * Prints what libbpf writes into bbtrace's BPF programs for the running kernel: `relocated all` by
 * all of the kernel's types, `relocated some` by those that bbtrace picks. Loads them, as root.
 */
#include <stdio.h>
#include <bpf/libbpf.h>
#include <linux/types.h>
#include "../bpf/wire.h"
#include "source/kernel_types.h"
#include "bbtrace.skel.h"

/* "libbpf: prog 'x': relo #1: patched insn #5 (ALU/ALU64) imm 8 -> 16" and the like. */
static int print(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char text[4096];

	vsnprintf(text, sizeof(text), fmt, ap);
	if (strstr(text, "patched insn") || strstr(text, "substituting insn"))
		fputs(text, stdout);
	return 0;
}

static void relocate(bool all)
{
	CLEANUP(types_file__close) struct types_file types = types_file__open();
	LIBBPF_OPTS(bpf_object_open_opts, o, .btf_custom_path = all ? NULL : types.path);
	struct bbtrace_bpf *skel = bbtrace_bpf__open_opts(&o);
	struct bpf_program *p;

	if (!skel || (!all && types_file__fill(&types, bpf_object__btf(skel->obj))))
		return;
	bpf_object__for_each_program(p, skel->obj) bpf_program__set_autoload(p, true);
	bbtrace_bpf__load(skel);
	bbtrace_bpf__destroy(skel);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	libbpf_set_print(print);
	relocate(!strcmp(argv[1], "all"));
	return 0;
}

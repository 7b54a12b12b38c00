// SPDX-License-Identifier: BSD-2-Clause
/*
 * The kernel's tables. Input: kallsyms, /proc/modules, the blacklist (also used as the list of
 * kprobes) and one FUNC, each ending with a NUL, then the ELF notes (preceded by their length in
 * two bytes) and /proc/kcore.
 */
#include <errno.h>
#include "fuzz.h"
#include "kernel/kernel_file.h"
#include "resolve/resolve.h"

#define TEXT_LIMIT (4u << 20) /* larger kernels need more time than they show */

static char *next_text(struct input *in, size_t *len)
{
	const uint8_t *nul = memchr(in->p, 0, input__left(in));
	struct input part = input__part(in, nul ? (size_t)(nul - in->p) : input__left(in));

	in->p += nul != NULL;
	*len = input__left(&part);
	return input__text(&part);
}

static int read_text(void *ctx, uint64_t vaddr, void *buf, size_t len)
{
	if (vaddr >> 12 & 1)
		return -EFAULT;
	memset(buf, vaddr >> 13 & 1 ? 0xcc : 0xe9, len);
	return 0;
}

static void check_object(struct object *o)
{
	const struct kernel_file *f = kernel_file__of(o);
	const struct noprobe *n;
	const struct symbol *s;

	vec__each (s, &o->symbols) {
		CHECK(s == o->symbols.data || s[-1].vaddr <= s->vaddr);
		CHECK(s->vaddr >= f->start && s->size <= f->end - s->vaddr);
	}
	vec__each (n, &o->noprobe)
		CHECK(n == o->noprobe.data || n[-1].vaddr + n[-1].size < n->vaddr);
}

static void complete(struct object *o, struct kernel_text *text, const kernel_kprobe_vec *kprobes,
		     const char *blacklist, struct input notes)
{
	const struct kernel_file *f = kernel_file__of(o);
	struct map64 proved = {0};

	if (f->end - f->start <= TEXT_LIMIT)
		kernel_text__read(text, o);
	if (o->kind == OBJECT_MODULE)
		kernel_object__trim(o);
	kernel_kprobes__undo(kprobes, o, &proved);
	kernel_probes__apply(blacklist, &proved, o);
	map64__free(&proved);
	kernel_blacklist__apply(blacklist, o);
	kernel_notes__build_id(notes.p, input__left(&notes), o);
	check_object(o);
}

static void resolve(struct kernel_objects *k, const char *func)
{
	function_vec v = {0};
	struct spec spec;

	if (spec__parse(func, true, &spec))
		return;
	err__clear();
	CHECK(!kernel__resolve(k->kernel, k->modules, k->nmodules, &spec, &v) || *err__text());
	functions__free(&v);
	spec__free(&spec);
}

static void use(struct kernel_objects *k, struct input *in, const char *blacklist, const char *func)
{
	static const struct kprobe_layout layout = {.size = 40,
						    .addr = 16,
						    .opcode = 24,
						    .flags = 28,
						    .optimized_size = 48,
						    .covered = 32,
						    .detour = 40};
	uint64_t table = kernel__variable(k->kernel, KERNEL_KPROBE_TABLE);
	struct input notes = input__part(in, input__number(in, 2));
	kernel_kprobe_vec kprobes = {0};
	struct memory_file kcore;
	struct kernel_text *text;

	memory_file__open(&kcore, in);
	text = kernel_text__open(kcore.path, read_text, NULL);
	kernel_kprobes__read(text, &layout, table, true, &kprobes);
	complete(k->kernel, text, &kprobes, blacklist, notes);
	for (size_t i = 0; i < k->nmodules; i++)
		complete(k->modules[i], text, &kprobes, blacklist, notes);
	vec__free(&kprobes);
	kernel_text__close(text);
	close(kcore.fd);
	resolve(k, func);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, data + size};
	size_t nsymbols, nmodules, len;
	autofree char *kallsyms = next_text(&in, &nsymbols), *modules = next_text(&in, &nmodules);
	autofree char *blacklist = next_text(&in, &len), *func = next_text(&in, &len);
	kallsym_vec symbols = {0};
	kernel_module_vec loaded = {0};
	struct kernel_objects k;

	note__set_level(NOTE_QUIET);
	err__clear();
	if (!kallsyms__parse(kallsyms, nsymbols, &symbols) &&
	    !kernel_modules__parse(modules, nmodules, &loaded) &&
	    !kernel_objects__build(&symbols, &loaded, &k)) {
		use(&k, &in, blacklist, func);
		kernel_objects__free(&k);
	} else {
		CHECK(*err__text());
	}
	vec__free(&symbols);
	vec__free(&loaded);
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * kernel: opens the running kernel. Reads its tables from /proc and /sys, passes them to kallsyms.c
 * and objects.c, and adds the live text, the blacklist and the build-ids.
 */
#include <errno.h>
#include <stdlib.h>
#include "kernel_file.h"

#define TABLE_LIMIT (256u << 20)
#define NOTES_LIMIT (64u << 10)

/* Without permission, kallsyms shows zeros instead of addresses: kallsyms_show_value(). */
static int explain_hidden(int err)
{
	autofree char *value = NULL;
	size_t len;

	if (err != -EPERM)
		return err;
	if (file__read("/proc/sys/kernel/kptr_restrict", 64, &value, &len))
		value = xstrdup("?");
	value[strcspn(value, "\n")] = 0;
	return err__set(
		EPERM, "kernel addresses are hidden (kptr_restrict=%s): needs root or CAP_SYSLOG%s",
		value,
		value[0] == '2' ? "; run: sudo sysctl kernel.kptr_restrict=1" : "; run with sudo");
}

struct tables {
	char *kallsyms, *modules;
	kallsym_vec symbols;
	kernel_module_vec loaded;
};

static void tables__free(struct tables *t)
{
	free(t->kallsyms);
	free(t->modules);
	vec__free(&t->symbols);
	vec__free(&t->loaded);
}

static int read_tables(struct tables *t)
{
	size_t len;
	int err = file__read("/proc/kallsyms", TABLE_LIMIT, &t->kallsyms, &len);

	if (err)
		return err;
	err = kallsyms__parse(t->kallsyms, len, &t->symbols);
	if (err)
		return explain_hidden(err);
	/* a kernel without module support has no such file */
	if (file__read("/proc/modules", TABLE_LIMIT, &t->modules, &len))
		return 0;
	return explain_hidden(kernel_modules__parse(t->modules, len, &t->loaded));
}

static bool is_named(const struct kallsym *s, const char *module, const char *name)
{
	const char *of = s->module ? s->module : "kernel";

	return !strcmp(s->name, name) && (!module || !strcmp(module, of));
}

/* The symbols have no sizes: returns the distance to the next one. */
static uint64_t room_at(const kallsym_vec *all, uint64_t vaddr)
{
	const struct kallsym *s;
	uint64_t room = UINT64_MAX;

	vec__each (s, all)
		if (s->vaddr > vaddr)
			room = min_of(room, s->vaddr - vaddr);
	return room;
}

static uint64_t address_of(const kallsym_vec *all, const char *name)
{
	const struct kallsym *s;

	vec__each (s, all)
		if (is_named(s, "kernel", name))
			return s->vaddr;
	return 0;
}

/* The type alone isn't enough: Linux 7.2 shows jiffies, which its linker script defines, as T. */
static bool is_code(const kallsym_vec *all, const struct kallsym *s)
{
	if ((s->type | 32) != 't' || s->module)
		return (s->type | 32) == 't';
	return (s->vaddr >= address_of(all, "_stext") && s->vaddr < address_of(all, "_etext")) ||
	       (s->vaddr >= address_of(all, "_sinittext") &&
		s->vaddr < address_of(all, "_einittext"));
}

int kernel__find_data(const char *module, const char *name, data_vec *out)
{
	CLEANUP(tables__free) struct tables t = {0};
	const struct kallsym *s;
	int err = read_tables(&t);

	if (err)
		return err;
	vec__each (s, &t.symbols) {
		if (!is_named(s, module, name) || is_code(&t.symbols, s))
			continue;
		vec__push(out, (struct data_symbol){.vaddr = s->vaddr,
						    .size = room_at(&t.symbols, s->vaddr)});
	}
	return 0;
}

static void read_build_id(struct object *o)
{
	autofree char *path =
		o->kind == OBJECT_KERNEL
			? xstrdup("/sys/kernel/notes")
			: xasprintf("/sys/module/%s/notes/.note.gnu.build-id", o->path);
	autofree char *notes = NULL;
	size_t len;

	if (!strchr(o->path, '/') && !file__read(path, NOTES_LIMIT, &notes, &len))
		kernel_notes__build_id((const uint8_t *)notes, len, o);
}

static int read_code(struct object *o, struct kernel_text *text)
{
	int err = kernel_text__read(text, o);

	if (err && o->kind == OBJECT_KERNEL)
		return err;
	if (err)
		note_verbose("%s", err__text());
	if (o->kind == OBJECT_MODULE)
		kernel_object__trim(o);
	return 0;
}

/* ---- probes of other tracers ---- */

/* Read before and after the code, so that a probe that is added or removed in between is
 * noticed. */
struct probes {
	char *before, *after; /* kprobes/list */
	struct kprobe_layout layout;
	int layout_error; /* why the layout is unknown */
	bool asked;
	kernel_kprobe_vec kprobes;
	struct map64 proved;
};

static void probes__free(struct probes *p)
{
	free(p->before);
	free(p->after);
	vec__free(&p->kprobes);
	map64__free(&p->proved);
}

static void read_table(struct probes *p, const struct kernel_objects *k, struct kernel_text *text,
		       kprobe_layout_fn layout, bool after)
{
	uint64_t table = kernel__variable(k->kernel, KERNEL_KPROBE_TABLE);

	if (!p->asked)
		p->layout_error = layout ? layout(&p->layout) : err__set(ENOTSUP, "no types");
	p->asked = true;
	if (p->layout_error)
		note_verbose("another tracer's probes can't be removed from the code: %s",
			     err__text());
	else if (!kernel_kprobes__read(text, &p->layout, table, after, &p->kprobes))
		note_verbose("another tracer's probes can't be removed from the code: "
			     "can't read the kernel's kprobe_table");
}

static char *read_probes(struct probes *p, const struct kernel_objects *k, struct kernel_text *text,
			 kprobe_layout_fn layout, bool after)
{
	char *list = kernel_probes__read();

	if (list ? kernel_probes__patch(list) : kernel__variable(k->kernel, KERNEL_KPROBE_TABLE))
		read_table(p, k, text, layout, after);
	return list;
}

/* ---- all of it ---- */

static int read_texts(struct kernel_objects *k, struct kernel_text *text)
{
	int err = read_code(k->kernel, text);

	for (size_t i = 0; !err && i < k->nmodules; i++)
		err = read_code(k->modules[i], text);
	return err;
}

static void complete(const struct kernel_objects *k, struct object *o, const char *blacklist,
		     struct probes *p)
{
	object__index_symbols(o);
	kernel_patches__undo(k, o);
	kernel_kprobes__undo(&p->kprobes, o, &p->proved);
	kernel_probes__apply(p->before, &p->proved, o);
	kernel_probes__apply(p->after, &p->proved, o);
	kernel_blacklist__apply(blacklist, o);
	read_build_id(o);
}

static int complete_all(struct kernel_objects *k, struct kernel_text *text, kprobe_layout_fn layout)
{
	autofree char *blacklist = kernel_blacklist__read();
	CLEANUP(probes__free) struct probes probes = {.before = NULL};
	int err;

	probes.before = read_probes(&probes, k, text, layout, false);
	err = read_texts(k, text);
	if (err)
		return err;
	probes.after = read_probes(&probes, k, text, layout, true);
	complete(k, k->kernel, blacklist, &probes);
	for (size_t i = 0; i < k->nmodules; i++)
		complete(k, k->modules[i], blacklist, &probes);
	return 0;
}

static int read_all(struct kernel_objects *k, kernel_read_fn read_text, void *ctx,
		    kprobe_layout_fn layout)
{
	struct kernel_text *text = kernel_text__open("/proc/kcore", read_text, ctx);
	int err = complete_all(k, text, layout);

	kernel_text__close(text);
	return err;
}

static int make_objects(struct kernel_objects *k)
{
	CLEANUP(tables__free) struct tables t = {0};
	int err = read_tables(&t);

	return err ? err : kernel_objects__build(&t.symbols, &t.loaded, k);
}

int kernel__open(kernel_read_fn read_text, void *ctx, kprobe_layout_fn layout,
		 struct object **kernel, struct object ***modules, size_t *nmodules)
{
	struct kernel_objects k = {0};
	int err = make_objects(&k);

	if (!err)
		err = read_all(&k, read_text, ctx, layout);
	if (err) {
		kernel_objects__free(&k);
		return err;
	}
	*kernel = k.kernel;
	*modules = k.modules;
	*nmodules = k.nmodules;
	return 0;
}

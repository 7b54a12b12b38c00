// SPDX-License-Identifier: BSD-2-Clause
/*
 * kernel_objects: builds the objects of the kernel and its modules from the tables of kallsyms.c.
 * Pure but for memory. The kernel's table has no sizes: a symbol extends to the next one.
 */
#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include "kernel_file.h"

#define NO_OBJECT UINT32_MAX
#define PAGE	  4096u

/* More than any kernel has: bounds what malformed tables can make us read. */
static const uint64_t kernel_limit = 512u << 20, module_limit = 64u << 20;
/* The largest size of a module's last function, which no symbol follows. */
static const uint64_t last_limit = 1u << 20;

/* Padding before a function: Makefile's -fpatchable-function-entry, kCFI's hash. */
static const char *const padding_prefixes[] = {"__pfx_", "__cfi_"};
/* Symbols of the linker script (__sched_text_start): include/asm-generic/vmlinux.lds.h. */
static const char *const place_suffixes[] = {"_text_start", "_text_end"};
static const char *const places[] = {"_text", "_stext", "_etext"};

static bool ends_with(const char *name, const char *suffix)
{
	size_t len = strlen(name), n = strlen(suffix);

	return len >= n && !strcmp(name + len - n, suffix);
}

/* Places within functions, of modules: the assembler's labels, and the mapping symbols that
 * mark where code of each kind begins (ELF for the Arm 64-bit Architecture, 5.5.6; RISC-V ABIs
 * Specification, "Mapping Symbol"). */
static bool is_within(const char *name)
{
	return name[0] == '$' || (name[0] == '.' && name[1] == 'L');
}

static bool is_function_name(const char *name)
{
	size_t i;

	if (is_within(name))
		return false;
	if (name[0] != '_')
		return true;
	/* arch/x86/boot/startup has aliases for shared code */
	if (!strncmp(name, "__pi_", 5))
		name += 5;
	for (i = 0; i < ARRAY_SIZE(padding_prefixes); i++)
		if (!strncmp(name, padding_prefixes[i], strlen(padding_prefixes[i])))
			return false;
	for (i = 0; i < ARRAY_SIZE(place_suffixes); i++)
		if (!strncmp(name, "__", 2) && ends_with(name, place_suffixes[i]))
			return false;
	for (i = 0; i < ARRAY_SIZE(places); i++)
		if (!strcmp(name, places[i]))
			return false;
	return true;
}

static bool is_function(const struct kallsym *s)
{
	bool code = s->type == 't' || s->type == 'T' || s->type == 'w' || s->type == 'W' ||
		    s->type == 'i';

	return code && is_function_name(s->name);
}

/* The table has a hundred thousand names: most differ in the first character from what is looked
 * for. */
static bool is_name(const char *name, const char *wanted)
{
	return name[0] == wanted[0] && !strcmp(name, wanted);
}

/* ---- the object of each symbol ---- */

static void release(void *priv)
{
	struct kernel_file *f = priv;
	char **p;

	vec__each (p, &f->shown)
		free(*p);
	vec__free(&f->shown);
	free(f->names);
	free(f->text);
	vec__free(&f->dotted);
	free(f);
}

const struct arch_kernel *kernel_code(void)
{
	static const uint8_t zero[] = {0};
	static const struct arch_kernel unknown = {.fill = zero, .nfill = sizeof(zero)};
	const struct arch *arch = arch__native();

	return arch && arch->kernel ? arch->kernel : &unknown;
}

struct kernel_file *kernel_file__of(const struct object *o)
{
	return o->kind == OBJECT_ELF ? NULL : o->priv;
}

static struct object *new_object(enum object_kind kind, const char *name, uint64_t start,
				 uint64_t end)
{
	struct object *o = xcalloc(1, sizeof(*o));
	struct kernel_file *f = xcalloc(1, sizeof(*f));

	o->kind = kind;
	o->path = xstrdup(name);
	o->machine = arch__native() ? arch__native()->machine : EM_NONE;
	o->priv = f;
	o->free_priv = release;
	f->start = start;
	f->end = end;
	return o;
}

static int by_vaddr(const void *a, const void *b)
{
	const struct kallsym *x = a, *y = b;

	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

static int by_path(const void *a, const void *b)
{
	return strcmp((*(struct object *const *)a)->path, (*(struct object *const *)b)->path);
}

/* The kernel's own symbols come first, by address: only what follows the last of these is sorted,
 * and merged with them. */
static void sort_symbols(kallsym_vec *symbols)
{
	struct kallsym *all = symbols->data, *rest, *sorted, *to;
	size_t n = symbols->len, first = 1, i = 0;

	while (first < n && all[first - 1].vaddr <= all[first].vaddr)
		first++;
	if (first >= n)
		return;
	rest = all + first;
	qsort(rest, n - first, sizeof(*rest), by_vaddr);
	to = sorted = xmalloc(n * sizeof(*sorted));
	while (i < first || rest < all + n)
		*to++ = rest == all + n || (i < first && all[i].vaddr <= rest->vaddr) ? all[i++]
										      : *rest++;
	free(all);
	symbols->data = sorted;
	symbols->cap = n;
}

static struct object **find_module(const struct kernel_objects *k, const char *name)
{
	struct object key = {.path = (char *)name}, *pkey = &key;

	return k->nmodules ? bsearch(&pkey, k->modules, k->nmodules, sizeof(*k->modules), by_path)
			   : NULL;
}

/* Sets the .object of each symbol: 0: the kernel; 1 + i: module i. Freed init code belongs to
 * none. */
static void assign(const struct kernel_objects *k, kallsym_vec *symbols)
{
	const char *last = "";
	uint32_t last_object = NO_OBJECT;
	struct kallsym *s;

	vec__each (s, symbols) {
		const struct kernel_file *f;

		if (s->module && strcmp(s->module, last)) {
			struct object **m = find_module(k, s->module);

			last = s->module;
			last_object = m ? 1 + (m - k->modules) : NO_OBJECT;
		}
		s->object = s->module ? last_object : 0;
		if (s->object == NO_OBJECT)
			continue;
		if (s->object)
			k->modules[s->object - 1]->listed++;
		f = kernel_file__of(s->object ? k->modules[s->object - 1] : k->kernel);
		if (s->vaddr < f->start || s->vaddr >= f->end || !is_function(s))
			s->object = NO_OBJECT;
	}
}

/* ---- the symbols of one object ---- */

static struct object *object_of(const struct kernel_objects *k, const struct kallsym *s)
{
	return s->object ? k->modules[s->object - 1] : k->kernel;
}

/* Reserves memory for the symbols and their names, so that neither moves while they are added. */
static void reserve(const struct kernel_objects *k, const kallsym_vec *symbols)
{
	size_t *count = xcalloc(2 * (k->nmodules + 1), sizeof(*count));
	size_t *bytes = count + k->nmodules + 1;
	const struct kallsym *s;

	vec__each (s, symbols) {
		if (s->object == NO_OBJECT)
			continue;
		count[s->object]++;
		bytes[s->object] += strlen(s->name) + 1;
	}
	for (size_t i = 0; i <= k->nmodules; i++) {
		struct object *o = i ? k->modules[i - 1] : k->kernel;

		kernel_file__of(o)->names = xmalloc(bytes[i]);
		vec__reserve(&o->symbols, count[i]);
	}
	free(count);
}

/* Appends a name to the pool. */
static char *add_name(struct object *o, const char *name)
{
	char *at = kernel_file__of(o)->names;

	if (o->symbols.len)
		at = (char *)vec__last(&o->symbols)->name + strlen(vec__last(&o->symbols)->name) +
		     1;
	return strcpy(at, name);
}

/* Demangles Rust names; there are few. */
static const char *shown_name(struct object *o, const char *name)
{
	struct kernel_file *f = kernel_file__of(o);
	char *shown = name__is_mangled(name) ? name__demangle(name, DEMANGLE_FULL) : NULL;

	if (!shown)
		return name;
	vec__push(&f->shown, shown);
	return shown;
}

static void add_symbol(struct object *o, const struct kallsym *s, uint64_t next)
{
	uint64_t end = min_of(kernel_file__of(o)->end, next);
	char *name = add_name(o, s->name);

	vec__push(&o->symbols, (struct symbol){
				       .vaddr = s->vaddr,
				       .size = end - s->vaddr,
				       .name = name,
				       .shown = shown_name(o, name),
				       .module = o->kind == OBJECT_MODULE ? o->path : NULL,
				       .type = SYMBOL_FUNC,
				       .global = isupper((unsigned char)s->type) || s->type == 'w',
			       });
}

/* A symbol of any kind but a place within it ends the previous one: also data, padding and other
 * modules. */
static void add_symbols(const struct kernel_objects *k, const kallsym_vec *symbols)
{
	size_t next = 0;

	for (size_t i = 0; i < symbols->len; i++) {
		const struct kallsym *s = &symbols->data[i];

		for (next = max_of(next, i); next < symbols->len; next++)
			if (symbols->data[next].vaddr > s->vaddr &&
			    !is_within(symbols->data[next].name))
				break;
		if (s->object != NO_OBJECT)
			add_symbol(object_of(k, s), s,
				   next < symbols->len ? symbols->data[next].vaddr : UINT64_MAX);
	}
}

/* A module's code extends from its first function to the end of its last. */
static void bound_module(struct object *o)
{
	struct kernel_file *f = kernel_file__of(o);
	struct symbol *last;

	if (!o->symbols.len) {
		f->start = f->end = 0;
		return;
	}
	last = vec__last(&o->symbols);
	f->start = o->symbols.data[0].vaddr;
	f->end = last->vaddr + min_of(last->size, last_limit);
	for (; last >= o->symbols.data && last->vaddr + last->size > f->end; last--)
		last->size = f->end - last->vaddr;
}

static int kernel_bounds(const kallsym_vec *symbols, uint64_t *start, uint64_t *end)
{
	const struct kallsym *s;

	*start = *end = 0;
	vec__each (s, symbols) {
		if (s->module)
			continue;
		if (is_name(s->name, "_stext"))
			*start = s->vaddr;
		else if (is_name(s->name, "_etext"))
			*end = s->vaddr;
	}
	if (!*start || *end <= *start || *end - *start > kernel_limit)
		return err__set(EPROTO,
				"/proc/kallsyms does not say where the kernel's code is (_stext, "
				"_etext)");
	return 0;
}

static void find_variables(struct object *kernel, const kallsym_vec *symbols)
{
	static const char *const names[KERNEL_VARIABLES] = {
		[KERNEL_PER_CPU_OFFSET] = "__per_cpu_offset",
		[KERNEL_PREEMPT_COUNT] = "__preempt_count",
		[KERNEL_PCPU_HOT] = "pcpu_hot",
		[KERNEL_KPROBE_TABLE] = "kprobe_table",
	};
	const struct kallsym *s;

	vec__each (s, symbols)
		for (size_t i = 0; !s->module && i < KERNEL_VARIABLES; i++)
			if (is_name(s->name, names[i]))
				kernel_file__of(kernel)->variables[i] = s->vaddr;
}

uint64_t kernel__variable(const struct object *kernel, enum kernel_variable which)
{
	return kernel_file__of(kernel)->variables[which];
}

/* ---- what is exported to modules ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* EXPORT_SYMBOL(foo) defines __ksymtab_foo (include/linux/export-internal.h). */
static void find_exports(struct object *kernel, const kallsym_vec *symbols)
{
	static const char prefix[] = "__ksymtab_";
	autofree VEC(const char *) names = {0};
	const struct kallsym *k;
	struct symbol *s;

	vec__each (k, symbols)
		if (!k->module && !strncmp(k->name, prefix, strlen(prefix)))
			vec__push(&names, k->name + strlen(prefix));
	kernel_file__of(kernel)->lists_exports = names.len;
	if (!names.len)
		return;
	vec__sort(&names, by_name);
	vec__each (s, &kernel->symbols)
		s->exported = s->global && bsearch(&s->name, names.data, names.len,
						   sizeof(*names.data), by_name);
}

/* Of a module, kallsyms shows as global what is exported (s_show() in kernel/kallsyms.c). */
static void mark_exports(struct object *module)
{
	struct symbol *s;

	kernel_file__of(module)->lists_exports = true;
	vec__each (s, &module->symbols)
		s->exported = s->global;
}

bool kernel__lists_exports(const struct object *o)
{
	return kernel_file__of(o)->lists_exports;
}

static void add_modules(struct kernel_objects *k, const kernel_module_vec *modules)
{
	const struct kernel_module *m;

	k->modules = xcalloc(modules->len, sizeof(*k->modules));
	vec__each (m, modules)
		k->modules[k->nmodules++] = new_object(OBJECT_MODULE, m->name, m->base,
						       m->base + min_of(m->size, module_limit));
	if (k->nmodules)
		qsort(k->modules, k->nmodules, sizeof(*k->modules), by_path);
}

int kernel_objects__build(kallsym_vec *symbols, const kernel_module_vec *modules,
			  struct kernel_objects *out)
{
	uint64_t start, end;
	int err = kernel_bounds(symbols, &start, &end);

	*out = (struct kernel_objects){0};
	if (err)
		return err;
	out->kernel = new_object(OBJECT_KERNEL, "kernel", start, end);
	find_variables(out->kernel, symbols);
	add_modules(out, modules);
	sort_symbols(symbols);
	assign(out, symbols);
	reserve(out, symbols);
	add_symbols(out, symbols);
	find_exports(out->kernel, symbols);
	for (size_t i = 0; i < out->nmodules; i++) {
		mark_exports(out->modules[i]);
		bound_module(out->modules[i]);
	}
	return 0;
}

void kernel_objects__free(struct kernel_objects *k)
{
	for (size_t i = 0; i < k->nmodules; i++)
		object__free(k->modules[i]);
	free(k->modules);
	object__free(k->kernel);
	*k = (struct kernel_objects){0};
}

/* ---- where a module's code ends ---- */

static bool is_fill(const uint8_t *p, size_t len)
{
	const struct arch_kernel *code = kernel_code();

	for (size_t i = 1; i < len; i++)
		if (p[i] != p[0])
			return false;
	return memchr(code->fill, p[0], code->nfill);
}

void kernel_object__trim(struct object *o)
{
	const size_t enough = 16;
	struct symbol *last, *s;
	const uint8_t *bytes;
	uint64_t page;
	size_t avail;

	if (!o->symbols.len)
		return;
	last = vec__last(&o->symbols);
	bytes = object__bytes(o, last->vaddr, &avail);
	for (page = (last->vaddr + enough) | (PAGE - 1); page - last->vaddr < avail; page += PAGE)
		if (is_fill(bytes + (page + 1 - enough - last->vaddr), enough))
			break;
	if (!bytes || page - last->vaddr >= avail)
		return;
	for (avail = page + 1 - last->vaddr; avail > 1; avail--)
		if (bytes[avail - 1] != bytes[page - last->vaddr])
			break;
	/* the last bytes of an immediate may be zero */
	avail = min_of(avail + 7, page + 1 - last->vaddr);
	for (s = last; s >= o->symbols.data && s->vaddr + s->size > last->vaddr + avail; s--)
		s->size = last->vaddr + avail - s->vaddr;
	kernel_file__of(o)->end = last->vaddr + avail;
	if (vec__last(&o->segments)->vaddr <= last->vaddr)
		vec__last(&o->segments)->size =
			last->vaddr + avail - vec__last(&o->segments)->vaddr;
}

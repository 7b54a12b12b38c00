// SPDX-License-Identifier: BSD-2-Clause
/*
 * Queries of an object's debug information. Sets up the sandbox, opens libdwfl's module in it from
 * descriptors only, and checks the returned tables.
 */
#include <errno.h>
#include <unistd.h>
#include <elfutils/libdwfl.h>
#include "debug.h"
#include "sandbox.h"
#include "split.h"

/* The limit of CPU time depends on the file size; compressed files take ten times as long. */
#define SECONDS_LEAST 4
#define SECONDS_MOST  120
#define SECONDS_A_MIB 2

#define LAYOUT_BASE 0x10000u

struct question {
	const struct object *object;
	struct debug_files files;
	debug_fn fn;
	void *ctx;
};

/* ---- in the sandbox ---- */

/* Passes ownership of a descriptor: the module closes it. libdwfl opens no other file. */
static int hand_over(int *fd)
{
	int given = *fd;

	*fd = -1;
	return given;
}

static int find_debuginfo(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
			  const char *file, const char *link, GElf_Word crc, char **found)
{
	struct question *q = *userdata;

	if (!q || q->files.debug < 0)
		return -1;
	*found = xstrdup("");
	return hand_over(&q->files.debug);
}

static int find_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
		    char **found, Elf **elf)
{
	return -1; /* The file was passed before. */
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_elf,
	.find_debuginfo = find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

static Dwfl_Module *open_module(struct question *q, Dwfl *dwfl)
{
	/* A module's sections have no addresses; libdwfl assigns them from here on. */
	uint64_t base = q->object->kind == OBJECT_MODULE ? LAYOUT_BASE : 0;
	Dwfl_Module *module;
	void **userdata;

	dwfl_report_begin(dwfl);
	module = dwfl_report_elf(dwfl, "", "", q->files.own, base, true);
	if (module)
		hand_over(&q->files.own);
	if (module && dwfl_module_info(module, &userdata, NULL, NULL, NULL, NULL, NULL, NULL))
		*userdata = q;
	dwfl_report_end(dwfl, NULL, NULL);
	return module;
}

/* Sets the alternate file; else libdw would search for it by name. */
static Dwarf *set_alt(Dwfl_Module *module, int fd)
{
	Dwarf_Addr bias;
	Dwarf *dwarf = fd < 0 ? NULL : dwfl_module_getdwarf(module, &bias);
	Dwarf *alt = dwarf ? dwarf_begin(fd, DWARF_C_READ) : NULL;

	if (alt)
		dwarf_setalt(dwarf, alt);
	return alt;
}

bool debug__has_dwarf(const struct debug_session *s)
{
	Dwarf_Addr bias;

	/* libdw treats a section that can't be decompressed as empty */
	if (s->module && dwfl_module_nextcu(s->module, NULL, &bias))
		return true;
	if (s->files->dwarf)
		sandbox__give_up();
	return false;
}

static void answer(void *question, struct str *out)
{
	struct question *q = question;
	Dwfl *dwfl = dwfl_begin(&callbacks);
	Dwfl_Module *module = dwfl ? open_module(q, dwfl) : NULL;
	Dwarf *alt = module ? set_alt(module, q->files.alt) : NULL;

	struct debug_session s = {.module = module, .files = &q->files, .object = q->object};
	moved_vec moved = {0};

	if (module && object__is_kernel(q->object)) {
		moved__find(q->object, module, &moved);
		s.moved = &moved;
	}
	q->fn(q->ctx, &s, out);
	vec__free(&moved);
	dwfl_end(dwfl);
	dwarf_end(alt);
}

/* ---- in bbtrace's own process ---- */

/* Once for each object. */
static void note_lost_alt(const struct object *o, const struct debug_files *files)
{
	struct object *own = (struct object *)o;

	if (!files->lost_alt || o->debug_is_part)
		return;
	own->debug_is_part = true;
	note("%s: %s, which has the part of its debug information that it shares with other programs, is missing: "
	     "continuing without the functions, lines and types there; install that file (package -dbgsym or "
	     "-debuginfo), or use --debuginfod",
	     o->path, files->lost_alt);
}

/* Closes the files. */
static int ask(struct question *q, struct str *out)
{
	const int fds[] = {q->files.own, q->files.debug, q->files.alt};
	uint64_t mib = q->files.bytes >> 20;
	struct sandbox s = {.fn = answer,
			    .ctx = q,
			    .fds = fds,
			    .nfds = ARRAY_SIZE(fds),
			    .files = q->files.split,
			    .nfiles = q->files.nsplit,
			    .mapped = q->files.bytes};
	int err;

	s.seconds = min_of(SECONDS_LEAST + mib * SECONDS_A_MIB, (uint64_t)SECONDS_MOST);
	err = sandbox__run(&s, out);
	debug_files__close(&q->files);
	return err;
}

/* ---- split units ---- */

static bool split_table(const struct object *o, struct table *units)
{
	const struct str answer = {.data = o->split_units, .len = o->split_len};

	return table__take(units, &answer, sizeof(struct split_unit));
}

/* Notes the units that have no file, or one of another build. */
static void note_lost_units(const struct object *o, const struct table *units)
{
	size_t lost = 0;
	struct split_unit row, first = {0};

	for (size_t i = 0; i < units->n; i++) {
		memcpy(&row, units->records + i * sizeof(row), sizeof(row));
		if (!row.found && !lost++)
			first = row;
	}
	if (!lost || !split_unit__text(units, first.name) || !split_unit__text(units, first.folder))
		return;
	note("%s: the debug information of %zu of its %zu units is in files (-gsplit-dwarf) that are missing, of "
	     "another build or unreadable, first %s of %s: continuing without types and inlined functions there; put "
	     "the files where they were compiled or beside the program, or a package of them to %s.dwp",
	     o->path, lost, units->n, split_unit__text(units, first.name),
	     split_unit__text(units, first.folder), o->path);
}

/* Lists the split units, once for each object; the second time with their files, which shows what
 * is missing. */
static void list_split(const struct object *o)
{
	struct object *own = (struct object *)o;
	struct question first = {.object = o, .fn = split_units__list}, second = first;
	struct str answer = {0};
	struct table units;

	own->split_units = xstrdup("");
	debug_files__find(o, &first.files);
	debug_files__unpack(o, &first.files);
	if (ask(&first, &answer))
		return;
	if (!table__take(&units, &answer, sizeof(struct split_unit)) || !units.n) {
		str__free(&answer);
		return;
	}
	free(own->split_units);
	own->split_units = answer.data;
	own->split_len = answer.len;
	answer = (struct str){0};
	debug_files__find(o, &second.files);
	debug_files__unpack(o, &second.files);
	split_files__open(o, &units, &second.files);
	if (!ask(&second, &answer) && table__take(&units, &answer, sizeof(struct split_unit)))
		note_lost_units(o, &units);
	str__free(&answer);
}

static void open_split(const struct object *o, struct debug_files *files)
{
	struct table units;

	if (object__is_kernel(o) || !files->may_be_split)
		return;
	if (!o->split_units)
		list_split(o);
	if (split_table(o, &units))
		split_files__open(o, &units, files);
}

static int ask_of(const struct object *o, bool dwarf, debug_fn fn, void *ctx, struct str *out)
{
	struct question q = {.object = o, .fn = fn, .ctx = ctx};

	debug_files__find(o, &q.files);
	if (q.files.own < 0 && object__is_kernel(o))
		return 0;
	if (dwarf)
		debug_files__unpack(o, &q.files);
	note_lost_alt(o, &q.files);
	open_split(o, &q.files);
	return ask(&q, out);
}

int debug__ask(const struct object *o, debug_fn fn, void *ctx, struct str *out)
{
	return ask_of(o, true, fn, ctx, out);
}

static bool try(const struct object *o, bool dwarf, debug_fn fn, void *ctx, struct str *out,
		const char *lost)
{
	struct object *own = (struct object *)o;

	/* An object of a trace file has no file. */
	if (!o->priv || o->no_debug)
		return false;
	own->no_debug = ask_of(o, dwarf, fn, ctx, out) < 0;
	if (o->no_debug)
		note("%s: its debug information can't be used (%s): continuing without %s", o->path,
		     err__text(), lost);
	return !o->no_debug;
}

bool debug__try(const struct object *o, debug_fn fn, void *ctx, struct str *out, const char *lost)
{
	return try(o, true, fn, ctx, out, lost);
}

bool debug__try_symbols(const struct object *o, debug_fn fn, void *ctx, struct str *out,
			const char *lost)
{
	return try(o, false, fn, ctx, out, lost);
}

void debug__keep(const struct object *o, char *answer)
{
	struct object *own = (struct object *)o;

	vec__push(&own->answers, answer);
}

/* ---- paths ---- */

/* Appends a path without redundant parts: "/a/./b/../c" as "/a/c". Only the names count: if a
 * folder is a link, ".." may lead elsewhere. */
static void put_parts(struct str *to, size_t start, const char *path)
{
	for (size_t len; *path; path += len) {
		path += strspn(path, "/");
		len = strcspn(path, "/");
		if (len == 2 && !memcmp(path, "..", 2)) {
			while (to->len > start && to->data[--to->len] != '/')
				;
		} else if (len && !(len == 1 && *path == '.')) {
			str__putc(to, '/');
			str__put(to, path, len);
		}
	}
}

void debug__put_path(struct str *to, const char *folder, const char *name)
{
	size_t start = to->len;

	if (*name != '/' && (!folder || *folder != '/')) {
		str__puts(to, name);
	} else {
		if (*name != '/')
			put_parts(to, start, folder);
		put_parts(to, start, name);
	}
	str__put(to, "", 1);
}

/* ---- tables ---- */

void table__put(struct str *answer, const struct str *records, size_t size,
		const struct str *strings)
{
	uint64_t n = records->len / size;

	str__put(answer, (const char *)&n, sizeof(n));
	str__put(answer, records->data, records->len);
	str__put(answer, strings->data, strings->len);
	str__put(answer, "", 1);
}

bool table__take(struct table *t, const struct str *answer, size_t size)
{
	uint64_t n, left = answer->len - sizeof(n);

	if (answer->len <= sizeof(n) || answer->data[answer->len - 1])
		return false;
	memcpy(&n, answer->data, sizeof(n));
	if (n > (left - 1) / size)
		return false;
	t->n = n;
	t->records = (const uint8_t *)answer->data + sizeof(n);
	t->strings = (const char *)t->records + n * size;
	t->len = left - n * size;
	return true;
}

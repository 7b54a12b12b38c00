// SPDX-License-Identifier: BSD-2-Clause
/* Resolves operands to functions: OBJECT FUNC..., OBJECT:FUNC..., @POINTS, FUNC... of the
 * kernel, and user: and kernel: together; applies --exclude. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include "cli/command.h"
#include "cli/usage_hints.h"
#include "covered/covered.h"
#include "covered/own_libraries.h"
#include "targets.h"
#include "select/events/watch.h"
#include "code/code.h"

/* ---- objects ---- */

/* Returns the object if this file was read before: objects keep their files open. */
static struct object *known_file(const struct targets *n, int fd)
{
	struct object *const *o;
	struct stat st;

	if (fstat(fd, &st))
		return NULL;
	vec__each (o, &n->objects)
		if ((*o)->dev == st.st_dev && (*o)->ino == st.st_ino)
			return *o;
	return NULL;
}

int targets__open(struct targets *n, const char *name, pid_t pid, struct object **out)
{
	struct found found;
	int err = object__find(name, pid, &found);

	if (err)
		return err;
	*out = known_file(n, found.fd);
	if (*out) {
		found__close(&found);
		return 0;
	}
	err = object__read(&found, out);
	if (!err)
		vec__push(&n->objects, *out);
	return err;
}

/* ---- functions ---- */

static int add_points(struct targets *n, const struct points_object *points, const char *path,
		      struct object *only, pid_t pid)
{
	struct object *o = NULL;
	int err = targets__open(n, points->path, pid, &o);

	if (err || (only && o != only))
		return err;
	return object__select_points(o, points, path, &n->functions);
}

static int find_points(struct targets *n, const char *path, struct object *only, pid_t pid)
{
	CLEANUP(points__free) points_vec points = {0};
	struct points_object *p;
	int err = points__read(path, &points);

	if (err)
		return err;
	vec__each (p, &points) {
		err = add_points(n, p, path, only, pid);
		if (err)
			return err;
	}
	return 0;
}

static int refuse_place(const char *text)
{
	return err__usage("'%s' is a place: --exported takes names and patterns of functions",
			  text);
}

/* --exported takes only names and patterns: a place was already chosen by its position. */
static int parse_func(const struct targets *n, const char *func, bool kernel, struct spec *out)
{
	int err = spec__parse(func, kernel, out);

	out->exported = n->exported;
	if (err || !n->exported || out->kind == SPEC_NAME || out->kind == SPEC_GLOB)
		return err;
	return refuse_place(func);
}

static int find_in_object(struct targets *n, struct object *o, const char *func, pid_t pid)
{
	CLEANUP(spec__free) struct spec spec = {0};
	int err = parse_func(n, func, false, &spec);

	if (err)
		return err;
	return spec.kind == SPEC_POINTS ? find_points(n, spec.name, o, pid)
					: object__resolve(o, &spec, &n->functions);
}

/* True for FILE:LINE. A function's name doesn't begin with a digit. */
static bool is_line(const char *text)
{
	const char *colon = object__colon(text, 0);

	return colon && colon[1] && !colon[1 + strspn(colon + 1, "0123456789")];
}

/* Finds the functions of OBJECT:FUNC or @POINTS. */
static int find_pair(struct targets *n, const char *text, pid_t pid)
{
	const char *colon = object__colon(text, pid);
	autofree char *object = colon ? xstrndup(text, colon - text) : NULL;
	struct object *o;
	int err;

	if (*text == '@' && n->exported)
		return refuse_place(text);
	if (*text == '@')
		return find_points(n, text + 1, NULL, pid);
	if (!colon)
		return err__usage("'%s' names no function; write OBJECT:FUNC", text);
	err = targets__open(n, object, pid, &o);
	return err ? err : find_in_object(n, o, colon + 1, pid);
}

static int find_pairs(struct targets *n, const struct request *req, pid_t pid)
{
	int err;

	for (size_t i = 0; i < req->operands.len; i++) {
		err = find_pair(n, req->operands.data[i], pid);
		if (err)
			return usage_hints__form(req, i, err);
	}
	return 0;
}

static bool is_object(const char *name, pid_t pid)
{
	struct found found;
	int err = object__find(name, pid, &found);

	found__close(&found);
	return !err;
}

/* Returns the text after the prefix; NULL if it begins otherwise. */
static const char *after_prefix(const char *text, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(text, prefix, len) ? NULL : text + len;
}

/* True for user:OBJECT:FUNC or kernel:FUNC, which only bbtrace trace takes. */
static bool is_spec(const struct request *req)
{
	const char *first = req->operands.data[0];

	return after_prefix(first, "user:") || after_prefix(first, "kernel:");
}

static int refuse_spec(const struct request *req)
{
	return err__usage("'%s' is a form of bbtrace trace: here write OBJECT:FUNC, or for the "
			  "kernel's functions bbtrace %s FUNC",
			  req->operands.data[0],
			  req->verb->bit == VERB_LIST ? "list kernel" : "kernel");
}

/* ---- FUNC... of the program of CMD, or of the process ---- */

/* Returns the program that all processes run, malloc()ed; NULL if they run several. */
static char *program_of_all(const uint32_t *pids, size_t n)
{
	char *first = n ? process__program(pids[0]) : NULL;

	for (size_t i = 1; i < n; i++) {
		autofree char *program = process__program(pids[i]);

		if (first && program && !strcmp(first, program))
			continue;
		free(first);
		return NULL;
	}
	return first;
}

/* Returns its path, malloc()ed; NULL if the request has none, or several. */
static char *program_of(const struct request *req, pid_t pid)
{
	if (req->verb->bit != VERB_USER)
		return NULL;
	if (req->command)
		return command__path(req->command[0]);
	return pid ? program_of_all(req->who.filters.pids.data, req->who.filters.pids.len) : NULL;
}

/* True if the first operand names no object, or is alone and may as well be a function. */
static bool may_be_function(const struct request *req, pid_t pid)
{
	const char *first = req->operands.data[0];

	if (*first == '@' || strchr(first, '/') || strstr(first, ".so") || is_spec(req))
		return false;
	if (is_line(first) && !is_object(first, pid))
		return true;
	return !object__colon(first, pid) && (req->operands.len == 1 || !is_object(first, pid));
}

/* All operands are functions of it. 1: the first one isn't. */
static int find_in_program(struct targets *n, const struct request *req, pid_t pid,
			   const char *program)
{
	struct object *o;
	int err = targets__open(n, program, pid, &o);

	if (err)
		return 1;
	for (size_t i = 0; !err && i < req->operands.len; i++) {
		err = find_in_object(n, o, req->operands.data[i], pid);
		if (err == -ENOENT && !i)
			return 1;
		if (err)
			return usage_hints__operand(req, i, err);
	}
	return err;
}

static int find_user(struct targets *n, const struct request *req, pid_t pid, bool all)
{
	const char *first = req->operands.data[0];
	autofree char *program = may_be_function(req, pid) ? program_of(req, pid) : NULL;
	struct object *o;
	int err = program ? find_in_program(n, req, pid, program) : 1;
	autofree char *own = NULL;

	if (err != 1)
		return err;
	own = xstrdup(program ? err__text() : "");
	err__clear();
	if (*first == '@' || (object__colon(first, pid) && !is_object(first, pid)))
		return is_spec(req) ? refuse_spec(req) : find_pairs(n, req, pid);
	err = targets__open(n, first, pid, &o);
	if (err)
		return usage_hints__no_object(req, program, own, err);
	if (req->operands.len == 1)
		return all ? find_in_object(n, o, "*", pid)
			   : err__usage(
				     "no function of %s given; `bbtrace list %s` shows them, '*' means all",
				     first, first);
	for (size_t i = 1; i < req->operands.len; i++) {
		err = find_in_object(n, o, req->operands.data[i], pid);
		if (err)
			return usage_hints__operand(req, i, err);
	}
	return 0;
}

/* ---- the kernel ---- */

static int read_kernel_text(void *ctx, uint64_t vaddr, void *buf, size_t len)
{
	struct kmem **k = ctx;
	int err = *k ? 0 : kmem__open(k);

	return err ? err : kmem__read(*k, vaddr, buf, len);
}

struct modules {
	struct object **modules;
	size_t n;
};

static int open_kernel(struct targets *n, struct modules *m)
{
	struct kmem *kmem = NULL;
	int err = kernel__open(read_kernel_text, &kmem, kprobe_layout__read, &n->kernel,
			       &m->modules, &m->n);

	kmem__close(kmem);
	if (err)
		return err;
	vec__push(&n->objects, n->kernel);
	for (size_t i = 0; i < m->n; i++)
		vec__push(&n->objects, m->modules[i]);
	return 0;
}

static int find_in_kernel(struct targets *n, const struct modules *m, const char *text)
{
	CLEANUP(spec__free) struct spec spec = {0};
	int err = parse_func(n, text, true, &spec);

	if (err)
		return err;
	if (spec.kind == SPEC_POINTS || spec.kind == SPEC_LINE)
		return err__usage("'%s': the kernel's functions are named by name or address",
				  spec.text);
	return kernel__resolve(n->kernel, m->modules, m->n, &spec, &n->functions);
}

/* Finds kernel functions. first: the first operand that names one. all: without an operand, all
 * functions are meant. */
static int find_kernel(struct targets *n, const struct request *req, size_t first, bool all)
{
	struct modules m = {0};
	int err = open_kernel(n, &m);

	if (!err && all && req->operands.len == first)
		err = find_in_kernel(n, &m, "*");
	for (size_t i = first; !err && i < req->operands.len; i++) {
		err = find_in_kernel(n, &m, req->operands.data[i]);
		if (err)
			err = usage_hints__form(req, i, err);
	}
	free(m.modules);
	return err;
}

/* ---- user:OBJECT:FUNC and kernel:FUNC together ---- */

/* Refuses the names of other tracers, such as bpftrace's probe types, and shows ours. */
static int refuse_one(const char *text)
{
	static const struct {
		const char *prefix, *here;
	} rows[] = {
		{"uprobe:", "user"},	  {"uretprobe:", "user"}, {"kprobe:", "kernel"},
		{"kretprobe:", "kernel"}, {"kfunc:", "kernel"},	  {"fentry:", "kernel"},
		{"fexit:", "kernel"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (after_prefix(text, rows[i].prefix))
			return err__usage("'%s': write %s:%s", text, rows[i].here,
					  after_prefix(text, rows[i].prefix));
	if (object__colon(text, 0))
		return err__usage("'%s': write user:%s, or kernel:FUNC", text, text);
	return err__usage("'%s': write user:OBJECT:FUNC or kernel:FUNC; --args shows arguments",
			  text);
}

static int find_one(struct targets *n, const struct modules *m, const char *text, pid_t pid)
{
	const char *user = after_prefix(text, "user:"), *kernel = after_prefix(text, "kernel:");

	if (user)
		return find_pair(n, user, pid);
	if (kernel)
		return find_in_kernel(n, m, kernel);
	return refuse_one(text);
}

static int find_both(struct targets *n, const struct request *req, pid_t pid)
{
	struct modules m = {0};
	int err = targets__name_kernel(req) ? open_kernel(n, &m) : 0;

	for (size_t i = 0; !err && i < req->operands.len; i++) {
		err = find_one(n, &m, req->operands.data[i], pid);
		if (err)
			err = usage_hints__operand(req, i, err);
	}
	free(m.modules);
	if (!err && req->what.own_libraries)
		own_libraries__add(n);
	return err;
}

bool targets__name_kernel(const struct request *req)
{
	if (req->verb->bit == VERB_LIST)
		return !strcmp(req->operands.data[0], "kernel");
	if (req->verb->bit != VERB_BOTH)
		return req->verb->bit == VERB_KERNEL;
	for (size_t i = 0; i < req->operands.len; i++)
		if (after_prefix(req->operands.data[i], "kernel:"))
			return true;
	return false;
}

static int check_traceable(const struct object *o)
{
	const struct arch *arch = arch__by_machine(o->machine);

	if (object__is_kernel(o) || !arch->untraceable || arch != arch__native())
		return 0;
	return err__set(ENOEXEC,
			"%s is for %s and can't be traced: %s; bbtrace list shows its functions, "
			"branches and code",
			o->path, arch->name, arch->untraceable);
}

/* Fails if the program is for another machine: here only an emulator can run it, to which its
 * code is data. */
static int check_machine(const struct targets *n)
{
	struct object **o;

	vec__each (o, &n->objects)
		if (!object__is_kernel(*o) && !arch__runs_here(arch__by_machine((*o)->machine)))
			return err__set(ENOEXEC,
					"%s is for %s and can't be traced on this machine: "
					"bbtrace list shows its functions, branches and code",
					(*o)->path, arch__by_machine((*o)->machine)->name);
	vec__each (o, &n->objects)
		if (check_traceable(*o))
			return -ENOEXEC;
	return 0;
}

/* ---- functions for a trace that runs ---- */

static int find_more_in_kernel(struct targets *n, const struct request *req, const char *text)
{
	VEC(struct object *) modules = {0};
	struct modules m;
	int err;

	if (!targets__name_kernel(req)) /* the kernel may be open for its symbols only */
		return err__set(
			ENOTSUP,
			"no function of the kernel is traced, and its code can't be read any more: "
			"start the trace with bbtrace trace, and kernel:FUNC for one of them");
	for (size_t i = 0; i < n->objects.len; i++)
		if (n->objects.data[i]->kind == OBJECT_MODULE)
			vec__push(&modules, n->objects.data[i]);
	m = (struct modules){modules.data, modules.len};
	err = find_in_kernel(n, &m, text);
	vec__free(&modules);
	return err;
}

/* Finds the functions of OBJECT FUNC... */
static int find_words(struct targets *n, char *const *words, size_t nwords, pid_t pid)
{
	struct object *o;
	int err = targets__open(n, words[0], pid, &o);

	for (size_t i = 1; !err && i < nwords; i++)
		err = find_in_object(n, o, words[i], pid);
	return err;
}

static struct object *first_object(const struct targets *n)
{
	for (size_t i = 0; i < n->objects.len; i++)
		if (!object__is_kernel(n->objects.data[i]))
			return n->objects.data[i];
	return NULL;
}

static int find_word(struct targets *n, const struct request *req, const char *word, pid_t pid)
{
	const char *user = after_prefix(word, "user:"), *kernel = after_prefix(word, "kernel:");

	if (kernel || (!user && req->verb->bit == VERB_KERNEL))
		return find_more_in_kernel(n, req, kernel ? kernel : word);
	if (user || *word == '@' ||
	    (object__colon(word, pid) && !is_line(word) && !is_object(word, pid)))
		return find_pair(n, user ? user : word, pid);
	if (req->verb->bit == VERB_BOTH)
		return refuse_one(word);
	return find_in_object(n, first_object(n), word, pid);
}

static bool all_are_specs(const struct request *req, char *const *words, size_t nwords)
{
	for (size_t i = 0; i < nwords; i++)
		if (!after_prefix(words[i], "user:") && !after_prefix(words[i], "kernel:") &&
		    words[i][0] != '@' && !object__colon(words[i], 0))
			return req->verb->bit == VERB_KERNEL;
	return true;
}

static int find_all_words(struct targets *n, const struct request *req, char *const *words,
			  size_t nwords, pid_t pid)
{
	int err = 0;

	if (nwords > 1 && !all_are_specs(req, words, nwords) && is_object(words[0], pid))
		return find_words(n, words, nwords, pid);
	for (size_t i = 0; !err && i < nwords; i++)
		err = find_word(n, req, words[i], pid);
	return err;
}

int targets__find_more(struct targets *n, const struct request *req, char *const *words,
		       size_t nwords, pid_t pid, function_vec *out)
{
	function_vec before = n->functions;
	int err;

	n->functions = *out;
	err = find_all_words(n, req, words, nwords, pid);
	*out = n->functions;
	n->functions = before;
	return err ? err : check_machine(n);
}

static bool is_among(const function_vec *v, const struct function *f)
{
	const struct function *g;

	vec__each (g, v)
		if (g->object == f->object && g->entry == f->entry &&
		    !((g->flags ^ f->flags) & FUNCTION_RANGE))
			return true;
	return false;
}

function_vec targets__copy(const struct targets *n, const function_vec *out)
{
	function_vec copies = {0};
	const struct function *f;

	vec__each (f, &n->functions)
		if (!(f->flags & FUNCTION_HELPER) && !(out && is_among(out, f)))
			function__copy(vec__add(&copies), f);
	return copies;
}

/* Opens the kernel's symbols, for its frames. */
static int find_names(struct targets *n, const struct request *req)
{
	struct modules m = {0};
	int err = req->record.stack || req->record.freq || watchpoints__name_kernel(req)
			  ? open_kernel(n, &m)
			  : 0;

	free(m.modules);
	return err;
}

/* Opens the kernel's symbols if named events record stacks with kernel frames. Without them the
 * frames are recorded without names. */
static int find_names_beside(struct targets *n, const struct request *req)
{
	if (req->what.watch.len)
		return find_names(n, req);
	if ((req->record.freq ||
	     (req->record.stack && (req->record.sched || req->what.with.len))) &&
	    find_names(n, req)) {
		note("%s; the kernel's frames have no names", err__text());
		err__clear();
	}
	return 0;
}

static int find(struct targets *n, const struct request *req, pid_t pid, bool all)
{
	if (req->verb->bit & VERB_NAMED)
		return find_names(n, req);
	if (req->verb->bit == VERB_BOTH)
		return find_both(n, req, pid);
	if (targets__name_kernel(req))
		return find_kernel(n, req, req->verb->bit == VERB_LIST, all);
	return find_user(n, req, pid, all);
}

int targets__find(struct targets *n, const struct request *req, pid_t pid, bool all)
{
	int err;

	*n = (struct targets){.exported = req->what.exported};
	err = req->what.covers ? covered__find(n, req) : find(n, req, pid, all);
	if (!err && !n->kernel)
		err = find_names_beside(n, req);
	if (!err && req->verb->bit != VERB_LIST)
		err = check_machine(n);
	if (!err && req->what.exclude.len)
		err = exclude__apply(n, req);
	if (err)
		targets__free(n);
	else
		functions__join(&n->functions);
	return err;
}

void targets__free(struct targets *n)
{
	struct object **o;

	functions__free(&n->functions);
	vec__each (o, &n->objects)
		object__free(*o);
	vec__free(&n->objects);
	vec__free(&n->stubs);
	n->kernel = NULL;
}

// SPDX-License-Identifier: BSD-2-Clause
/* Watchpoints: turns those of the command line into named events of the plan, and into addresses
 * in processes. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "cli/command.h"
#include "select/targets.h"
#include "watch.h"

/* ---- names ---- */

struct finding {
	struct watchpoints *w;
	const struct request *req;
	struct targets *n;
	pid_t pid;
	struct plan *p;
	unsigned slots;
};

static bool names_processes(const struct request *req)
{
	return req->command || req->who.filters.pids.len;
}

static bool is_kernel_object(const char *object)
{
	return !strcmp(object, "kernel");
}

/* A symbol without object is the program's, if there is a program; else the kernel's. */
static bool is_kernel(const struct request *req, const struct watch_spec *s)
{
	if (s->object)
		return is_kernel_object(s->object);
	if (!s->symbol)
		return s->kernel_address;
	return req->verb->bit == VERB_KERNEL || !names_processes(req);
}

/* Returns the program of the traced processes, malloc()ed. */
static char *program_of(const struct finding *f)
{
	char link[64], path[4096];
	ssize_t n;

	if (f->req->command)
		return command__path(f->req->command[0]);
	snprintf(link, sizeof(link), "/proc/%d/exe", f->pid);
	n = readlink(link, path, sizeof(path) - 1);
	return n > 0 ? xstrndup(path, n) : NULL;
}

static int open_object(struct finding *f, const struct watch_spec *s, struct object **out)
{
	autofree char *name = s->object ? xstrdup(s->object) : program_of(f);

	if (!name && f->req->command)
		return err__set(ENOENT, "cannot run %s: no such command", f->req->command[0]);
	if (!name)
		return err__set(ENOENT,
				"cannot watch %s: its program isn't known; write "
				"OBJECT:%s",
				s->text, s->text);
	return targets__open(f->n, name, f->pid, out);
}

static int refuse_several(const struct watch_spec *s, const struct object *o, const data_vec *found)
{
	autofree struct str list = {0};
	const struct data_symbol *d;

	vec__each (d, found) {
		str__puts(&list, list.len ? ", " : "");
		str__hex(&list, d->vaddr);
	}
	return err__set(ENOTUNIQ, "%s has %zu variables %s, at %s", o ? o->path : "the kernel",
			found->len, s->symbol, list.data);
}

static int check_found(const struct watch_spec *s, const struct object *o, const data_vec *found)
{
	if (!found->len && o)
		return err__set(
			ENOENT, "no variable %s in %s%s; OBJECT:SYMBOL names one of another object",
			s->symbol, o->path, o->stripped ? ", which has no symbol table" : "");
	if (!found->len)
		return err__set(ENOENT,
				"no variable %s in /proc/kallsyms; a program's needs -p PID or "
				"-- CMD, or its address",
				s->symbol);
	if (found->len > 1)
		return refuse_several(s, o, found);
	if (found->data[0].tls)
		return err__set(ENOTSUP,
				"%s is thread-local: each thread has it at another address; "
				"watch the address that it has in one thread",
				s->symbol);
	return 0;
}

/* ---- what is executed ---- */

static int find_function(const struct watch_spec *s, const struct object *o, data_vec *out)
{
	const struct symbol *f;

	vec__each (f, &o->symbols)
		if (!strcmp(f->name, s->symbol) && (!out->len || out->data[0].vaddr != f->vaddr))
			vec__push(out, (struct data_symbol){.vaddr = f->vaddr, .size = f->size});
	if (!out->len)
		return err__set(ENOENT, "no function %s in %s", s->symbol, o->path);
	return out->len > 1 ? refuse_several(s, o, out) : 0;
}

/* ---- chunks: one debug register each ---- */

/* The default length: that of the variable, or of the part that is named. */
static uint64_t default_len(const struct watch_spec *s, const struct data_symbol *d, bool kernel)
{
	uint64_t left = d->size > s->offset ? d->size - s->offset : 0, len = sizeof(long);

	if (s->access == WATCH_EXEC)
		return 1;
	if (!s->offset && left && !kernel)
		return left;
	while (len > 1 && ((left && len > left) || (d->vaddr + s->offset) % len))
		len /= 2;
	return len;
}

static void add_hit_fields(struct plan *p, uint8_t access, uint8_t len)
{
	const struct plan_field values[] = {
		{.name = "old", .offset = offsetof(struct watch_hit_data, old), .kind = TYPE_HEX},
		{.name = "new", .offset = offsetof(struct watch_hit_data, new), .kind = TYPE_HEX},
		{.name = "from",
		 .offset = offsetof(struct watch_hit_data, from),
		 .kind = TYPE_STRING},
	};
	const struct plan_field how[] = {
		{.name = "access",
		 .offset = offsetof(struct watch_hit_data, access),
		 .size = sizeof(((struct watch_hit_data *)0)->access),
		 .kind = TYPE_STRING},
		{.name = "insn",
		 .offset = offsetof(struct watch_hit_data, insn),
		 .size = sizeof(((struct watch_hit_data *)0)->insn),
		 .kind = TYPE_STRING},
	};

	for (size_t i = 0; access != WATCH_EXEC && i < ARRAY_SIZE(values); i++) {
		struct plan_field f = values[i];

		f.size = f.kind == TYPE_HEX ? len : sizeof(((struct watch_hit_data *)0)->from);
		plan__add_field(p, &f);
	}
	for (size_t i = 0; i < ARRAY_SIZE(how); i++)
		plan__add_field(p, &how[i]);
}

static int add_piece(struct finding *f, const struct watch_spec *s, const struct object *o,
		     bool kernel, const struct watch_piece *piece, uint64_t from)
{
	struct watchpoint *w = vec__add(&f->w->all);
	uint64_t off = s->symbol ? s->offset + piece->addr - from : 0;

	*w = (struct watchpoint){.object = o,
				 .vaddr = piece->addr,
				 .len = piece->len,
				 .access = s->access,
				 .kernel = kernel};
	w->name = s->symbol ? xasprintf(off ? "%s+%llu" : "%s", s->symbol, (unsigned long long)off)
			    : xasprintf("0x%llx", (unsigned long long)piece->addr);
	w->which = plan__add_named(f->p, NAMED_WATCHPOINT, w->name);
	add_hit_fields(f->p, s->access, piece->len);
	return 0;
}

static int refuse_len(const struct watch_spec *s, uint64_t addr, uint64_t len)
{
	return err__usage("%s: %llu bytes at 0x%llx need more than the %d debug registers, which "
			  "watch 1, 2, 4 or 8 aligned bytes each; name a part: %s+OFF:8",
			  s->text, (unsigned long long)len, (unsigned long long)addr, WATCH_SLOTS,
			  s->symbol ? s->symbol : "0xADDR");
}

static int add_pieces(struct finding *f, const struct watch_spec *s, const struct object *o,
		      bool kernel, uint64_t addr, uint64_t len)
{
	struct watch_piece pieces[WATCH_SLOTS];
	unsigned n = watch__split(addr, len, pieces);

	if (!n)
		return refuse_len(s, addr, len);
	f->slots += n;
	if (f->slots > WATCH_SLOTS)
		return err__usage("%s would need debug register %u: the processor has %d, each of "
				  "which watches 1, 2, 4 or 8 aligned bytes",
				  s->text, f->slots, WATCH_SLOTS);
	for (unsigned i = 0; i < n; i++)
		add_piece(f, s, o, kernel, &pieces[i], addr);
	return 0;
}

/* ---- one watchpoint ---- */

static int find_in_kernel(struct finding *f, const struct watch_spec *s)
{
	autofree data_vec found = {0};
	int err;

	if (s->access == WATCH_EXEC && f->n->kernel)
		err = find_function(s, f->n->kernel, &found);
	else
		err = kernel__find_data(NULL, s->symbol, &found);
	if (!err && s->access != WATCH_EXEC)
		err = check_found(s, NULL, &found);
	return err ? err
		   : add_pieces(f, s, NULL, true, found.data[0].vaddr + s->offset,
				s->len ? s->len : default_len(s, &found.data[0], true));
}

static int find_in_program(struct finding *f, const struct watch_spec *s)
{
	autofree data_vec found = {0};
	struct object *o;
	int err = open_object(f, s, &o);

	if (err)
		return err;
	if (s->access == WATCH_EXEC) {
		err = find_function(s, o, &found);
	} else {
		object__find_data(o, s->symbol, &found);
		err = check_found(s, o, &found);
	}
	return err ? err
		   : add_pieces(f, s, o, false, found.data[0].vaddr + s->offset,
				s->len ? s->len : default_len(s, &found.data[0], false));
}

static int find_one(struct finding *f, const struct watch_spec *s)
{
	bool kernel = is_kernel(f->req, s);
	struct data_symbol at = {.vaddr = s->offset};
	struct watch_spec plain = *s;

	if (!kernel && !names_processes(f->req))
		return err__usage("%s: in which process? Give -p PID or a command after --",
				  s->text);
	if (s->symbol)
		return kernel ? find_in_kernel(f, s) : find_in_program(f, s);
	plain.offset = 0;
	return add_pieces(f, s, NULL, kernel, s->offset,
			  s->len ? s->len : default_len(&plain, &at, true));
}

static int find_text(struct finding *f, const char *text)
{
	struct watch_spec s;
	int err = watch_spec__parse(text, &s);

	if (err)
		return err;
	err = find_one(f, &s);
	watch_spec__free(&s);
	return err;
}

int watchpoints__plan(struct watchpoints *w, const struct request *req, struct targets *n,
		      pid_t pid, struct plan *p)
{
	struct finding f = {.w = w, .req = req, .n = n, .pid = pid, .p = p};
	const char *const *text;
	int err = 0;

	w->user_only = req->what.user_only;
	if (req->what.watch.len || req->verb->bit == VERB_WATCH)
		err = feature__accesses();
	for (size_t i = 0; !err && req->verb->bit == VERB_WATCH && i < req->operands.len; i++)
		err = find_text(&f, req->operands.data[i]);
	vec__each (text, &req->what.watch)
		if (!err)
			err = find_text(&f, *text);
	return err;
}

static bool names_kernel(const struct request *req, const char *text)
{
	struct watch_spec s;
	bool kernel;

	if (watch_spec__parse(text, &s)) {
		err__clear();
		return false;
	}
	kernel = is_kernel(req, &s);
	watch_spec__free(&s);
	return kernel;
}

bool watchpoints__name_kernel(const struct request *req)
{
	const char *const *text;

	for (size_t i = 0; req->verb->bit == VERB_WATCH && i < req->operands.len; i++)
		if (names_kernel(req, req->operands.data[i]))
			return true;
	vec__each (text, &req->what.watch)
		if (names_kernel(req, *text))
			return true;
	return false;
}

/* ---- processes ---- */

/* Finds the load bias of the object in a process. Returns false if it isn't mapped. */
static bool find_bias(uint32_t pid, const struct object *o, uint64_t *bias)
{
	map_vec maps = {0};
	const struct map *m;
	bool found = false;

	if (maps__read(pid, &maps))
		return false;
	vec__each (m, &maps)
		found = found || map__is_code(pid, m, o, bias);
	maps__free(&maps);
	return found;
}

static bool place(const struct watchpoints *w, const struct watchpoint *p, uint32_t pid,
		  struct probe_watch *out)
{
	uint64_t bias = 0;

	*out = (struct probe_watch){.name = p->name,
				    .which = p->which,
				    .len = p->len,
				    .access = p->access,
				    .kernel = p->kernel,
				    .user_only = w->user_only && !p->kernel,
				    .pid = p->kernel ? 0 : pid};
	if (p->object && !find_bias(pid, p->object, &bias))
		return false;
	out->addr = p->vaddr + bias;
	return true;
}

int watchpoints__begin_in(struct watchpoints *w, struct source *s, uint32_t pid, bool *waits)
{
	struct watchpoint *i;
	struct probe_watch to;
	int err = 0;

	*waits = false;
	vec__each (i, &w->all) {
		if (err || i->kernel || i->watched_in == pid)
			continue;
		if (!place(w, i, pid, &to)) {
			*waits = true;
			continue;
		}
		err = source__watch(s, &to);
		i->watched_in = pid;
	}
	return err;
}

void watchpoints__note_values(const struct watchpoints *w, struct source *s, uint32_t pid)
{
	const struct watchpoint *i;
	struct probe_watch to;

	vec__each (i, &w->all)
		if (!i->kernel && place(w, i, pid, &to))
			source__note_value(s, &to);
}

static int begin_in_process(struct watchpoints *w, struct source *s, uint32_t pid)
{
	const struct watchpoint *i;
	bool waits;
	int err = watchpoints__begin_in(w, s, pid, &waits);

	if (!err)
		watchpoints__note_values(w, s, pid);
	if (err || !waits)
		return err;
	vec__each (i, &w->all)
		if (i->object)
			return err__set(ENOENT, "process %u has not mapped %s, where %s is", pid,
					i->object->path, i->name);
	return 0;
}

int watchpoints__begin(struct watchpoints *w, struct source *s, const struct request *req)
{
	const struct watchpoint *i;
	struct probe_watch to;
	const uint32_t *pid;
	int err = 0;

	vec__each (i, &w->all)
		if (!err && i->kernel && place(w, i, 0, &to))
			err = source__watch(s, &to);
	if (req->command)
		return err;
	vec__each (pid, &req->who.filters.pids)
		if (!err)
			err = begin_in_process(w, s, *pid);
	return err;
}

void watchpoints__free(struct watchpoints *w)
{
	struct watchpoint *i;

	vec__each (i, &w->all)
		free(i->name);
	vec__free(&w->all);
}

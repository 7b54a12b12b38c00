// SPDX-License-Identifier: BSD-2-Clause
/*
 * Static probes of programs (USDT). libbpf has them, too, but reads the file by libelf, here and
 * with all privileges, and doesn't know operands with an index.
 */
#include <errno.h>
#include <stdlib.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "source/probes/session.h"
#include "bbtrace.skel.h"

_Static_assert(USDT_ARGS == USDT_ARGUMENTS, "as many arguments");

/* ---- fields ---- */

/* Sets the arguments. A symbol's address becomes relative to the probe's. */
static unsigned arguments_of(const struct arch *arch, struct object *o,
			     const struct usdt_probe *probe,
			     struct usdt_argument args[USDT_ARGUMENTS])
{
	unsigned n = usdt__arguments(arch, probe->arguments, args);
	uint64_t vaddr;

	for (unsigned i = 0; i < n; i++) {
		if (!args[i].symbol)
			continue;
		if (object__find_address(o, args[i].symbol, args[i].symbol_len, &vaddr))
			args[i].disp += (int64_t)(vaddr - probe->vaddr);
		else
			args[i].kind = USDT_UNKNOWN;
	}
	return n;
}

void usdt__resolve(const struct arch *arch, struct object *o, struct usdt_site *s)
{
	s->nargs = arguments_of(arch, o, s->probe, s->args);
}

static bool same_name(const struct usdt_probe *a, const struct usdt_probe *b)
{
	return !strcmp(a->name, b->name) && !strcmp(a->provider, b->provider);
}

static void add_text(struct plan *p, unsigned i)
{
	autofree char *text = xasprintf("arg%u_text", i);

	plan__add_field(p, &(struct plan_field){.name = text,
						.type = "char *",
						.offset = offsetof(struct wire_usdt_data, text) +
							  USDT_TEXT * i,
						.size = USDT_TEXT,
						.kind = TYPE_TEXT,
						.known = 1 + i});
}

static void add_argument(struct plan *p, unsigned i, const struct usdt_argument *a)
{
	autofree char *name = xasprintf("arg%u", i), *type = xasprintf("%s%u",
								       a->is_float    ? "f"
								       : a->is_signed ? "s"
										      : "u",
								       8 * a->size);
	bool word = a->size == p->arch->word && !a->is_float;
	bool pointer = word && !a->is_signed;

	plan__add_field(
		p, &(struct plan_field){.name = name,
					.type = type,
					.offset = offsetof(struct wire_usdt_data, args) + 8 * i,
					.size = a->is_float ? a->size : 8,
					.kind = a->is_float    ? TYPE_FLOAT
						: a->is_signed ? TYPE_SIGNED
						: pointer      ? TYPE_HEX
							       : TYPE_UNSIGNED,
					.known = 1 + i});
	if (word)
		add_text(p, i);
}

/* Its type is the operand: what follows the first i arguments, up to the next one. */
static void add_unrecorded(struct plan *p, unsigned i, const char *text)
{
	autofree char *name = xasprintf("arg%u", i), *operand = NULL;
	size_t len;
	const char *at = usdt__argument_text(text, i, &len);

	operand = xstrndup(at, len);
	plan__add_field(
		p, &(struct plan_field){.name = name, .type = operand, .kind = TYPE_UNRECORDED});
}

/* Finds the first place whose argument i can be recorded. */
static bool find_argument(struct plan *p, struct object *o, const usdt_vec *all,
			  const struct usdt_probe *probe, unsigned i, struct usdt_argument *out)
{
	struct usdt_argument args[USDT_ARGUMENTS];
	const struct usdt_probe *u;

	vec__each (u, all)
		if (same_name(u, probe) && arguments_of(p->arch, o, u, args) > i &&
		    args[i].kind != USDT_UNKNOWN) {
			*out = args[i];
			return true;
		}
	return false;
}

void usdt__add_fields(struct plan *p, struct object *o, const usdt_vec *all,
		      const struct usdt_probe *probe)
{
	struct usdt_argument args[USDT_ARGUMENTS];
	unsigned n = arguments_of(p->arch, o, probe, args);

	for (unsigned i = 0; i < n; i++) {
		if (args[i].kind != USDT_UNKNOWN || find_argument(p, o, all, probe, i, &args[i]))
			add_argument(p, i, &args[i]);
		else
			add_unrecorded(p, i, probe->arguments);
	}
}

/* ---- the BPF program's table ---- */

static struct wire_usdt describe(const struct usdt_site *s)
{
	struct wire_usdt u = {.which = s->named, .nargs = s->nargs};
	const struct usdt_argument *args = s->args;

	for (unsigned i = 0; i < u.nargs; i++)
		u.args[i] = (struct wire_usdt_arg){.disp = args[i].disp,
						   .kind = args[i].kind,
						   .size = args[i].size,
						   .is_signed = args[i].is_signed,
						   .base = args[i].base,
						   .index = args[i].index,
						   .scale = args[i].scale};
	return u;
}

static int fill(struct probe *p)
{
	int fd = bpf_map__fd(p->skel->maps.usdt_sites);

	for (uint32_t i = 0; i < p->options->nusdt; i++) {
		struct wire_usdt u = describe(&p->options->usdt[i]);

		if (bpf_map_update_elem(fd, &i, &u, BPF_ANY))
			return err__set(errno, "cannot describe a static probe: %s",
					strerror(errno));
	}
	return 0;
}

/* ---- attaching ---- */

struct batch {
	VEC(unsigned long) offsets;
	VEC(unsigned long) semaphores; /* file offsets; 0: none */
	VEC(uint64_t) cookies;
};

static void free_batch(struct batch *b)
{
	vec__free(&b->offsets);
	vec__free(&b->semaphores);
	vec__free(&b->cookies);
}

struct bpf_program *usdt__program(const struct probe *p)
{
	return feature__uprobe_multi() ? p->skel->progs.on_usdt : p->skel->progs.on_usdt_multi;
}

static int add(struct probe *p, uint32_t i, struct batch *b)
{
	const struct usdt_site *s = &p->options->usdt[i];
	uint64_t offset, semaphore = 0;

	if (!object__vaddr_to_offset(s->object, s->probe->vaddr, &offset) ||
	    (s->probe->semaphore &&
	     !object__vaddr_to_offset(s->object, s->probe->semaphore, &semaphore)))
		return err__set(EINVAL, "static probe %s:%s of %s is not in the file",
				s->probe->provider, s->probe->name, s->object->path);
	vec__push(&b->offsets, offset);
	vec__push(&b->semaphores, semaphore);
	vec__push(&b->cookies, i);
	return 0;
}

static struct bpf_link *link_all(struct probe *p, const char *path, const struct batch *b,
				 pid_t pid)
{
	LIBBPF_OPTS(bpf_uprobe_multi_opts, o, .offsets = b->offsets.data,
		    .ref_ctr_offsets = b->semaphores.data,
		    .cookies = (const __u64 *)b->cookies.data, .cnt = b->offsets.len);

	return bpf_program__attach_uprobe_multi(p->skel->progs.on_usdt_multi, pid, path, NULL, &o);
}

static struct bpf_link *link_one(struct probe *p, const char *path, const struct batch *b, size_t i,
				 pid_t pid)
{
	LIBBPF_OPTS(bpf_uprobe_opts, o, .ref_ctr_offset = b->semaphores.data[i],
		    .bpf_cookie = b->cookies.data[i]);

	return bpf_program__attach_uprobe_opts(p->skel->progs.on_usdt, pid, path,
					       b->offsets.data[i], &o);
}

static int keep(struct probe *p, struct bpf_link *link, const char *path)
{
	if (!link)
		return err__set(errno, "%s: cannot attach to its static probes: %s", path,
				strerror(errno));
	vec__push(&p->named, link);
	return 0;
}

static int attach_object(struct probe *p, const struct object *o, const struct batch *b, pid_t pid)
{
	int err = 0;

	if (!feature__uprobe_multi())
		return keep(p, link_all(p, o->attach_path, b, pid), o->path);
	for (size_t i = 0; !err && i < b->offsets.len; i++)
		err = keep(p, link_one(p, o->attach_path, b, i, pid), o->path);
	return err;
}

/* The processes that have the probes; -1: all that map the file. */
static int attach_everywhere(struct probe *p, const struct object *o, const struct batch *b)
{
	bool by_process = p->scope.kind == SCOPE_PROCESSES &&
			  (feature__uprobe_multi() || feature__uprobe_multi_by_process());
	int err = 0;

	if (!by_process)
		return attach_object(p, o, b, -1);
	for (size_t i = 0; !err && i < p->scope.pids.len; i++)
		err = attach_object(p, o, b, p->scope.pids.data[i]);
	return err;
}

static bool is_first(const struct probe *p, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (p->options->usdt[k].object == p->options->usdt[i].object)
			return false;
	return true;
}

int usdt__attach(struct probe *p)
{
	int err = p->options->nusdt ? fill(p) : 0;

	for (size_t i = 0; !err && i < p->options->nusdt; i++) {
		CLEANUP(free_batch) struct batch b = {0};
		const struct object *o = p->options->usdt[i].object;

		if (!is_first(p, i))
			continue;
		for (uint32_t k = i; !err && k < p->options->nusdt; k++)
			if (p->options->usdt[k].object == o)
				err = add(p, k, &b);
		if (!err)
			err = attach_everywhere(p, o, &b);
	}
	return err;
}

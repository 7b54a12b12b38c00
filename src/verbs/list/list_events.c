// SPDX-License-Identifier: BSD-2-Clause
/* list --events: lists the tracepoints of the kernel, or the static probes of a program, with
 * their fields. */
#include <errno.h>
#include <stdlib.h>
#include "select/targets.h"
#include "select/events/named_events.h"

static void put_fields_json(struct json *j, const struct plan *p, uint32_t which)
{
	size_t n;
	const struct plan_field *f = plan__fields(p, which, &n);

	json__key(j, "fields");
	json__open_array(j);
	for (size_t i = 0; i < n; i++, f++) {
		json__open_object(j);
		json__member(j, string, "name", f->name);
		json__member(j, string, "type", f->type);
		if (f->kind == TYPE_UNRECORDED)
			json__member(j, bool, "recorded", false);
		json__close_object(j);
	}
	json__close_array(j);
}

/* Writes the places of the probes in the object. */
static void put_places_json(struct json *j, const struct named_events *with, uint32_t which)
{
	const struct usdt_site *s;

	json__key(j, "vaddrs");
	json__open_array(j);
	vec__each (s, &with->usdt)
		if (s->named == which)
			json__hex(j, s->probe->vaddr);
	json__close_array(j);
}

static void put_json(struct str *out, const struct named_events *with, const struct plan *p,
		     uint32_t which)
{
	const struct plan_named *n = &p->named.data[which];
	struct json j = {.out = out};

	json__open_object(&j);
	json__member(&j, string, "name", n->name);
	json__member(&j, string, "kind", n->kind == NAMED_USDT ? "usdt" : "tracepoint");
	put_fields_json(&j, p, which);
	if (n->kind == NAMED_USDT)
		put_places_json(&j, with, which);
	json__close_object(&j);
	str__putc(out, '\n');
}

static size_t count_places(const struct named_events *with, uint32_t which)
{
	const struct usdt_site *s;
	size_t n = 0;

	vec__each (s, &with->usdt)
		n += s->named == which;
	return n;
}

/* "sched:sched_wakeup  comm: char, pid: pid_t" */
static void put_text(struct str *out, const struct named_events *with, const struct plan *p,
		     uint32_t which)
{
	size_t n, places = count_places(with, which);
	const struct plan_field *f = plan__fields(p, which, &n);
	bool first = true;

	str__shown(out, p->named.data[which].name);
	if (places > 1)
		str__printf(out, "  (%zu places)", places);
	for (size_t i = 0; i < n; i++, f++) {
		if (f->kind == TYPE_TEXT)
			continue;
		str__puts(out, first ? "  " : ", ");
		str__shown(out, f->name);
		str__puts(out, ": ");
		str__shown(out, f->type ? f->type : "?");
		str__puts(out, f->kind == TYPE_UNRECORDED ? " (not recorded)" : "");
		first = false;
	}
	str__putc(out, '\n');
}

int named_events__list(const struct request *req)
{
	CLEANUP(targets__free) struct targets targets = {0};
	CLEANUP(plan__free_at) struct plan *plan = plan__empty(arch__native());
	CLEANUP(named_events__free) struct named_events with = {0};
	autofree struct str out = {0};
	bool json = output__form(req->show.format) == FORM_JSON;
	int err = named_events__find(
		&with, req->operands.data, req->operands.len, &targets,
		req->who.filters.pids.len ? (pid_t)req->who.filters.pids.data[0] : 0, plan);

	if (err)
		return err;
	for (uint32_t i = 0; i < plan->named.len; i++)
		(json ? put_json : put_text)(&out, &with, plan, i);
	fwrite(out.data ? out.data : "", 1, out.len, stdout);
	return fflush(stdout) || ferror(stdout)
		       ? err__set(EIO, "cannot write the list: %s", strerror(errno))
		       : 0;
}

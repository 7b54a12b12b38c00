// SPDX-License-Identifier: BSD-2-Clause
/* Named events: tracepoints, USDT probes, watchpoints, samples, by name and fields. */
#include <stdlib.h>
#include "fields.h"

const char *named__kind(const struct output *o, const struct step *s)
{
	static const char *const names[NAMED_KINDS] = {
		[NAMED_TRACEPOINT] = "tracepoint", [NAMED_USDT] = "usdt",
		[NAMED_WATCHPOINT] = "watch",	   [NAMED_SAMPLE] = "sample",
		[NAMED_OFF_CPU] = "sched",	   [NAMED_ON_CPU] = "sched",
		[NAMED_KILLED] = "signal",	   [NAMED_OUTCOME] = "syscall",
	};

	return names[o->plan->named.data[s->named->which].kind];
}

static void put_number(struct json *j, const struct plan_field *f, uint64_t number)
{
	switch (f->kind) {
	case TYPE_FLOAT:
		return json__float(j, number, f->size);
	case TYPE_SIGNED:
		return json__signed(j, number);
	case TYPE_HEX:
		return json__hex(j, number);
	case TYPE_BOOL:
		return json__bool(j, number);
	default:
		return json__unsigned(j, number);
	}
}

static void put_numbers(struct json *j, const struct plan_field *f, const struct event_named *n)
{
	struct named_value v;

	json__open_array(j);
	for (size_t i = 0; i < f->count && named__value(f, i, n->data, n->len, &v); i++)
		put_number(j, f, v.number);
	json__close_array(j);
}

static void put_text(struct json *j, const struct plan_field *f, const struct named_value *v)
{
	autofree struct str text = {0};

	if (f->kind != TYPE_BYTES && f->kind != TYPE_BYTES_AT)
		str__put(&text, v->bytes, v->len);
	else
		for (size_t i = 0; i < v->len; i++)
			str__printf(&text, "%02x", ((const uint8_t *)v->bytes)[i]);
	json__string(j, text.len ? text.data : "");
}

static bool is_unreadable(const struct output *o, const struct event_named *n,
			  const struct plan_field *f)
{
	return f->kind != TYPE_UNRECORDED &&
	       named__missing(f, o->plan->named.data[n->which].kind, n->data, n->len);
}

static void put_unreadable(struct json *j, const char *name)
{
	json__name(j, name);
	json__open_object(j);
	json__key(j, "unreadable");
	json__null(j);
	json__close_object(j);
}

bool named__put_not_recorded(const struct output *o, struct json *j, const struct event_named *n)
{
	size_t nfields;
	const struct plan_field *f = plan__fields(o->plan, n->which, &nfields);
	bool any = false;

	for (size_t i = 0; i < nfields; i++, f++) {
		if (f->kind != TYPE_UNRECORDED)
			continue;
		if (j && !any)
			json__open_array(j);
		any = true;
		if (j)
			json__string(j, f->name);
	}
	if (j && any)
		json__close_array(j);
	return any;
}

void named__put_json(const struct output *o, struct json *j, const struct event_named *n)
{
	size_t nfields;
	const struct plan_field *f = plan__fields(o->plan, n->which, &nfields);
	struct named_value v;

	json__open_object(j);
	for (size_t i = 0; i < nfields; i++, f++) {
		if (is_unreadable(o, n, f)) {
			put_unreadable(j, f->name);
			continue;
		}
		if (!named__value(f, 0, n->data, n->len, &v))
			continue;
		json__name(j, f->name);
		if (!plan_field__is_number(f))
			put_text(j, f, &v);
		else if (f->count)
			put_numbers(j, f, n);
		else
			put_number(j, f, v.number);
	}
	json__close_object(j);
}

void named__put_args(const struct output *o, struct str *s, const struct event_named *n)
{
	size_t nfields;
	const struct plan_field *f = plan__fields(o->plan, n->which, &nfields);

	for (size_t i = 0; i < nfields; i++, f++) {
		autofree struct str value = {0};
		const char *missing =
			named__missing(f, o->plan->named.data[n->which].kind, n->data, n->len);

		if (missing)
			str__printf(&value, "(%s)", missing);
		else if (!named__put_text(f, n->data, n->len, &value))
			continue;
		str__puts(s, i ? " " : "");
		/* what the field before it points to needs no name */
		if (f->kind != TYPE_TEXT) {
			str__shown(s, f->name);
			str__putc(s, '=');
		}
		str__put(s, value.data, value.len);
	}
}

static int most_first(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	if (x[0] != y[0])
		return x[0] < y[0] ? 1 : -1;
	return x[1] < y[1] ? -1 : x[1] > y[1];
}

/* Events that didn't happen have no row. */
void named__put_counts(struct output *o, const uint64_t *counts)
{
	size_t n = o->plan->named.len;
	autofree uint64_t(*rows)[2] = xcalloc(n + 1, sizeof(*rows));

	for (size_t i = 0; i < n; i++)
		rows[i][0] = counts[i], rows[i][1] = i;
	qsort(rows, n, sizeof(*rows), most_first);
	if (!n || !rows[0][0])
		return;
	str__puts(&o->buffer,
		  o->plan->functions.len ? "\n    count  event\n" : "    count  event\n");
	for (size_t i = 0; i < n && rows[i][0]; i++) {
		str__printf(&o->buffer, "%9llu%s  ", (unsigned long long)rows[i][0], o->more);
		str__shown(&o->buffer, o->plan->named.data[rows[i][1]].name);
		str__putc(&o->buffer, '\n');
	}
}

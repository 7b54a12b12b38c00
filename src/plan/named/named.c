// SPDX-License-Identifier: BSD-2-Clause
/* Named events of a plan, and the values of their fields. */
#include <stdlib.h>
#include "plan/plan_private.h"

uint32_t plan__add_named(struct plan *p, enum named_kind kind, const char *name)
{
	vec__push(&p->named, (struct plan_named){.name = xstrdup(name), .kind = kind});
	return p->named.len - 1;
}

void plan__add_field(struct plan *p, const struct plan_field *f)
{
	struct plan_field copy = *f;

	copy.name = xstrdup(f->name);
	copy.type = f->type ? xstrdup(f->type) : NULL;
	copy.named = p->named.len - 1;
	vec__push(&p->fields, copy);
}

void plan__free_named(struct plan *p)
{
	const struct plan_named *n;
	const struct plan_field *f;

	vec__each (n, &p->named)
		free((char *)n->name);
	vec__each (f, &p->fields) {
		free((char *)f->name);
		free((char *)f->type);
	}
	vec__free(&p->named);
	vec__free(&p->fields);
	plan__free_values(p);
}

const struct plan_field *plan__fields(const struct plan *p, uint32_t named, size_t *n)
{
	return rows_of(&p->fields, named, named, n);
}

uint32_t plan__first_named(const struct plan *p, enum named_kind kind)
{
	for (uint32_t i = 0; i < p->named.len; i++)
		if (p->named.data[i].kind == kind)
			return i;
	return UINT32_MAX;
}

bool plan__has_named(const struct plan *p, enum named_kind kind)
{
	return plan__first_named(p, kind) != UINT32_MAX;
}

/* ---- values ---- */

static uint64_t number_at(const uint8_t *at, size_t size, bool is_signed)
{
	union {
		uint8_t u1;
		uint16_t u2;
		uint32_t u4;
		uint64_t u8;
	} v = {0};

	memcpy(&v, at, min_of(size, sizeof(v)));
	switch (size) {
	case 1:
		return is_signed ? (uint64_t)(int8_t)v.u1 : v.u1;
	case 2:
		return is_signed ? (uint64_t)(int16_t)v.u2 : v.u2;
	case 4:
		return is_signed ? (uint64_t)(int32_t)v.u4 : v.u4;
	}
	return v.u8;
}

static bool is_located(const struct plan_field *f)
{
	return f->kind == TYPE_STRING_AT || f->kind == TYPE_BYTES_AT;
}

static bool is_string(const struct plan_field *f)
{
	return f->kind == TYPE_STRING || f->kind == TYPE_STRING_AT || f->kind == TYPE_TEXT;
}

/* A pointer may lead to anything. */
static bool is_text(const struct named_value *v)
{
	const uint8_t *c = v->bytes, *end = c + v->len;

	for (; c < end; c++)
		if ((*c < ' ' && *c != '\t' && *c != '\n') || *c >= 0x7f)
			return false;
	return v->len >= 2;
}

bool named__value(const struct plan_field *f, size_t i, const void *data, size_t len,
		  struct named_value *out)
{
	const uint8_t *bytes = data;
	size_t size = f->count ? f->size / f->count : f->size, at = f->offset;
	uint64_t where;

	*out = (struct named_value){0};
	if (f->known && (len < 8 || !(number_at(bytes, 8, false) >> (f->known - 1) & 1)))
		return false;
	if (f->kind == TYPE_UNRECORDED || i >= max_of(f->count, 1u) || at > len ||
	    f->size > len - at)
		return false;
	if (plan_field__is_number(f)) {
		out->number = number_at(bytes + at + i * size, size, f->kind == TYPE_SIGNED);
		return true;
	}
	out->bytes = bytes + at;
	out->len = f->size;
	if (is_located(f)) {
		if (f->size != 4)
			return false;
		where = number_at(bytes + at, 4, false);
		if ((where & 0xffff) > len || where >> 16 > len - (where & 0xffff))
			return false;
		out->bytes = bytes + (where & 0xffff);
		out->len = where >> 16;
	}
	if (is_string(f))
		out->len = strnlen(out->bytes, out->len);
	return f->kind != TYPE_TEXT || is_text(out);
}

const char *named__missing(const struct plan_field *f, enum named_kind kind, const void *data,
			   size_t len)
{
	struct named_value v;

	if (f->kind == TYPE_UNRECORDED)
		return "not recorded";
	return kind == NAMED_USDT && f->kind != TYPE_TEXT && !named__value(f, 0, data, len, &v)
		       ? "unreadable"
		       : NULL;
}

static void put_number(const struct plan_field *f, uint64_t number, struct str *out)
{
	if (f->kind == TYPE_FLOAT)
		str__float(out, number, f->size);
	else if (f->kind == TYPE_HEX)
		str__hex(out, number);
	else if (f->kind == TYPE_BOOL)
		str__puts(out, number ? "true" : "false");
	else if (f->kind == TYPE_SIGNED)
		str__printf(out, "%lld", (long long)number);
	else
		str__dec(out, number);
}

static void put_quoted(const struct named_value *v, struct str *out)
{
	autofree char *text = xstrndup(v->bytes, v->len);

	str__putc(out, '"');
	str__shown(out, text);
	str__putc(out, '"');
}

static void put_bytes(const struct named_value *v, struct str *out)
{
	for (size_t i = 0; i < v->len; i++)
		str__printf(out, "%02x", ((const uint8_t *)v->bytes)[i]);
}

bool named__put_text(const struct plan_field *f, const void *data, size_t len, struct str *out)
{
	struct named_value v;

	if (!named__value(f, 0, data, len, &v))
		return false;
	if (!plan_field__is_number(f)) {
		is_string(f) ? put_quoted(&v, out) : put_bytes(&v, out);
		return true;
	}
	if (!f->count) {
		put_number(f, v.number, out);
		return true;
	}
	for (size_t i = 0; i < f->count && named__value(f, i, data, len, &v); i++) {
		str__puts(out, i ? ", " : "[");
		put_number(f, v.number, out);
	}
	str__putc(out, ']');
	return true;
}

bool plan__named_value(const struct plan *p, uint32_t named, const char *field, const void *data,
		       size_t len, struct named_value *out)
{
	const struct plan_field *f;
	size_t n;

	f = plan__fields(p, named, &n);
	for (; n--; f++)
		if (!strcmp(f->name, field))
			return named__value(f, 0, data, len, out);
	return false;
}

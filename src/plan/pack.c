// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include "pack.h"

#define CHUNK (64u << 10) /* bytes; what is longer is passed on as it is */

static void flush(struct pack *p)
{
	if (p->chunk.len)
		p->sink->put(p->sink->ctx, p->chunk.data, p->chunk.len);
	str__clear(&p->chunk);
}

static void put(struct pack *p, const void *data, size_t len)
{
	if (p->chunk.len + len > CHUNK)
		flush(p);
	if (len > CHUNK)
		p->sink->put(p->sink->ctx, data, len);
	else
		str__put(&p->chunk, data, len);
}

void pack__put(struct pack *p, const void *data, size_t len)
{
	if (len)
		put(p, data, len);
	p->len += len;
}

/* Two strings of one hash: the second one has several numbers. */
void pack__number(struct pack *p, const char **s)
{
	uint64_t *number;

	if (!*s)
		return;
	number = map64__put(&p->known, map64__hash(*s, strlen(*s)));
	if (!*number || strcmp(p->strings.data[*number - 1], *s) != 0) {
		vec__push(&p->strings, *s);
		*number = p->strings.len;
	}
	*s = (const char *)(uintptr_t)*number;
}

/* The rows, the strings, each with its NUL, and the length of the rows. */
void pack__end(struct pack *p)
{
	const char **s;

	vec__each (s, &p->strings)
		put(p, *s, strlen(*s) + 1);
	put(p, &p->len, sizeof(p->len));
	flush(p);
	str__free(&p->chunk);
	vec__free(&p->strings);
	map64__free(&p->known);
}

void unpack__begin(struct unpack *u, const void *data, size_t len)
{
	uint64_t rows = UINT64_MAX;
	const char *s, *end = (const char *)data + len - sizeof(rows);

	*u = (struct unpack){.at = data};
	if (len >= sizeof(rows))
		memcpy(&rows, end, sizeof(rows));
	if (len < sizeof(rows) || rows > len - sizeof(rows)) {
		u->end = u->at;
		u->bad = true;
		return;
	}
	u->end = u->at + rows;
	for (s = (const char *)u->end; s < end; s += strlen(s) + 1) {
		if (!memchr(s, 0, end - s)) {
			u->bad = true;
			return;
		}
		vec__push(&u->strings, xstrdup(s));
	}
}

void unpack__take(struct unpack *u, void *out, size_t len)
{
	const void *data = unpack__data(u, len, 1);

	if (data)
		memcpy(out, data, len);
	else if (len)
		memset(out, 0, len);
}

const void *unpack__data(struct unpack *u, uint64_t rows, size_t size)
{
	const uint8_t *at = u->at;

	if (u->bad || rows > (uint64_t)(u->end - at) / size) {
		u->bad = true;
		return NULL;
	}
	u->at += rows * size;
	return rows ? at : NULL;
}

void unpack__string(struct unpack *u, const char **s)
{
	uintptr_t number = (uintptr_t)*s;

	u->bad |= number > u->strings.len;
	*s = number && !u->bad ? u->strings.data[number - 1] : NULL;
}

bool unpack__is_whole(const struct unpack *u)
{
	return !u->bad && u->at == u->end;
}

void unpack__end(struct unpack *u)
{
	char **s;

	vec__each (s, &u->strings)
		free(*s);
	vec__free(&u->strings);
}

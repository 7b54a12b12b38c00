/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * json: appends compact JSON to a string and sets the commas. It keeps no stack: the caller closes
 * what it opens, and may append white space between values itself. Most functions are inline
 * because a line of output takes dozens of calls.
 *
 *	struct json j = {.out = &line};
 *
 *	json__open_object(&j);
 *	json__member(&j, unsigned, "calls", calls);
 *	json__close_object(&j);
 */
#ifndef BBTRACE_UTIL_JSON_H
#define BBTRACE_UTIL_JSON_H

#include "util/util.h"

struct json {
	struct str *out;
	bool comma;	/* what follows is not the first of its object or array */
	bool in_script; /* strings are written by json__script_string() */
};

/* A key with its quotes and colon, for tables. JSON_KEY() takes a literal that needs no escape. */
struct json_key {
	const char *text;
	uint8_t len;
};
#define JSON_KEY(name)                                                                             \
	{                                                                                          \
		"\"" name "\":", sizeof("\"" name "\":") - 1                                       \
	}

/* Appends text, which must not be empty, after a comma if one is due. */
static inline void json__put(struct json *j, const char *text, size_t len)
{
	size_t comma = j->comma;
	char *to = str__extend(j->out, comma + len);

	j->comma = true;
	*to = ','; /* text overwrites it if no comma is due */
	memcpy(to + comma, text, len);
}

/* To be called before a value is appended without json__put(). */
static inline void json__begin_value(struct json *j)
{
	if (j->comma)
		str__putc(j->out, ',');
	j->comma = true;
}

static inline void json__open(struct json *j, char bracket)
{
	json__put(j, &bracket, 1);
	j->comma = false;
}

static inline void json__close(struct json *j, char bracket)
{
	str__putc(j->out, bracket);
	j->comma = true;
}

static inline void json__open_object(struct json *j)
{
	json__open(j, '{');
}

static inline void json__close_object(struct json *j)
{
	json__close(j, '}');
}

static inline void json__open_array(struct json *j)
{
	json__open(j, '[');
}

static inline void json__close_array(struct json *j)
{
	json__close(j, ']');
}

/* The key's value must follow. */
static inline void json__put_key(struct json *j, struct json_key key)
{
	json__put(j, key.text, key.len);
	j->comma = false;
}
#define json__key(j, name) json__put_key((j), (struct json_key)JSON_KEY(name))

/* The next key or value begins on a new line. */
static inline void json__begin_line(struct json *j)
{
	json__put(j, "\n", 1);
	j->comma = false;
}

static inline void json__unsigned(struct json *j, uint64_t n)
{
	json__begin_value(j);
	str__dec(j->out, n);
}

static inline void json__signed(struct json *j, int64_t n)
{
	json__begin_value(j);
	str__printf(j->out, "%lld", (long long)n);
}

/* "0x1f", a string: not every reader of JSON has integers of 64 bits. */
static inline void json__hex(struct json *j, uint64_t n)
{
	json__put(j, "\"", 1);
	str__hex(j->out, n);
	str__putc(j->out, '"');
}

static inline void json__bool(struct json *j, bool b)
{
	json__put(j, b ? "true" : "false", b ? 4 : 5);
}

static inline void json__null(struct json *j)
{
	json__put(j, "null", 4);
}

/* Appends a JSON string for a <script>: as str__json(), but '<', which could end the script, is
 * escaped, and a bidirectional control becomes the text of its escape, which the page shows and
 * doesn't obey. */
void json__script_string(struct str *s, const char *text);

/* text may be any bytes: see str__json(). NULL is written as null. */
static inline void json__string(struct json *j, const char *text)
{
	if (!text)
		return json__null(j);
	json__begin_value(j);
	if (j->in_script)
		json__script_string(j->out, text);
	else
		str__json(j->out, text);
}

/* A key that isn't a literal. */
static inline void json__name(struct json *j, const char *name)
{
	json__string(j, name);
	str__putc(j->out, ':');
	j->comma = false;
}

/* A key and its value: json__member(&j, unsigned, "calls", calls) */
#define json__member(j, type, name, ...) (json__key((j), name), json__##type((j), __VA_ARGS__))

/* As str__float(); one that is infinite or no number is a string. */
void json__float(struct json *j, uint64_t bits, unsigned size);
/* A number with this many decimals. */
void json__real(struct json *j, double n, int decimals);
/* n / 1000 with three decimals: nanoseconds as microseconds. */
void json__thousandths(struct json *j, uint64_t n);

#endif

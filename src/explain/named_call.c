// SPDX-License-Identifier: BSD-2-Clause
/* Which failed system call a message names: by an argument of it, or by the error. */
#include "explain/message.h"

/* While it writes a message, the C library looks for a translation and for conversions. */
bool outcome__is_librarys(const struct outcome *o)
{
	static const char *const parts[] = {"/locale/", "/gconv/", "/etc/ld.so."};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (o->text[0] && strstr(o->text[0], parts[i]))
			return true;
	return false;
}

/* Whatever the case: not all programs print it as the C library has it. */
bool message__has_error(const struct message *m, int64_t result)
{
	const char *error = result ? strerrordesc_np((int)-result) : NULL;

	return error && strcasestr(m->text, error);
}

#define ARGUMENT_LEAST 3 /* bytes: "/" and "." are in many messages */

#define NAME_LEAST 6 /* bytes of a path's end */

/* A file is looked for in folders that the message may not have. */
static bool has_end_of(const struct message *m, const char *path, size_t len)
{
	const char *end = path + len;

	for (const char *at = path; at && (size_t)(end - at) > NAME_LEAST;
	     at = memchr(at + 1, '/', end - at - 1))
		if (*at == '/' && memmem(m->text, m->len, at + 1, end - at - 1))
			return true;
	return false;
}

static bool has_argument(const struct message *m, const struct outcome *o)
{
	for (unsigned i = 0; i < 2; i++)
		if (o->text[i] && o->len[i] >= ARGUMENT_LEAST &&
		    (memmem(m->text, m->len, o->text[i], o->len[i]) ||
		     has_end_of(m, o->text[i], o->len[i])))
			return true;
	return false;
}

/* How much of a failed call the message names; 0: nothing. */
static unsigned naming(const struct message *m, const struct outcome *o)
{
	bool argument, error;

	if (o->pid != m->pid || o->first > m->time || outcome__is_librarys(o))
		return 0;
	argument = has_argument(m, o);
	error = message__has_error(m, o->result);
	return argument && error ? 3 : argument ? 2 : error && !o->starts ? 1 : 0;
}

const struct outcome *message__failed(const struct outcomes *all, const struct message *m)
{
	const struct outcome *found = NULL, *o;
	unsigned most = 0;

	vec__each (o, &all->all) {
		unsigned n = naming(m, o);

		if (!n || n < most || (n == most && o->last < found->last))
			continue;
		found = o;
		most = n;
	}
	return found;
}

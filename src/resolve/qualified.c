// SPDX-License-Identifier: BSD-2-Clause
/* Functions of C++ and Rust by the end of their qualified names: add, cart::add of
 * shop::cart::add. */
#include <stdlib.h>
#include "resolve/forms.h"

#define MOST_NAMED 5

/* The length of a name without the arguments of the template that it ends in. */
static size_t plain_length(const char *name)
{
	size_t len = strlen(name), depth = 0, i = len;

	if (!len || name[len - 1] != '>')
		return len;
	while (i--) {
		depth += name[i] == '>';
		depth -= name[i] == '<';
		if (!depth)
			return i;
	}
	return len;
}

static bool ends_in(const char *whole, size_t len, const char *name, size_t name_len)
{
	return len > name_len + 2 && !memcmp(whole + len - name_len, name, name_len) &&
	       !memcmp(whole + len - name_len - 2, "::", 2);
}

/* What is in the mangled name, too: the last part, without arguments of templates. */
static char *last_part(const char *name)
{
	size_t len = strcspn(name, "<("), from = len;

	while (from && name[from - 1] != ':')
		from--;
	return xstrndup(name + from, len - from);
}

typedef VEC(char *) name_vec;

static void add_once(const char *name, size_t len, name_vec *names)
{
	char **known;

	vec__each (known, names)
		if (strlen(*known) == len && !memcmp(*known, name, len))
			return;
	vec__push(names, xstrndup(name, len));
}

char *qualified__only(const struct object *o, const char *name, struct str *several)
{
	autofree char *part = last_part(name);
	bool is_operator = !strncmp(part, "operator", strlen("operator")); /* mangled: lt */
	bool with_arguments = name[plain_length(name)];
	const struct symbol *s;
	name_vec names = {0};
	char **one, *only;

	vec__each (s, &o->symbols) {
		autofree char *whole = NULL;
		size_t len;

		if (!*part || s->type == SYMBOL_PLT || !name__is_mangled(s->name) ||
		    (!is_operator && !strstr(s->name, part)))
			continue;
		whole = name__demangle(s->name, DEMANGLE_NAME);
		len = !whole ? 0 : with_arguments ? strlen(whole) : plain_length(whole);
		if (ends_in(whole, len, name, strlen(name)))
			add_once(whole, len, &names);
	}
	for (size_t i = 0; names.len > 1 && i < names.len && i < MOST_NAMED; i++)
		str__printf(several, "%s%s", i ? ", " : "", names.data[i]);
	if (names.len > MOST_NAMED)
		str__printf(several, " and %zu more", names.len - MOST_NAMED);
	only = names.len == 1 ? xstrdup(names.data[0]) : NULL;
	vec__each (one, &names)
		free(*one);
	vec__free(&names);
	return only;
}

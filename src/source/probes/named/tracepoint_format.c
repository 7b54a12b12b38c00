// SPDX-License-Identifier: BSD-2-Clause
/* The text of a tracepoint's format file (Documentation/trace/events.rst), as fields of a plan's
 * named event. */
#include <stdlib.h>
#include "source/probes/session.h"

/* Returns the value after "NAME:" in a line, up to ';'; -1 if there is none. */
static long number_of(const char *line, const char *name)
{
	const char *at = strstr(line, name);

	return at ? strtol(at + strlen(name), NULL, 10) : -1;
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* "char comm[16]": the end of the name, and that of the type. */
static bool split(char *declaration, char **name, char **bracket)
{
	char *end = declaration + strlen(declaration);

	*bracket = end > declaration && end[-1] == ']' ? strrchr(declaration, '[') : NULL;
	end = *bracket ? *bracket : end;
	while (end > declaration && end[-1] == ' ')
		end--;
	*end = *bracket ? 0 : *end;
	*name = end;
	while (*name > declaration && (*name)[-1] != ' ' && (*name)[-1] != '*')
		--*name;
	return *name > declaration && *name < end;
}

static bool is_text(const char *type)
{
	return begins(type, "char") || begins(type, "const char") || begins(type, "unsigned char");
}

/* How the bytes of a field of this type are read. */
static enum named_type type_of(const char *type, bool array, unsigned size, bool is_signed)
{
	bool located = begins(type, "__data_loc ");
	bool text = is_text(located ? type + strlen("__data_loc ") : type);

	if (located)
		return text ? TYPE_STRING_AT : TYPE_BYTES_AT;
	if (array && text)
		return TYPE_STRING;
	if (strchr(type, '*'))
		return TYPE_HEX;
	if (!strcmp(type, "bool"))
		return TYPE_BOOL;
	if (size != 1 && size != 2 && size != 4 && size != 8 && !array)
		return TYPE_BYTES;
	return is_signed ? TYPE_SIGNED : TYPE_UNSIGNED;
}

/* Returns how many elements an array of numbers has; 0 if their size isn't that of a number. */
static unsigned elements_of(const char *bracket, unsigned size)
{
	long n = bracket ? strtol(bracket + 1, NULL, 10) : 0;
	unsigned each = n > 0 && (unsigned)n <= size && size % n == 0 ? size / n : 0;

	return each == 1 || each == 2 || each == 4 || each == 8 ? n : 0;
}

/* Puts what precedes the name: "char *". */
static void put_base(const char *field, const char *name, char *out, size_t size)
{
	int len = name - field;

	while (len && field[len - 1] == ' ')
		len--;
	snprintf(out, size, "%.*s", len, field);
}

/* And after it: "[16]". */
static void put_bounds(const char *bracket, char *out, size_t size)
{
	long n = bracket ? strtol(bracket + 1, NULL, 10) : 0;
	size_t len = strlen(out);

	if (n > 0)
		snprintf(out + len, size - len, "[%ld]", n);
}

/* "	field:char prev_comm[16];	offset:8;	size:16;	signed:0;" */
static bool parse_field(char *line, char *type, size_t size_of_type, struct plan_field *out)
{
	long offset = number_of(line, "\toffset:"), size = number_of(line, "\tsize:"),
	     is_signed = number_of(line, "\tsigned:");
	char *field = strstr(line, "field:"), *name, *bracket;
	bool array;

	if (!field || offset < 0 || size < 0 || offset > NAMED_DATA || size > NAMED_DATA)
		return false;
	field += strlen("field:");
	field[strcspn(field, ";")] = 0;
	if (!split(field, &name, &bracket) || begins(name, "common_"))
		return false;
	*out = (struct plan_field){.name = name, .offset = offset, .size = size};
	array = bracket && !begins(field, "__data_loc ");
	put_base(field, name, type, size_of_type);
	out->kind = type_of(type, array, size, is_signed > 0);
	out->count = array && out->kind < TYPE_STRING ? elements_of(bracket, size) : 0;
	if (array && out->kind < TYPE_STRING && !out->count)
		out->kind = TYPE_BYTES;
	put_bounds(bracket, type, size_of_type);
	out->type = type;
	return true;
}

void tracepoint__parse(const char *format, struct plan *p)
{
	autofree char *text = xstrdup(format);
	char *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct plan_field f;
		char type[128];

		if (parse_field(line, type, sizeof(type), &f))
			plan__add_field(p, &f);
	}
}

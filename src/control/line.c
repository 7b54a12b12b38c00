// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include "line.h"
#include "output/output.h"

/* ---- lines ---- */

static void drop_taken(struct control_lines *l)
{
	memmove(l->held, l->held + l->took, l->len - l->took);
	l->len -= l->took;
	l->took = 0;
}

size_t control_lines__room(struct control_lines *l, char **at)
{
	drop_taken(l);
	*at = l->held + l->len;
	return memchr(l->held, '\n', l->len) ? 0 : CONTROL_LINE_MAX - l->len;
}

void control_lines__add(struct control_lines *l, size_t len)
{
	l->len += len;
}

char *control_lines__next(struct control_lines *l, bool *whole)
{
	char *end;
	size_t len;

	drop_taken(l);
	end = memchr(l->held, '\n', l->len);
	if (!end)
		return NULL;
	l->took = end + 1 - l->held;
	len = end - l->held;
	if (len && l->held[len - 1] == '\r') /* socat's crlf */
		len--;
	l->held[len] = 0;
	*whole = strlen(l->held) == len;
	return l->held;
}

bool control_lines__overflow(const struct control_lines *l)
{
	return l->len - l->took >= CONTROL_LINE_MAX &&
	       !memchr(l->held + l->took, '\n', l->len - l->took);
}

/* ---- requests ---- */

#define BLANKS " \t"

/* Cuts off the first word. Returns NULL if there is none. */
static char *take_word(char **rest)
{
	char *word = *rest + strspn(*rest, BLANKS), *end = word + strcspn(word, BLANKS);

	if (!*word)
		return NULL;
	*rest = *end ? end + 1 + strspn(end + 1, BLANKS) : end;
	*end = 0;
	return word;
}

static int take_format(char **rest, bool *json)
{
	const struct output_format *format;
	const char *name;

	*rest += strlen("-F");
	name = take_word(rest);
	format = name ? output__by_name(name) : NULL;
	*json = format && format->form == FORM_JSON;
	if (format && output__has_lines(format))
		return 0;
	return err__usage("-F takes text or json");
}

int control_request__parse(char *line, struct control_request *out)
{
	char *rest = line, *end = line + strlen(line);
	int err = 0;

	while (end > line && strchr(BLANKS, end[-1]))
		*--end = 0;
	*out = (struct control_request){.command = take_word(&rest)};
	if (!out->command)
		return err__usage("an empty line; help lists the commands");
	if (!strncmp(rest, "-F", 2) && (!rest[2] || strchr(BLANKS, rest[2])))
		err = take_format(&rest, &out->json);
	out->text = rest;
	return err;
}

/* ---- heads of answers ---- */

static const char *const results[] = {
	[CONTROL_OK] = "ok", [CONTROL_ERROR] = "error", [CONTROL_USAGE] = "usage"};

void control_head__put(struct str *s, enum control_result result, size_t len)
{
	str__printf(s, "%s %zu\n", results[result], len);
}

bool control_head__parse(const char *line, enum control_result *result, uint64_t *len)
{
	size_t n = strcspn(line, " ");

	if (!n || line[n] != ' ' || strspn(line + n + 1, "0123456789") != strlen(line + n + 1) ||
	    parse__u64(line + n + 1, false, len))
		return false;
	*result = CONTROL_ERROR;
	for (size_t i = 0; i < ARRAY_SIZE(results); i++)
		if (strlen(results[i]) == n && !strncmp(line, results[i], n))
			*result = i;
	return true;
}

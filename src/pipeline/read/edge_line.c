// SPDX-License-Identifier: BSD-2-Clause
/* Parses a line by json-c, and checks the types of its fields. */
#include <errno.h>
#include <json-c/json.h>
#include <ctype.h>
#include "edge_line.h"
#include "util/util.h"

#define DEPTH 8 /* most nested objects and arrays; an edge has 4 */

static void free_tokener(struct json_tokener **t)
{
	json_tokener_free(*t);
}

static void free_object(struct json_object **o)
{
	json_object_put(*o);
}

/* Returns NULL with a message if the line is not a single JSON value. */
static struct json_object *parse(const char *line, size_t len)
{
	CLEANUP(free_tokener) struct json_tokener *t = json_tokener_new_ex(DEPTH);
	struct json_object *o;
	enum json_tokener_error err;

	json_tokener_set_flags(t, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	o = json_tokener_parse_ex(t, line, (int)len);
	err = json_tokener_get_error(t);
	if (err == json_tokener_success && json_tokener_get_parse_end(t) == len)
		return o;
	json_object_put(o);
	err__set(EBADMSG, "%s",
		 err == json_tokener_continue  ? "the line ends too early"
		 : err == json_tokener_success ? "text follows the object"
					       : json_tokener_error_desc(err));
	return NULL;
}

/* Returns a string; NULL if there is none, or the value is no string. */
static const char *text_of(struct json_object *o, const char *key)
{
	struct json_object *value;

	if (!json_object_object_get_ex(o, key, &value) ||
	    !json_object_is_type(value, json_type_string))
		return NULL;
	return json_object_get_string(value);
}

/* Reads a count, which is 0 if missing. */
static int read_count(struct json_object *o, const char *key, uint64_t *count)
{
	struct json_object *value;

	*count = 0;
	if (!json_object_object_get_ex(o, key, &value))
		return 0;
	if (!json_object_is_type(value, json_type_int) || json_object_get_int64(value) < 0)
		return err__set(EBADMSG, "%s is not a count", key);
	*count = json_object_get_uint64(value);
	return 0;
}

static int read_edge(struct json_object *o, struct edge *out)
{
	const char *object = text_of(o, "object"), *vaddr = text_of(o, "vaddr");
	char *end;

	if (!object)
		return err__set(EBADMSG, "an edge without an object");
	if (!vaddr || !strcmp(vaddr, "(hidden)")) /* address__hide() */
		return 0;
	if (strncmp(vaddr, "0x", 2) || !isxdigit((unsigned char)vaddr[2]))
		return err__set(EBADMSG, "vaddr is not an address");
	errno = 0;
	out->vaddr = strtoull(vaddr, &end, 16);
	if (errno || *end)
		return err__set(EBADMSG, "vaddr is not an address");
	if (read_count(o, "taken_count", &out->taken) ||
	    read_count(o, "not_taken_count", &out->not_taken))
		return -EBADMSG;
	out->object = xstrdup(object);
	return 1;
}

int edge_line__read(const char *line, size_t len, struct edge *out)
{
	CLEANUP(free_object) struct json_object *o = NULL;
	const char *event;

	*out = (struct edge){0};
	if (len > EDGE_LINE_MAX)
		return err__set(EBADMSG, "longer than %u bytes", EDGE_LINE_MAX);
	o = parse(line, len);
	if (!o)
		return *err__text() ? -EBADMSG : err__set(EBADMSG, "not an object");
	if (!json_object_is_type(o, json_type_object))
		return err__set(EBADMSG, "not an object");
	event = text_of(o, "event");
	if (!event)
		return err__set(EBADMSG, "an object without an event");
	return strcmp(event, "edge") ? 0 : read_edge(o, out);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads a configuration file of `name = value` lines. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct option {
	const char *name;
	long min, max, value;
};

static struct option options[] = {
	{"port", 1, 65535, 80},
	{"workers", 1, 32, 4},
	{"timeout", 0, 3600, 60},
};

char *trim(char *text)
{
	char *end;

	while (isspace((unsigned char)*text))
		text++;
	end = text + strlen(text);
	while (end > text && isspace((unsigned char)end[-1]))
		*--end = 0;
	return text;
}

struct option *find_option(const char *name)
{
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (!strcmp(options[i].name, name))
			return &options[i];
	return NULL;
}

int parse_line(char *line)
{
	struct option *option;
	char *equals, *end;
	long value;

	line = trim(line);
	if (!*line || *line == '#')
		return 0;
	equals = strchr(line, '=');
	if (!equals)
		return -1;
	*equals = 0;
	option = find_option(trim(line));
	if (!option)
		return -1;
	value = strtol(trim(equals + 1), &end, 0);
	if (*end)
		return -1;
	if (value < option->min || value > option->max)
		return -1;
	option->value = value;
	return 0;
}

int main(int argc, char **argv)
{
	FILE *file = fopen(argc > 1 ? argv[1] : "/dev/null", "r");
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (parse_line(line)) {
			fprintf(stderr, "config: invalid configuration\n");
			return 1;
		}
	return 0;
}

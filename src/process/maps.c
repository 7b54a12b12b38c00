// SPDX-License-Identifier: BSD-2-Clause
/* Parses the text of /proc/PID/maps (proc_pid_maps(5)). Pure. */
#include <errno.h>
#include <stdlib.h>
#include "process/process.h"

static bool number(const char **p, int base, char after, uint64_t *out)
{
	char *end;

	if (!((**p >= '0' && **p <= '9') || (base == 16 && **p >= 'a' && **p <= 'f')))
		return false;
	errno = 0;
	*out = strtoull(*p, &end, base);
	if (errno || *end != after)
		return false;
	*p = end + 1;
	return true;
}

/* The kernel escapes newlines in paths as \012, and nothing else. */
static char *path_of(const char *p, const char *end)
{
	char *path, *out;

	while (p < end && *p == ' ')
		p++;
	path = out = xstrndup(p, path__undeleted_len(p, end - p));
	for (p = path; *p; out++) {
		bool newline = !strncmp(p, "\\012", 4);

		*out = newline ? '\n' : *p;
		p += newline ? 4 : 1;
	}
	*out = 0;
	return path;
}

static bool parse_line(const char *p, const char *end, struct map *m)
{
	uint64_t major, minor;

	if (!number(&p, 16, '-', &m->start) || !number(&p, 16, ' ', &m->end) || end - p < 5 ||
	    p[4] != ' ' || m->start > m->end)
		return false;
	m->write = p[1] == 'w';
	m->exec = p[2] == 'x';
	p += 5;
	if (!number(&p, 16, ' ', &m->offset) || !number(&p, 16, ':', &major) ||
	    !number(&p, 16, ' ', &minor))
		return false;
	if (p >= end || *p < '0' || *p > '9')
		return false;
	errno = 0;
	m->ino = strtoull(p, (char **)&p, 10);
	if (errno || p > end || (p < end && *p != ' '))
		return false;
	/* as makedev(3) packs them */
	m->dev = (minor & 0xff) | (major & 0xfff) << 8 | (minor & ~0xffull) << 12 |
		 (major & ~0xfffull) << 32;
	m->path = path_of(p, end);
	return true;
}

int maps__parse(const char *text, map_vec *out)
{
	const char *end;
	unsigned line = 0;

	for (; *text; text = *end ? end + 1 : end) {
		struct map m = {0};

		line++;
		end = text + strcspn(text, "\n");
		if (!parse_line(text, end, &m)) {
			maps__free(out);
			return err__set(EINVAL, "line %u of the process's maps is malformed", line);
		}
		vec__push(out, m);
	}
	return 0;
}

void maps__free(map_vec *v)
{
	struct map *m;

	vec__each (m, v)
		free(m->path);
	vec__free(v);
}

const struct map *maps__at(const map_vec *maps, uint64_t addr)
{
	size_t low = 0, high = maps->len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (maps->data[middle].end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < maps->len && maps->data[low].start <= addr ? &maps->data[low] : NULL;
}

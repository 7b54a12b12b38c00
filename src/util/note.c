// SPDX-License-Identifier: BSD-2-Clause
/* Notes and errors on stderr, one line each, wrapped on a terminal, starting with "bbtrace: ". Text
 * from outside is escaped. */
#include <unistd.h>
#include "fit.h"

static enum note_level level = NOTE_NORMAL;

void note__set_level(enum note_level l)
{
	level = l;
}

enum note_level note__level(void)
{
	return level;
}

/* The other lines of a note that a terminal has to wrap. */
#define INDENT 2

void note__line(const char *line)
{
	unsigned width = isatty(STDERR_FILENO) ? terminal__columns(STDERR_FILENO) : 0;
	CLEANUP(str__free) struct str lines = {0};

	fit__wrap(&lines, line, 0, INDENT, width);
	str__putc(&lines, '\n');
	fwrite(lines.data, 1, lines.len, stderr);
}

static void print_line(const char *line)
{
	CLEANUP(str__free) struct str shown = {0};

	str__puts(&shown, "bbtrace: ");
	str__shown(&shown, line);
	note__line(shown.data);
}

static void print(const char *fmt, va_list ap)
{
	char line[4096];

	vsnprintf(line, sizeof(line), fmt, ap);
	print_line(line);
}

void err__print(void)
{
	print_line(err__text());
}

void note(const char *fmt, ...)
{
	va_list ap;

	if (level < NOTE_NORMAL)
		return;
	va_start(ap, fmt);
	print(fmt, ap);
	va_end(ap);
}

void note_verbose(const char *fmt, ...)
{
	va_list ap;

	if (level < NOTE_VERBOSE)
		return;
	va_start(ap, fmt);
	print(fmt, ap);
	va_end(ap);
}

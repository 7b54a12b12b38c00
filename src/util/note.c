// SPDX-License-Identifier: BSD-2-Clause
/* Notes and errors on stderr, one line each, starting with "bbtrace: ". Text from outside is
 * escaped. */
#include "util.h"

static enum note_level level = NOTE_NORMAL;

void note__set_level(enum note_level l)
{
	level = l;
}

enum note_level note__level(void)
{
	return level;
}

static void print_line(const char *line)
{
	struct str shown = {0};

	str__puts(&shown, "bbtrace: ");
	str__shown(&shown, line);
	str__putc(&shown, '\n');
	fwrite(shown.data, 1, shown.len, stderr);
	str__free(&shown);
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

// SPDX-License-Identifier: BSD-2-Clause
/* Holds the message of the current error while its number is returned up the call chain. */
#include <errno.h>
#include "util.h"

static _Thread_local char message[1024];
static _Thread_local bool usage;

static void store(bool is_usage, const char *fmt, va_list ap)
{
	char text[sizeof(message)]; /* an argument may be err__text() itself */

	vsnprintf(text, sizeof(text), fmt, ap);
	memcpy(message, text, sizeof(message));
	usage = is_usage;
}

int err__set(int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	store(false, fmt, ap);
	va_end(ap);
	return -code;
}

int err__usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	store(true, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

int err__prefix(int code, const char *fmt, ...)
{
	bool was_usage = usage;
	char head[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(head, sizeof(head), fmt, ap);
	va_end(ap);
	err__set(0, "%s: %s", head, message);
	usage = was_usage;
	return code;
}

const char *err__text(void)
{
	return message;
}

bool err__is_usage(void)
{
	return usage;
}

void err__clear(void)
{
	message[0] = 0;
	usage = false;
}

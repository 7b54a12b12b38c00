// SPDX-License-Identifier: BSD-2-Clause
/* Holds the message of the current error while its number is returned up the call chain. */
#include <errno.h>
#include "util.h"

static _Thread_local char message[1024];

int err__set(int code, const char *fmt, ...)
{
	char text[sizeof(message)]; /* an argument may be err__text() itself */
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	memcpy(message, text, sizeof(message));
	return -code;
}

int err__prefix(int code, const char *fmt, ...)
{
	char head[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(head, sizeof(head), fmt, ap);
	va_end(ap);
	err__set(0, "%s: %s", head, message);
	return code;
}

const char *err__text(void)
{
	return message;
}

void err__clear(void)
{
	message[0] = 0;
}

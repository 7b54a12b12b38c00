// SPDX-License-Identifier: BSD-2-Clause
/* bbtrace's own command line, quoted for a shell. */
#include <stdlib.h>
#include "request.h"

char *command_line__quoted(void)
{
	autofree char *text = NULL;
	struct str s = {0};
	size_t len = 0;

	if (file__read("/proc/self/cmdline", 1u << 20, &text, &len))
		return xstrdup("");
	for (const char *p = text; p < text + len; p += strlen(p) + 1) {
		str__puts(&s, p == text ? "" : " ");
		str__shell(&s, p);
	}
	return s.data ? s.data : xstrdup("");
}

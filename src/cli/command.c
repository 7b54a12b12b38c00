// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "command.h"
#include "util/util.h"

int command__look_up(const char *name, char **found)
{
	const char *path = getenv("PATH");
	autofree char *list = xstrdup(path ? path : "/bin:/usr/bin");
	int err = ENOENT;
	char *rest = list, *dir;
	struct stat st;

	if (strchr(name, '/')) {
		if (stat(name, &st))
			return errno;
		if (S_ISDIR(st.st_mode) || access(name, X_OK))
			return S_ISDIR(st.st_mode) ? EISDIR : EACCES;
		*found = xstrdup(name);
		return 0;
	}
	while ((dir = strsep(&rest, ":"))) {
		autofree char *full = xasprintf("%s/%s", *dir ? dir : ".", name);

		if (stat(full, &st) || !S_ISREG(st.st_mode))
			continue;
		if (!access(full, X_OK)) {
			*found = full;
			full = NULL;
			return 0;
		}
		err = EACCES;
	}
	return err;
}

char *command__path(const char *name)
{
	char *path = NULL;

	return command__look_up(name, &path) ? NULL : path;
}

bool command__exists(const char *name)
{
	autofree char *path = command__path(name);

	return path;
}

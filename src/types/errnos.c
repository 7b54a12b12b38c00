// SPDX-License-Identifier: BSD-2-Clause
/* Names of errors. */
#include <errno.h>
#include "types/types.h"

/* Error numbers that only the kernel has: include/linux/errno.h. */
const char *errno__name(unsigned error)
{
	static const char *const own[] = {"ERESTARTSYS",
					  "ERESTARTNOINTR",
					  "ERESTARTNOHAND",
					  "ENOIOCTLCMD",
					  "ERESTART_RESTARTBLOCK",
					  "EPROBE_DEFER",
					  "EOPENSTALE",
					  "ENOPARAM",
					  NULL,
					  "EBADHANDLE",
					  "ENOTSYNC",
					  "EBADCOOKIE",
					  "ENOTSUPP",
					  "ETOOSMALL",
					  "ESERVERFAULT",
					  "EBADTYPE",
					  "EJUKEBOX",
					  "EIOCBQUEUED",
					  "ERECALLCONFLICT",
					  "ENOGRACE"};

	if (error >= 512 && error - 512 < ARRAY_SIZE(own))
		return own[error - 512];
	return strerrorname_np(error);
}

int errno__find(const char *name)
{
	for (unsigned i = 1; i <= ERRNO_MAX; i++) {
		const char *known = errno__name(i);

		if (known && !strcmp(known, name))
			return i;
	}
	/* those that have two names */
	return !strcmp(name, "EWOULDBLOCK") ? EWOULDBLOCK
	       : !strcmp(name, "EDEADLOCK") ? EDEADLOCK
	       : !strcmp(name, "ENOTSUP")   ? ENOTSUP
					    : 0;
}

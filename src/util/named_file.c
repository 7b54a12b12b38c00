// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include "named_file.h"

int named_file__look(struct named_file *f)
{
	return fstatat(f->folder, f->name, &f->st, AT_SYMLINK_NOFOLLOW) ? -errno : 0;
}

void named_file__remove(const struct named_file *f)
{
	struct stat st;

	if (!fstatat(f->folder, f->name, &st, AT_SYMLINK_NOFOLLOW) && st.st_ino == f->st.st_ino &&
	    st.st_dev == f->st.st_dev)
		unlinkat(f->folder, f->name, 0);
}

// SPDX-License-Identifier: BSD-2-Clause
/* System calls on paths in FOLDER that succeed and that fail, for guest_paths.sh. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static void touch(const char *path)
{
	close(open(path, O_CREAT | O_WRONLY, 0600));
}

static int turn(void)
{
	struct stat st;
	int done = 0;

	done += mkdir("w", 0755) + mkdir("w/d", 0700) + mkdir("w/d", 0700) + mkdir("no/d", 0700);
	touch("w/a");
	done += link("w/a", "w/b") + link("w/a", "w/b") + link("w/none", "w/n") +
		symlink("a", "w/s");
	done += symlink("..", "w/d/up") + rename("w/b", "w/c") + rename("w/none", "w/c") +
		rename("w/d/up", "w/a");
	done += rmdir("w/none") + rmdir("w") + unlink("w/d") + unlink("w//./a/");
	done += stat("w/../w/./d/../c", &st) + stat("w/a/a/c", &st);
	done += unlink("w/a") + unlink("w/c") + unlink("w/s") + unlink("w/none");
	return done + rmdir("w/d") + rmdir("w/d") + rmdir("w");
}

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc != 2 || chdir(argv[1]))
		return 1;
	for (int i = 0; i < 9; i++)
		failed -= turn();
	return !failed;
}

// SPDX-License-Identifier: BSD-2-Clause
/* vfork: the child runs on its parent's stack and memory, then execs this program again; and
 * posix_spawn. */
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include "prog.h"

extern char **environ;

NOINLINE int triangle(int n)
{
	return n ? triangle(n - 1) + touch(n) : 0;
}

NOINLINE int child(const char *self)
{
	char *argv[] = {(char *)self, (char *)"again", NULL};

	if (triangle(3) != 6)
		return 1;
	execve(self, argv, environ);
	return 2;
}

int main(int argc, char **argv)
{
	char *again[] = {argv[0], (char *)"again", NULL};
	int status, other;
	pid_t pid;

	if (argc > 1)
		return triangle(5);
	pid = vfork();
	if (!pid)
		_exit(child("/proc/self/exe"));
	waitpid(pid, &status, 0);
	if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, again, environ))
		return 1;
	waitpid(pid, &other, 0);
	printf("%d %d %d\n", WEXITSTATUS(status), WEXITSTATUS(other), triangle(2));
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
/* A program under a seccomp filter: any system call except write and exit_group kills it. */
#include <stddef.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "prog.h"

#define ALLOW(name)                                                                                \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1),                                     \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static struct sock_filter filter[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	ALLOW(write),
	ALLOW(exit_group),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};

NOINLINE int work(int n)
{
	return n > 1 ? work(n - 1) + work(n - 2) + touch(1) : n;
}

NOINLINE int shut_in(void)
{
	struct sock_fprog program = {.len = COUNT(filter), .filter = filter};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(void)
{
	char text[16];
	int n = work(4);

	if (shut_in())
		return 1;
	n = n * 1000 + work(8);
	n = snprintf(text, sizeof(text), "%d\n", n);
	_exit(write(STDOUT_FILENO, text, n) == n ? 6 : 2);
}

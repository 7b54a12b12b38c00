// SPDX-License-Identifier: BSD-2-Clause
/*
 * kernel_mark N [CMD [ARG...]]: runs the nop that starts window N of executed.c or logged.c. With
 * CMD, it runs that and then the nop that ends the window, and exits as CMD. What CMD leaves behind
 * is for kernel_mark to reap: the guest's first process doesn't wake up.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int mark(unsigned number)
{
	unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#if defined(__x86_64__) /* nopl 0xNN746262(%rax,%rax,1); ret */
	unsigned char nop[] = {0x0f, 0x1f, 0x84, 0x00, 0x62, 0x62, 0x74, number, 0xc3};
#elif defined(__aarch64__) /* movz xzr, #0x62NN; ret */
	uint32_t nop[] = {0xd280001f | (0x6200 | number) << 5, 0xd65f03c0};
#elif defined(__riscv)	   /* lui zero, 0x626NN; ret */
	uint32_t nop[] = {0x37 | (0x62600 | number) << 12, 0x00008067};
#endif

	if (code == MAP_FAILED)
		return -1;
	memcpy(code, nop, sizeof(nop));
	__builtin___clear_cache((char *)code, (char *)code + sizeof(nop));
	((void (*)(void))code)();
	return munmap(code, 4096);
}

static int run(char **command)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		execvp(command[0], command);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return 2;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	int status;

	if (argc < 2 || prctl(PR_SET_CHILD_SUBREAPER, 1) || mark(atoi(argv[1]) & 0xff))
		return 2;
	if (argc == 2)
		return 0;
	status = run(argv + 2);
	return mark(0) ? 2 : status;
}

// SPDX-License-Identifier: BSD-2-Clause
/* kernel_mark N: runs the nop that starts window N of executed.c. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <string.h>

int main(int argc, char **argv)
{
	unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned number = argc == 2 ? atoi(argv[1]) & 0xff : 0;
#if defined(__x86_64__) /* nopl 0xNN746262(%rax,%rax,1); ret */
	unsigned char nop[] = {0x0f, 0x1f, 0x84, 0x00, 0x62, 0x62, 0x74, number, 0xc3};
#elif defined(__aarch64__) /* movz xzr, #0x62NN; ret */
	uint32_t nop[] = {0xd280001f | (0x6200 | number) << 5, 0xd65f03c0};
#elif defined(__riscv)	   /* lui zero, 0x626NN; ret */
	uint32_t nop[] = {0x37 | (0x62600 | number) << 12, 0x00008067};
#endif

	if (argc != 2 || code == MAP_FAILED)
		return 2;
	memcpy(code, nop, sizeof(nop));
	__builtin___clear_cache((char *)code, (char *)code + sizeof(nop));
	((void (*)(void))code)();
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
/* kernel_mark N: runs the nop that starts window N of executed.c. */
#include <stdlib.h>
#include <sys/mman.h>
#include <string.h>

int main(int argc, char **argv)
{
	static const unsigned char nop[] = {0x0f, 0x1f, 0x84, 0x00, 0x62, 0x62, 0x74, 0, 0xc3};
	unsigned char *code = mmap(NULL, sizeof(nop), PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (argc != 2 || code == MAP_FAILED)
		return 2;
	memcpy(code, nop, sizeof(nop));
	code[7] = atoi(argv[1]);
	((void (*)(void))code)();
	return 0;
}

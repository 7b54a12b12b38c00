/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks a password, byte by byte. */
#include <stdio.h>
#include <string.h>
static const unsigned char secret[] = {0x4f, 0x5e, 0x56, 0x5a, 0x1b, 0x0c};
static int check(const char *s)
{
	size_t n = strlen(s);

	if (n != sizeof(secret))
		return 0;
	for (size_t i = 0; i < n; i++)
		if ((s[i] ^ 0x2a) != secret[i])
			return 0;
	return 1;
}
int main(int argc, char **argv)
{
	if (argc < 2 || !check(argv[1])) {
		fputs("wrong\n", stderr);
		return 1;
	}
	puts("welcome");
	return 0;
}

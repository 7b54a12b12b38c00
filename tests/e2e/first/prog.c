// SPDX-License-Identifier: BSD-2-Clause
/* What a newcomer's first program is like: it reads a file of numbers by name, or spins, or sleeps.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

volatile int counter;

__attribute__((noipa)) int foo_add(int a, int b)
{
	return a + b;
}

__attribute__((noipa)) int foo_mul(int a, int b)
{
	return a > 100 ? a : a * b;
}

__attribute__((noipa)) int parse_line(const char *line)
{
	const char *equals = strchr(line, '=');
	int n;

	if (!equals)
		return -1;
	n = atoi(equals + 1);
	if (n < 0 || n > 99)
		return -1;
	counter = foo_add(n, counter);
	return foo_mul(n, 3);
}

__attribute__((noipa)) int spin(int n)
{
	int sum = 0;

	for (int i = 0; i < n * 1000; i++)
		sum += i ^ (sum >> 3);
	return sum;
}

__attribute__((noipa)) void wait_forever(void)
{
	for (;;)
		pause();
}

__attribute__((noipa)) int never_called(int n)
{
	return n > 3 ? n : 3;
}

__attribute__((noipa)) int read_file(const char *name)
{
	FILE *f = fopen(name, "r");
	char line[80];
	int failed = 0;

	if (!f) {
		perror(name);
		return 2;
	}
	while (fgets(line, sizeof(line), f) && !failed) {
		char *copy = strdup(line);

		if (parse_line(copy) < 0) {
			fprintf(stderr, "%s: bad line: %s", name, line);
			failed = 1;
		}
		free(copy);
	}
	fclose(f);
	return failed;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "good.conf";

	if (!strcmp(what, "sleep"))
		wait_forever();
	if (strcmp(what, "spin"))
		return read_file(what);
	for (int rounds = argc > 2 ? atoi(argv[2]) : -1; rounds; rounds--)
		counter = spin(10);
	return argc > 3 ? never_called(argc) : 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Four threads call fixed() as long as standard input is open, and another one calls later().
 * Prints how often fixed() was called. With an argument they call getppid(2) and getpriority(2). At
 * a further line on standard input the thread that calls later() executes the program anew. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

long fixed(long n);
__asm__(".text\n.type fixed, @function\nfixed: xor %eax, %eax\n"
	"1: inc %rax\ncmp %rdi, %rax\njne 1b\nret\n.size fixed, . - fixed");
__attribute__((noipa)) int later(int x)
{
	volatile int y = x;

	__asm__ volatile("lock; incl %0" : "+m"(y));
	for (int i = 0; i < 3; i++) {
		if (x & 1)
			y += 3;
		if (y & 2)
			y += x;
		if (y & 4)
			y ^= x;
		if (x & 8)
			y += 5;
		if (x & 16)
			y += 1;
	}
	return y;
}
static long n;
static int in_kernel;
static volatile int execs;
static char *name;
static volatile int over;
static void *hammer(void *unused)
{
	long calls = 0;

	for (; !over; calls++)
		if (in_kernel)
			syscall(SYS_getppid);
		else
			fixed(3);
	__sync_fetch_and_add(&n, calls);
	return NULL;
}
static void *call(void *unused)
{
	for (int i = 0; !over; i++) {
		if (execs)
			execl(name, name, "again", (char *)0);
		if (in_kernel)
			syscall(SYS_getpriority, 0, 0);
		else
			later(i);
		usleep(1000);
	}
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t threads[4], caller;
	char byte;

	name = argv[0];
	in_kernel = argc > 1 && !strcmp(argv[1], "calls");
	if (argc > 1 && !strcmp(argv[1], "again"))
		byte = '\n';
	else if (puts("ready") < 0 || fflush(stdout) || read(0, &byte, 1) != 1)
		return 1;
	pthread_create(&caller, NULL, call, NULL);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, hammer, NULL);
	while (read(0, &byte, 1) == 1)
		execs = 1;
	over = 1;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	pthread_join(caller, NULL);
	printf("%ld calls\n", n);
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * `narrow N [still]`: functions with points that are too narrow for a jump to the copy, N times
 * under a timer (not if still) whose handler calls them, too: a return to a call through the stack
 * pointer, a target of three bytes among targets of eight, and one of one byte. Prints the sum of
 * their results.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

long through_stack(long n);
long choose(long n);
long one_byte(long n);
long plus_one(long n);
long plus_two(long n);

__asm__(".text\n.p2align 4\n.type plus_one, @function\nplus_one: lea 1(%rdi), %rax\nret\n"
	".size plus_one, . - plus_one\n"
	".p2align 4\n.type plus_two, @function\nplus_two: lea 2(%rdi), %rax\nret\n"
	".size plus_two, . - plus_two\n"
	/* The second call is at the return address of the first one. */
	".p2align 4\n.type through_stack, @function\nthrough_stack: sub $40, %rsp\n"
	"lea plus_two(%rip), %rax\nmov %rax, 16(%rsp)\ncall plus_one\ncall *16(%rsp)\n"
	"add $40, %rsp\nimul %rax, %rax\nadd $3, %rax\nret\n.size through_stack, . - through_stack\n"
	/* A table of 60 targets; that in the middle is too narrow. */
	".p2align 4\n.type choose, @function\nchoose: cmp $59, %rdi\nja 2f\n"
	"lea table(%rip), %rdx\nmov (%rdx,%rdi,8), %rax\njmp *%rax\n"
	"1: .rept 30\nlea 0x1234(%rip), %rax\nret\n.endr\nxor %eax, %eax\nret\n"
	".rept 29\nlea 0x5678(%rip), %rax\nret\n.endr\n"
	"2: imul $100000, %rdi, %rax\nimul $100000, %rax, %rax\nret\n.size choose, . - choose\n"
	/* A ret is a target, and right after it there is another one. */
	".p2align 4\n.type one_byte, @function\none_byte: mov %rdi, %rax\ncmp $2, %rdi\nja 5f\n"
	"lea table_of_three(%rip), %rdx\nmov (%rdx,%rdi,8), %rcx\njmp *%rcx\n"
	"3: .rept 5\nimul $100001, %rax, %rax\n.endr\n4: ret\n"
	"6: imul $100000, %rax, %rax\nret\n5: mov $5, %eax\nret\n.size one_byte, . - one_byte\n"
	".section .data.rel.ro, \"aw\"\n.p2align 3\ntable_of_three: .quad 3b, 4b, 6b\ntable:\n"
	".set i, 0\n.rept 31\n.quad 1b + i * 8\n.set i, i + 1\n.endr\n"
	".set i, 0\n.rept 29\n.quad 1b + 243 + i * 8\n.set i, i + 1\n.endr\n.text\n");

static volatile sig_atomic_t ticks, wrong;

static void on_tick(int sig)
{
	(void)sig;
	ticks++;
	if (through_stack(ticks) != (ticks + 2L) * (ticks + 2L) + 3 || choose(30) ||
	    one_byte(1) != 1)
		wrong++;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1000, sum = 0, base = choose(0);
	struct itimerval often = {{0, 500}, {0, 500}};

	signal(SIGALRM, on_tick);
	if (argc < 3)
		setitimer(ITIMER_REAL, &often, NULL);
	for (long i = 0; i < n; i++) {
		sum += through_stack(i);
		if (i % 61 == 30 ? choose(30) != 0
				 : i % 61 < 30 && choose(i % 61) != base + 8 * (i % 61))
			wrong++;
		if (one_byte(0) != 0 || one_byte(1) != 1 || one_byte(2) != 200000 ||
		    one_byte(3) != 5)
			wrong++;
		sum += choose(60 + i);
	}
	often = (struct itimerval){{0, 0}, {0, 0}};
	setitimer(ITIMER_REAL, &often, NULL);
	printf("%ld, %d wrong\n", sum, (int)wrong);
	return 0;
}

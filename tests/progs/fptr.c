// SPDX-License-Identifier: BSD-2-Clause
/* Indirect calls, operand by operand. */
#include "prog.h"

long one(void)
{
	return 1;
}

long two(void)
{
	return 2;
}

long (*pointers[4])(void) = {one, two, two, one};
__thread long (*local)(void) __attribute__((tls_model("local-exec"))) = two;

/* rdi: pointers. Each call adds what it returned. */
long operands(long (**table)(void));
ASM_FUNCTION(operands,
	     "push %rbx\npush %r12\npush %r13\npush %rbp\nsub $40, %rsp\nmov %rdi, %rbx\n"
	     "mov (%rbx), %rax\ncall *%rax\nmov %rax, %rbp\n"
	     "call *8(%rbx)\nadd %rax, %rbp\n"
	     "call *pointers(%rip)\nadd %rax, %rbp\n"
	     "call *pointers+8(%rip)\nadd %rax, %rbp\n"
	     "mov 8(%rbx), %rax\nmov %rax, (%rsp)\ncall *(%rsp)\nadd %rax, %rbp\n"
	     "mov (%rbx), %rax\nmov %rax, 24(%rsp)\ncall *24(%rsp)\nadd %rax, %rbp\n"
	     "mov %rbx, %r12\ncall *(%r12)\nadd %rax, %rbp\n"
	     "mov %rbx, %r13\ncall *(%r13)\nadd %rax, %rbp\n"
	     "mov $2, %ecx\ncall *(%r13,%rcx,8)\nadd %rax, %rbp\n"
	     "mov $3, %ecx\ncall *(%r12,%rcx,8)\nadd %rax, %rbp\n"
	     "mov $1, %ecx\ncall *8(%rbx,%rcx,8)\nadd %rax, %rbp\n"
	     "lea -2048(%rbx), %rdx\ncall *2056(%rdx)\nadd %rax, %rbp\n"
	     "mov 8(%rbx), %r11\ncall *%r11\nadd %rax, %rbp\n"
	     "call *%fs:local@tpoff\nadd %rax, %rbp\n"
	     "mov $local@tpoff, %rdx\ncall *%fs:(%rdx)\nadd %rax, %rbp\n"
	     "mov %rbp, %rax\nadd $40, %rsp\npop %rbp\npop %r13\npop %r12\npop %rbx\nret");

/* A jump through the stack to a place that nothing else leads to. */
long stack_jump(long n);
ASM_FUNCTION(
	stack_jump,
	"sub $24, %rsp\nlea 1f(%rip), %rax\nmov %rax, 8(%rsp)\ntest %rdi, %rdi\nje 2f\njmp *8(%rsp)\n"
	"2: mov $6, %eax\nadd $24, %rsp\nret\n1: mov $5, %eax\nadd $24, %rsp\nret");

int main(void)
{
	printf("%ld\n", operands(pointers) + stack_jump(0) * stack_jump(1) + stack_jump(0));
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
/* Unusual instructions, each in a function of its own. */
#include "prog.h"

/* A branch past the lock prefix, as glibc has it. */
long lock_trick(long *where, long lock);
ASM_FUNCTION(lock_trick,
	     "xor %eax, %eax\nmov $1, %edx\ntest %rsi, %rsi\nje 1f\nlock\n1: cmpxchg %rdx, (%rdi)\n"
	     "jne 2f\nmov $9, %eax\n2: ret");
/* ret that takes 16 bytes of arguments along; the caller pushes them. */
long ret_imm(long n);
long call_ret_imm(long n);
ASM_FUNCTION(ret_imm, "mov 8(%rsp), %rax\nsub 16(%rsp), %rax\njns 1f\nneg %rax\n1: ret $16");
ASM_FUNCTION(call_ret_imm, "push %rdi\npush $5\ncall ret_imm\nret");
long rep_ret(long n);
ASM_FUNCTION(rep_ret, "mov %rdi, %rax\ntest $1, %al\nje 1f\nneg %rax\n1: rep ret");
/* `lea` gives the place that is jumped to: nothing else leads there. */
long bnd_jmp(long n);
ASM_FUNCTION(
	bnd_jmp,
	"mov %rdi, %rax\n.byte 0xf2; jmp 2f\nud2\n1: .byte 0xf2; ret\n2: lea 1b(%rip), %rdx\ntest %rax, %rax\n"
	".byte 0xf2; je 3f\ninc %rax\n3: .byte 0xf2; jmp *%rdx");
/* The first instruction is a branch. */
long first_branch(long n);
ASM_FUNCTION(first_branch,
	     "jmp 1f\n2: mov $4, %eax\nret\n1: dec %rdi\njns 2b\nxor %eax, %eax\nret");
long first_jrcxz(long a, long b, long c, long d);
ASM_FUNCTION(first_jrcxz, "jrcxz 1f\nmov %rcx, %rax\nret\n1: mov $77, %eax\nret");
long first_call(long n);
ASM_FUNCTION(first_call, "call rep_ret\nadd $1, %rax\nret");
long first_jmp_reg(long n, long (*f)(long));
ASM_FUNCTION(first_jmp_reg, "jmp *%rsi");
long first_ret(void);
ASM_FUNCTION(first_ret, "ret");
/* A loop back to the function's first instruction. */
long loop_entry(long n, long sum);
ASM_FUNCTION(loop_entry, "add %rdi, %rsi\ndec %rdi\njne loop_entry\nmov %rsi, %rax\nret");
/* The first instruction can carry no probe: what comes next tells of it. */
long lock_first(long *p);
ASM_FUNCTION(lock_first, "lock addq $1, (%rdi)\nmov (%rdi), %rax\nret");
long lock_again(long *p, long n);
ASM_FUNCTION(lock_again, "lock addq $2, (%rdi)\ndec %rsi\njne lock_again\nmov (%rdi), %rax\nret");
/* A string instruction first: it is stepped round by round. */
long string_first(char *to, const char *from, long none, long n);
ASM_FUNCTION(string_first,
	     "rep movsb\nmov %rdi, %rax\ncmpb $0x65, -1(%rdi)\nje 1f\nxor %eax, %eax\n1: ret");
/* The trap of the instruction behind mov to ss is held back: it and that one run in one step. */
long stack_segment(long n);
ASM_FUNCTION(stack_segment,
	     "mov %ss, %eax\ntest %rdi, %rdi\nmov %eax, %ss\nje 1f\nmov $3, %eax\nret\n"
	     "1: mov %eax, %ss\njmp 2f\nud2\n2: mov $4, %eax\nret");
/* pushf must not show the trap flag; popf. */
long push_flags(void);
ASM_FUNCTION(push_flags,
	     "xor %eax, %eax\ntest %eax, %eax\npushf\npop %rax\ntest $0x100, %eax\njne 1f\n"
	     "push %rax\npopf\njne 1f\nmov $1, %eax\nret\n1: xor %eax, %eax\nret");
/* push and ret: a jump that looks like a return. */
long push_ret(long n);
ASM_FUNCTION(push_ret, "lea 1f(%rip), %rax\npush %rax\nret\nud2\n1: lea 2(%rdi), %rax\nret");
/* call of the next instruction: where am I? */
long call_next(void);
ASM_FUNCTION(call_next,
	     "call 1f\n1: pop %rax\nlea 1b(%rip), %rdx\nsub %rdx, %rax\nje 2f\ninc %rax\n2: ret");

int main(void)
{
	char to[8];
	long counter = 0, sum = 0, word = 0;

	for (long i = 0; i < 4; i++) {
		sum = sum * 5 + lock_trick(&word, i & 1) + call_ret_imm(i * 3) + rep_ret(i) +
		      bnd_jmp(i & 1);
		sum = sum * 5 + first_branch(i) + first_jrcxz(0, 0, 0, i) + first_call(i);
		sum = sum * 5 + first_jmp_reg(i, rep_ret) + loop_entry(i + 1, i) +
		      stack_segment(i & 1);
		sum = sum * 5 + !string_first(to, i & 1 ? "abcde" : "abcd", 0, i & 1 ? 5 : 4);
		sum = sum * 5 + lock_first(&counter);
		sum = sum * 5 + lock_again(&counter, i + 1);
		sum = sum * 5 + push_ret(i) + call_next();
		first_ret();
	}
	if (!push_flags())
		return 1;
	printf("%ld\n", sum);
	return 0;
}

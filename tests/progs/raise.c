// SPDX-License-Identifier: BSD-2-Clause
/* Exceptions as in OCaml's code: the code pushes its handler's address, raising loads the stack
 * pointer, and there is no table. */
#include <stdint.h>
#include "prog.h"

struct state {
	uint64_t left, unused;
	void *exception_pointer; /* 0x10(%r14) */
	uint64_t flags;
};

#define TRY(handler)                                                                               \
	"	lea " handler "(%rip), %r11\n"                                                     \
	"	push %r11\n"                                                                             \
	"	push 0x10(%r14)\n"                                                                       \
	"	mov %rsp, 0x10(%r14)\n"
#define END_TRY                                                                                    \
	"	pop 0x10(%r14)\n"                                                                        \
	"	add $8, %rsp\n"

/* The runtime's: called, it never comes back. What is raised is in rax. */
ASM_FUNCTION(caml_raise_exn, "	testq $1, 0x18(%r14)\n"
			     "	jne 1f\n"
			     "	mov 0x10(%r14), %rsp\n"
			     "	pop 0x10(%r14)\n"
			     "	ret\n"
			     "1:	xor %ebx, %ebx\n"
			     "	mov 0x10(%r14), %rsp\n"
			     "	pop 0x10(%r14)\n"
			     "	ret\n");

/* rax: how deep. The deepest one raises: what is left then tells how. */
ASM_FUNCTION(dive, "	sub $8, %rsp\n"
		   "	test %eax, %eax\n"
		   "	je 1f\n"
		   "	dec %eax\n"
		   "	call dive\n"
		   "	add $8, %rsp\n"
		   "	ret\n"
		   "1:	mov (%r14), %rax\n"
		   "	test $1, %al\n"
		   "	jne 2f\n"
		   "	call caml_raise_exn\n"
		   "	nop\n"
		   "2:	mov 0x10(%r14), %rsp\n"
		   "	pop 0x10(%r14)\n"
		   "	pop %r11\n"
		   "	jmp *%r11\n");

/* Raises to itself, at any depth: the handler is in the function that raises, in another call of
 * it. */
ASM_FUNCTION(nested, "	sub $8, %rsp\n"
		     "	mov %rax, (%rsp)\n"
		     "	test %eax, %eax\n"
		     "	je 2f\n" TRY("1f") "	dec %eax\n"
					   "	call nested\n"
					   "	call caml_raise_exn\n"
					   "	nop\n"
					   "1:	add (%rsp), %rax\n"
					   "	cmp $3, %eax\n"
					   "	jbe 3f\n"
					   "	inc %rax\n"
					   "3:	add $8, %rsp\n"
					   "	ret\n"
					   "2:	mov 0x10(%r14), %rsp\n"
					   "	pop 0x10(%r14)\n"
					   "	pop %r11\n"
					   "	jmp *%r11\n");

/* Returns, but only out of its handler. */
ASM_FUNCTION(drain, "	sub $8, %rsp\n"
		    "	movq $0, (%rsp)\n" TRY("3f") "1:	mov $3, %eax\n" TRY(
			    "2f") "	call dive\n" END_TRY "	ud2\n"
				  "2:	incq 0x10(%rsp)\n"
				  "	decq (%r14)\n"
				  "	jne 1b\n"
				  "	mov $5, %eax\n"
				  "	call caml_raise_exn\n"
				  "	nop\n"
				  "3:	cmp $5, %eax\n"
				  "	jne 4f\n"
				  "	mov (%rsp), %rax\n"
				  "	add $8, %rsp\n"
				  "	ret\n"
				  "4:	ud2\n");

/* C's way in, which saves what its callers keep. */
ASM_FUNCTION(start, "	push %rbx\n"
		    "	push %r14\n"
		    "	push %r15\n"
		    "	mov %rdi, %r14\n"
		    "	call drain\n"
		    "	mov %rax, %r15\n"
		    "	test %eax, %eax\n"
		    "	je 1f\n"
		    "	mov $4, %eax\n"
		    "	call nested\n"
		    "1:	add %r15, %rax\n"
		    "	pop %r15\n"
		    "	pop %r14\n"
		    "	pop %rbx\n"
		    "	ret\n");

long start(struct state *state);

int main(void)
{
	struct state state = {.left = 5};
	long first = start(&state);

	state.left = 4;
	state.flags = 1;
	printf("%ld %ld\n", first, start(&state));
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stepref: the single-stepping reference. It shares nothing with src/, on purpose: two programs
 * that were written apart and agree are a proof that one alone is not.
 */
#ifndef STEPREF_H
#define STEPREF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/user.h>

/* ---- insn.c: which instruction is a control transfer ---- */

enum kind {
	K_OTHER,
	K_JCC,
	K_LOOP,
	K_JMP,
	K_CALL,
	K_IJMP,
	K_ICALL,
	K_RET,
	K_SYSCALL, /* from here on: no branch, but something the stepper has to know of */
	K_PUSHF,
	K_MOVSS, /* the processor holds back the trap: the next instruction runs in the same step */
	K_REPEAT,  /* a string instruction: a round of it is a step */
	K_FAR,	   /* may lead anywhere: far branches, iret, transactions, int1 */
	K_UNKNOWN, /* can't be read, or decoded */
};
extern const char *const kind_names[];

/* Where an indirect branch reads its target: [base + index * scale + disp], or the register base.
 */
enum { AT_RIP = 16, AT_FS, AT_GS, AT_NONE };
struct operand {
	bool known, memory;
	uint8_t base, index, segment; /* as encoded: rax, rcx, rdx, rbx, rsp …; or AT_ */
	uint8_t scale;
	int64_t disp;
};

struct insn {
	uint8_t kind;
	uint8_t len;	       /* 0: UNKNOWN */
	uint8_t cond;	       /* JCC: 0 … 15; LOOP: 0 loopne, 1 loope, 2 loop, 3 jrcxz */
	bool addr32;	       /* LOOP: counts in ecx */
	bool fast;	       /* SYSCALL: of 32-bit code, by sysenter or syscall */
	int32_t disp;	       /* relative branches */
	struct operand target; /* IJMP, ICALL */
};

/* narrow: in 32-bit code. */
void insn__decode(const uint8_t *bytes, size_t n, bool narrow, struct insn *out);
/* What Zydis says of it, for path.c alone: the length, what leads anywhere, where a target is read.
 */
void insn__measure(const uint8_t *bytes, size_t n, bool narrow, struct insn *out);
/* JCC, LOOP: does it branch, with the registers before it ran? */
bool insn__taken(const struct insn *insn, const struct user_regs_struct *regs);

/* ---- path.c: can one stop follow the other? ---- */

/* Where the instruction under way must lead, as far as its own bytes and flags don't say. */
struct expected {
	bool known;
	uint64_t at;	 /* where that was read */
	uint64_t target; /* 0 at: a register's */
};

struct thread;
void path__expect(struct thread *t);
/* A step ended: can the instruction under way have led to now, and no other have run? */
bool path__stepped(const struct thread *t, const struct user_regs_struct *now);
/* A system call's end was told, with another instruction under way: is that one still to run? */
bool path__still_there(const struct thread *t, const struct user_regs_struct *now);
/* A signal is to be delivered: is the instruction under way still to run, or a system call? */
bool path__interrupted(const struct thread *t, const struct user_regs_struct *now);
/* A child was born, or a program began: was a system call under way? */
bool path__called(const struct thread *t);

/* ---- maps.c: what lies where ---- */

struct map {
	uint64_t start, end, offset;
	uint64_t dev, ino;
	bool exec;
	const struct image *image; /* NULL: anonymous, or no ELF file */
};

/* A process, or what is left of it for the threads that still name it. */
struct process {
	pid_t pid;
	unsigned threads;
	unsigned generation; /* of the maps held; see maps_generation */
	bool narrow;	     /* it runs 32-bit code */
	struct map *maps;
	size_t nmaps;
	struct cached *cache;
};

/* Grows with every system call that may change a mapping: what is older is read again before it is
 * used. */
extern unsigned maps_generation;

struct process *process__new(pid_t pid);
bool image__is_narrow(const char *path); /* an ELF file of 32 bits */
void process__put(struct process *p);

/* Where addr lies: true, and the link-time address and the image, or false for anonymous memory. */
bool process__locate(struct process *p, uint64_t addr, const struct image **image, uint64_t *vaddr);
#define PLACE 300
/* addr as the lines have it: object+0xVADDR, or 0xADDR in anonymous memory. */
void process__place(struct process *p, uint64_t addr, char text[PLACE]);
void process__decode(struct process *p, uint64_t pc, struct insn *out);

/* The object and the functions asked for. */
struct range {
	char *name;
	uint64_t start, size;
	unsigned function; /* ranges of one name are one function; its first range starts with the
			      entry */
	bool entry;
};
void ranges__load(const char *object, const char *file);
/* NULL: outside of all. */
const struct range *process__range(struct process *p, uint64_t addr, uint64_t *vaddr);
/* NULL: vaddr is not the first instruction of one of them. */
const struct range *ranges__entry(uint64_t vaddr);
uint64_t ranges__start(unsigned function); /* its first instruction */

/* ---- thread.c: what a thread did ---- */

struct frame {
	unsigned function;
	uint64_t vaddr; /* of the function's entry */
	uint64_t slot;	/* where its return address lies */
	uint64_t ret;	/* that address */
	bool inherited; /* from the process that forked this one */
};

struct thread {
	pid_t tid;
	struct process *process;
	int index;     /* in the output, by order of first line; -1: none printed yet */
	bool known;    /* its birth has been told by its parent */
	bool stopped;  /* waits for that */
	bool stepping; /* else it runs free, up to the program's entry */
	struct user_regs_struct regs; /* before the instruction that is under way */
	bool have_regs;		      /* those are up to date at this stop */
	struct insn insn;	      /* that instruction */
	struct expected expected;     /* and where it must lead */
	bool arrived;		      /* control came to it: a listed entry here is an entry */
	uint8_t by;		      /* enum kind that brought it here */
	int from;		      /* the listed function that it came from, -1: none */
	uint64_t goroutine;	      /* of the --go kind: its number */
	uint64_t base;		      /* what slots are taken from: its stack's upper end */
	struct frame *frames;
	size_t nframes, frames_cap;
	struct thread *next;
};

extern FILE *out;
extern unsigned long long steps;

/* The instruction under way has run, and led to now. */
void thread__ran(struct thread *t, const struct user_regs_struct *now);
/* It raised a fault instead: a breakpoint there would have been seen all the same. */
void thread__faulted(struct thread *t);
/* Control came to pc from outside of the program: a signal handler, a new image. */
void thread__placed(struct thread *t);
/* Lines are by goroutine of this program of Go, not by thread. */
void goroutines__show(const char *object);
void thread__inherit(struct thread *t, const struct thread *parent);

__attribute__((format(printf, 1, 2), noreturn)) void die(const char *fmt, ...);
void *grow(void *array, size_t *cap, size_t want, size_t size);

#endif

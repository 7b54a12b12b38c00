// SPDX-License-Identifier: BSD-2-Clause
/*
 * parting SCENARIO 0|1 [ROUNDS]: with 1, the branch in the line marked PLANTED: SCENARIO goes another way once. For
 * tests/e2e/t_diff.sh.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define ROOM __attribute__((noinline, noclone))
static int bad;
static long rounds = 200;
static volatile long sink;

/* So that no side becomes a conditional move. */
ROOM static void note(long n)
{
	sink += n;
}

/* Where it goes another way; without a branch of its own. */
static long at;
#define is_it(i) ((i) == at)

ROOM static void loop_if(void)
{
	for (long i = 0; i < rounds; i++) {
		note(i);
		if (is_it(i)) /* PLANTED: loop_if */
			note(7);
		else
			note(8);
		note(9);
	}
}

ROOM static void loop_exit(void)
{
	for (long i = 0; i < rounds + bad; i++) /* PLANTED: loop_exit */
		note(i);
	note(1);
}

ROOM static long early(long i)
{
	note(i);
	if (is_it(i)) /* PLANTED: early_return */
		return -1;
	note(2);
	return i;
}

ROOM static void early_return(void)
{
	for (long i = 0; i < rounds; i++)
		note(early(i));
}

ROOM static void nested_break(void)
{
	for (long i = 0; i < rounds; i++)
		for (long k = 0; k < 12; k++) {
			note(k);
			if (is_it(i) && k == 3) /* PLANTED: nested_break */
				break;
			note(i);
		}
}

ROOM static void switched(void)
{
	static const char what[] = "abcdefghij";

	for (long i = 0; i < rounds; i++)
		switch (what[(i + is_it(i)) % 10]) { /* PLANTED: switched */
		case 'a': note(1); break;
		case 'b': note(2); note(3); break;
		case 'c': note(4); break;
		case 'd': note(5); note(6); note(7); break;
		case 'e': note(8); break;
		case 'f': note(9); note(10); break;
		case 'g': note(11); break;
		case 'h': note(12); break;
		case 'i': note(13); note(14); break;
		default: note(15);
		}
}

ROOM static long fib(long n, long *left)
{
	if (n < 2)
		return n;
	if (--*left == 40 && bad) /* PLANTED: recursion */
		return 1;
	return fib(n - 1, left) + fib(n - 2, left);
}

static void recursion(void)
{
	long left = 200;

	note(fib(12, &left));
}

ROOM static long descend(long n)
{
	if (n == 0) {
		if (bad) /* PLANTED: deep */
			note(1);
		return 1;
	}
	return descend(n - 1) + 1;
}

static void deep(void)
{
	note(descend(3000));
}

ROOM static int order(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	if (x < y) { /* PLANTED: sorted */
		note(x);
		return -1;
	}
	return x > y;
}

ROOM static void sorted(void)
{
	int all[100];

	for (int i = 0; i < 100; i++)
		all[i] = i * 37 % 100;
	all[50] += bad * 200;
	qsort(all, 100, sizeof(*all), order);
	note(all[3]);
}

ROOM static void one(long i) { note(i); }
ROOM static void two(long i) { note(-i); note(2); }

ROOM static void pointer(void)
{
	static void (*volatile const how[])(long) = {one, two};

	for (long i = 0; i < rounds; i++)
		how[is_it(i)](i); /* PLANTED: pointer */
}

ROOM static long last_a(long i) { note(i); return i; }
ROOM static long last_b(long i) { note(i + 1); note(i); return i; }

ROOM static long tail(long i)
{
	if (is_it(i)) /* PLANTED: tail_call */
		return last_b(i);
	return last_a(i);
}

static void tail_call(void)
{
	for (long i = 0; i < rounds; i++)
		note(tail(i));
}

ROOM static void machine(void)
{
	long i = 0, state = 0;

first:
	note(state);
	if (++i > rounds)
		return;
	if (i % 3)
		goto second;
	goto third;
second:
	if (is_it(i)) /* PLANTED: machine */
		goto third;
	note(1);
	goto first;
third:
	note(2);
	state = 1;
	goto first;
}

static unsigned char program[4096];

static void prep_program(void)
{
	size_t n = sizeof(program) - 8;

	for (size_t i = 0; i < n; i++)
		program[i] = i * i % 7 % 4;
	program[n] = 4;
	if (bad) {
		memmove(program + n / 2 + 3, program + n / 2, n - n / 2 + 1);
		memcpy(program + n / 2, (unsigned char[]){3, 3, 2}, 3);
		program[n / 2] = (program[n / 2 + 3] + 1) % 4;
	}
}

/* As interpreters do: each operation jumps to the next one. */
ROOM static void interpreter(void)
{
	static void *const code[] = {&&op_add, &&op_sub, &&op_dup, &&op_swap, &&op_end};
	unsigned char *p = program;
	long a = 1, b = 2;

	goto *code[*p++];
op_add:
	a += b;
	note(a);
	goto *code[*p++]; /* PLANTED: interpreter */
op_sub:
	a -= b;
	note(a);
	note(b);
	goto *code[*p++]; /* PLANTED: interpreter */
op_dup:
	b = a;
	note(b);
	goto *code[*p++]; /* PLANTED: interpreter */
op_swap:
	a ^= b;
	note(1);
	goto *code[*p++]; /* PLANTED: interpreter */
op_end:
	note(a);
}

static jmp_buf there;

ROOM static void thrower(long i)
{
	note(i);
	if (is_it(i)) /* PLANTED: jumped */
		longjmp(there, 1);
	note(1);
}

ROOM static void middle(long i)
{
	thrower(i);
	note(2);
}

ROOM static void jumped(void)
{
	for (volatile long i = 0; i < rounds; i++) {
		if (!setjmp(there))
			middle(i);
		else
			note(9);
		note(3);
	}
}

static volatile long signals;

ROOM static void on_signal(int signo)
{
	signals++;
	if (is_it(signals)) /* PLANTED: signalled */
		note(1);
	note(signo);
}

static void signalled(void)
{
	signal(SIGUSR1, on_signal);
	for (long i = 0; i < rounds; i++)
		raise(SIGUSR1);
}

ROOM static void *work(void *number)
{
	long n = (long)number;

	for (long i = 0; i < rounds; i++) {
		note(i);
		if (n == 2 && is_it(i)) /* PLANTED: threads */
			note(1);
		if (i % 16 == 0)
			sched_yield();
	}
	return NULL;
}

static void threads(void)
{
	pthread_t all[4];

	for (long i = 0; i < 4; i++)
		pthread_create(&all[i], NULL, work, (void *)i);
	for (long i = 0; i < 4; i++)
		pthread_join(all[i], NULL);
}

ROOM static void child(long n)
{
	for (long i = 0; i < rounds; i++)
		if (n == 1 && is_it(i)) /* PLANTED: forked */
			note(3);
		else
			note(4);
}

static void forked(void)
{
	pid_t all[3];

	for (long i = 0; i < 3; i++) {
		all[i] = fork();
		if (!all[i]) {
			child(i);
			_exit(0);
		}
	}
	for (long i = 0; i < 3; i++)
		waitpid(all[i], NULL, 0);
}

ROOM static long parse(const char *text)
{
	long n = 0;

	for (; *text; text++)
		if (*text == '\\') { /* PLANTED: parsed */
			note(1);
			text++;
			n += 2;
		} else {
			note(2);
			n++;
		}
	return n;
}

static void parsed(void)
{
	static const char *const texts[] = {"some text with ?a backslash or none",
					    "some text with \\a backslash or none"};

	note(parse(texts[bad]));
}

struct node {
	struct node *next;
	long key;
};

static long keys[64];

static void prep_keys(void)
{
	for (long i = 0; i < 64; i++)
		keys[i] = bad && i == 40 ? 8 : i;
}

ROOM static struct node *lookup(struct node **table, long key)
{
	struct node *n = table[key % 16];

	while (n && n->key != key) /* PLANTED: hashed */
		n = n->next;
	note(n != NULL);
	return n;
}

static void hashed(void)
{
	static struct node nodes[64], *table[16];

	for (long i = 0; i < 64; i++) {
		nodes[i] = (struct node){table[i % 16], i};
		table[i % 16] = &nodes[i];
	}
	for (long i = 0; i < 64; i++)
		lookup(table, keys[i]);
}

ROOM static void continued(void)
{
	long i = 0;

	while (i < rounds) {
		i++;
		if (i % 5 == 0)
			continue;
		note(i);
		if (is_it(i - 1)) /* PLANTED: continued */
			continue;
		note(1);
	}
}

ROOM static void both(void)
{
	for (long i = 0; i < rounds; i++)
		if (i % 2 == rounds / 2 % 2 && is_it(i)) /* PLANTED: both */
			note(1);
		else
			note(2);
}

ROOM static void repeated(void)
{
	long i = 0, extra = 3 * bad;

	do {
		note(i);
	} while (++i < 30 + extra); /* PLANTED: repeated */
	note(1);
}

ROOM static void exits(void)
{
	for (long i = 0; i < rounds; i++) {
		note(i);
		if (is_it(i)) /* PLANTED: exits */
			exit(3);
	}
}

ROOM static void crashes(void)
{
	for (long i = 0; i < rounds; i++) {
		note(i);
		if (is_it(i)) /* PLANTED: crashes */
			*(volatile int *)0 = 1;
	}
}

static inline __attribute__((always_inline)) long clamp(long i, long most)
{
	if (i > most - bad * (most - rounds / 2)) { /* PLANTED: inlined */
		note(1);
		return most;
	}
	note(2);
	return i;
}

ROOM static void inlined(void)
{
	for (long i = 0; i < rounds; i++)
		note(clamp(i, rounds + 1));
}

static ucontext_t outer, inner;

ROOM static void coroutine(void)
{
	for (long i = 0; i < rounds; i++) {
		if (is_it(i)) /* PLANTED: coroutines */
			note(1);
		swapcontext(&inner, &outer);
	}
}

static void coroutines(void)
{
	static char stack[64 << 10];

	getcontext(&inner);
	inner.uc_stack.ss_sp = stack;
	inner.uc_stack.ss_size = sizeof(stack);
	inner.uc_link = &outer;
	makecontext(&inner, coroutine, 0);
	for (long i = 0; i < rounds + 1; i++) {
		note(2);
		swapcontext(&outer, &inner);
	}
}

ROOM static long odd(long n, long at);

ROOM static long even(long n, long at)
{
	if (n == at && bad) /* PLANTED: mutual */
		note(5);
	return n ? odd(n - 1, at) : 1;
}

ROOM static long odd(long n, long at)
{
	note(n);
	return n ? even(n - 1, at) : 0;
}

static void mutual(void)
{
	for (long i = 0; i < 20; i++)
		note(even(30, i == 10 ? 8 : -1));
}

ROOM static void counted_down(void)
{
	unsigned long n = 16 + bad;

	for (unsigned long i = n; i--;) /* PLANTED: counted_down */
		note(i);
}

ROOM static void swapped(void)
{
	long last = 0;

	for (long i = 0; i < rounds; i++) {
		long now = i + (((unsigned long)(i ^ at) - 1) >> 63) * 2;

		if (now > last + 1) { /* PLANTED: swapped */
			note(now);
			note(last);
		}
		last = i;
	}
}

ROOM static void compared(void)
{
	char a[64] = "the same up to here and then not", b[64];

	for (long i = 0; i < rounds; i++) {
		memcpy(b, a, sizeof(b));
		b[20] += is_it(i);
		if (memcmp(a, b, sizeof(b))) /* PLANTED: compared */
			note(1);
		note(2);
	}
}

static const struct {
	const char *name;
	void (*run)(void);
} scenarios[] = {
	{"loop_if", loop_if}, {"loop_exit", loop_exit}, {"early_return", early_return},
	{"nested_break", nested_break}, {"switched", switched}, {"recursion", recursion},
	{"deep", deep}, {"sorted", sorted}, {"pointer", pointer}, {"tail_call", tail_call},
	{"machine", machine}, {"interpreter", interpreter}, {"jumped", jumped},
	{"signalled", signalled}, {"threads", threads}, {"forked", forked}, {"parsed", parsed},
	{"hashed", hashed}, {"continued", continued}, {"both", both}, {"repeated", repeated},
	{"exits", exits}, {"crashes", crashes}, {"inlined", inlined}, {"coroutines", coroutines},
	{"mutual", mutual}, {"counted_down", counted_down}, {"swapped", swapped},
	{"compared", compared},
};

int main(int argc, char **argv)
{
	bad = argc > 2 && atoi(argv[2]);
	rounds = argc > 3 ? atol(argv[3]) : rounds;
	at = bad ? rounds / 2 : 1L << 40;
	prep_program();
	prep_keys();
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(*scenarios); i++) {
		if (argc == 1)
			puts(scenarios[i].name);
		else if (!strcmp(argv[1], scenarios[i].name))
			scenarios[i].run();
	}
	return 0;
}

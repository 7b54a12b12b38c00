// SPDX-License-Identifier: BSD-2-Clause
/*
 * Executes lines of commands, a letter each, and answers each line: s START, p STOP, w work(), m a
 * mark, b begin(), e end(), l loads the library LIB, S and P its START and STOP. A line that begins
 * with t is done by a thread, one with f by a forked child. Before main, a constructor does the
 * line BEFORE.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "bbtrace.h"

static int marks;
static void (*library)(int c);

__attribute__((noipa)) int work(int n)
{
	return n & 1 ? n + 3 : n - 3;
}

__attribute__((noipa)) int begin(int n)
{
	return n + 1;
}

__attribute__((noipa)) int end(int n)
{
	n += 2; /* the line */
	return n;
}

__attribute__((noipa)) static int one(int c)
{
	switch (c) {
	case 's':
		BBTRACE_START();
		break;
	case 'p':
		BBTRACE_STOP();
		break;
	case 'w':
		work(c);
		break;
	case 'm':
		BBTRACE_MARK("a literal", marks++);
		break;
	case 'b':
		begin(c);
		break;
	case 'e':
		end(c);
		break;
	case 'S':
		if (library)
			library('s');
		break;
	case 'P':
		if (library)
			library('p');
		break;
	case 'l':
		library = (void (*)(int))dlsym(dlopen(getenv("LIB"), RTLD_NOW), "in_library");
		break;
	default:
		return 0;
	}
	return 1;
}

static void *all(void *text)
{
	for (const char *p = text; *p && *p != '.' && *p != '\n'; p++)
		one(*p);
	return NULL;
}

static void in_thread(char *text)
{
	pthread_t t;

	pthread_create(&t, NULL, all, text);
	pthread_join(t, NULL);
}

static void in_child(char *text)
{
	pid_t pid = fork();

	if (!pid) {
		all(text);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

__attribute__((constructor)) static void before(void)
{
	char *text = getenv("BEFORE");

	if (text)
		all(text);
}

int main(void)
{
	char line[256];

	while (fgets(line, sizeof(line), stdin)) {
		if (*line == 't')
			in_thread(line + 1);
		else if (*line == 'f')
			in_child(line + 1);
		else
			all(line);
		puts("did");
		fflush(stdout);
	}
	return 0;
}

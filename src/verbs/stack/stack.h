/* SPDX-License-Identifier: BSD-2-Clause */
/* stack: shows where all threads of a process are, and what each waits for. */
#ifndef BBTRACE_VERBS_STACK_STACK_H
#define BBTRACE_VERBS_STACK_STACK_H

#include "object/core/core.h"
#include "process/process.h"
#include "source/source.h"

/* ---- where the threads are (snapshot.c) ---- */

/* Bytes of the process's memory. */
struct piece {
	uint64_t addr;
	struct str bytes;
};

/* A thread and its stack, of one moment. */
struct snap {
	struct thread_at at;
	uint32_t own_tid;   /* its number in its own PID namespace */
	char state;	    /* as in proc_pid_status(5) */
	bool settled;	    /* registers and stack are of the same moment */
	struct piece stack; /* from the stack pointer upwards */
};

struct snapshot {
	uint32_t pid;
	VEC(struct snap) threads; /* the main thread is the first */
	map_vec maps;
	size_t ended;  /* threads that ended meanwhile */
	int unsampled; /* -errno: why those that run can't be sampled; 0: they can */
	struct thread_reader *reader;
};
/* 0, or -errno with a message. */
int snapshot__take(uint32_t pid, struct snapshot *out);
/* Returns true if this thread hasn't run since then. */
bool snapshot__is_still(struct snapshot *s, const struct snap *t);
void snapshot__free(struct snapshot *s);
/* Reads the process's memory. Returns how many bytes. */
size_t snapshot__memory(uint32_t pid, uint64_t addr, void *buf, size_t len);

/* ---- as a core dump, for src/object/core (image.c) ---- */

/* Returns the descriptor of a core dump with the stacks of all settled threads, or -errno with a
 * message. */
int image__write(const struct snapshot *s);

/* ---- what they wait for (waits.c, waits_files.c) ---- */

enum wait_kind {
	WAIT_NOTHING, /* it runs, or would run if a CPU were free */
	WAIT_CALL,    /* it is in a system call, of which nothing more is known */
	WAIT_MUTEX,   /* addr; owner */
	WAIT_RWLOCK,  /* addr; owner, if a writer has it */
	WAIT_CONDITION,
	WAIT_SEMAPHORE,
	WAIT_BARRIER,
	WAIT_FUTEX,  /* addr */
	WAIT_THREAD, /* owner: until it ends */
	WAIT_FILE,   /* text: the descriptor and its file */
	WAIT_FILES,  /* text: likewise, several */
	WAIT_TIME,   /* text: how long */
	WAIT_CHILD,  /* owner: 0 for any child */
	WAIT_SIGNAL,
	WAIT_PAGE,    /* a page that it accessed */
	WAIT_STOPPED, /* by a signal or a debugger */
	WAIT_UNKNOWN, /* it was never still */
	WAIT_KINDS
};

struct wait {
	enum wait_kind kind;
	const char *call; /* the system call; NULL if it is in none, or its name isn't known */
	int64_t number;	  /* of the call */
	uint64_t addr;	  /* 0: none */
	char *symbol;	  /* of addr; or NULL */
	uint32_t owner;
	struct str text;
};
/* Finds it out. c: the stacks, which has the objects; functions are those of the thread's innermost
 * frames, n of them, NULL where one isn't known. */
void wait__find(const struct snapshot *s, const struct snap *t, const struct core *c,
		const char *const *functions, size_t n, struct wait *out);
void wait__free(struct wait *w);
/* Appends what a descriptor of the process is: a path, or the two ends of a socket. */
void descriptor__describe(uint32_t pid, int64_t fd, struct str *to);
/* Appends the descriptors that an epoll descriptor has, at most four. */
void epoll__describe(uint32_t pid, int64_t fd, struct str *to);

/* ---- threads that wait for each other (cycles.c) ---- */

/* Sets *first to a thread of a cycle, by its index, in which each waits for the next; returns the
 * number of threads in it, 0: there is none. waits are by the index of s->threads. */
size_t cycle__find(const struct snapshot *s, const struct wait *waits, size_t *first);
/* Returns the index of the thread that this one waits for; the number of threads if none. */
size_t cycle__next(const struct snapshot *s, const struct wait *waits, size_t i);

#endif

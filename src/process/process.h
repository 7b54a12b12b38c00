/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * process: the processes that are traced, and what lies where in them. Front door of src/process.
 */
#ifndef BBTRACE_PROCESS_H
#define BBTRACE_PROCESS_H

#include "object/object.h"

/* ---- processes (processes.c) ---- */

typedef VEC(uint32_t) pid_vec;
/* Append the threads of a process, all processes, the children of those in *pids and theirs. */
void process__threads(uint32_t pid, pid_vec *out);
void processes__all(pid_vec *out);
void processes__descendants(pid_vec *pids);
/* The process of a thread; 0: there is no such thread. */
uint32_t process__of_thread(uint32_t tid);

/* ---- process maps ---- */

struct map {
	uint64_t start, end, offset; /* running addresses; file offset of start */
	uint64_t dev, ino;
	bool exec;
	char *path; /* as /proc/PID/maps shows it, without " (deleted)" */
};
typedef VEC(struct map) map_vec;

/* ---- address spaces: what lies where in running processes ---- */

/*
 * Fed with mappings as they happen; a file is opened when it is mapped, so that it can be read
 * after the process and the file's name are gone, and read when an address in it is asked for.
 */
struct spaces;
struct spaces *spaces__new(void);
void spaces__free(struct spaces *s);
/* An object that is open already: borrowed, used for every mapping of its file. */
void spaces__use(struct spaces *s, const struct object *o);
/* Takes over /proc/PID/maps: for processes that ran before the feeding began. Errors are no error:
 * it may be gone. */
void spaces__read(struct spaces *s, uint32_t pid);
void spaces__map(struct spaces *s, uint32_t pid, const struct map *m);
void spaces__fork(struct spaces *s, uint32_t pid, uint32_t parent);
void spaces__exec(struct spaces *s, uint32_t pid);
void spaces__exit(struct spaces *s, uint32_t pid);

/* All processes that have mappings. */
void spaces__each_process(const struct spaces *s, void (*fn)(void *ctx, uint32_t pid), void *ctx);
/* All mappings of a process, the oldest first: mapped again in this order, they are the same. */
void spaces__each(const struct spaces *s, uint32_t pid, void (*fn)(void *ctx, const struct map *m),
		  void *ctx);

/* For a trace out of a file: nothing is opened; which object a mapped file is, is told by
 * spaces__know(). */
struct spaces *spaces__recorded(void);
void spaces__know(struct spaces *s, uint64_t dev, uint64_t ino, const char *path,
		  const struct object *o);

/* Where a running address lies. */
struct mapped_place {
	const char *path;  /* NULL: anonymous memory, or not known. One pointer for one file */
	uint64_t dev, ino; /* of that file, as mappings show them */
	const struct object *object; /* NULL: its file could not be read */
	uint64_t vaddr;		     /* link-time address; without object the file offset */
};
void spaces__find(struct spaces *s, uint32_t pid, uint64_t addr, struct mapped_place *out);

/* Parses the text of /proc/PID/maps. Hostile text: an error or a clean result. */
int maps__parse(const char *text, map_vec *out);
void maps__free(map_vec *v);

#endif

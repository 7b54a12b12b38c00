/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * process: processes, their threads and their address spaces. Public header of src/process.
 */
#ifndef BBTRACE_PROCESS_PROCESS_H
#define BBTRACE_PROCESS_PROCESS_H

#include "object/object.h"

/* ---- processes (processes.c) ---- */

typedef VEC(uint32_t) pid_vec;
/* Append the threads of a process, all processes, the descendants of those in *pids. */
void process__threads(uint32_t pid, pid_vec *out);
void processes__all(pid_vec *out);
void processes__descendants(pid_vec *pids);
/* Appends the processes of this name, as ps(1) has it, but bbtrace itself. */
void processes__named(const char *name, pid_vec *out);
/* Returns true if it runs, or may run, in user space now: it does not wait in a system call. */
bool thread__is_running(uint32_t pid, uint32_t tid);
/* How many of its threads do. */
size_t process__running(uint32_t pid);
/* Returns the number of threads that sleep now, of all its *threads. */
size_t process__sleeping(uint32_t pid, size_t *threads);
/* What /proc/TID/status has in the line of this name, such as "PPid", without blanks in front,
 * malloc()ed. NULL: there is no such thread, or no such line. */
char *thread__status(uint32_t tid, const char *name);
/* Returns the decimal number that it begins with; 0 if there is none. */
uint64_t thread__status_number(uint32_t tid, const char *name);
/* Returns its number in its own PID namespace, or tid if that isn't known. */
uint32_t thread__own_number(uint32_t tid);
/* As in proc_pid_status(5); 'X' if there is no such thread. */
char thread__state(uint32_t tid);
/* Returns the ns for which it was on a CPU; 0 if that isn't known. */
uint64_t thread__run_time(uint32_t tid);
/* Returns the process of a thread; 0 if there is no such thread. */
uint32_t process__of_thread(uint32_t tid);
/* Returns the path of its program, as it sees it, malloc()ed; NULL if it has none, or isn't ours to
 * ask. */
char *process__program(uint32_t pid);
/* The process that it is a child of. */
uint32_t process__parent(uint32_t tid);

/* ---- limits (limits.c): bytes; UINT64_MAX: there is no limit, or none is known ---- */

/* How much more the process may map (RLIMIT_AS). */
uint64_t process__address_room(uint32_t tid);
/* How much memory its control groups leave it, all of them, of both versions. */
uint64_t process__memory_room(uint32_t pid);
/* What the machine has (MemAvailable). */
uint64_t memory__available(void);

/* ---- process maps ---- */

struct map {
	uint64_t start, end, offset; /* running addresses; file offset of start */
	uint64_t dev, ino;
	bool exec, write;
	char *path; /* as /proc/PID/maps shows it, without " (deleted)" */
};
typedef VEC(struct map) map_vec;

/* ---- address spaces: the mappings of running processes ---- */

/*
 * Built from mmap events. A file is opened when it is mapped, so that it can be read after the
 * process has ended and the file was unlinked. It is read when an address in it is resolved.
 */
struct spaces;
struct spaces *spaces__new(void);
void spaces__free(struct spaces *s);
/* Uses an object that is open already (borrowed) for every mapping of its file. */
void spaces__use(struct spaces *s, const struct object *o);
/* Returns true if a process has mapped the code of such an object. */
bool spaces__mapped(const struct spaces *s, const struct object *o);
/* Returns true if any has mapped a file that could not be opened, or that was forgotten, so that it
 * may have. */
bool spaces__incomplete(const struct spaces *s);
/* Passes each object that processes have mapped, as far as it is still known. */
void spaces__each_object(struct spaces *s, void (*fn)(void *ctx, const struct object *o),
			 void *ctx);
/* Calls fn for each mapped file, other than o's own, of the same build or the same name, with the
 * first process that mapped it. */
void spaces__similar(const struct spaces *s, const struct object *o,
		     void (*fn)(void *ctx, uint32_t pid, const char *path, bool same_build),
		     void *ctx);
/* Adds the mappings of /proc/PID/maps, for processes that ran before the trace. Errors are ignored:
 * the process may have ended. */
void spaces__read(struct spaces *s, uint32_t pid);
void spaces__map(struct spaces *s, uint32_t pid, const struct map *m);
/* Calls fn for each range of addresses that this mapping would give another meaning. */
void spaces__replaced(const struct spaces *s, uint32_t pid, const struct map *m,
		      void (*fn)(void *ctx, uint64_t start, uint64_t end), void *ctx);
void spaces__fork(struct spaces *s, uint32_t pid, uint32_t parent);
void spaces__exec(struct spaces *s, uint32_t pid);
void spaces__exit(struct spaces *s, uint32_t pid);

/* Calls fn for each process with mappings. */
void spaces__each_process(const struct spaces *s, void (*fn)(void *ctx, uint32_t pid), void *ctx);
/* Calls fn for each mapping of a process, oldest first: mapping them in this order gives the same
 * address space. */
void spaces__each(const struct spaces *s, uint32_t pid, void (*fn)(void *ctx, const struct map *m),
		  void *ctx);

/* For a trace from a file: opens nothing. spaces__know() supplies the objects of mapped files. */
struct spaces *spaces__recorded(void);
/* Forgets all mappings: some that came since then are not known. */
void spaces__forget(struct spaces *s);
void spaces__know(struct spaces *s, uint64_t dev, uint64_t ino, const char *path,
		  const struct object *o);

/* What a running address resolves to. */
struct mapped_place {
	const char *path;	     /* NULL: anonymous memory, or unknown. One pointer per file */
	uint64_t dev, ino;	     /* of that file, as in mappings */
	const struct object *object; /* NULL: its file could not be read */
	uint64_t vaddr;		     /* link-time address; file offset if object is NULL */
	bool mapped;		     /* something is mapped there that can be executed */
};
void spaces__find(struct spaces *s, uint32_t pid, uint64_t addr, struct mapped_place *out);

/* ---- code that processes generate (perf_map.c) ---- */

struct generated {
	uint64_t start, size;
	char *name;
};
struct perf_maps;
struct perf_maps *perf_maps__new(void);
void perf_maps__free(struct perf_maps *p);
/* The process has ended, or runs another program. */
void perf_maps__forget(struct perf_maps *p, uint32_t pid);
/*
 * The process has mapped memory for code that it generates, at this time (CLOCK_MONOTONIC, ns).
 * While it lives, the file's place and its owner are found; the file is read also after the process
 * has ended.
 */
void perf_maps__begin(struct perf_maps *p, uint32_t pid, uint64_t time);
/* Returns the function at a running address by /tmp/perf-PID.map, as it is now, valid until the
 * next call; NULL if there is none. */
const struct generated *perf_maps__find(struct perf_maps *p, uint32_t pid, uint64_t addr);

/* ---- /proc/PID/maps ---- */

/* Parses the text of /proc/PID/maps. Untrusted text gives an error or a valid result. */
int maps__parse(const char *text, map_vec *out);
/* Reads those of a process, or thread, as they are now. Returns 0 or -errno: usually it has
 * ended. */
int maps__read(uint32_t pid, map_vec *out);
void maps__free(map_vec *v);
/* Returns the mapping of a process, among ascending ones, that addr is in; NULL if it is in
 * none. */
const struct map *maps__at(const map_vec *maps, uint64_t addr);
/* Returns true if this mapping of a process is code of the object. *bias is what is added to the
 * object's addresses there. */
bool map__is_code(uint32_t pid, const struct map *m, const struct object *o, uint64_t *bias);

#endif

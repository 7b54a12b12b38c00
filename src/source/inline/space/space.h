/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * space: address spaces of traced processes, and what the supervisor maps there for itself: areas
 * of logs, beacons; which processes and threads there are. It uses target/.
 *
 * First to read: thread__get_slot(), space__fork(), thread__remove().
 */
#ifndef BBTRACE_SOURCE_INLINE_SPACE_SPACE_H
#define BBTRACE_SOURCE_INLINE_SPACE_SPACE_H

#include "source/inline/target/target.h"

/* ---- near.c ---- */
/* Maps memory for code within reach of start. Returns 0 if it may not, or if there is no room. */
uint64_t thread__map_near(struct thread *t, const map_vec *maps, uint64_t start, bool pie,
			  uint64_t size);

/* ---- stacks.c ---- */
/* Before it gets a slot. */
void thread__find_stack(struct thread *t);

/* ---- bell.c ---- */
/* page: the first one of an area's mapping here; rung: an eventfd. NULL: there can't be more. */
struct bell *bell__new(int rung, void *page);
void bell__free(struct bell *b);

/* ---- log_memory.c ---- */
/* Memory for logs that a process and this one have mapped; fd is its file, to be passed on. Nobody
 * can make it shorter. */
struct log_memory {
	uint64_t at, size;
	uint8_t *mem;
	int fd;
	struct fetched file;
};
/* Returns how many of the wanted slots may be mapped without taking from the program what its
 * limits leave it. 0: none; tracer.no_log says why. *charged: as in struct area. */
uint32_t thread__log_slots(struct thread *t, uint32_t want, uint64_t slot_size, bool *charged);
/* Makes it by a stopped thread. Returns false if that failed; tracer.no_log says why. */
bool thread__make_log(struct thread *t, uint64_t size, struct log_memory *out);

/* ---- area.c ---- */
/* A stopped thread tries; nothing stays mapped. False, here and below: tracer.no_log says why. */
bool thread__may_map_area(struct thread *t);
bool thread__get_slot(struct thread *t, pid_t parent, uint64_t forked);
void thread__drop_slot(struct thread *t);
void tracer__slot_done(struct tracer *s, uint32_t area, uint32_t slot);
void area__drop(struct tracer *s, struct area *a);

/* ---- beacon.c ---- */
/* Puts the beacon in place of the loader's function at addr. Returns false if it can't. */
bool beacon__light(struct thread *t, struct watch *w, uint64_t addr);
/* Returns true if a request of a thread of the space is heard: what it calls to make one may be in
 * place. */
bool space__has_bell(struct space *s, const struct tracer *tracer);
/* A thread that is in the beacon returns from it. */
void beacon__leave(struct thread *t);
void beacon__remove(struct space *s, const struct tracer *tracer);

/* ---- spaces.c ---- */
struct space *space__new(const struct tracer *s, struct process *p);
struct space *space__fork(const struct space *s, struct process *p);
void space__drop(struct tracer *tracer, struct space *s);

/* ---- shared.c ---- */
bool processes__share_memory(pid_t a, pid_t b);
/* Returns another process that has its memory; s: one that isn't traced. 0 if there is none. */
uint32_t process__sharer(const struct tracer *s, pid_t pid);
/* Returns true if it can be known whether two processes share their memory (kcmp(2)). */
bool processes__can_be_compared(void);
/* Returns true if it has threads, or if other processes have its memory, that aren't traced. */
bool process__has_strays(const struct tracer *s, const struct process *p);

/* ---- processes.c ---- */
/* t is the thread that made it; NULL if not known. */
void process__add_child(struct tracer *s, struct process *parent, struct thread *t, pid_t child);
/* Takes a stop of a child that came before its parent reported it. Returns false if there is
 * none. */
bool tracer__take_early(struct tracer *s, pid_t child, struct stop *out);
void thread__remove(struct thread *t);

#endif

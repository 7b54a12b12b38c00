/* SPDX-License-Identifier: BSD-2-Clause */
/* core: a core dump's stacks beside a trace of the process. */
#ifndef BBTRACE_VERBS_CORE_CORE_H
#define BBTRACE_VERBS_CORE_CORE_H

#include "object/core/core.h"
#include "pipeline/render.h"
#include "pipeline/read/replay.h"

/* ---- is a trace file one of that process? (core_trace.c) ---- */

struct core_trace {
	uint32_t pid; /* as the trace has it; 0: it has no such process */
	bool ended;   /* it has the process's end */
	size_t same;  /* files that both have at the same address */
	char *why;    /* it isn't; NULL: it is */
};
/* Reads all of it. 0, or -errno: it can't be read. */
int core_trace__look(const char *path, const struct core *c, struct core_trace *out);
void core_trace__free(struct core_trace *t);
/* The newest trace file of that process beside the core dump, malloc()ed; NULL: none. */
char *core_trace__beside(const char *core_path, const struct core *c);

/* ---- frames by name and line (core_frames.c) ---- */

/* A function that was inlined there, or the frame's own. */
struct core_line {
	char *function; /* as shown; NULL: not known */
	const char *file;
	unsigned line; /* 0: not known */
	bool inlined;
};
struct core_place {
	struct location at;
	const struct core_file *of;  /* NULL: of no file */
	VEC(struct core_line) lines; /* innermost first */
};
/* By the frame's number in core->frames; the caller frees them with core_places__free(). */
struct core_place *core_places__new(const struct core *c, bool lines);
void core_places__free(struct core_place *p, const struct core *c);

/* ---- where a thread's newest branch meets its stack (core_meet.c) ---- */

enum core_meet_how {
	MEET_NOTHING,  /* the trace has no branch of the thread */
	MEET_APART,    /* it leads elsewhere */
	MEET_GAP,      /* events are missing behind it */
	MEET_STRAIGHT, /* it leads to the frame's instruction, without a branch in between */
	MEET_CALL,     /* it is the call that the frame is in */
	MEET_INTO      /* it leads into the function of the frame, which isn't traced */
};
struct core_meet {
	enum core_meet_how how;
	size_t frame; /* of the thread's */
	bool has_branch;
	struct kept_step branch;
};
/* pid: as the trace has it. */
void core_meet__find(struct show *s, uint32_t pid, uint32_t tid, const struct core *c,
		     const struct core_thread *t, const struct core_place *places,
		     struct core_meet *out);
void core_meet__free(struct core_meet *m);

/* ---- rendering (core_show.c) ---- */

struct core_shown {
	const struct core *core;
	const struct core_place *places;
	const char *trace; /* the file's name; NULL: none */
	const struct core_trace *fit;
	bool json;
};
void core_show__head(const struct core_shown *s, struct str *to);
void core_show__thread(const struct core_shown *s, const struct core_thread *t,
		       const struct core_meet *meet, struct str *to);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* core: shows the stacks of a core dump beside a trace of the process. */
#ifndef BBTRACE_VERBS_CORE_CORE_H
#define BBTRACE_VERBS_CORE_CORE_H

#include "object/core/core.h"
#include "pipeline/render.h"
#include "pipeline/read/replay.h"

/* ---- whether a trace file is of that process (core_trace.c) ---- */

struct core_trace {
	uint32_t pid; /* as in the trace; 0 if it has no such process */
	bool ended;   /* the trace has the process's end */
	size_t same;  /* number of files that both have at the same address */
	char *why;    /* why it is of another process; NULL if it is of this one */
};
/* Reads the whole trace. Returns 0, or -errno if it can't be read. */
int core_trace__look(const char *path, const struct core *c, struct core_trace *out);
void core_trace__free(struct core_trace *t);
/* Returns the newest trace file of that process beside the core dump, malloc()ed; NULL if there
 * is none. */
char *core_trace__beside(const char *core_path, const struct core *c);

/* ---- frames by name and line (core_frames.c) ---- */

/* A function that was inlined at the place, or the frame's own. */
struct core_line {
	char *function; /* as shown; NULL if not known */
	const char *file;
	unsigned line; /* 0 if not known */
	bool inlined;
};
struct core_place {
	struct location at;
	const struct core_file *of;  /* NULL if it is in no file */
	VEC(struct core_line) lines; /* innermost first */
};
/* Returns the places, by the frame's number in core->frames; freed by core_places__free(). */
struct core_place *core_places__new(const struct core *c, bool lines);
void core_places__free(struct core_place *p, const struct core *c);

/* ---- where a thread's newest branch meets its stack (core_match.c) ---- */

enum core_meet_how {
	MEET_NOTHING,  /* the trace has no branch of the thread */
	MEET_APART,    /* the branch leads elsewhere */
	MEET_GAP,      /* events are missing after the branch */
	MEET_STRAIGHT, /* the branch leads to the frame's instruction, with no branch in between */
	MEET_CALL,     /* the branch is the call that the frame is in */
	MEET_INTO      /* the branch leads into the function of the frame, which isn't traced */
};
struct core_meet {
	enum core_meet_how how;
	size_t frame; /* index into the thread's frames */
	bool has_branch;
	struct kept_step branch;
};
/* Finds where they meet. pid is as in the trace. */
void core_meet__find(struct show *s, uint32_t pid, uint32_t tid, const struct core *c,
		     const struct core_thread *t, const struct core_place *places,
		     struct core_meet *out);
void core_meet__free(struct core_meet *m);

/* ---- rendering (core_show.c) ---- */

struct core_shown {
	const struct core *core;
	const struct core_place *places;
	const char *trace; /* the file's name; NULL if none */
	const struct core_trace *fit;
	bool json;
};
void core_show__head(const struct core_shown *s, struct str *to);
void core_show__thread(const struct core_shown *s, const struct core_thread *t,
		       const struct core_meet *meet, struct str *to);
/* The frames of a thread, and why they end; as members stack and stack_end of an open object. meet
 * may be NULL. */
void core_show__stack_text(const struct core *c, const struct core_place *places,
			   const struct core_thread *t, const struct core_meet *meet,
			   struct str *to);
void core_show__stack_json(const struct core_place *places, const struct core_thread *t,
			   struct json *j);

#endif

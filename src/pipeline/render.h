/* SPDX-License-Identifier: BSD-2-Clause */
/* render: a sink for rendered text or a trace file, and the options of an output. Shared by the
 * tracing verbs and report. */
#ifndef BBTRACE_PIPELINE_RENDER_H
#define BBTRACE_PIPELINE_RENDER_H

#include "cli/request.h"

/* Writes to a file descriptor. */
struct sink {
	int fd;			/* -1 if not open */
	const char *name;	/* for messages */
	bool is_file;		/* a regular file: no live viewer */
	bool is_terminal;	/* possibly through a pager */
	unsigned width, height; /* of the terminal; 0 if not known, or none */
	/* the reader of a pipe closed it, which ends the trace without an error */
	bool reader_gone;
	bool has_old; /* a file that still has its old contents */
};
/* The place of a file, whatever its path leads to later. */
struct sink_place {
	int dir; /* -1 if none */
	char *name;
};
/*
 * Opens path; NULL or "-" is stdout. A new file has mode 0600. Never follows another user's link or
 * file in a directory like /tmp. *kept gets the file's place, for sink_place__close(); NULL if not
 * needed.
 */
int sink__open(struct sink *s, const char *path, struct sink_place *kept);
bool sink__is_stdout(const char *path);
/* Sets width and height, which COLUMNS and LINES override. */
void sink__measure(struct sink *s);
/* From now on, open() opens the file, whose name it knows. It returns a descriptor, or -errno
 * with a message. */
void sink__open_by(int (*open)(void));
/* Takes an open descriptor of that file, which the sink closes. */
void sink__take(struct sink *s, const char *path, int fd);
void sink_place__close(struct sink_place *p);
/*
 * Opens such a file, a terminal, a pipe or /dev/null, but no other device and no program. Returns a
 * descriptor, or -errno. The file keeps its contents. *kept gets its place; NULL if not needed.
 */
int sink__open_file(const char *path, struct sink_place *kept);
/* Fails if the file can't be renamed to FILE.1. path is for messages. */
int sink_place__check_old(const struct sink_place *p, const char *path);
/* Renames the file, which must still be `current`, to FILE.1, replacing an older one, and makes
 * a new file. Returns its descriptor, or -errno. */
int sink_place__rotate(const struct sink_place *p, const char *path, const struct stat *current);
/* Truncates the file, before its first byte is written: so a trace that fails to begin leaves
 * the file of an earlier run. */
int sink__begin(struct sink *s);
void sink__close(struct sink *s);
/* Makes a closed pipe and RLIMIT_FSIZE errors of write(2) instead of signals, also for later
 * children. */
void sink__ignore_signals(void);
/* A write_fn. */
int sink__write(void *sink, const void *data, size_t len);

/* A format and its sink. */
struct render {
	struct sink sink;
	struct output *output;
	struct source_lines *sources;
	char *folder;		       /* the current one; NULL: not known */
	struct explaining *explaining; /* set by the caller; NULL: events are shown */
	uint64_t settled;	       /* the last time that pending repetitions were shown */
};
/* Sets the options of an output. What they refer to belongs to r, render__close() frees it. */
void render__options(struct render *r, const struct request *req, const struct trace_meta *meta,
		     pid_t pid, struct output_options *out);
/* Starts the output; the sink must be open. pid: the process in whose root sources are looked
 * up; 0: our own. -EINVAL with a message if options contradict each other. */
int render__start(struct render *r, const struct request *req, const struct plan *plan,
		  const struct trace_meta *meta, pid_t pid);
/* --last: true if this output shows the newest first. */
bool newest_first(const struct request *req);
/* Writes buffered output; now: CLOCK_MONOTONIC. */
/* Takes the size that the terminal has now. */
void render__resize(struct render *r);
int render__flush(struct render *r, uint64_t now);
void render__close(struct render *r);

/*
 * Sets what rendering depends on, from the options and clocks, and what describes the run: command
 * line, machine, version. -EINVAL with a message for an unknown register. meta__free() frees what
 * it holds.
 */
int meta__of_args(struct trace_meta *m, const struct request *req, const struct arch *arch);
void meta__free(struct trace_meta *m);
/* Applies the options of report. */
int meta__override(struct trace_meta *m, const struct request *req, const struct arch *arch);
struct trace_options meta__trace_options(const struct trace_meta *m);

#endif

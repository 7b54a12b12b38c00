/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * render: the sink of rendered text or a trace file, and the output's options. Shared by the
 * tracing verbs and report.
 */
#ifndef BBTRACE_PIPELINE_RENDER_H
#define BBTRACE_PIPELINE_RENDER_H

#include "cli/request.h"

/* Writes to a file descriptor. */
struct sink {
	int fd;		  /* -1: not open */
	const char *name; /* for messages */
	bool is_file;	  /* a regular file: no live viewer */
	bool is_terminal; /* possibly through a pager */
	unsigned width;	  /* of the terminal; 0: not known */
	bool reader_gone; /* the reader of a pipe closed it: a clean end */
	bool has_old;	  /* a file whose old contents are still there */
};
/* Where a file lies, whatever its path leads to later. */
struct sink_place {
	int dir; /* -1: nowhere */
	char *name;
};
/* path NULL or "-": stdout. Else a file of mode 0600. Never follows another user's link or file in
 * a directory like /tmp. *kept: the file's place, which is closed by sink_place__close(); NULL: not
 * needed. */
int sink__open(struct sink *s, const char *path, struct sink_place *kept);
bool sink__is_stdout(const char *path);
/* From now on this opens the file, whose name it knows: a descriptor, or -errno with a message. */
void sink__open_by(int (*open)(void));
/* An open descriptor of that file, which the sink closes. */
void sink__take(struct sink *s, const char *path, int fd);
void sink_place__close(struct sink_place *p);
/* The descriptor of such a file, a terminal, a pipe or /dev/null, no other device and no program;
 * or -errno. What the file contains is still there. *kept: its place; NULL: not needed. */
int sink__open_file(const char *path, struct sink_place *kept);
/* May the file be renamed to FILE.1? path: of the file, for messages. */
int sink_place__check_old(const struct sink_place *p, const char *path);
/* Renames the file, which must still be `current`, to FILE.1, which replaces an older one, and
 * makes a new one: its descriptor, or -errno. */
int sink_place__rotate(const struct sink_place *p, const char *path, const struct stat *current);
/* Truncates the file, before its first byte: what can't be traced leaves the file of an earlier
 * run. */
int sink__begin(struct sink *s);
void sink__close(struct sink *s);
/* Makes a closed pipe and RLIMIT_FSIZE errors of write(2) instead of signals. Later children
 * inherit that. */
void sink__ignore_signals(void);
/* A write_fn. */
int sink__write(void *sink, const void *data, size_t len);

/* A format on a sink. */
struct render {
	struct sink sink;
	struct output *output;
	struct source_lines *sources;
	struct explaining *explaining; /* to be set; NULL: events are shown */
	uint64_t settled;	       /* the last time that pending repetitions were shown */
};
/* The sink must be open. pid: the process in whose root sources are, 0: our own. -EINVAL:
 * incompatible options. */
int render__start(struct render *r, const struct request *req, const struct plan *plan,
		  const struct trace_meta *meta, pid_t pid);
/* --last: does this output show the newest first? */
bool newest_first(const struct request *req);
/* Writes buffered output; now: CLOCK_MONOTONIC. */
int render__flush(struct render *r, uint64_t now);
void render__close(struct render *r);

/* Fills in what rendering depends on, from the options and clocks, and what describes the run:
 * command line, machine, version. -EINVAL: unknown register. meta__free() frees what it holds. */
int meta__of_args(struct trace_meta *m, const struct request *req, const struct arch *arch);
void meta__free(struct trace_meta *m);
/* Applies the options of report. */
int meta__override(struct trace_meta *m, const struct request *req, const struct arch *arch);
struct trace_options meta__trace_options(const struct trace_meta *m);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * render: where rendered text or a trace file goes, and how the options say that it is to look.
 * Shared by what traces and by report.
 */
#ifndef BBTRACE_CMD_RENDER_H
#define BBTRACE_CMD_RENDER_H

#include "cmd.h"

/* Bytes to a file descriptor. */
struct sink {
	int fd;		  /* -1: not open */
	const char *name; /* for messages */
	bool is_file;	  /* a regular one: nobody watches it grow */
	bool is_terminal; /* perhaps behind a pager */
	unsigned width;	  /* of the terminal; 0: not known */
	bool reader_gone; /* a pipe's reader closed it: a clean end */
};
/* path NULL or "-": stdout. Else a file of mode 0600, begun anew; never through what somebody else
 * put into a folder like /tmp. */
int sink__open(struct sink *s, const char *path);
/* Its descriptor, or -errno: such a file, a terminal, a pipe or /dev/null; no other device. */
int sink__open_file(const char *path);
/* May a file of ours take the place of what has this name? */
int sink__check_old(const char *path);
void sink__close(struct sink *s);
/* A reader that has gone and a file that may not grow (RLIMIT_FSIZE) are errors of a write, and no
 * signals. Whom we fork from then on inherits that. */
void sink__ignore_signals(void);
/* write_fn and trace_write_fn. */
int sink__write(void *sink, const void *data, size_t len);

/* A format on a sink. */
struct render {
	struct sink sink;
	struct output *output;
	struct sources *sources;
	uint64_t settled; /* when what waits to be folded was shown last */
};
/* The sink is open. pid: the process in whose root sources are, 0: ours. -EINVAL: options that
 * don't go together. */
int render__start(struct render *r, const struct args *a, const struct plan *plan,
		  const struct trace_meta *meta, pid_t pid);
/* The cheapest placement that gives what the options ask for. record: so may a later report. */
enum plan_placement render__placement(const struct args *a, bool record);
/* --last: text shows the newest first. */
bool newest_first(const struct args *a);
/* Writes what there is; now: of CLOCK_MONOTONIC. */
int render__flush(struct render *r, uint64_t now);
void render__close(struct render *r);

/* What rendering depends on, as the options and the clocks say it. -EINVAL: no such register. */
int meta__of_args(struct trace_meta *m, const struct args *a, const struct arch *arch);
/* What the options of report say otherwise. */
int meta__override(struct trace_meta *m, const struct args *a, const struct arch *arch);
struct trace_options meta__trace_options(const struct trace_meta *m);

#endif

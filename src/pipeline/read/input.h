/* SPDX-License-Identifier: BSD-2-Clause */
/* input: a trace file that is read, armored or not, from a file or standard input. */
#ifndef BBTRACE_PIPELINE_READ_INPUT_H
#define BBTRACE_PIPELINE_READ_INPUT_H

#include "cli/request.h"
#include "pipeline/pager.h"

/* Number of bytes that are read first, to detect the form of the file. */
#define INPUT_PEEK 8

struct input {
	const char *name;
	int fd;
	bool streams; /* the file may still be growing */
	uint8_t peeked[INPUT_PEEK];
	size_t npeeked, given;
	struct dearmor *dearmor; /* NULL if not armored */
	struct progress progress;
	struct trace_reader *reader;
	/* Called before waiting for more bytes; returns 0 or -errno. NULL if not needed. */
	int (*waits)(void *ctx);
	void *ctx;
};

/* Opens a file; "-" is standard input. The input must not be moved, nor name freed, until it is
 * closed. */
int input__open(struct input *in, const char *name);
void input__close(struct input *in);
/* Closes the file; its plan and objects stay valid. */
void input__close_file(struct input *in);
/* True if the error is one of the file itself. What was read before it is valid. */
bool input__is_of_file(int err);
/* True if a bbtrace is still writing the file. */
bool input__is_growing(const struct input *in);
/* After an error of the file: reads the rest of an armored one, to report all damage. Returns
 * the error. */
int input__report_damage(struct input *in, int err);
/* True if this is the name of an existing trace file. */
bool input__is_trace(const char *name);

#endif

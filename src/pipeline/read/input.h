/* SPDX-License-Identifier: BSD-2-Clause */
/* input: a trace file that is read, armored or not, from a file or standard input. */
#ifndef BBTRACE_PIPELINE_READ_INPUT_H
#define BBTRACE_PIPELINE_READ_INPUT_H

#include "cli/request.h"
#include "pipeline/pager.h"

/* Bytes that are read first, to detect the form of the file. */
#define INPUT_PEEK 8

struct input {
	const char *name;
	int fd;
	bool streams; /* it may still be growing */
	uint8_t peeked[INPUT_PEEK];
	size_t npeeked, given;
	struct dearmor *dearmor; /* NULL: not armored */
	struct progress progress;
	struct trace_reader *reader;
	/* Called before waiting for more bytes. 0, or -errno; NULL: nothing is to be done */
	int (*waits)(void *ctx);
	void *ctx;
};

/* name: "-" is standard input. The input must not be moved, nor name freed, until it is closed. */
int input__open(struct input *in, const char *name);
void input__close(struct input *in);
/* Nothing more is read of it; plan and objects stay. */
void input__close_file(struct input *in);
/* Is err one of the file itself? What was read before it is good. */
bool input__is_of_file(int err);
/* Is a bbtrace recording it? */
bool input__is_growing(const struct input *in);
/* After an error of the file: reads the rest of an armored one, to tell all damage. */
int input__report_damage(struct input *in, int err);
/* Does this name a trace file that exists? */
bool input__is_trace(const char *name);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* What is said on a control socket (CONTRACT.md, Control socket): lines of requests, and the heads
 * of answers. Pure. */
#ifndef BBTRACE_CONTROL_LINE_H
#define BBTRACE_CONTROL_LINE_H

#include "util/util.h"

/* The first line that a trace writes, before its PID. */
#define CONTROL_GREETING "bbtrace 1"
/* Bytes of a request with its line end. */
#define CONTROL_LINE_MAX 4096

/* Collects lines from pieces of any size. Zeroed: empty. */
struct control_lines {
	char held[CONTROL_LINE_MAX + 1];
	size_t len;  /* of held */
	size_t took; /* of it: the line that was given last */
};
/* Room for more bytes, to be reported by control_lines__add(); 0 if a line is complete but not
 * taken, or too long. */
size_t control_lines__room(struct control_lines *l, char **at);
void control_lines__add(struct control_lines *l, size_t len);
/* The next complete line without its end, valid until more is added; NULL: there is none. A NUL
 * ends it, so that what follows one in the line is not seen: see *whole. */
char *control_lines__next(struct control_lines *l, bool *whole);
/* Is there no line in as many bytes as one may have? */
bool control_lines__overflow(const struct control_lines *l);

struct control_request {
	const char *command;
	const char *text; /* what follows it, "" if nothing */
	bool json;	  /* -F json precedes the text */
};
/* Takes the line apart, in place: COMMAND [-F text|json] [TEXT]. -EINVAL with a message. */
int control_request__parse(char *line, struct control_request *out);

/* "ok 12\n" */
enum control_result { CONTROL_OK, CONTROL_ERROR, CONTROL_USAGE };
void control_head__put(struct str *s, enum control_result result, size_t len);
/* Reads a head without its line end. A result that this version doesn't know is an error. False: it
 * is none. */
bool control_head__parse(const char *line, enum control_result *result, uint64_t *len);

#endif

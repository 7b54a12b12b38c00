/* SPDX-License-Identifier: BSD-2-Clause */
/* line: the protocol of a control socket (CONTRACT.md, Control socket): request lines, and the
 * heads of answers. Pure. */
#ifndef BBTRACE_CONTROL_LINE_H
#define BBTRACE_CONTROL_LINE_H

#include "util/util.h"

/* The first line that a trace writes, before its PID. */
#define CONTROL_GREETING "bbtrace 1"
/* Maximum of bytes in a request, with its line end. */
#define CONTROL_LINE_MAX 4096

/* Collects lines from chunks of any size. Zeroed: empty. */
struct control_lines {
	char held[CONTROL_LINE_MAX + 1];
	size_t len;  /* of held */
	size_t took; /* the bytes of held that the last line took */
};
/* Returns the room for more bytes, whose number control_lines__add() gets; 0 if a complete line
 * has not been taken, or a line is too long. */
size_t control_lines__room(struct control_lines *l, char **at);
void control_lines__add(struct control_lines *l, size_t len);
/* Returns the next complete line without its end, valid until more is added; NULL if there is
 * none. A NUL ends the string early: then *whole is false. */
char *control_lines__next(struct control_lines *l, bool *whole);
/* True if the longest line that is allowed has no end. */
bool control_lines__overflow(const struct control_lines *l);

struct control_request {
	const char *command;
	const char *text; /* what follows it, "" if nothing */
	bool json;	  /* -F json precedes the text */
};
/* Splits a line in place: COMMAND [-F text|json] [TEXT]. -EINVAL with a message. */
int control_request__parse(char *line, struct control_request *out);

/* "ok 12\n" */
enum control_result { CONTROL_OK, CONTROL_ERROR, CONTROL_USAGE };
void control_head__put(struct str *s, enum control_result result, size_t len);
/* Parses a head without its line end. A result that this version doesn't know is an error.
 * Returns false if it isn't a head. */
bool control_head__parse(const char *line, enum control_result *result, uint64_t *len);

#endif

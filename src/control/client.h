/* SPDX-License-Identifier: BSD-2-Clause */
/* A client of a control socket: asks one thing. */
#ifndef BBTRACE_CONTROL_CLIENT_H
#define BBTRACE_CONTROL_CLIENT_H

#include "line.h"

struct control_client {
	int fd;		/* -1: not connected */
	int timeout_ms; /* for the greeting, and for each piece of an answer */
	bool greeted;
	const char *who; /* for messages: "trace 123" */
	struct str in;	 /* received; from at on, not taken yet */
	size_t at;
};
/* Receives a piece of an answer: 0, or -errno with a message. */
typedef int (*control_take_fn)(void *ctx, const char *data, size_t len);

/* Connects and reads the greeting. who and the client's other members are set. -ECONNREFUSED:
 * nobody listens; -ETIMEDOUT: no greeting came. All errors have a message. */
int control_client__open(struct control_client *c, const char *path);
/* Asks, and passes the answer on. An answer that is an error is returned as one. request: a line
 * without its end. */
int control_client__ask(struct control_client *c, const char *request, control_take_fn take,
			void *ctx);
/* Waits until the trace closes the connection. */
void control_client__await_end(struct control_client *c);
void control_client__close(struct control_client *c);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* client: the client of a control socket, which sends one request. */
#ifndef BBTRACE_CONTROL_CLIENT_H
#define BBTRACE_CONTROL_CLIENT_H

#include "line.h"

struct control_client {
	int fd;		/* -1 if not connected */
	int timeout_ms; /* for the greeting, and for each chunk of an answer */
	bool greeted;
	const char *who; /* for messages: "trace 123" */
	struct str in;	 /* received; what follows at is not taken yet */
	size_t at;
};
/* Takes a chunk of an answer. Returns 0, or -errno with a message. */
typedef int (*control_take_fn)(void *ctx, const char *data, size_t len);

/* Connects and reads the greeting. who and timeout_ms must be set. -ECONNREFUSED if nobody
 * listens, -ETIMEDOUT if no greeting came; all errors have a message. */
int control_client__open(struct control_client *c, const char *path);
/* Sends a request, a line without its end, and passes the answer to take. If the answer is an
 * error, returns it as one. */
int control_client__ask(struct control_client *c, const char *request, control_take_fn take,
			void *ctx);
/* Waits until the trace closes the connection. */
void control_client__await_end(struct control_client *c);
void control_client__close(struct control_client *c);

#endif

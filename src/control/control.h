/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * control: the side of a running trace that bbtrace ctl talks to. Clients of the control socket
 * send requests, and the trace's main loop runs their commands one after the other: rows of a table
 * in control.c.
 */
#ifndef BBTRACE_CONTROL_CONTROL_H
#define BBTRACE_CONTROL_CONTROL_H

#include "server.h"
#include "socket.h"
#include "session/counts/counting.h"
#include "session/live.h"
#include "session/recording.h"
#include "pipeline/render.h"

#define CONTROL_DUMPS 4 /* at most */

/* What commands act on, all of it borrowed, and what the main loop needs to know. */
struct growth;
struct control {
	const struct request *request;
	struct plan *plan;
	struct recording *recording;
	struct growth *growth;
	struct render *render;
	const struct trace_meta *meta;
	const char *record; /* the trace file; NULL if none */

	/* of the request that runs */
	bool json;
	struct control_reply *reply;

	struct control_socket socket;
	struct control_server *server;
	pid_t dumps[CONTROL_DUMPS]; /* children that answer; 0 if none */
};

/* A command. text is what follows its name. It appends its answer, or returns -errno with a
 * message, which is then the answer. */
struct control_command {
	const char *name;
	const char *args, *help; /* for the command help */
	int (*run)(struct control *c, const char *text, struct str *answer);
};

/* Opens the socket that the options choose, if any. Clients that connect wait for
 * control__serve(). */
int control__open(struct control *c);
/* Returns a descriptor that is readable when control__serve() has work; -1 without a socket. */
int control__fd(const struct control *c);
/* Returns how long control__serve() need not be called, at most `most`. */
int control__patience_ms(const struct control *c, int most);
/* Does what is due. Returns 0, or what ends the trace: -errno, or what the sink returned. */
int control__serve(struct control *c, uint64_t now);
void control__close(struct control *c);

/* ---- commands (counts.c) ---- */

int control__counts(struct control *c, const char *text, struct str *answer);
int control__reset(struct control *c, const char *text, struct str *answer);

/* (growth_commands.c) */
int control__add(struct control *c, const char *text, struct str *answer);
int control__remove(struct control *c, const char *text, struct str *answer);

/* Begins with recording stopped at this time. Fails if nobody could start it. */
int control__begin_stopped(struct control *c, uint64_t time);

/* ---- commands (dump.c) ---- */

int control__dump(struct control *c, const char *text, struct str *answer);
/* Reaps the children that have answered. */
void control__reap_dumps(struct control *c);

/* ---- commands (marks.c) ---- */

int control__stop(struct control *c, const char *text, struct str *answer);
int control__start(struct control *c, const char *text, struct str *answer);
int control__mark(struct control *c, const char *text, struct str *answer);

/* -EINVAL with a message if the command got a text. */
int control__no_text(const char *command, const char *text);

#endif

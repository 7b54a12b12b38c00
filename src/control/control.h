/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * control: a running trace's side of bbtrace ctl. Clients of the control socket ask, and the
 * trace's main loop runs their commands one after the other: rows of a table in control.c.
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

/* What commands act on, all of it borrowed, and what the main loop has to know of them. */
struct growth;
struct control {
	const struct request *request;
	struct plan *plan;
	struct recording *recording;
	struct growth *growth;
	struct render *render;
	const struct trace_meta *meta;
	const char *record; /* the trace file; NULL: none */

	/* of the request */
	bool json;
	struct control_reply *reply;

	struct control_socket socket;
	struct control_server *server;
	pid_t dumps[CONTROL_DUMPS]; /* children that answer; 0: none */
};

/* A command. text: what follows its name. Appends its answer; -errno with a message is the answer
 * instead. */
struct control_command {
	const char *name;
	const char *args, *help; /* for the command help */
	int (*run)(struct control *c, const char *text, struct str *answer);
};

/* Opens the socket that the options choose; there may be none. Clients that come now wait for
 * control__serve(). */
int control__open(struct control *c);
/* Readable when there is something to do; -1: there is no socket. */
int control__fd(const struct control *c);
/* How long it may be left alone. */
int control__patience_ms(const struct control *c, int most);
/* Does what is to be done: 0, or what ends the trace, -errno or as the sink returned it. */
int control__serve(struct control *c, uint64_t now);
void control__close(struct control *c);

/* ---- commands (counts.c) ---- */

int control__counts(struct control *c, const char *text, struct str *answer);
int control__reset(struct control *c, const char *text, struct str *answer);

/* (growth_commands.c) */
int control__add(struct control *c, const char *text, struct str *answer);
int control__remove(struct control *c, const char *text, struct str *answer);

/* Recording is stopped from the start on, at this time. Fails if nobody could start it. */
int control__begin_stopped(struct control *c, uint64_t time);

/* ---- commands (dump.c) ---- */

int control__dump(struct control *c, const char *text, struct str *answer);
/* Forgets the children that have answered. */
void control__reap_dumps(struct control *c);

/* ---- commands (marks.c) ---- */

int control__stop(struct control *c, const char *text, struct str *answer);
int control__start(struct control *c, const char *text, struct str *answer);
int control__mark(struct control *c, const char *text, struct str *answer);

/* -EINVAL with a message, if the command got a text. */
int control__no_text(const char *command, const char *text);

#endif

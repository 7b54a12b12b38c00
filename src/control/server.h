/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The clients of a control socket: their requests, each run by a function, and the answers. Nothing
 * here waits: what a client doesn't read is kept until it does, and a client that is silent for
 * long is dropped.
 */
#ifndef BBTRACE_CONTROL_SERVER_H
#define BBTRACE_CONTROL_SERVER_H

#include "line.h"

#define CONTROL_CLIENTS 16
#define CONTROL_IDLE_NS (60 * 1000000000ull)

struct control_reply {
	struct str text;
	int fd;		  /* the client's */
	bool handed_over; /* another process answers: the connection is left to it */
};
/* Runs a request. 0: reply->text is the answer; -errno with a message. */
typedef int (*control_fn)(void *ctx, char *line, struct control_reply *reply);

struct control_server;
/* listening: borrowed, -1: none. owner: whose processes may connect, besides root's. */
struct control_server *control_server__new(int listening, uid_t owner, control_fn fn, void *ctx);
void control_server__free(struct control_server *s);
/* Readable when there is something to do; -1: epoll_create(2) failed. */
int control_server__fd(const struct control_server *s);
/* Does all that is to be done now (CLOCK_MONOTONIC, ns). */
void control_server__serve(struct control_server *s, uint64_t now);
/* Is more to be done, although the descriptor isn't readable? */
bool control_server__has_more(const struct control_server *s);
/* A client that has connected; takes ownership of fd, which doesn't block. One too many replaces
 * the one that was silent for the longest time. */
void control_server__add(struct control_server *s, int fd, uint64_t now);
size_t control_server__clients(const struct control_server *s);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * server: the clients of a control socket, their requests, each run by a function, and the answers.
 * Never blocks: what a client doesn't read is kept until it does, and a client that is silent for
 * long is dropped.
 */
#ifndef BBTRACE_CONTROL_SERVER_H
#define BBTRACE_CONTROL_SERVER_H

#include "line.h"

#define CONTROL_CLIENTS 16
#define CONTROL_IDLE_NS (60 * 1000000000ull)

struct control_reply {
	struct str text;
	int fd;		  /* of the client */
	bool handed_over; /* another process answers, and has the connection */
};
/* Runs a request. Returns 0 with the answer in reply->text, or -errno with a message. */
typedef int (*control_fn)(void *ctx, char *line, struct control_reply *reply);

struct control_server;
/* listening is borrowed, -1 if none. owner: the user whose processes may connect, besides
 * root's. */
struct control_server *control_server__new(int listening, uid_t owner, control_fn fn, void *ctx);
void control_server__free(struct control_server *s);
/* Returns a descriptor that is readable when there is work; -1 if epoll_create(2) failed. */
int control_server__fd(const struct control_server *s);
/* Does what is due now (CLOCK_MONOTONIC, ns). */
void control_server__serve(struct control_server *s, uint64_t now);
/* True if more is due, although the descriptor isn't readable. */
bool control_server__has_more(const struct control_server *s);
/* Adds a client that has connected. Takes ownership of fd, which is nonblocking. Beyond
 * CONTROL_CLIENTS it replaces the client that was silent for the longest time. */
void control_server__add(struct control_server *s, int fd, uint64_t now);
size_t control_server__clients(const struct control_server *s);

#endif

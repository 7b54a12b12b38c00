/* SPDX-License-Identifier: BSD-2-Clause */
/* socket: the files of control sockets: PID.sock in a folder of the user's own, or what
 * --control-socket names. */
#ifndef BBTRACE_CONTROL_SOCKET_H
#define BBTRACE_CONTROL_SOCKET_H

#include "util/named_file.h"
#include "util/util.h"

/* A listening socket and its file. Zeroed, but for descriptors, which are -1 if none. */
struct control_socket {
	int fd;
	struct named_file file; /* its name is owned */
	char *path;		/* for messages; owned */
};
/* Opens the socket at path; NULL means the default one, which may be missing: -v reports that.
 * -errno with a message if the given path can't be used. Acts with the user's own rights. */
int control_socket__open(const char *path, struct control_socket *s);
/* Also removes the file, if it is still this socket's. */
void control_socket__close(struct control_socket *s);

/* Returns the folder of this user's sockets; NULL if none. The caller frees it. */
char *control_folder__own(void);
/* Returns the folder of another user, for root. */
char *control_folder__of(uid_t uid);
/* Lists the PIDs that have a socket in the folder, ascending. Removes sockets of traces that
 * were killed, where that is allowed. Returns false if the folder can't be read. */
typedef VEC(uint32_t) control_pids;
bool control_folder__list(const char *folder, uid_t owner, control_pids *out);

/* Connects within this time. Returns a nonblocking descriptor, or -errno; -ECONNREFUSED if
 * nobody listens. */
int control_socket__connect(const char *path, int timeout_ms);
/* Removes a socket of this user where nobody listens. Returns true if it did. */
bool control_socket__remove_dead(const char *path);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Where control sockets are: PID.sock in a folder of the user's own, or where --control-socket
 * says. */
#ifndef BBTRACE_CONTROL_SOCKET_H
#define BBTRACE_CONTROL_SOCKET_H

#include "util/named_file.h"
#include "util/util.h"

/* A socket that listens, and its file. Zeroed but for the descriptors, which are -1: none. */
struct control_socket {
	int fd;
	struct named_file file; /* its name is owned */
	char *path;		/* for messages; owned */
};
/* path NULL: the default one; there may be none, which -v tells. -errno with a message: the path
 * that was given can't be used. The rights are the user's own. */
int control_socket__open(const char *path, struct control_socket *s);
/* Removes the file, too, if it is still this one. */
void control_socket__close(struct control_socket *s);

/* The folder of this user's sockets; NULL: none. The caller frees. */
char *control_folder__own(void);
/* The same of another user, for root. */
char *control_folder__of(uid_t uid);
/* The PIDs that have a socket in the folder, ascending; those of traces that were killed are
 * removed, where that is allowed. False: it can't be read. */
typedef VEC(uint32_t) control_pids;
bool control_folder__list(const char *folder, uid_t owner, control_pids *out);

/* Connects within this time; -ECONNREFUSED: nobody listens. Returns the descriptor, which doesn't
 * block, or -errno. */
int control_socket__connect(const char *path, int timeout_ms);
/* Removes a socket of this user's where nobody listens. True: it did. */
bool control_socket__remove_dead(const char *path);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* command: what a name of a command stands for, as execvp(3) looks it up. */
#ifndef BBTRACE_CLI_COMMAND_H
#define BBTRACE_CLI_COMMAND_H

#include <stdbool.h>

/* 0, and the path of its file, which the caller frees; or a positive errno. */
int command__look_up(const char *name, char **found);
/* The path alone; NULL: no such command. The caller frees. */
char *command__path(const char *name);
bool command__exists(const char *name);

#endif

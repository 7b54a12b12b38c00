/* SPDX-License-Identifier: BSD-2-Clause */
/* command: the file that a command's name stands for, looked up as execvp(3) does. */
#ifndef BBTRACE_CLI_COMMAND_H
#define BBTRACE_CLI_COMMAND_H

#include <stdbool.h>

/* Returns 0 and the path of the command's file, which the caller frees; or a positive errno. */
int command__look_up(const char *name, char **found);
/* Returns only the path, which the caller frees; NULL if there is no such command. */
char *command__path(const char *name);
bool command__exists(const char *name);

#endif

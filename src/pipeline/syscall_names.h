/* SPDX-License-Identifier: BSD-2-Clause */
/* syscall_names: the system calls of this machine. */
#ifndef BBTRACE_PIPELINE_SYSCALL_NAMES_H
#define BBTRACE_PIPELINE_SYSCALL_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/* Returns NULL if there is no call of this number. */
const char *syscall__name(uint64_t number);
bool syscall__exists(const char *name);
/* Returns the name of the kernel's function that implements it, malloc()ed, as
 * "__x64_sys_openat"; NULL if not known of this architecture. */
char *syscall__function(const char *name);

#endif

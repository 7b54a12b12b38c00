/* SPDX-License-Identifier: BSD-2-Clause */
/* syscall_names: the system calls of this machine. */
#ifndef BBTRACE_PIPELINE_SYSCALL_NAMES_H
#define BBTRACE_PIPELINE_SYSCALL_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/* NULL: there is none of this number. */
const char *syscall__name(uint64_t number);
bool syscall__exists(const char *name);
/* What the kernel calls the function that implements it, malloc()ed: "__x64_sys_openat". NULL: it
 * isn't known of this architecture. */
char *syscall__function(const char *name);

#endif

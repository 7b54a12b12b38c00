/* SPDX-License-Identifier: BSD-2-Clause */
/* What filters of system calls (seccomp(2)) are written with. The program's own architecture is
 * that of the processes that it filters. */
#ifndef BBTRACE_UTIL_FILTER_H
#define BBTRACE_UTIL_FILTER_H

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>

#if defined(__x86_64__)
#define OWN_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCH AUDIT_ARCH_AARCH64
#elif defined(__riscv)
#define OWN_ARCH AUDIT_ARCH_RISCV64
#endif

#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, (what))
#define LOAD(field)  BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))

#endif

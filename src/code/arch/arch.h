/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows that arch.c collects: one per file of this folder.
 */
#ifndef BBTRACE_ARCH_H
#define BBTRACE_ARCH_H

#include "code/code.h"

extern const struct arch arch_x86_64;

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* conditions: which entries the BPF program judges by --if, and by what (bpf/judge.h). */
#ifndef BBTRACE_SOURCE_PROBES_MAPS_CONDITIONS_H
#define BBTRACE_SOURCE_PROBES_MAPS_CONDITIONS_H

#include "source/probes/session.h"

/* Returns true if the program judges any entries. Not if copies log, if goroutines move, or if
 * arguments of 32-bit programs are on the stack. */
bool conditions__judge(const struct probe *p);
/* The most conditions by which it judges an entry; 0: it judges none. The verifier of a program
 * that is loaded with fewer does less: of one, an eighth of what it does of four. */
unsigned conditions__most(const struct probe *p);
void conditions__size(struct probe *p);
int conditions__fill(struct probe *p);
/* Returns what it has left out up to now. */
uint64_t conditions__muted(const struct probe *p, enum wire_muted what);

#endif

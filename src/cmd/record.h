/* SPDX-License-Identifier: BSD-2-Clause */
/* record: a trace in progress into a trace file: what the replay is fed with, and what the
 * addresses in it need. */
#ifndef BBTRACE_CMD_RECORD_H
#define BBTRACE_CMD_RECORD_H

#include "render.h"
#include "show.h"

struct recorder;
/* Opens the file, "-": stdout; nothing is written yet. name must outlive it. */
int recorder__open(const struct args *a, const char *name, struct recorder **out);
void recorder__close(struct recorder *r);
/* Header and plan; show is fed with the same. All functions: 0, or -errno. */
int recorder__begin(struct recorder *r, struct show *show, const struct trace_meta *meta);
/* Before the record is given to show. */
int recorder__event(struct recorder *r, const struct event *e);
/* Behind it. */
int recorder__sideband(struct recorder *r, const struct sideband_event *e);
/* Side events were lost: each process is told anew before its next record. */
void recorder__reintroduce(struct recorder *r);
int recorder__lost(struct recorder *r, uint32_t pid, uint32_t tid, uint64_t count);
/* Called many times a second: brings to the file what has waited for a second. */
int recorder__tick(struct recorder *r, uint64_t now);
int recorder__end(struct recorder *r);
/* stdout was closed by its reader. */
bool recorder__reader_gone(const struct recorder *r);

#endif

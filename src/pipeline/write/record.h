/* SPDX-License-Identifier: BSD-2-Clause */
/* record: writes a live trace to a trace file: the replay's input and the symbols of its
 * addresses. */
#ifndef BBTRACE_PIPELINE_WRITE_RECORD_H
#define BBTRACE_PIPELINE_WRITE_RECORD_H

#include "pipeline/render.h"
#include "pipeline/show.h"

struct recorder;
/* Opens the file ("-": stdout) without writing to it. name must outlive it. */
int recorder__open(const struct request *req, const char *name, struct recorder **out);
void recorder__close(struct recorder *r);
/* The file that is rotated: its place and a descriptor; NULL: there is none. From the call on it is
 * rotated by the keeper. */
struct keeper;
const struct sink_place *recorder__rotates(const struct recorder *r, int *fd);
void recorder__use_keeper(struct recorder *r, const struct keeper *k);
/* Writes header and plan; show gets the same events. meta->counts: none of them are written, but
 * show's counts at the end. All functions return 0 or -errno. */
int recorder__begin(struct recorder *r, struct show *show, const struct trace_meta *meta);
/* Call it before show__event(). */
int recorder__event(struct recorder *r, const struct event *e);
/* As recorder__event() of each. */
int recorder__branches(struct recorder *r, const struct logged_branches *b);
/* Call it after show's function. */
int recorder__sideband(struct recorder *r, const struct sideband_event *e);
/* Sideband events were lost: writes each process again before its next record. */
void recorder__reintroduce(struct recorder *r);
/* Call the first one before plan__extend(), the second one after it. */
int recorder__plan_extends(struct recorder *r);
int recorder__plan_extended(struct recorder *r, const struct plan_increment *i);
int recorder__lost(struct recorder *r, uint32_t pid, uint32_t tid, uint64_t count);
/* Called many times a second: flushes data that has been buffered for a second. */
int recorder__tick(struct recorder *r, uint64_t now);
int recorder__end(struct recorder *r);
/* Of counts: those that were given last are of what its name so far was of; from now on they are of
 * this one. */
int recorder__name(struct recorder *r, const char *tag);
/* The reader of stdout has closed it. */
bool recorder__reader_gone(const struct recorder *r);

#endif

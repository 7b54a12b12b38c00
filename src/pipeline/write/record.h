/* SPDX-License-Identifier: BSD-2-Clause */
/* record: writes a live trace to a trace file: the input of the replay, and the symbols of its
 * addresses. */
#ifndef BBTRACE_PIPELINE_WRITE_RECORD_H
#define BBTRACE_PIPELINE_WRITE_RECORD_H

#include "pipeline/render.h"
#include "pipeline/show.h"

struct recorder;
/* Opens the file ("-": stdout) without writing to it. name must outlive the recorder. */
int recorder__open(const struct request *req, const char *name, struct recorder **out);
void recorder__close(struct recorder *r);
/* Returns the place of the file that is rotated, and a descriptor of it; NULL if none is. After
 * recorder__use_keeper(), the keeper rotates it. */
struct keeper;
const struct sink_place *recorder__rotates(const struct recorder *r, int *fd);
void recorder__use_keeper(struct recorder *r, const struct keeper *k);
/* Writes header and plan; show must get the same events. With meta->counts, no events are
 * written, but show's counts at the end. All functions return 0 or -errno. */
int recorder__begin(struct recorder *r, struct show *show, const struct trace_meta *meta);
/* To be called before show__event(). */
int recorder__event(struct recorder *r, const struct event *e);
/* As recorder__event() for each record, whose running addresses precede it. */
int recorder__words(struct recorder *r, const struct logged_words *words);
void recorder__address(struct recorder *r, uint32_t pid, uint64_t addr);
/* Returns true if the file has all that decoding the words needs. */
bool recorder__takes_words(const struct recorder *r);
/* To be called after show__sideband(). */
int recorder__sideband(struct recorder *r, const struct sideband_event *e);
/* Sideband events were lost: writes each process again before its next record. */
void recorder__reintroduce(struct recorder *r);
/* To be called before and after plan__extend(). */
int recorder__plan_extends(struct recorder *r);
int recorder__plan_extended(struct recorder *r, const struct plan_increment *i);
int recorder__lost(struct recorder *r, uint32_t pid, uint32_t tid, uint64_t count);
/* Called many times a second: flushes data that has been buffered for a second. */
int recorder__tick(struct recorder *r, uint64_t now);
int recorder__end(struct recorder *r);
/* Counts only: the counts that were given last belong to the previous name, and those from now
 * on to this one. */
int recorder__name(struct recorder *r, const char *tag);
/* True if the reader of stdout has closed it. */
bool recorder__reader_gone(const struct recorder *r);

#endif

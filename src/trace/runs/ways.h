/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ways: what a record of a thread's log does to the call that it is of. Where a branch or a witness
 * leads from the place where its call stands is always the same, so it is worked out once, as an
 * event would be (replay.c), and then looked up by that place and the record's first word; of
 * indirect branches and rets by the target as well. Private to src/trace.
 */
#ifndef BBTRACE_TRACE_WAYS_H
#define BBTRACE_TRACE_WAYS_H

#include "trace/calls.h"

enum way_kind {
	WAY_NONE, /* only an event's replay can tell */
	/* within the function */
	WAY_WITNESS,
	WAY_JUMP,
	WAY_CALL,
	/* the call doesn't go on there */
	WAY_TAIL,   /* a jump to the start of another function of the plan */
	WAY_RETURN, /* its ret */
	/* where to is told by the record: its goal */
	WAY_TO_JUMP,
	WAY_TO_CALL,
	/* not of this call's record, but of the entry of one that it has called without one */
	WAY_ENTER,
};

/* Where a call stands: about to run a block from its start, or past its entry or witness. */
static inline uint32_t place_of(uint32_t block, bool past)
{
	return block << 1 | past;
}

/* The log tells only the low half of a stack pointer: are those so near, bytes, that it suffices?
 */
static inline bool is_near(int64_t distance)
{
	return distance > -(4ll << 20) && distance < 4ll << 20;
}

/* An index into ways.all or ways.goals, where there is none. */
#define NO_WAY UINT32_MAX

/* Two fit in a cache line: many are looked up in a row. */
struct way {
	uint32_t id;	/* the low half of its word */
	uint32_t above; /* from the high half to the low half of the call's stack pointer */
	uint32_t to;	/* the place behind it; TAIL: the block of the other function */
	uint32_t other; /* another way from here */
	uint64_t count; /* how often it was gone, since that was told last */
	uint32_t site;
	uint16_t branches; /* that it shows */
	uint8_t kind;	   /* enum way_kind */
	uint8_t words;	   /* of its record */
};

/* The rest of a way. */
struct way_more {
	uint32_t first;	       /* of ways.branches: those that it shows, in order */
	uint32_t goal;	       /* that was reached last; NO_WAY: none */
	uint64_t return_vaddr; /* ENTER: of the call */
};

struct way_branch {
	uint32_t site;
	bool taken;
	uint32_t to; /* an implied indirect jump: index into ways.targets; NO_WAY: follows from the
			site, or isn't known */
};

/* Where a way with a target leads to. */
struct goal {
	uint32_t way;
	uint32_t pid, epoch; /* whose address it is, and of which mappings (ways.epoch) */
	uint64_t target;
	uint8_t kind; /* enum way_kind: JUMP, CALL, TAIL, RETURN, or NONE */
	uint32_t to;  /* as of a way */
	uint64_t count;
	struct location at;
};

struct ways {
	uint32_t *from; /* by place: a way */
	VEC(struct way) all;
	VEC(struct way_more) more; /* by way */
	VEC(struct way_branch) branches;
	VEC(struct location) targets;
	VEC(struct goal) goals;
	struct map64 goal_of; /* hash of way, process and target -> index + 1 into goals */
	uint32_t epoch;	      /* changes when mappings do */
	/* Of entries, and of rets of helper functions, by site. id: of their records; 0: not looked
	 * at yet, or only an event's replay can tell. */
	struct way_site {
		uint32_t id;
		bool known;
		struct logged logged;
	} * sites;
	/* The load biases that were learned last, of bias_pid: by object */
	uint32_t bias_pid;
	uint64_t *biases;
};

static inline bool way__has_goals(const struct way *w)
{
	return w->kind >= WAY_RETURN && w->kind <= WAY_TO_CALL;
}

struct ways *ways__new(const struct plan *p);
void ways__free(struct ways *w);
/* Their counts were told. */
void ways__drop_goals(struct ways *w);
#define MANY_GOALS (1u << 18)
/* Addresses of processes may mean something else from now on. */
void ways__forget_addresses(struct ways *w);

/* The same, of a record that was not seen there yet. */
uint32_t ways__add(struct trace *t, const struct log_decoder *d, uint32_t place, uint32_t id);
/* The way of a record with this id from this place, where its call is known to stand; it may be
 * WAY_NONE. NO_WAY: only an event's replay can tell. */
static inline uint32_t ways__find(struct trace *t, const struct log_decoder *d, uint32_t place,
				  uint32_t id)
{
	const struct way *all = t->ways->all.data;
	uint32_t i = t->ways->from[place];

	while (i != NO_WAY && all[i].id != id)
		i = all[i].other;
	return i == NO_WAY ? ways__add(t, d, place, id) : i;
}
/* A record of a branch or a ret with this target, not 0. */
uint32_t ways__goal(struct trace *t, uint32_t way, uint32_t pid, uint64_t target);
/* From where a call stands to the entry of one that it made by a call without a record, which
 * returns to this link-time address. */
uint32_t ways__enter(struct trace *t, uint32_t place, const struct logged *entry,
		     uint64_t return_vaddr);
/* The entry that a record with this id is of; NULL: only an event's replay can tell. */
const struct logged *ways__entry(struct trace *t, const struct log_decoder *d, uint32_t id);
/* Is it the ret of a helper function, which matters only if a call has left for that? */
const struct logged *ways__helper_ret(struct trace *t, const struct log_decoder *d, uint32_t id);

#endif

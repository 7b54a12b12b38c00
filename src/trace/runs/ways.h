/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ways: what a record of a thread's log does to the call that it belongs to. Where a branch or a
 * witness leads from the call's place is always the same. So it is found once, as for an event
 * (replay.c), and then looked up by that place and the record's first word; for indirect branches
 * and rets, by the target as well. Private to src/trace.
 */
#ifndef BBTRACE_TRACE_RUNS_WAYS_H
#define BBTRACE_TRACE_RUNS_WAYS_H

#include "trace/calls.h"

enum way_kind {
	WAY_NONE, /* only an event's replay can handle it */
	/* within the function: */
	WAY_WITNESS,
	WAY_JUMP,
	WAY_CALL,
	/* the call doesn't continue there: */
	WAY_TAIL,   /* a jump to the start of another function of the plan */
	WAY_RETURN, /* the call's ret */
	/* the record has the target, which is a goal: */
	WAY_TO_JUMP,
	WAY_TO_CALL,
	/* The record is that of the entry of a function which this call called without a record. */
	WAY_ENTER,
};

/* The place of a call: about to run a block from its start, or past the block's entry
 * or witness. */
static inline uint32_t place_of(uint32_t block, bool past)
{
	return block << 1 | past;
}

/* The log has only the low half of a stack pointer: returns true if that is enough at this distance
 * in bytes. */
static inline bool is_near(int64_t distance)
{
	return distance > -(4ll << 20) && distance < 4ll << 20;
}

/* In place of an index into ways.all or ways.goals: there is none. */
#define NO_WAY UINT32_MAX

/* Two ways fit in a cache line, since many are looked up in a row. */
struct way {
	uint32_t id;	/* the low half of its first word */
	uint32_t above; /* the call's stack pointer minus the high half of that word */
	uint32_t to;	/* the place after it; TAIL: the block of the other function */
	uint32_t other; /* the next way from the same place */
	uint64_t count; /* how often it was taken since the last report */
	uint32_t site;
	uint16_t branches; /* the number of branches that it shows */
	uint8_t kind;	   /* enum way_kind */
	uint8_t words;	   /* of its record */
};

/* The rarely used members of a way. */
struct way_more {
	uint32_t first;	       /* the first of the branches that it shows, in ways.branches */
	uint32_t goal;	       /* the goal that was reached last; NO_WAY if none */
	uint64_t return_vaddr; /* ENTER: the return address of the call */
};

struct way_branch {
	uint32_t site;
	bool taken;
	/* The target of an implied indirect jump: an index into ways.targets; NO_WAY if it follows
	 * from the site, or isn't known. */
	uint32_t to;
};

/* Where a way with a target leads. */
struct goal {
	uint32_t way;
	uint32_t pid, epoch; /* the process of the target's address, and the state of its mappings
				(ways.epoch) */
	uint64_t target;
	uint8_t kind; /* enum way_kind: JUMP, CALL, TAIL, RETURN, or NONE */
	uint32_t to;  /* as in struct way */
	uint64_t count;
	struct location at;
};

struct ways {
	uint32_t *from; /* by place: the first way */
	VEC(struct way) all;
	VEC(struct way_more) more; /* by way */
	VEC(struct way_branch) branches;
	VEC(struct location) targets;
	VEC(struct goal) goals;
	struct map64 goal_of; /* hash of way, process and target -> index + 1 into goals */
	uint32_t epoch;	      /* changes when mappings do */
	/* Entries and rets of helper functions, by site. id is that of their records; 0 if not
	 * looked up yet, or if only an event's replay can handle it. */
	struct way_site {
		uint32_t id;
		bool known;
		struct logged logged;
	} * sites;
	/* the load biases that were used last, by object, and their process */
	uint32_t bias_pid;
	uint64_t *biases;
};

static inline bool way__has_goals(const struct way *w)
{
	return w->kind >= WAY_RETURN && w->kind <= WAY_TO_CALL;
}

struct ways *ways__new(const struct plan *p);
void ways__free(struct ways *w);
/* Removes the goals, whose counts were reported. */
void ways__drop_goals(struct ways *w);
#define MANY_GOALS (1u << 18)
/* Addresses of processes may mean something else from now on. */
void ways__forget_addresses(struct ways *w);

/* Adds the way of a record that was not seen at this place yet. */
uint32_t ways__add(struct trace *t, const struct log_decoder *d, uint32_t place, uint32_t id);
/* Returns the way, perhaps a WAY_NONE, of a record with this id, whose call is at this place;
 * NO_WAY if only an event's replay can handle it. */
static inline uint32_t ways__find(struct trace *t, const struct log_decoder *d, uint32_t place,
				  uint32_t id)
{
	struct way *all = t->ways->all.data;
	uint32_t *first = &t->ways->from[place], *link = first, i;

	while ((i = *link) != NO_WAY && all[i].id != id)
		link = &all[i].other;
	if (i == NO_WAY)
		return ways__add(t, d, place, id);
	if (link != first) { /* what came last often comes again */
		*link = all[i].other;
		all[i].other = *first;
		*first = i;
	}
	return i;
}
/* Returns the goal of a branch's or ret's record with this target, which isn't 0. */
uint32_t ways__goal(struct trace *t, uint32_t way, uint32_t pid, uint64_t target);
/* Returns the way to the entry of a function which the call at this place called without a record,
 * and which returns to this link-time address. */
uint32_t ways__enter(struct trace *t, uint32_t place, const struct logged *entry,
		     uint64_t return_vaddr);
/* Returns the entry whose records have this id; NULL if only an event's replay can handle it. */
const struct logged *ways__entry(struct trace *t, const struct log_decoder *d, uint32_t id);
/* The same for the ret of a helper function. It matters only if a call left by a jump to that
 * function. */
const struct logged *ways__helper_ret(struct trace *t, const struct log_decoder *d, uint32_t id);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * listing: a function's code, row by row, for the formats that show it. Private to src/output;
 * pure. It has the blocks that the plan's control flow reaches; bytes between them are gaps.
 */
#ifndef BBTRACE_OUTPUT_LISTING_LISTING_H
#define BBTRACE_OUTPUT_LISTING_LISTING_H

#include "output/stats/stats.h"

enum listing_kind {
	LISTING_PART,	/* start of a part, if the function has several */
	LISTING_SOURCE, /* the source line of the next rows, if its text is known */
	LISTING_INSN,
	LISTING_GAP, /* len bytes that control flow doesn't reach, other than padding */
};

struct listing_row {
	enum listing_kind kind;
	uint64_t vaddr;
	uint64_t len;
	uint64_t start; /* of the function, or of this part: offsets count from there */
	uint32_t object;
	uint32_t block;	    /* INSN */
	uint32_t site;	    /* INSN: its branch site, or NO_SITE */
	bool first;	    /* INSN: of its block */
	const char *name;   /* PART */
	const char *file;   /* SOURCE */
	unsigned line;	    /* SOURCE */
	const char *source; /* SOURCE: its text, tabs expanded; valid during the call */
};

typedef void (*listing_fn)(void *ctx, const struct listing_row *row);

/* One block's instructions, without the source. */
void listing__block(const struct output *o, uint32_t block, listing_fn fn, void *ctx);
void listing__function(const struct output *o, uint32_t function, listing_fn fn, void *ctx);
/* The instruction as text, with a direct branch's target by name. */
void listing__insn(const struct plan *plan, const struct listing_row *row, struct str *s);
/* symbol+0xOFF of an address in an object, "0x…" without symbol. */
void listing__place(const struct plan *plan, uint32_t object, uint64_t vaddr, struct str *s);
/* The same for a location, with the object in brackets if it isn't the given one. */
void listing__location(const struct plan *plan, uint32_t object, const struct location *to,
		       struct str *s);
/* Sorts targets, the most frequent first. */
void listing__sort_targets(struct stats_site *ps);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * coder: the records of src/arch/log.h in few bytes. What follows a record is nearly always one
 * of a few records, and the stack pointer then differs by the same: so a record is the rank of such
 * a move among those that were made from there before, the last one first. The words after a
 * record's first one are differences from those of the same move's last record. bbtrace-trace(5),
 * LOGS. Private to src/file.
 */
#ifndef BBTRACE_FILE_LOG_CODER_H
#define BBTRACE_FILE_LOG_CODER_H

#include "arch/arch.h"
#include "event/event.h"
#include "file/pack.h"

#define LOG_MOVES   7 /* that are known from a record; also the rank of one that isn't */
#define LOG_COLUMNS 39

/* The streams of a block. */
struct log_streams {
	struct str ranks; /* 4 bits each, from the lowest up */
	struct str firsts, times, columns[LOG_COLUMNS];
};
void log_streams__free(struct log_streams *s);

/* What writer and reader know at the same record of a block. */
struct log_coder;
/* decoder: knows how many words a record has; it must outlive the coder. */
struct log_coder *log_coder__new(const struct log_decoder *decoder);
void log_coder__free(struct log_coder *c);
/* Forgets all: a block begins. */
void log_coder__begin(struct log_coder *c);

/* Appends the words, which have to be whole records of kinds BRANCH to ENTRY. Returns how many
 * records these are; 0 if some aren't. */
size_t log_coder__put(struct log_coder *c, const struct logged_words *w, struct log_streams *out);
/* Ends the streams of a block. */
void log_coder__end(struct log_coder *c, struct log_streams *out);

/* The streams of a block that is read. */
struct log_sources {
	struct reader ranks, firsts, times, columns[LOG_COLUMNS];
};
typedef VEC(uint64_t) word_vec;
/* Appends to words the next n records of a thread as it was before them. Returns false if there
 * are none that anybody would have written. */
bool log_coder__get(struct log_coder *c, struct log_sources *in, const struct log_thread *t,
		    uint64_t n, word_vec *words);

#endif

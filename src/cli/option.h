/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * option: an option is a row of a table, which its parsing, help and completion come from. Tables
 * that verbs share are in options_*.c, one for each question that options answer, like the parts of
 * struct request; a verb's own table is in the verb's file. An option that two verbs interpret
 * differently is two rows.
 */
#ifndef BBTRACE_CLI_OPTION_H
#define BBTRACE_CLI_OPTION_H

#include <stddef.h>
#include "request.h"

/* The type of an option's member of struct request, and how its value is parsed. */
enum option_type {
	OPTION_SWITCH,	 /* bool: true */
	OPTION_TEXT,	 /* const char *: not copied */
	OPTION_TEXTS,	 /* text_vec: may be repeated */
	OPTION_FILE,	 /* as OPTION_TEXT; neither empty nor like an option */
	OPTION_TIME,	 /* uint64_t: nanoseconds */
	OPTION_DURATION, /* as OPTION_TIME, more than 0 */
	OPTION_NUMBER,	 /* uint64_t */
	OPTION_COUNT,	 /* uint64_t, with K, M and G */
	OPTION_POSITIVE, /* as OPTION_COUNT, at least 1 */
	OPTION_OTHER,	 /* no member: set stores the value */
};

struct option_row {
	const char *name;
	char letter;	 /* 0 if none */
	const char *arg; /* NULL: no argument; "": an optional one, after = */
	unsigned verbs;	 /* the verbs that have it */
	enum option_type type;
	size_t offset; /* in struct request */
	const char *help;
	/* Called after the value is stored, to check it or to store it elsewhere. Returns 0, or
	 * -errno with a message. NULL if not needed. */
	int (*set)(struct request *req, const char *value);
	/*
	 * The values that shells offer: words, or one of :files, :folders, :pids, :comms, :users,
	 * :functions, :conditions, :events, :registers, :formats, :mechanisms. After a comma: a
	 * list of them. NULL if they offer nothing.
	 */
	const char *values;
	bool knob;	  /* few need it: --help-all has it, --help does not */
	unsigned knob_of; /* likewise, of these verbs */
};

/* The offset of a member; doesn't compile if the member has another type. */
#define FIELD(type, field)                                                                         \
	(offsetof(struct request, field) + 0 * sizeof((type *)0 == &((struct request *)0)->field))
#define SWITCH(field)	 OPTION_SWITCH, FIELD(bool, field)
#define TEXT(field)	 OPTION_TEXT, FIELD(const char *, field)
#define TEXTS(field)	 OPTION_TEXTS, FIELD(text_vec, field)
#define FILE_NAME(field) OPTION_FILE, FIELD(const char *, field)
#define TIME(field)	 OPTION_TIME, FIELD(uint64_t, field)
#define DURATION(field)	 OPTION_DURATION, FIELD(uint64_t, field)
#define NUMBER(field)	 OPTION_NUMBER, FIELD(uint64_t, field)
#define COUNT(field)	 OPTION_COUNT, FIELD(uint64_t, field)
#define POSITIVE(field)	 OPTION_POSITIVE, FIELD(uint64_t, field)
#define OTHER		 OPTION_OTHER, 0

/* A table, and the heading of its options in --help. */
struct option_group {
	const char *question;
	const struct option_row *rows;
	size_t n;
};
extern const struct option_group options_what, options_who, options_record, options_how,
	options_when, options_show, options_file, options_general;

#endif

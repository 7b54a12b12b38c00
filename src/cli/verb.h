/* SPDX-License-Identifier: BSD-2-Clause */
/* verb: the description of a verb. The verbs are rows in src/verbs/verbs.c. */
#ifndef BBTRACE_CLI_VERB_H
#define BBTRACE_CLI_VERB_H

/* One bit for each verb: an option has those of its verbs. */
enum {
	VERB_USER = 1,
	VERB_KERNEL = 2,
	VERB_LIST = 4,
	VERB_DOCTOR = 8,
	VERB_REPORT = 16,
	VERB_BOTH = 32, /* the verb `trace`: of programs and of the kernel */
	VERB_CTL = 64,
	VERB_MERGE = 128,
	VERB_DIFF = 256,
	VERB_EVENT = 512,
	VERB_WATCH = 1024,
	VERB_PROFILE = 2048,
	VERB_WHY = 4096,
	VERB_CORE = 8192,
	VERB_STACK = 16384,
	VERB_COVER = 32768,
	VERB_SLOW = 65536,
	VERB_TOP = 131072,
};
#define VERB_NAMED     (VERB_EVENT | VERB_WATCH | VERB_PROFILE) /* verbs that name no functions */
#define VERB_FUNCTIONS (VERB_USER | VERB_KERNEL | VERB_BOTH)	/* verbs that name functions */
#define VERB_TRACE     (VERB_FUNCTIONS | VERB_NAMED)		/* verbs that trace */
#define VERB_SHOW      (VERB_TRACE | VERB_REPORT)
#define VERB_COMMAND                                                                               \
	(VERB_TRACE | VERB_WHY | VERB_COVER | VERB_SLOW | VERB_TOP) /* verbs that run CMD */
/* verbs that have formats, and take -F */
#define VERB_TEXT                                                                                  \
	(VERB_SHOW | VERB_LIST | VERB_DOCTOR | VERB_CTL | VERB_DIFF | VERB_WHY | VERB_CORE |       \
	 VERB_STACK | VERB_COVER)
/* verbs that print sentences, which a terminal wraps; tables are cut */
#define VERB_PROSE (VERB_DOCTOR | VERB_WHY)
#define VERB_ALL   (VERB_TEXT | VERB_MERGE | VERB_SLOW | VERB_TOP)

struct request;
struct option_group;

struct verb {
	const char *name;
	const char *args, *help;
	unsigned bit;
	const struct option_group *options; /* its own options; NULL if none */
	/* Checks that options and operands are complete and consistent. Returns 0, or -EINVAL
	 * with a message for wrong usage. */
	int (*check)(struct request *req);
	/* Returns the exit status, or -errno with a message. main prints the message and exits
	 * with EXIT_CANNOT, or with EXIT_USAGE if err__usage() made it. */
	int (*run)(const struct request *req);
	const char *examples; /* for --help: a line each; NULL if none */
};

#endif

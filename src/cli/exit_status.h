/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BBTRACE_CLI_EXIT_STATUS_H
#define BBTRACE_CLI_EXIT_STATUS_H

/* Exit status (CONTRACT.md; the man page, EXIT STATUS). */
enum {
	EXIT_TRACED = 0,
	EXIT_CANNOT = 1,
	EXIT_USAGE = 2,
	EXIT_DIFFERENT = 1, /* diff */
	EXIT_TROUBLE = 2,   /* diff: instead of EXIT_CANNOT */
	EXIT_UNDER = 3,	    /* --fail-under */
	EXIT_LEFT = 124,    /* -t: CMD still runs; the status that timeout(1) has */
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127
};

#endif

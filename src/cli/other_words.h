/* SPDX-License-Identifier: BSD-2-Clause */
/* other_words: what bbtrace calls the commands and options of other tools. */
#ifndef BBTRACE_CLI_OTHER_WORDS_H
#define BBTRACE_CLI_OTHER_WORDS_H

/* l is the letter, which lists in bpftrace. Return what to write instead, after "bbtrace "
 * (command) or among the options (option, without its dashes); NULL if the word isn't known. */
const char *other_words__command(const char *name);
const char *other_words__option(const char *name);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * suggestion: a command line to write instead of a wrong one, with the user's own words in it; and
 * what bbtrace calls the commands, options, probes and values of other tools (other_words.c). Their
 * functions return what to write instead, or NULL if the word isn't known. In such a text CMD, PID
 * and VALUE stand for what the user may have given.
 */
#ifndef BBTRACE_CLI_SUGGESTION_H
#define BBTRACE_CLI_SUGGESTION_H

/*
 * Returns the text with what was given in place of CMD, PID and VALUE. words: the command line
 * from a wrong word on, ended by NULL. What is not among them stays as it is. The caller frees it.
 */
char *suggestion__fill(const char *text, char *const *words);

/* The same for the value of an option, "open" or "trace=open". */
char *suggestion__of_value(const char *text, const char *value);

/* nearest: the verb that is most like the first word; NULL if none is. Sets the message for words
 * that begin with no verb; returns -EINVAL. */
int suggestion__no_verb(char *const *words, const char *nearest);

/* ---- other_words.c ---- */

/* A word in place of a verb: what to write after "bbtrace ". */
const char *other_words__command(const char *name);
/* An option in place of a verb, "-p", "-p12" or "--pid": what to write after "bbtrace ". */
const char *other_words__first_option(const char *option);
/* An option, without its dashes: the nth of what it may be here; NULL: there are no more. */
const char *other_words__option(const char *name, size_t nth);
/* A wrong value of an option: what to write instead. */
const char *other_words__value(const char *option, const char *value);
/* A word in place of OBJECT or FUNC: what to write after "bbtrace ". */
const char *other_words__operand(const char *word);
/* A probe as in bpftrace, kprobe:vfs_read: what to write after "bbtrace "; the caller frees it. */
char *other_words__probe(const char *spec);

#endif

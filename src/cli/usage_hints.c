// SPDX-License-Identifier: BSD-2-Clause
/*
 * Hints on a missing -- before CMD and missing quotes around a pattern: if a word can't be a
 * function, or an option is unknown, but there is a command or file of this name, shows how to
 * write it.
 */
#include <errno.h>
#include <unistd.h>
#include "command.h"
#include "usage_hints.h"
#include "request.h"

/* True if the word can be the start of CMD after n operands. A word without a slash may be a
 * function's name instead, so OBJECT and FUNC must precede it. */
static bool starts_command(const struct request *req, const char *word, size_t n)
{
	bool pairs = req->operands.len && strchr(req->operands.data[0], ':');
	size_t least = strchr(word, '/') || pairs || req->verb->bit != VERB_USER ? 1 : 2;

	return req->verb->bit & VERB_TRACE && n >= least && command__exists(word);
}

/* "bbtrace user ./prog f -- ./prog arg" */
static char *with_dashes(const struct request *req, const char *word)
{
	struct str s = {0};

	str__puts(&s, "bbtrace ");
	str__puts(&s, req->verb->name);
	for (char **arg = req->given; *arg; arg++) {
		str__puts(&s, *arg == word ? " -- " : " ");
		str__shell(&s, *arg);
	}
	return s.data;
}

/* True if the shell may have expanded '*' to this word: a file in the current folder. */
static bool is_expanded(const char *word)
{
	return !strchr(word, '/') && !access(word, F_OK);
}

static int write_dashes(const struct request *req, const char *word)
{
	autofree char *better = with_dashes(req, word);

	return err__usage("%s is not a function here: to run it, write -- before it: %s", word,
			  better);
}

int usage_hints__operand(const struct request *req, size_t i, int err)
{
	const char *word = req->operands.data[i];

	if (!req->command && starts_command(req, word, i))
		return write_dashes(req, word);
	if (!i || err != -ENOENT || !is_expanded(word))
		return err;
	return err__set(ENOENT,
			"%s; it is a file here: quote a pattern, such as '*', for the shell",
			err__text());
}

/* False if the word may be the value of the option before it. */
static bool is_operand(char *const *arg, char *const *first)
{
	return **arg != '-' && (arg == first || *arg[-1] != '-');
}

static bool has_option(char *const *arg)
{
	while (*arg && **arg != '-')
		arg++;
	return *arg;
}

void usage_hints__option(const struct request *req)
{
	const char *word = NULL;
	size_t n = 0;

	for (char **arg = req->given; *arg; arg++) {
		if (!strcmp(*arg, "--"))
			return;
		if (!word && is_operand(arg, req->given) && starts_command(req, *arg, n++) &&
		    has_option(arg))
			word = *arg;
	}
	if (word) {
		autofree char *better = with_dashes(req, word);

		err__usage("%s; options of a command go after --: %s", err__text(), better);
	}
}

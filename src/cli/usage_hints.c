// SPDX-License-Identifier: BSD-2-Clause
/* The -- that was forgotten before CMD, and quotes around a pattern: where a word can't be a
 * function, or an option is unknown, but a command or a file stands there, says how to write it. */
#include <errno.h>
#include <unistd.h>
#include "command.h"
#include "usage_hints.h"
#include "args.h"

/* Can the word be the start of CMD? n: operands before it. A word without a slash may also be the
 * name of a function, so OBJECT and FUNC must precede it. */
static bool starts_command(const struct args *a, const char *word, size_t n)
{
	bool pairs = a->operands.len && strchr(a->operands.data[0], ':');
	size_t least = strchr(word, '/') || pairs || a->verb->bit != VERB_USER ? 1 : 2;

	return a->verb->bit & VERB_TRACE && n >= least && command__exists(word);
}

/* "bbtrace user ./prog f -- ./prog arg" */
static char *with_dashes(const struct args *a, const char *word)
{
	struct str s = {0};

	str__puts(&s, "bbtrace ");
	str__puts(&s, a->verb->name);
	for (char **arg = a->given; *arg; arg++) {
		str__puts(&s, *arg == word ? " -- " : " ");
		str__shell(&s, *arg);
	}
	return s.data;
}

/* Names of files in the current folder are what the shell makes of '*'. */
static bool is_expanded(const char *word)
{
	return !strchr(word, '/') && !access(word, F_OK);
}

static int write_dashes(const struct args *a, const char *word)
{
	autofree char *better = with_dashes(a, word);

	return err__usage("%s is no function here: to run it, write -- before it: %s", word,
			  better);
}

int usage_hints__operand(const struct args *a, size_t i, int err)
{
	const char *word = a->operands.data[i];

	if (!a->command && starts_command(a, word, i))
		return write_dashes(a, word);
	if (!i || err != -ENOENT || !is_expanded(word))
		return err;
	return err__set(ENOENT,
			"%s; it is a file here: quote a pattern, such as '*', for the shell",
			err__text());
}

/* A word behind an option may be its value. */
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

void usage_hints__option(const struct args *a)
{
	const char *word = NULL;
	size_t n = 0;

	for (char **arg = a->given; *arg; arg++) {
		if (!strcmp(*arg, "--"))
			return;
		if (!word && is_operand(arg, a->given) && starts_command(a, *arg, n++) &&
		    has_option(arg))
			word = *arg;
	}
	if (word) {
		autofree char *better = with_dashes(a, word);

		err__usage("%s; options of a command go after --: %s", err__text(), better);
	}
}

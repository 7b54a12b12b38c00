// SPDX-License-Identifier: BSD-2-Clause
/*
 * Hints on a missing -- before CMD and missing quotes around a pattern: if a word can't be a
 * function, or an option is unknown, but there is a command or file of this name, shows how to
 * write it.
 */
#include <errno.h>
#include <unistd.h>
#include "command.h"
#include "suggestion.h"
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

	return err__usage("%s is not %s here: to run it, write -- before it: %s", word,
			  req->verb->bit & (VERB_FUNCTIONS | VERB_SLOW) ? "a function"
									: "an operand",
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

static void hint_at_object(const struct request *req, const char *word)
{
	const char *here = other_words__operand(word);
	autofree char *probe = other_words__probe(word);

	if (probe)
		err__usage("'%s' is another tool's form; write bbtrace %s", word, probe);
	else if (here && !strcmp(here, "help"))
		err__usage("%s; help is shown by bbtrace %s --help", err__text(), req->verb->name);
	else if (here)
		err__usage("%s; see also bbtrace %s", err__text(), here);
	else if (!word[strspn(word, "0123456789")])
		err__usage("no object %s; a process is given by -p: bbtrace %s FUNC... -p %s", word,
			   req->verb->bit == VERB_USER ? "user" : "stack PID, or bbtrace user",
			   word);
}

/* True if the only operand is no file's name. Then it may be the name of a function. */
static bool is_lone_name(const struct request *req, int err)
{
	return err == -ENOENT && req->operands.len == 1 && req->verb->bit == VERB_USER &&
	       !strchr(req->operands.data[0], '/');
}

int usage_hints__no_object(const struct request *req, const char *program, const char *own, int err)
{
	const char *first = req->operands.data[0];
	const char *second = req->operands.len > 1 ? req->operands.data[1] : NULL;

	if (is_lone_name(req, err))
		second = "OBJECT";
	else if (err != -ENOENT || !second || strchr(first, '/') || !strchr(second, '/') ||
		 access(second, F_OK))
		second = NULL;
	if (*own && is_lone_name(req, err) && strchr(own, ' '))
		return err__set(ENOENT,
				"%s; a library's function comes after the library: bbtrace "
				"user libc.so.6 %s",
				own, first);
	if (second && req->verb->bit == VERB_USER && !access(second, X_OK) && !req->command &&
	    !req->who.filters.pids.len)
		err__set(ENOENT, "%s; a function of the command: bbtrace user %s -- %s",
			 err__text(), first, second);
	else if (second)
		err__set(ENOENT, "%s; a function comes after its object: bbtrace %s %s %s",
			 err__text(), req->verb->name, second, first);
	hint_at_object(req, first);
	return program ? err__set(-err, "%s; nor has %s such a function", err__text(), program)
		       : err;
}

int usage_hints__form(const struct request *req, size_t i, int err)
{
	autofree char *before = xstrdup(err__text());

	hint_at_object(req, req->operands.data[i]);
	return usage_hints__operand(req, i, strcmp(before, err__text()) ? -EINVAL : err);
}

int usage_hints__command(const struct request *req)
{
	bool first = req->verb->bit & (VERB_PROFILE | VERB_TOP | VERB_COVER);

	for (size_t i = first ? 0 : 1; !req->command && i < req->operands.len; i++) {
		const char *word = req->operands.data[i];

		if (strchr(word, '/') && command__exists(word))
			return write_dashes(req, word);
	}
	return 0;
}

char *usage_hints__no_function(const struct request *req)
{
	struct str s = {0};

	if (req->verb->bit == VERB_BOTH)
		str__puts(&s, "write user:OBJECT:FUNC or kernel:FUNC; ");
	if (req->verb->bit != VERB_USER) {
		str__printf(&s, "see bbtrace %s --help", req->verb->name);
		return s.data;
	}
	str__puts(&s, "'*' means all of the program: bbtrace user '*'");
	for (char **arg = req->given; *arg; arg++) {
		str__putc(&s, ' ');
		str__shell(&s, *arg);
	}
	if (req->command) {
		str__puts(&s, "; bbtrace list ");
		str__shell(&s, req->command[0]);
		str__puts(&s, " shows them");
	}
	str__puts(&s, "; see bbtrace user --help");
	return s.data;
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

// SPDX-License-Identifier: BSD-2-Clause
/*
 * Selects and runs a verb of verbs/verbs.c: parses its options, runs it, and turns its result into
 * the exit status. What all verbs share is done here: help, error messages, closed streams and the
 * last write to stdout. Only main exits.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include "cli/exit_status.h"
#include "cli/suggestion.h"
#include "cli/usage_hints.h"
#include "verbs/verbs.h"
#include "cli/request.h"
#include "session/process/confine.h"
#include "util/fit.h"

/* ---- this process ---- */

/*
 * If a standard stream is closed, the next opened file would get its number, and the trace or notes
 * would go into that file. So a closed stream is replaced by a descriptor that can't be written
 * (stdin: can only be read) and that CMD does not inherit.
 */
static void occupy_streams(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", (fd ? O_RDONLY : O_WRONLY) | O_CLOEXEC) < 0)
			return;
}

/* A set-ID bbtrace would run CMD and the pager, and write files, as another user than the
 * caller. */
static bool is_set_id(void)
{
	if (getuid() == geteuid() && getgid() == getegid())
		return false;
	err__set(EPERM, "bbtrace refuses to run set-user-ID or set-group-ID; give the file "
			"capabilities instead: see SECURITY CONSIDERATIONS in bbtrace-limits(7)");
	return true;
}

/* Prints the error's message and returns status. */
static int fail(int status)
{
	err__print();
	return status;
}

/* ---- unknown commands ---- */

/* Returns the verb that the name begins, or that is most like it; NULL if none is. */
static const char *nearest_verb(const char *name)
{
	size_t len = strlen(name);
	unsigned limit = len < 4 ? 1 : 2;

	for (const struct verb *v = verbs; v->name; v++)
		if (len >= 3 && !strncmp(name, v->name, len))
			return v->name;
	for (const struct verb *v = verbs; v->name; v++)
		if (str__distance(name, len, v->name, strlen(v->name), limit) <= limit)
			return v->name;
	return NULL;
}

/* Returns the line with its verb first, if that follows options; NULL: there is none. */
static char *verb_first(char **words)
{
	struct str s = {0};
	size_t at = 0;

	while (words[at] && strcmp(words[at], "--") && !verb__find(words[at]))
		at++;
	if (**words != '-' || !words[at] || !verb__find(words[at]))
		return NULL;
	str__puts(&s, words[at]);
	for (size_t i = 0; words[i]; i++) {
		if (i == at)
			continue;
		str__putc(&s, ' ');
		str__shell(&s, words[i]);
	}
	return s.data;
}

/* words: from the one on that is no verb. */
static int refuse_unknown(char **words)
{
	autofree char *ordered = verb_first(words);

	if (ordered)
		err__usage("%s: a command comes before its options: bbtrace %s", *words, ordered);
	else
		suggestion__no_verb(words, nearest_verb(*words));
	return fail(EXIT_USAGE);
}

/* ---- a verb ---- */

/* argv starts with the verb's name. Returns the exit status. */
static int run(const struct verb *verb, int argc, char **argv)
{
	CLEANUP(request__free) struct request request;
	int status;

	if (request__parse(&request, verb, argc, argv)) {
		usage_hints__option(&request);
		return fail(EXIT_USAGE);
	}
	if (request.help || request.help_all) {
		request__help(verb, request.help_all, stdout);
		return EXIT_TRACED;
	}
	if (verb->check(&request))
		return fail(EXIT_USAGE);
	if (request.show.full_names)
		terminal__unlimit();
	if (output__form(request.show.format) == FORM_TEXT && isatty(STDOUT_FILENO))
		fit__stdout(terminal__columns(STDOUT_FILENO), verb->bit & VERB_PROSE);
	status = confine__reader(&request);
	if (!status)
		status = verb->run(&request);
	confine__end();
	if (status >= 0)
		return status;
	return fail(err__is_usage()	     ? EXIT_USAGE
		    : verb->bit == VERB_DIFF ? EXIT_TROUBLE
					     : EXIT_CANNOT);
}

static bool reader_has_gone(void)
{
	struct pollfd p = {.fd = STDOUT_FILENO};

	return poll(&p, 1, 0) == 1 && p.revents & POLLERR;
}

/* Writes what is left in stdout's buffer; only here can a failed write of it be seen. It is no
 * error if the reader of a pipe has gone away. */
static int flush_output(int status, const struct verb *verb)
{
	int err = fflush(stdout) ? errno : 0;

	if (!ferror(stdout) || reader_has_gone())
		return status;
	err__set(err ? err : EIO, "cannot write to stdout: %s",
		 err ? strerror(err) : "some of it was lost");
	return fail(verb && verb->bit == VERB_DIFF ? EXIT_TROUBLE : EXIT_CANNOT);
}

/* ---- help ---- */

static void print_verb(const struct verb *v, FILE *out)
{
	autofree char *usage = xasprintf("  bbtrace %-7s %s", v->name, v->args);
	autofree char *help = xasprintf("      %s", v->help);

	help__text(usage, 18, out);
	help__text(help, 6, out);
}

static void print_overview(FILE *out)
{
	const struct verb *v;

	fprintf(out, "bbtrace %s: every branch that a program or the kernel takes\n\n",
		BBTRACE_VERSION);
	for (v = verbs; v->name; v++)
		print_verb(v, out);
	putc('\n', out);
	help__text("  bbtrace VERB --help shows a verb's options; the manual is bbtrace(8), "
		   "bbtrace-VERB(8).",
		   2, out);
}

static bool is_one_of(const char *arg, const char *a, const char *b, const char *c)
{
	return !strcmp(arg, a) || !strcmp(arg, b) || (c && !strcmp(arg, c));
}

/* Lists, for completion, the verbs with their help, or the options of one. */
static int list_options(char **names)
{
	const struct verb *verb = *names ? verb__find(*names) : NULL;

	if (*names && !verb)
		return refuse_unknown(names);
	if (verb)
		request__list_options(verb, stdout);
	for (const struct verb *v = verbs; !verb && v->name; v++)
		printf("%s\t%s\n", v->name, v->help);
	return EXIT_TRACED;
}

/* names is a verb, or empty for all verbs. */
static int print_help(char **names)
{
	const struct verb *verb;

	if (*names && !strcmp(*names, "--options"))
		return list_options(names + 1);

	if (*names && is_one_of(*names, "--help", "-h", "help"))
		names++;
	verb = *names ? verb__find(*names) : NULL;
	if (*names && !verb)
		return refuse_unknown(names);
	if (verb && names[1]) {
		err__usage("help takes one command; see bbtrace help %s", verb->name);
		return fail(EXIT_USAGE);
	}
	if (verb)
		request__help(verb, false, stdout);
	else
		print_overview(stdout);
	return EXIT_TRACED;
}

/* ---- the command line ---- */

static int run_command(int argc, char **argv, const struct verb **verb)
{
	if (is_set_id())
		return fail(EXIT_CANNOT);
	if (argc < 2) {
		print_overview(stderr);
		return EXIT_USAGE;
	}
	if (is_one_of(argv[1], "--help", "-h", "help"))
		return print_help(argv + 2);
	if (is_one_of(argv[1], "--version", "-V", NULL)) {
		printf("bbtrace %s\n", BBTRACE_VERSION);
		return EXIT_TRACED;
	}
	*verb = verb__find(argv[1]);
	if (*verb)
		return run(*verb, argc - 1, argv + 1);
	return refuse_unknown(argv + 1);
}

int main(int argc, char **argv)
{
	const struct verb *verb = NULL;
	int status;

	memory__reserve();
	occupy_streams();
	rights__user();
	status = run_command(argc, argv, &verb);
	return flush_output(status, verb);
}

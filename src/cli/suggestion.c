// SPDX-License-Identifier: BSD-2-Clause
/* What to write instead of a command line that begins with no verb: a template of other_words.c
 * with the user's command, process and value in it. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "command.h"
#include "suggestion.h"
#include "util/util.h"

/* ---- what was given ---- */

/* What the words have of a process, a command and a value; NULL if it is missing. */
struct given_parts {
	const char *pid, *value, *trace;
	char *const *command;
};

static bool is_number(const char *word)
{
	return *word && !word[strspn(word, "0123456789")];
}

static bool is_pid_option(const char *word)
{
	return !strcmp(word, "-p") || !strcmp(word, "--pid") || !strcmp(word, "-pid");
}

/* Options of other tools whose value is the next word. */
static bool takes_value(const char *word)
{
	return *word == '-' && word[1] && !word[2] && strchr("eosnxdFiDNP", word[1]);
}

/* The process in -p12 and --pid=12; NULL: none. */
static const char *joined_pid(const char *word)
{
	if (!strncmp(word, "--pid=", 6))
		return word + 6;
	return !strncmp(word, "-p", 2) && is_number(word + 2) ? word + 2 : NULL;
}

/* "open" of trace=open and of --tool=open */
static const char *value_of(const char *word)
{
	const char *equals = strchr(word, '=');

	return equals ? equals + 1 : word;
}

static bool is_trace(const char *word)
{
	size_t len = strlen(word);

	return len > 4 && !strcmp(word + len - 4, ".bbt") && !access(word, F_OK);
}

static struct given_parts parts_of(char *const *words)
{
	struct given_parts g = {0};

	for (char *const *w = words; *w && !g.command; w++) {
		bool pid = is_pid_option(*w);

		if (!g.trace && w > words && is_trace(*w))
			g.trace = *w;
		if (!g.value && **w == '-' && strchr(*w, '='))
			g.value = value_of(*w);
		if (!g.pid)
			g.pid = joined_pid(*w);
		if ((pid || takes_value(*w)) && w[1]) {
			w++;
			*(pid ? &g.pid : &g.value) = pid ? *w : value_of(*w);
		} else if (is_number(*w)) {
			g.pid = *w;
		} else if (**w != '-' && (w > words || strchr(*w, '/')) && command__exists(*w)) {
			g.command = w;
		}
	}
	return g;
}

/* ---- the text ---- */

static void put_command(struct str *s, char *const *command)
{
	for (char *const *w = command; *w; w++) {
		str__puts(s, w == command ? "" : " ");
		str__shell(s, *w);
	}
}

/* Puts what stands for the placeholder at text. Returns the placeholder's length; 0: there is none,
 * or nothing for it was given. */
static size_t put_part(struct str *s, const char *text, const struct given_parts *g)
{
	if (g->command && !strncmp(text, "CMD", 3)) {
		put_command(s, g->command);
		return 3;
	}
	if (g->pid && !strncmp(text, "PID", 3)) {
		str__shell(s, g->pid);
		return 3;
	}
	if (g->trace && !strncmp(text, "FILE", 4) && text[4] != '.') {
		str__shell(s, g->trace);
		return 4;
	}
	if (g->value && !strncmp(text, "VALUE", 5)) {
		str__shell(s, g->value);
		return 5;
	}
	return 0;
}

static char *fill(const char *text, const struct given_parts *g)
{
	struct str s = {0};

	while (*text) {
		size_t len = put_part(&s, text, g);

		if (!len)
			str__putc(&s, *text);
		text += len ? len : 1;
	}
	return s.data ? s.data : xstrdup("");
}

char *suggestion__fill(const char *text, char *const *words)
{
	struct given_parts g = parts_of(words);

	return fill(text, &g);
}

char *suggestion__of_value(const char *text, const char *value)
{
	struct given_parts g = {.value = value_of(value)};

	return fill(text, &g);
}

/* ---- no verb ---- */

/* The verb for a file, by the end of its name; NULL: source code. */
static const struct {
	const char *suffix, *verb;
} files[] = {
	{".bbt", "report"}, {".trace", "report"}, {".core", "core"}, {".c", NULL},  {".cc", NULL},
	{".cpp", NULL},	    {".cxx", NULL},	  {".go", NULL},     {".rs", NULL},
};

/* Returns what to write for a file that was given in place of a verb; NULL if it is none. */
static char *of_file(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < ARRAY_SIZE(files) && !access(name, F_OK); i++) {
		size_t end = strlen(files[i].suffix);
		int base = (int)(len - end);

		if (len <= end || strcmp(name + base, files[i].suffix))
			continue;
		return files[i].verb ? xasprintf("%s %s", files[i].verb, name)
				     : xasprintf("user ./%.*s FUNC... -- ./%.*s: the program, not "
						 "its source",
						 base, name, base, name);
	}
	return NULL;
}

static char *of_option(char *const *words)
{
	const char *here = other_words__first_option(*words);

	if (here)
		return suggestion__fill(here, words);
	return suggestion__fill("user FUNC... [options] -- CMD", words);
}

#define OF_PROCESS "-p"

/* Returns what is known of the first word itself; NULL: nothing. */
static char *of_word(char *const *words)
{
	const char *here = other_words__command(*words);
	char *probe = other_words__probe(*words);

	if (probe)
		return probe;
	if (here)
		return suggestion__fill(here, words);
	if (is_number(*words))
		return suggestion__fill(other_words__first_option(OF_PROCESS), words);
	return of_file(*words);
}

int suggestion__no_verb(char *const *words, const char *nearest)
{
	const char *name = *words;
	autofree char *here = *name == '-' ? of_option(words) : of_word(words);

	if (!here && command__exists(name) && (strchr(name, '/') || !nearest || strlen(name) < 4)) {
		struct given_parts g = {.command = words};

		here = fill("user FUNC... -- CMD for each branch of functions, why -- CMD for why "
			    "it fails, cover -- CMD for which lines run",
			    &g);
	}
	if (*name == '-')
		return err__usage("%s: a command comes before its options: bbtrace %s; see bbtrace "
				  "--help",
				  name, here);
	if (here)
		return err__usage("unknown command '%s'; write bbtrace %s; see bbtrace --help",
				  name, here);
	if (nearest)
		return err__usage("unknown command '%s'; did you mean %s? See bbtrace --help", name,
				  nearest);
	return err__usage("unknown command '%s'; a function's calls: bbtrace user %s -- CMD; see "
			  "bbtrace --help",
			  name, name);
}

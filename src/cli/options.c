// SPDX-License-Identifier: BSD-2-Clause
/* Parses a command line by the tables of its verb's options, prints them for --help, and
 * explains wrong command lines. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <unistd.h>
#include "option.h"
#include "option_values.h"
#include "suggestion.h"
#include "util/fit.h"

/* In the order of --help, after the verb's own table. */
static const struct option_group *const shared[] = {
	&options_what, &options_who,  &options_record, &options_how,
	&options_when, &options_show, &options_file,   &options_general,
};

#define GROUPS	    (1 + ARRAY_SIZE(shared))
#define OPTIONS_MAX 128

/* Returns a group of the verb's options; NULL if the verb has no table of its own. */
static const struct option_group *group_of(const struct verb *verb, size_t i)
{
	return i ? shared[i - 1] : verb->options;
}

/* The options of a verb. */
struct options {
	const struct option_row *rows[OPTIONS_MAX];
	size_t n;
};

static void add_group(struct options *o, const struct option_group *g, unsigned verb)
{
	for (size_t i = 0; g && i < g->n && o->n < OPTIONS_MAX; i++)
		if (g->rows[i].verbs & verb)
			o->rows[o->n++] = &g->rows[i];
}

static struct options options_of(const struct verb *verb)
{
	struct options o = {.n = 0};

	for (size_t i = 0; i < GROUPS; i++)
		add_group(&o, group_of(verb, i), verb->bit);
	return o;
}

/* ---- --help ---- */

unsigned help__columns(FILE *out)
{
	int fd = fileno(out);

	return fd >= 0 && isatty(fd) ? terminal__columns(fd) : 0;
}

#define HELP_COLUMN 33

void help__row(const char *name, const char *text, FILE *out)
{
	CLEANUP(str__free) struct str s = {0};
	unsigned width = help__columns(out);
	size_t len = strlen(name) + 3;

	if (width && width < 2 * HELP_COLUMN) { /* below the name */
		str__printf(&s, "  %s\n      ", name);
		fit__wrap(&s, text, 6, 6, width);
	} else {
		str__printf(&s, "  %-30s ", name);
		fit__wrap(&s, text, max_of(len, (size_t)HELP_COLUMN), HELP_COLUMN, width);
	}
	fprintf(out, "%s\n", s.data);
}

void help__text(const char *text, unsigned indent, FILE *out)
{
	CLEANUP(str__free) struct str s = {0};

	fit__wrap(&s, text, 0, indent, help__columns(out));
	fprintf(out, "%s\n", s.data);
}

static void help_row(const struct option_row *r, FILE *out)
{
	char names[64];

	snprintf(names, sizeof(names), "%c%c%c --%s%s%s", r->letter ? '-' : ' ',
		 r->letter ? r->letter : ' ', r->letter ? ',' : ' ', r->name,
		 r->arg && *r->arg ? " " : "", r->arg ? r->arg : "");
	help__row(names, r->help, out);
}

static bool is_shown(const struct verb *verb, const struct option_row *r, bool all)
{
	return r->verbs & verb->bit && (all || !(r->knob || r->knob_of & verb->bit));
}

static void help_group(const struct verb *verb, const struct option_group *g, bool all, FILE *out)
{
	for (size_t i = 0; g && i < g->n; i++)
		if (is_shown(verb, &g->rows[i], all))
			help_row(&g->rows[i], out);
}

static size_t count_shown(const struct verb *verb, const struct option_group *g, bool all)
{
	size_t n = 0;

	for (size_t i = 0; g && i < g->n; i++)
		n += is_shown(verb, &g->rows[i], all);
	return n;
}

/* A verb with at most this number of options shows all of them, and they need no headings. */
#define FEW 12

/* all: --help-all. Otherwise it has one screen: no blank lines between groups. Returns the number
 * of options that it leaves out. */
static size_t help_options(const struct verb *verb, bool all, FILE *out)
{
	size_t has = options_of(verb).n, shown = 0, n;
	bool whole = all || has <= FEW;
	const char *question = "";

	for (size_t i = 0; i < GROUPS; i++)
		shown += count_shown(verb, group_of(verb, i), whole);
	if (!all)
		fputs(shown <= FEW ? "\noptions:\n" : "\n", out);
	for (size_t i = 0; i < GROUPS; i++) {
		const struct option_group *g = group_of(verb, i);

		n = count_shown(verb, g, whole);
		if (n && (all || shown > FEW) && strcmp(question, g->question))
			fprintf(out, "%s%s:\n", all ? "\n" : "", g->question);
		if (n)
			question = g->question;
		help_group(verb, g, whole, out);
	}
	return has - shown;
}

void request__help(const struct verb *verb, bool all, FILE *out)
{
	autofree char *usage = xasprintf("usage: bbtrace %s %s", verb->name, verb->args);
	size_t left_out;

	help__text(usage, 8, out);
	help__text(verb->help, 0, out);
	left_out = help_options(verb, all, out);
	if (left_out)
		fprintf(out, "%zu more options, which few need: bbtrace %s --help-all\n", left_out,
			verb->name);
	if (verb->examples)
		fprintf(out, "\nexamples:\n%s", verb->examples);
	if (verb->bit & VERB_TEXT)
		formats__help(verb, all, out);
}

/* Prints the values for completion, with the names of formats and registers in place of :formats
 * and :registers. */
static void put_values(const struct verb *verb, const char *values, FILE *out)
{
	const struct arch *arch = arch__native();
	const char *kind = values ? strchr(values, ':') : NULL;

	if (kind && !strcmp(kind, ":formats")) {
		formats__list(verb, out);
	} else if (kind && !strcmp(kind, ":registers")) {
		fputs(",none args all", out);
		for (unsigned i = 0; i < arch->nregs; i++)
			if (arch->reg_names[i])
				fprintf(out, " %s", arch->reg_names[i]);
	} else {
		fputs(values ? values : "-", out);
	}
}

static void list_group(const struct verb *verb, const struct option_group *g, FILE *out)
{
	for (size_t i = 0; g && i < g->n; i++) {
		const struct option_row *r = &g->rows[i];

		if (!(r->verbs & verb->bit))
			continue;
		fprintf(out, "%c\t%s\t%s\t", r->letter ? r->letter : '-', r->name,
			!r->arg	  ? "-"
			: *r->arg ? r->arg
				  : "=");
		put_values(verb, r->values, out);
		fprintf(out, "\t%s\t%s\n", r->help, g->question);
	}
}

void request__list_options(const struct verb *verb, FILE *out)
{
	for (size_t i = 0; i < GROUPS; i++)
		list_group(verb, group_of(verb, i), out);
}

/* ---- parsing ---- */

/* getopt_long(3)'s tables; val is the option's index + 256, which no letter has. */
static void make_tables(const struct options *o, const struct verb *verb,
			struct option *long_options, char *short_options)
{
	if (verb->bit == VERB_DIFF)
		*short_options++ = '-'; /* operands come in their order among the options */
	*short_options++ = ':';
	for (size_t i = 0; i < o->n; i++) {
		const char *arg = o->rows[i]->arg;

		*long_options++ = (struct option){o->rows[i]->name,
						  !arg	 ? no_argument
						  : *arg ? required_argument
							 : optional_argument,
						  NULL, (int)i + 256};
		if (!o->rows[i]->letter)
			continue;
		*short_options++ = o->rows[i]->letter;
		if (arg)
			*short_options++ = ':';
	}
	*long_options = (struct option){0};
	*short_options = 0;
}

static const struct option_row *row_of(const struct options *o, int c)
{
	if (c >= 256)
		return o->rows[c - 256];
	for (size_t i = 0; i < o->n; i++)
		if (o->rows[i]->letter == c)
			return o->rows[i];
	return NULL;
}

/* How far the name is from the option: 0 if it is part of it, or longer, as in --follow-forks; else
 * the number of different characters. FAR: it is not near. */
#define FAR 3

static unsigned farness(const char *option, const char *name)
{
	size_t n = strlen(option), len = strlen(name);

	if (strstr(option, name) || (!strncmp(option, name, n) && name[n] == '-'))
		return 0;
	return len >= 4 ? str__distance(name, len, option, n, FAR - 1) : FAR;
}

/* Returns the nearest option; NULL if none is near. */
static const char *nearest(const struct options *o, const char *name)
{
	const char *best = NULL;
	unsigned least = FAR;

	for (size_t i = 0; strlen(name) >= 3 && i < o->n; i++) {
		unsigned far = farness(o->rows[i]->name, name);

		if (far >= least)
			continue;
		least = far;
		best = o->rows[i]->name;
	}
	return best;
}

/* True unless the text begins with an option that the verb hasn't. */
static bool has_first(const struct options *o, const char *text)
{
	size_t len = strcspn(text, " ");

	if (*text != '-')
		return true;
	for (size_t i = 0; i < o->n; i++)
		if (text[1] == '-' ? strlen(o->rows[i]->name) == len - 2 &&
					     !strncmp(o->rows[i]->name, text + 2, len - 2)
				   : o->rows[i]->letter == text[1])
			return true;
	return false;
}

/* What another tool's option is here, if the verb has that; else NULL. */
static const char *other_option(const struct options *o, const char *name)
{
	const char *here;

	for (size_t i = 0; (here = other_words__option(name, i)); i++)
		if (has_first(o, here))
			return here;
	return NULL;
}

/* Returns a hint on what an unknown option may have meant, as "; did you mean --min-duration?", or
 * "". */
static char *meant(const struct options *o, const char *option)
{
	autofree char *name = xstrdup(option + 1 + (option[1] == '-'));
	const char *here, *near;

	name[strcspn(name, "=")] = 0;
	here = other_option(o, name);
	if (here)
		return xasprintf("; here: %s.", here);
	if (output__by_name(name))
		return xasprintf("; did you mean -F %s?", name);
	near = nearest(o, name);
	return near ? xasprintf("; did you mean --%s?", near) : xstrdup("");
}

/* Another tool's option that happens to be the begin of ours, as --return is of --returns. */
static bool is_other_word(const struct option_row *r, const char *arg)
{
	autofree char *name = xstrdup(strncmp(arg, "--", 2) ? "" : arg + 2);
	const char *here;

	name[strcspn(name, "=")] = 0;
	here = other_words__option(name, 0);
	return here && strncmp(r->name, name, strlen(name) + 1) &&
	       strncmp(here, arg, strlen(name) + 2);
}

static int unknown_option(const struct options *o, const struct verb *verb, const char *option)
{
	autofree char *hint = meant(o, option);

	return err__set(EINVAL, "unknown option %s for 'bbtrace %s'%s%s bbtrace %s --help", option,
			verb->name, hint, *hint ? " See" : "; see", verb->name);
}

static int usage_error(const struct options *o, const struct verb *verb, int c, char **argv)
{
	const char letter[3] = {'-', (char)optopt, 0};
	const char *option = optopt > 0 && optopt < 256 ? letter : argv[optind - 1];

	if (c == ':' && optopt >= 256 && is_other_word(o->rows[optopt - 256], option))
		return unknown_option(o, verb, option);
	if (c == ':') {
		const char *other = other_option(o, option + 1);

		return err__set(EINVAL, "%s needs a value%s%s; see bbtrace %s --help", option,
				other ? "; " : "", other ? other : "", verb->name);
	}
	return unknown_option(o, verb, option);
}

/* Parses the value by the row's type and stores it in the row's field. */
static int store(struct request *req, const struct option_row *r, const char *value)
{
	void *field = (char *)req + r->offset;
	int err;

	switch (r->type) {
	case OPTION_SWITCH:
		*(bool *)field = true;
		return 0;
	case OPTION_FILE:
		*(const char **)field = value;
		return value__file_name(value);
	case OPTION_TEXTS:
		vec__push((text_vec *)field, value);
		return 0;
	case OPTION_TEXT:
		*(const char **)field = value;
		return 0;
	case OPTION_TIME:
		return value__time(value, field);
	case OPTION_DURATION:
		err = value__time(value, field);
		return err || *(uint64_t *)field ? err : err__set(EINVAL, "must be more than 0");
	case OPTION_NUMBER:
	case OPTION_COUNT:
		return parse__u64(value, r->type == OPTION_COUNT, field);
	case OPTION_POSITIVE:
		err = parse__u64(value, true, field);
		return err || *(uint64_t *)field ? err : err__set(EINVAL, "must be at least 1");
	case OPTION_OTHER:
		return 0;
	}
	return 0;
}

/* Adds to the message what another tool's value is here. */
static void suggest_value(const struct request *req, const struct option_row *r, const char *value)
{
	bool traces = req->verb->bit & VERB_SHOW;
	const char *here = value && traces ? other_words__value(r->name, value) : NULL;
	autofree char *text = here ? suggestion__of_value(here, value) : NULL;

	if (text)
		err__set(EINVAL, "%s; %s", err__text(), text);
}

static int set(struct request *req, const struct option_row *r, const char *value)
{
	int err = store(req, r, value);

	if (!err && r->set)
		err = r->set(req, value);
	if (err)
		suggest_value(req, r, value);
	return err ? err__prefix(-EINVAL, "--%s", r->name) : 0;
}

static void add_operand(struct request *req, char *word)
{
	vec__push(&req->operands, word);
	vec__push(&req->diff.sets, req->diff.set);
}

int request__parse(struct request *req, const struct verb *verb, int argc, char **argv)
{
	const struct options options = options_of(verb);
	struct option long_options[OPTIONS_MAX + 1];
	char short_options[2 * OPTIONS_MAX + 3];
	const char *given;
	int c, end = 1, err;

	*req = (struct request){.verb = verb,
				.record.stack_size = STACK_SIZE_AUTO,
				.record.freq = verb->bit == VERB_PROFILE ? 99 : 0,
				.record.stack = verb->bit == VERB_PROFILE,
				.show.color = "auto",
				.diff.context = CONTEXT_STEPS,
				.what.callees = 3,
				.record.events = PLAN_ENTRY | PLAN_BRANCH | PLAN_RETURN};
	req->given = xcalloc(argc, sizeof(*req->given));
	memcpy(req->given, argv + 1, (argc - 1) * sizeof(*req->given));
	while (end < argc && strcmp(argv[end], "--"))
		end++;
	make_tables(&options, verb, long_options, short_options);
	optind = 0; /* glibc: reset getopt */
	while ((c = getopt_long(end, argv, short_options, long_options, NULL)) != -1) {
		const struct option_row *r =
			c == ':' || c == '?' || c == 1 ? NULL : row_of(&options, c);

		if (c == 1) {
			add_operand(req, optarg);
			continue;
		}
		if (!r)
			return usage_error(&options, verb, c, argv);
		given = argv[optind - 1 - (optarg && optarg == argv[optind - 1])];
		if (c >= 256 && is_other_word(r, given))
			return unknown_option(&options, verb, given);
		err = set(req, r, optarg);
		if (err)
			return err;
	}
	for (int i = optind; i < end; i++)
		add_operand(req, argv[i]);
	for (int i = end + 1; verb->bit == VERB_CTL && i < argc; i++)
		add_operand(req, argv[i]);
	err = formats__settle(req);
	if (!err)
		err = formats__check_coverage(req);
	if (err || end == argc || verb->bit == VERB_CTL)
		return err;
	if (!(verb->bit & VERB_COMMAND) || end + 1 == argc)
		return err__set(EINVAL,
				verb->bit & VERB_COMMAND ? "no command after --"
							 : "%s does not take a command",
				verb->name);
	req->command = argv + end + 1;
	return 0;
}

void request__free(struct request *req)
{
	for (size_t i = 0; i < req->who.filters.comms.len; i++)
		free((char *)req->who.filters.comms.data[i]);
	free(req->given);
	vec__free(&req->operands);
	vec__free(&req->diff.sets);
	vec__free(&req->who.filters.pids);
	vec__free(&req->who.filters.tids);
	vec__free(&req->who.filters.uids);
	vec__free(&req->who.filters.comms);
	vec__free(&req->who.filters.excluded);
	vec__free(&req->what.exclude);
	vec__free(&req->record.dump_on);
	vec__free(&req->when.start_on);
	vec__free(&req->when.stop_on);
	vec__free(&req->what.with);
	vec__free(&req->what.objects);
	vec__free(&req->show.prefixes);
	for (size_t i = 0; i < req->what.syscalls.len; i++)
		free((char *)req->what.syscalls.data[i]);
	vec__free(&req->what.syscalls);
	vec__free(&req->when.markers_in);
	vec__free(&req->what.watch);
	expressions__free(&req->record.expressions);
	conditions__free(&req->record.conditions);
}

// SPDX-License-Identifier: BSD-2-Clause
/* Parses a command line by the tables of its verb's options, prints them for --help, and
 * explains wrong command lines. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <unistd.h>
#include "option.h"
#include "option_values.h"
#include "other_words.h"

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

static void help_row(const struct option_row *r, FILE *out)
{
	char names[64];

	snprintf(names, sizeof(names), "%c%c%c --%s%s%s", r->letter ? '-' : ' ',
		 r->letter ? r->letter : ' ', r->letter ? ',' : ' ', r->name,
		 r->arg && *r->arg ? " " : "", r->arg ? r->arg : "");
	fprintf(out, "  %-30s %s\n", names, r->help);
}

/* *question: the heading of the group before, which may be the same. Returns how many options it
 * leaves out. */
static unsigned help_group(const struct verb *verb, const struct option_group *g, bool all,
			   const char **question, FILE *out)
{
	unsigned left_out = 0;

	for (size_t i = 0; g && i < g->n; i++) {
		if (!(g->rows[i].verbs & verb->bit))
			continue;
		if (g->rows[i].knob && !all) {
			left_out++;
			continue;
		}
		if (strcmp(*question, g->question))
			fprintf(out, "\n%s:\n", g->question);
		*question = g->question;
		help_row(&g->rows[i], out);
	}
	return left_out;
}

/* A verb with at most this number of options shows all of them. */
#define FEW 28

void request__help(const struct verb *verb, bool all, FILE *out)
{
	const char *question = "";
	unsigned left_out = 0;

	all |= options_of(verb).n <= FEW;
	fprintf(out, "usage: bbtrace %s %s\n%s\n", verb->name, verb->args, verb->help);
	for (size_t i = 0; i < GROUPS; i++)
		left_out += help_group(verb, group_of(verb, i), all, &question, out);
	if (left_out)
		fprintf(out, "\n%u more options, which few need: bbtrace %s --help-all\n", left_out,
			verb->name);
	if (verb->examples)
		fprintf(out, "\nexamples:\n%s", verb->examples);
	if (verb->bit & VERB_TEXT)
		formats__help(verb, out);
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

/* True if the name is part of the option, nearly equal, or longer, as in --follow-forks. */
static bool is_near(const char *option, const char *name)
{
	size_t n = strlen(option), len = strlen(name);

	return strstr(option, name) || (!strncmp(option, name, n) && name[n] == '-') ||
	       (len >= 4 && str__distance(name, len, option, n, 2) <= 2);
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

/* Returns a hint on what an unknown long option may have meant, as "; did you mean
 * --min-duration?", or "". */
static char *meant(const struct options *o, const char *option)
{
	autofree char *name = xstrdup(strncmp(option, "--", 2) ? "" : option + 2);
	const char *here;

	name[strcspn(name, "=")] = 0;
	here = other_words__option(name);
	if (here && has_first(o, here))
		return xasprintf("; here: %s.", here);
	if (output__by_name(name))
		return xasprintf("; did you mean -F %s?", name);
	for (size_t i = 0; strlen(name) >= 3 && i < o->n; i++)
		if (is_near(o->rows[i]->name, name))
			return xasprintf("; did you mean --%s?", o->rows[i]->name);
	return xstrdup("");
}

static int usage_error(const struct options *o, const struct verb *verb, int c, char **argv)
{
	const char letter[3] = {'-', (char)optopt, 0};
	const char *option = optopt > 0 && optopt < 256 ? letter : argv[optind - 1];
	autofree char *hint = meant(o, option);

	if (c == ':') {
		const char *other = other_words__option(option + 1);

		return err__set(EINVAL, "%s needs a value%s%s; see bbtrace %s --help", option,
				other ? "; " : "", other ? other : "", verb->name);
	}
	return err__set(EINVAL, "unknown option %s for 'bbtrace %s'%s%s bbtrace %s --help", option,
			verb->name, hint, *hint ? " See" : "; see", verb->name);
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

static int set(struct request *req, const struct option_row *r, const char *value)
{
	int err = store(req, r, value);

	if (!err && r->set)
		err = r->set(req, value);
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

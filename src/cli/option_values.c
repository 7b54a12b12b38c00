// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "option_values.h"

int value__each(struct request *req, const char *list,
		int (*fn)(struct request *req, const char *part))
{
	return value__each_of(req, list, ",", fn);
}

int value__each_of(struct request *req, const char *list, const char *separators,
		   int (*fn)(struct request *req, const char *part))
{
	autofree char *copy = xstrdup(list);
	char *save = NULL;
	int err = 0, n = 0;

	for (char *p = strtok_r(copy, separators, &save); p && !err;
	     p = strtok_r(NULL, separators, &save), n++)
		err = fn(req, p);
	return err || n ? err : err__set(EINVAL, "an empty list");
}

int value__u32(const char *text, uint32_t *out)
{
	uint64_t v;
	int err = parse__u64(text, false, &v);

	if (err)
		return err;
	if (v > INT32_MAX)
		return err__set(ERANGE, "'%s' is too large", text);
	*out = v;
	return 0;
}

int value__time(const char *text, uint64_t *ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"", 1e9}, {"s", 1e9},  {"ms", 1e6},  {"us", 1e3},
		     {"ns", 1}, {"m", 60e9}, {"h", 3600e9}};
	char *end;
	double v = strtod(text, &end);

	if (end == text || !isfinite(v) || v < 0)
		return err__set(EINVAL, "invalid time '%s': use 2, 0.5, 20ms or 100us", text);
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(end, units[i].unit) && v * units[i].ns < 1e19) {
			*ns = v * units[i].ns;
			return 0;
		}
	return err__set(EINVAL, "invalid time '%s': use 2, 0.5, 20ms or 100us", text);
}

static int unknown_word(const char *words, const char *v)
{
	struct str list = {0};
	int err;

	for (const char *p = words; *p; p++) {
		if (*p != ' ')
			str__putc(&list, *p);
		else
			str__puts(&list, strchr(p + 1, ' ') ? ", " : " or ");
	}
	err = err__set(EINVAL, "unknown value '%s': use %s", v, list.data);
	str__free(&list);
	return err;
}

int value__word(const char *words, const char *v, unsigned *index)
{
	const char *end;

	*index = 0;
	for (const char *p = words; *p; p = end + (*end == ' '), ++*index) {
		end = strchrnul(p, ' ');
		if (strlen(v) == (size_t)(end - p) && !strncmp(p, v, end - p))
			return 0;
	}
	return unknown_word(words, v);
}

/* Fails for a name that is an option, as in -o -F json, where the file's name is missing. */
int value__file_name(const char *name)
{
	if (!*name)
		return err__set(EINVAL, "an empty file name");
	if (*name == '-' && name[1])
		return err__set(EINVAL,
				"'%s' looks like an option; write ./%s for a file of that name",
				name, name);
	return 0;
}

int value__armor(struct request *req, const char *kind)
{
	req->file.armor = kind ? ARMOR_REDUNDANT : ARMOR_LINES;
	return !kind || !strcmp(kind, "redundant")
		       ? 0
		       : err__set(EINVAL, "unknown value '%s': use --armor=redundant, or --armor",
				  kind);
}

int regs__parse(const char *list, const struct arch *arch, uint64_t *regs)
{
	autofree char *copy = xstrdup(list);
	char *save = NULL;

	*regs = 0;
	if (!strcmp(list, "none") || !strcmp(list, "args"))
		return 0;
	for (char *p = strtok_r(copy, ",", &save); p; p = strtok_r(NULL, ",", &save)) {
		unsigned r;

		if (!strcmp(p, "all")) {
			for (r = 0; r < arch->nregs; r++)
				*regs |= (uint64_t) !!arch->reg_names[r] << r;
			continue;
		}
		for (r = 0;
		     r < arch->nregs && (!arch->reg_names[r] || strcmp(p, arch->reg_names[r])); r++)
			;
		if (r == arch->nregs)
			return err__usage(
				"--regs: unknown register '%s': use none, args, all, or names such as "
				"%s",
				p, arch->reg_names[0]);
		*regs |= 1ull << r;
	}
	return 0;
}

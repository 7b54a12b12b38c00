// SPDX-License-Identifier: BSD-2-Clause
/* The verb doctor: one row for each mechanism: available or not, why, and the remedy. */
#include "cmd.h"

static void put_row(const struct feature *f, int err, bool json)
{
	struct str s = {0};

	if (json) {
		str__puts(&s, "{\"mechanism\":");
		str__json(&s, f->name);
		str__printf(&s, ",\"available\":%s,\"use\":", err ? "false" : "true");
		str__json(&s, f->what);
		if (err) {
			str__puts(&s, ",\"reason\":");
			str__json(&s, err__text());
			str__puts(&s, ",\"remedy\":");
			str__json(&s, f->remedy);
		}
		str__puts(&s, "}\n");
	} else {
		str__printf(&s, "%-17s %-4s %s\n", f->name, err ? "no" : "yes", f->what);
		if (err)
			str__printf(&s, "%-22s   why:    %s\n%-22s   remedy: %s\n", "", err__text(),
				    "", f->remedy);
	}
	fwrite(s.data, 1, s.len, stdout);
	str__free(&s);
}

static int show(bool json)
{
	for (const struct feature *f = features; f->name; f++) {
		err__clear();
		put_row(f, f->check(), json);
	}
	return 0;
}

int cmd__doctor(int argc, char **argv, const struct verb *verb)
{
	struct args a;
	bool json;
	int err = args__parse(&a, verb, argc, argv);

	if (!err && a.help) {
		args__help(verb, stdout);
		args__free(&a);
		return EXIT_TRACED;
	}
	if (!err && a.operands.len)
		err = err__set(22, "doctor takes no operand");
	if (err) {
		err__print();
		args__free(&a);
		return EXIT_USAGE;
	}
	json = a.format && !strcmp(a.format->name, "json");
	err = a.calibrate ? calibrate__show(json) : show(json);
	if (err)
		err__print();
	args__free(&a);
	return fflush(stdout) || err ? EXIT_CANNOT : EXIT_TRACED;
}

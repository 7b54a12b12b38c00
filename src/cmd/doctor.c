// SPDX-License-Identifier: BSD-2-Clause
/* The verb doctor: for each mechanism, whether it is available, and if not, why and the remedy. */
#include <errno.h>
#include "cmd.h"
#include "util/json.h"

/* Nothing helps where the architecture can't. */
static const char *remedy_of(const struct feature *f, int err)
{
	return err == -ENOSYS ? "none on this architecture" : f->remedy;
}

static void put_json(struct str *s, const struct feature *f, int err)
{
	struct json j = {.out = s};

	json__open_object(&j);
	json__member(&j, string, "mechanism", f->name);
	json__member(&j, bool, "available", !err);
	json__member(&j, string, "use", f->what);
	if (err) {
		json__member(&j, string, "reason", err__text());
		json__member(&j, string, "remedy", remedy_of(f, err));
	} else if (f->detail) {
		json__member(&j, string, "detail", f->detail());
	}
	json__close_object(&j);
	str__putc(s, '\n');
}

static void put_text(struct str *s, const struct feature *f, int err)
{
	str__printf(s, "%-17s %-4s %s", f->name, err ? "no" : "yes", f->what);
	if (!err && f->detail)
		str__printf(s, ": %s", f->detail());
	str__puts(s, "\n");
	if (err)
		str__printf(s, "%-22s   why:    %s\n%-22s   remedy: %s\n", "", err__text(), "",
			    remedy_of(f, err));
}

static void put_row(const struct feature *f, int err, bool json)
{
	struct str s = {0};

	(json ? put_json : put_text)(&s, f, err);
	fwrite(s.data, 1, s.len, stdout);
	str__free(&s);
}

static void show(bool json)
{
	for (const struct feature *f = features; f->name; f++) {
		err__clear();
		put_row(f, f->check(), json);
	}
}

int doctor__check(struct args *a)
{
	return a->operands.len ? err__set(EINVAL, "doctor takes no operand") : 0;
}

int doctor__run(struct args *a)
{
	bool json = a->format && !strcmp(a->format->name, "json");
	int err = 0;

	if (a->calibrate)
		err = calibrate__show(json);
	else
		show(json);
	if (err)
		return err;
	return fflush(stdout) ? EXIT_CANNOT : EXIT_TRACED;
}

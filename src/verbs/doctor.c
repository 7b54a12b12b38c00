// SPDX-License-Identifier: BSD-2-Clause
/* The verb doctor: shows for each mechanism whether it is available, and if not, why and how to
 * enable it. */
#include <errno.h>
#include "cli/option.h"
#include "cli/exit_status.h"
#include "verbs.h"
#include "cli/request.h"
#include "util/json.h"

/* Returns the remedy; there is none where the architecture lacks the mechanism. */
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

/* ---- bbtrace's own processes (-v) ---- */

#define OWN_USER "one that no other has"
#define FILTER	 "no exec, ptrace, connect, change of users, mount"
#define READING	 "bbtrace's, and descriptors of what it reads"

/* As root; otherwise processes keep their user. tests/e2e/t_privileges.sh compares it with
 * /proc. */
static const struct process_row {
	const char *name, *user, *capabilities, *filter, *descriptors;
} processes[] = {
	{"bbtrace", OWN_USER,
	 "CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_CHECKPOINT_RESTORE; with CMD CAP_KILL", FILTER,
	 "output, events, probes, control socket"},
	{"bbtrace-inline", OWN_USER, "these and CAP_KILL",
	 "no exec, connect, change of users, mount",
	 "memory and logs of traced programs, a socket to bbtrace"},
	{"bbtrace-keeper", OWN_USER, "CAP_PERFMON", FILTER, "the event, a socket to bbtrace"},
	{"bbtrace-files", "root",
	 "with --max-size CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER; else none", FILTER,
	 "folders of the output and the control socket, a socket to bbtrace"},
	{"parser", OWN_USER, "none", "nothing but reading, memory and exit",
	 "the file that it reads, a pipe to bbtrace"},
	{"report", OWN_USER, "none", FILTER, READING},
	{"merge, diff", OWN_USER, "CAP_DAC_READ_SEARCH", FILTER, READING},
	{"core", OWN_USER, "CAP_DAC_READ_SEARCH", FILTER, READING},
	{"list", OWN_USER, "CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE", FILTER, READING},
};

static void put_process_json(struct str *s, const struct process_row *p)
{
	struct json j = {.out = s};

	json__open_object(&j);
	json__member(&j, string, "process", p->name);
	json__member(&j, string, "user", p->user);
	json__member(&j, string, "capabilities", p->capabilities);
	json__member(&j, string, "filter", p->filter);
	json__member(&j, string, "descriptors", p->descriptors);
	json__close_object(&j);
	str__putc(s, '\n');
}

static void put_process(struct str *s, const struct process_row *p)
{
	str__printf(s,
		    "process %-14s user: %s\n%-22s capabilities: %s\n%-22s filter: %s\n"
		    "%-22s descriptors: %s\n",
		    p->name, p->user, "", p->capabilities, "", p->filter, "", p->descriptors);
}

/* Shows what each process keeps once it reads what others have made. */
static void show_processes(bool json)
{
	for (size_t i = 0; i < ARRAY_SIZE(processes); i++) {
		autofree struct str s = {0};

		(json ? put_process_json : put_process)(&s, &processes[i]);
		fwrite(s.data, 1, s.len, stdout);
	}
}

/* ---- options ---- */

static const struct option_row option_rows[] = {
	{"calibrate", 0, NULL, VERB_DOCTOR, SWITCH(calibrate),
	 "measure the cost of probe hits instead"},
};

const struct option_group options_doctor = {"Of bbtrace doctor", option_rows,
					    ARRAY_SIZE(option_rows)};

int doctor__check(struct request *req)
{
	return req->operands.len ? err__set(EINVAL, "doctor takes no operand") : 0;
}

int doctor__run(const struct request *req)
{
	bool json = output__form(req->show.format) == FORM_JSON;
	int err = 0;

	if (req->calibrate)
		err = calibrate__show(json);
	else
		show(json);
	if (!err && !req->calibrate && note__level() == NOTE_VERBOSE)
		show_processes(json);
	return err ? err : EXIT_TRACED;
}

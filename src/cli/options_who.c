// SPDX-License-Identifier: BSD-2-Clause
/* Options that answer "in which processes" and threads. */
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include "option.h"
#include "option_values.h"
#include "process/process.h"

/* All processes of a name, as they are now. */
static int add_named(struct request *req, const char *name)
{
	autofree pid_vec pids = {0};
	const uint32_t *pid;

	if (req->verb->bit == VERB_REPORT)
		return err__set(EINVAL,
				"'%s' is not a PID; --comm chooses threads of a trace by name",
				name);
	processes__named(name, &pids);
	vec__each (pid, &pids)
		vec__push(&req->who.filters.pids, *pid);
	return pids.len ? 0
			: err__set(ESRCH,
				   "there is no process %s: give its PID, or its name as ps has it",
				   name);
}

static int add_pid(struct request *req, const char *part)
{
	uint32_t pid = 0;
	int err = value__u32(part, &pid);

	if (err && strspn(part, "0123456789") != strlen(part))
		return add_named(req, part);
	if (!err && !pid)
		return err__set(EINVAL, "0 is not a valid PID");
	vec__push(&req->who.filters.pids, pid);
	return err;
}

static int set_pid(struct request *req, const char *v)
{
	return value__each_of(req, v, ", \t\n", add_pid);
}

static int add_tid(struct request *req, const char *part)
{
	uint32_t tid = 0;
	int err = value__u32(part, &tid);

	vec__push(&req->who.filters.tids, tid);
	return err;
}

static int set_tid(struct request *req, const char *v)
{
	return value__each(req, v, add_tid);
}

static int add_comm(struct request *req, const char *part)
{
	vec__push(&req->who.filters.comms, xstrdup(part));
	return 0;
}

static int set_comm(struct request *req, const char *v)
{
	return value__each(req, v, add_comm);
}

static int add_uid(struct request *req, const char *part)
{
	const struct passwd *pw = getpwnam(part);
	uint32_t uid = 0;
	int err = pw ? (uid = pw->pw_uid, 0) : value__u32(part, &uid);

	vec__push(&req->who.filters.uids, uid);
	return err ? err__set(EINVAL, "no such user: '%s'", part) : 0;
}

static int set_uid(struct request *req, const char *v)
{
	return value__each(req, v, add_uid);
}

static int check_user(struct request *req, const char *v)
{
	return getpwnam(v) ? 0 : err__set(EINVAL, "no such user: '%s'", v);
}

static const struct option_row rows[] = {
	{"pid", 'p', "PID|NAME[,...]", VERB_SHOW | VERB_LIST | VERB_STACK | VERB_SLOW | VERB_TOP,
	 OTHER, "only these processes, with all their threads", set_pid, .values = ",:pids"},
	{"tid", 0, "TID[,TID...]", VERB_SHOW | VERB_DIFF, OTHER, "only these threads", set_tid,
	 .values = ",:pids", .knob = true},
	{"comm", 0, "NAME[,NAME...]", VERB_SHOW | VERB_DIFF, OTHER, "only threads of this name",
	 set_comm, .values = ",:comms", .knob_of = VERB_SHOW | VERB_DIFF},
	{"uid", 0, "USER[,USER...]", VERB_TRACE, OTHER,
	 "only processes of this user, by name or number", set_uid, .values = ",:users",
	 .knob = true},
	{"cgroup", 0, "PATH", VERB_TRACE, TEXT(who.filters.cgroup),
	 "only this cgroup (v2) and those below it", .values = ":folders", .knob = true},
	{"follow", 'f', NULL, VERB_TRACE | VERB_WHY | VERB_SLOW | VERB_TOP,
	 SWITCH(who.filters.follow), "also children of these processes"},
	{"user", 'u', "NAME", VERB_TRACE | VERB_WHY | VERB_COVER | VERB_SLOW, TEXT(who.user),
	 "run CMD as that user", check_user, .values = ":users"},
};

const struct option_group options_who = {"In which processes", rows, ARRAY_SIZE(rows)};

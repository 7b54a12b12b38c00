// SPDX-License-Identifier: BSD-2-Clause
/* What the values of options mean: called for each by options.c, the text that was given as v. */
#include <errno.h>
#include <pwd.h>
#include "resolve/resolve.h"
#include "option_values.h"

static int add_pid(struct args *a, const char *part)
{
	uint32_t pid = 0;
	int err = value__u32(part, &pid);

	if (err && strspn(part, "0123456789") != strlen(part))
		return err__set(EINVAL, "'%s' is not a PID; pidof(1) has that of a program", part);
	if (!err && !pid)
		return err__set(EINVAL, "0 is not a valid PID");
	vec__push(&a->filters.pids, pid);
	return err;
}

static int add_tid(struct args *a, const char *part)
{
	uint32_t tid = 0;
	int err = value__u32(part, &tid);

	vec__push(&a->filters.tids, tid);
	return err;
}

static int add_uid(struct args *a, const char *part)
{
	const struct passwd *pw = getpwnam(part);
	uint32_t uid = 0;
	int err = pw ? (uid = pw->pw_uid, 0) : value__u32(part, &uid);

	vec__push(&a->filters.uids, uid);
	return err ? err__set(EINVAL, "no such user: '%s'", part) : 0;
}

int option__check_user(struct args *a, const char *v)
{
	return getpwnam(v) ? 0 : err__set(EINVAL, "no such user: '%s'", v);
}

static int add_comm(struct args *a, const char *part)
{
	vec__push(&a->filters.comms, xstrdup(part));
	return 0;
}

static int add_event(struct args *a, const char *part)
{
	static const struct {
		const char *name;
		unsigned bit;
	} rows[] = {{"entry", PLAN_ENTRY}, {"branch", PLAN_BRANCH}, {"return", PLAN_RETURN}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(part, rows[i].name)) {
			a->events |= rows[i].bit;
			return 0;
		}
	if (!strcmp(part, "sched") && a->verb->bit & VERB_TRACE) {
		a->sched = true;
		return 0;
	}
	return err__set(EINVAL, "unknown event '%s': use entry, branch, return%s", part,
			a->verb->bit & VERB_TRACE ? " or sched" : "");
}

int option__set_pid(struct args *a, const char *v)
{
	return value__each(a, v, add_pid);
}

int option__set_tid(struct args *a, const char *v)
{
	return value__each(a, v, add_tid);
}

int option__set_uid(struct args *a, const char *v)
{
	return value__each(a, v, add_uid);
}

int option__set_comm(struct args *a, const char *v)
{
	return value__each(a, v, add_comm);
}

int option__set_events(struct args *a, const char *v)
{
	unsigned before = a->events;
	int err;

	a->events = 0;
	err = value__each(a, v, add_event);
	a->events_given |= a->events;
	/* sched alone is in addition */
	a->events = a->events ? a->events : before;
	return err;
}

int option__set_exclude(struct args *a, const char *v)
{
	vec__push(&a->exclude, v);
	return 0;
}

int option__add_watch(struct args *a, const char *v)
{
	struct watch_spec s;
	int err = watch_spec__parse(v, &s);

	if (err)
		return err;
	watch_spec__free(&s);
	vec__push(&a->watch, v);
	return 0;
}

int option__set_args(struct args *a, const char *v)
{
	a->typed = true;
	return v ? expressions__parse(v, &a->expressions) : 0;
}

int option__set_if(struct args *a, const char *v)
{
	return conditions__parse(v, &a->conditions);
}

int option__set_with(struct args *a, const char *v)
{
	vec__push(&a->with, v);
	return 0;
}

int option__check_timeout(struct args *a, const char *v)
{
	return a->timeout_ns ? 0 : err__set(EINVAL, "must be more than 0");
}

int option__check_to(struct args *a, const char *v)
{
	return a->to ? 0 : err__set(EINVAL, "must be more than 0");
}

int option__set_control(struct args *a, const char *v)
{
	a->control_app = !strcmp(v, "app") || !strncmp(v, "app:", 4);
	if (a->control_app && v[3] && v[4])
		vec__push(&a->markers_in, v + 4);
	return a->control_app && (!v[3] || v[4])
		       ? 0
		       : err__set(EINVAL, "unknown control '%s': use app, or app:OBJECT", v);
}

int option__set_start_on(struct args *a, const char *v)
{
	vec__push(&a->start_on, v);
	return 0;
}

int option__set_stop_on(struct args *a, const char *v)
{
	vec__push(&a->stop_on, v);
	return 0;
}

int option__set_dump_on(struct args *a, const char *v)
{
	vec__push(&a->dump_on, v);
	return 0;
}

int option__check_delay(struct args *a, const char *v)
{
	return a->delay_ns ? 0 : err__set(EINVAL, "must be more than 0");
}

int option__check_for(struct args *a, const char *v)
{
	return a->for_ns ? 0 : err__set(EINVAL, "must be more than 0");
}

int option__check_interval(struct args *a, const char *v)
{
	return a->interval_ns >= 1000000 ? 0 : err__set(EINVAL, "must be at least 1ms");
}

int option__check_overhead(struct args *a, const char *v)
{
	return a->max_overhead >= 1 && a->max_overhead <= 99
		       ? 0
		       : err__set(EINVAL, "must be from 1 to 99, in percent");
}

int option__check_depth(struct args *a, const char *v)
{
	return a->depth && a->depth <= UINT32_MAX ? 0 : err__set(EINVAL, "must be at least 1");
}

int option__set_time(struct args *a, const char *v)
{
	static const char *const names[] = {[TIME_REL] = "rel",
					    [TIME_ABS] = "abs",
					    [TIME_DELTA] = "delta",
					    [TIME_NONE] = "none"};
	int i = value__name(names, ARRAY_SIZE(names), v);

	a->time = max_of(i, 0);
	a->time_given = true;
	return i >= 0 ? 0
		      : err__set(EINVAL, "unknown time style '%s': use rel, abs, delta or none", v);
}

int option__set_verbose(struct args *a, const char *v)
{
	note__set_level(NOTE_VERBOSE);
	return 0;
}

int option__set_quiet(struct args *a, const char *v)
{
	note__set_level(NOTE_QUIET);
	return 0;
}

int option__check_color(struct args *a, const char *v)
{
	if (strcmp(v, "auto") && strcmp(v, "always") && strcmp(v, "never"))
		return err__set(EINVAL, "invalid value '%s': use auto, always or never", v);
	return 0;
}

int option__check_buffer(struct args *a, const char *v)
{
	if (a->buffer < 4096 || a->buffer > (1u << 30))
		return err__set(EINVAL, "invalid size '%s': use 4K to 1G", v);
	return 0;
}

int option__check_max_size(struct args *a, const char *v)
{
	if (a->max_size < 64u << 10)
		return err__set(EINVAL, "invalid size '%s': use at least 64K", v);
	return 0;
}

int option__set_pass(struct args *a, const char *v)
{
	a->set = SET_PASS;
	return 0;
}

int option__set_fail(struct args *a, const char *v)
{
	a->set = SET_FAIL;
	return 0;
}

int option__check_context(struct args *a, const char *v)
{
	return a->context <= 10000 ? 0 : err__set(EINVAL, "must be at most 10000");
}

#define LAST_MAX 100000

int option__check_last(struct args *a, const char *v)
{
	if (!a->last || a->last > LAST_MAX)
		return err__set(EINVAL, "invalid number '%s': use 1 to %d branches", v, LAST_MAX);
	return 0;
}

int option__check_debuginfod(struct args *a, const char *v)
{
	return debuginfod__enable();
}

int option__set_placement(struct args *a, const char *v)
{
	static const char *const names[] = {[PLACEMENT_FULL] = "full",
					    [PLACEMENT_IMPLIED] = "implied",
					    [PLACEMENT_WITNESS] = "witness"};
	int i = value__name(names, ARRAY_SIZE(names), v);

	a->placement = max_of(i, 0);
	a->placement_given = true;
	return i >= 0 ? 0
		      : err__set(EINVAL, "unknown placement '%s': use full, implied or witness", v);
}

int option__set_returns(struct args *a, const char *v)
{
	static const char *const names[] = {
		[RETURNS_RET] = "ret", [RETURNS_PROBE] = "probe", [RETURNS_NONE] = "none"};
	int i = value__name(names, ARRAY_SIZE(names), v);

	a->returns = max_of(i, 0);
	a->returns_given = true;
	return i >= 0 ? 0 : err__set(EINVAL, "unknown value '%s': use ret, probe or none", v);
}

int engine__parse(const char *name, enum engine *out)
{
	static const char *const names[] = {
		[ENGINE_PROBE] = "probe", [ENGINE_INLINE] = "inline", [ENGINE_AUTO] = "auto"};
	int i = value__name(names, ARRAY_SIZE(names), name);

	*out = max_of(i, 0);
	return i >= 0 ? 0
		      : err__set(EINVAL, "unknown engine '%s': use probe, inline or auto", name);
}

int option__set_engine(struct args *a, const char *v)
{
	a->engine_given = true;
	return engine__parse(v, &a->engine);
}

static bool is_known(const struct args *a, const char *name)
{
	const char *const *known;

	vec__each (known, &a->syscalls)
		if (!strcmp(*known, name))
			return true;
	return false;
}

int option__add_syscalls(struct args *a, const char *v)
{
	for (const char *p = v; *p; p += strcspn(p, ",") + (p[strcspn(p, ",")] == ',')) {
		autofree char *name = xstrndup(p, strcspn(p, ","));

		if (!*name)
			return err__set(EINVAL, "a name is missing in '%s'", v);
		if (is_known(a, name))
			continue;
		vec__push(&a->syscalls, name);
		name = NULL;
	}
	return a->syscalls.len ? 0 : err__set(EINVAL, "a name is missing");
}

#define CALLEES_DEEPEST 20

int option__check_callees(struct args *a, const char *v)
{
	return a->callees <= CALLEES_DEEPEST
		       ? 0
		       : err__set(EINVAL, "must be at most %d", CALLEES_DEEPEST);
}

/* ---- --fail-under ---- */

/* "80", "87.5", "99.95" */
static int parse_percent(const char *text, size_t len, unsigned *out)
{
	unsigned value = 0, decimals = 0;
	bool point = false, digits = false;

	for (size_t i = 0; i < len; i++) {
		if (text[i] == '.' && !point && digits) {
			point = true;
			continue;
		}
		if (text[i] < '0' || text[i] > '9' || value > ALL_OF_IT || decimals == 2)
			return -EINVAL;
		value = 10 * value + (text[i] - '0');
		decimals += point;
		digits = true;
	}
	if (!digits || (point && !decimals))
		return -EINVAL;
	for (; decimals < 2; decimals++)
		value *= 10;
	*out = value;
	return value <= ALL_OF_IT ? 0 : -EINVAL;
}

int option__set_fail_under(struct args *a, const char *v)
{
	const char *comma = strchrnul(v, ',');

	a->fail_under_branch = !strcmp(comma, ",branch");
	if ((*comma && !a->fail_under_branch) || parse_percent(v, comma - v, &a->fail_under))
		return err__set(
			EINVAL,
			"'%s' is no percentage from 0 to 100, with at most two decimals, and "
			"\",branch\" behind it for branches: 80, 87.5,branch",
			v);
	a->fail_under_given = true;
	return 0;
}

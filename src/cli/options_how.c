// SPDX-License-Identifier: BSD-2-Clause
/* Options that answer "by which means": engines, probes, buffers. */
#include <errno.h>
#include "option.h"
#include "option_values.h"

int engine__parse(const char *name, enum engine *out)
{
	static const char *const names[] = {
		[ENGINE_PROBE] = "probe", [ENGINE_INLINE] = "inline", [ENGINE_AUTO] = "auto"};
	int i = value__name(names, ARRAY_SIZE(names), name);

	*out = max_of(i, 0);
	return i >= 0 ? 0
		      : err__set(EINVAL, "unknown engine '%s': use probe, inline or auto", name);
}

static int set_engine(struct request *req, const char *v)
{
	req->how.engine_given = true;
	return engine__parse(v, &req->how.engine);
}

static int set_placement(struct request *req, const char *v)
{
	static const char *const names[] = {[PLACEMENT_FULL] = "full",
					    [PLACEMENT_IMPLIED] = "implied",
					    [PLACEMENT_WITNESS] = "witness"};
	int i = value__name(names, ARRAY_SIZE(names), v);

	req->how.placement = max_of(i, 0);
	req->how.placement_given = true;
	return i >= 0 ? 0
		      : err__set(EINVAL, "unknown placement '%s': use full, implied or witness", v);
}

static int set_returns(struct request *req, const char *v)
{
	static const char *const names[] = {
		[RETURNS_RET] = "ret", [RETURNS_PROBE] = "probe", [RETURNS_NONE] = "none"};
	int i = value__name(names, ARRAY_SIZE(names), v);

	req->how.returns = max_of(i, 0);
	req->how.returns_given = true;
	return i >= 0 ? 0 : err__set(EINVAL, "unknown value '%s': use ret, probe or none", v);
}

static int check_buffer(struct request *req, const char *v)
{
	if (req->how.buffer < 4096 || req->how.buffer > (1u << 30))
		return err__set(EINVAL, "invalid size '%s': use 4K to 1G", v);
	return 0;
}

static int check_overhead(struct request *req, const char *v)
{
	return req->how.max_overhead >= 1 && req->how.max_overhead <= 99
		       ? 0
		       : err__set(EINVAL, "must be from 1 to 99, in percent");
}

static const struct option_row rows[] = {
	{"engine", 0, "HOW", VERB_TRACE | VERB_LIST | VERB_WHY, OTHER,
	 "probe: by traps; inline: by copies of the functions; auto (default): copies if possible",
	 set_engine, .values = "probe inline auto"},
	{"attach", 0, "NAME", VERB_TRACE, TEXT(how.attach),
	 "attach by this mechanism only; bbtrace doctor lists them", .values = ":mechanisms"},
	{"placement", 0, "HOW", VERB_TRACE, OTHER,
	 "full: a probe on every branch; implied, witness: fewer probes, same steps", set_placement,
	 .values = "full implied witness"},
	{"profile", 0, "FILE", VERB_TRACE, FILE_NAME(how.branch_weights),
	 "branch weights for --placement witness: a trace file or -c -F json output",
	 .values = ":files"},
	{"returns", 0, "HOW", VERB_TRACE, OTHER,
	 "ret (default): at ret instructions; probe: by return probes; none: no returns",
	 set_returns, .values = "ret probe none"},
	{"btf", 'b', "FILE", VERB_TRACE, TEXT(how.btf), "read kernel types from this file",
	 .values = ":files"},
	{"buffer", 0, "SIZE", VERB_TRACE | VERB_WHY, COUNT(how.buffer),
	 "ring buffer size (default: 16M)", check_buffer},
	{"max-overhead", 0, "PERCENT", VERB_TRACE, NUMBER(how.max_overhead),
	 "stop when tracing takes more of the processes' CPU time", check_overhead},
};

const struct option_group options_how = {"By which means", rows, ARRAY_SIZE(rows)};

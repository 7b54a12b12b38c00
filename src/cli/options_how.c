// SPDX-License-Identifier: BSD-2-Clause
/* Options that answer "by which means": engines, probes, buffers. */
#include <errno.h>
#include "option.h"
#include "option_values.h"

/* In the order of their enums. */
#define ENGINES	   "probe inline auto"
#define PLACEMENTS "full implied witness"
#define RETURNS	   "ret probe none"

int engine__parse(const char *name, enum engine *out)
{
	unsigned i;
	int err = value__word(ENGINES, name, &i);

	*out = i;
	return err;
}

static int set_engine(struct request *req, const char *v)
{
	req->how.engine_given = true;
	return engine__parse(v, &req->how.engine);
}

static int set_placement(struct request *req, const char *v)
{
	unsigned i;
	int err = value__word(PLACEMENTS, v, &i);

	req->how.placement = i;
	req->how.placement_given = true;
	return err;
}

static int set_returns(struct request *req, const char *v)
{
	unsigned i;
	int err = value__word(RETURNS, v, &i);

	req->how.returns = i;
	req->how.returns_given = true;
	return err;
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
	{"engine", 0, "HOW", VERB_TRACE | VERB_LIST | VERB_WHY | VERB_COVER | VERB_SLOW, OTHER,
	 "probe: by traps; inline: by copies of the functions; auto (default): copies if possible",
	 set_engine, .values = ENGINES, .knob_of = ~VERB_TRACE},
	{"attach", 0, "NAME", VERB_TRACE, TEXT(how.attach),
	 "attach by this mechanism only; bbtrace doctor lists them", .values = ":mechanisms",
	 .knob = true},
	{"placement", 0, "HOW", VERB_TRACE, OTHER,
	 "full: a probe on every branch; implied, witness: fewer probes, same steps", set_placement,
	 .values = PLACEMENTS, .knob = true},
	{"profile", 0, "FILE", VERB_TRACE, FILE_NAME(how.branch_weights),
	 "branch weights for --placement witness: a trace file or -c -F json output",
	 .values = ":files", .knob = true},
	{"returns", 0, "HOW", VERB_TRACE, OTHER,
	 "ret (default): at ret instructions; probe: by return probes; none: no returns",
	 set_returns, .values = RETURNS, .knob = true},
	{"btf", 'b', "FILE", VERB_TRACE, TEXT(how.btf), "read kernel types from this file",
	 .values = ":files", .knob = true},
	{"buffer", 0, "SIZE", VERB_TRACE | VERB_WHY, COUNT(how.buffer),
	 "ring buffer size (default: 16M)", check_buffer, .knob = true},
	{"max-overhead", 0, "PERCENT", VERB_TRACE, NUMBER(how.max_overhead),
	 "stop when tracing takes more of the processes' CPU time", check_overhead, .knob = true},
	{"no-cache", 0, NULL, VERB_TRACE | VERB_WHY | VERB_COVER | VERB_SLOW, SWITCH(how.no_cache),
	 "decode and copy the functions again, and keep nothing for the next start", .knob = true},
};

const struct option_group options_how = {"By which means", rows, ARRAY_SIZE(rows)};

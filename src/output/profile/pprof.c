// SPDX-License-Identifier: BSD-2-Clause
/*
 * The pprof format: profile.proto of github.com/google/pprof, gzipped. A sample for each stack of
 * each thread, innermost function first, with the calls and the ns of that function there; labels
 * say which thread. Field numbers are those of profile.proto; protobuf's encoding is varints and
 * lengths (protobuf.dev, "Encoding").
 */
#include "output/base/fields.h"
#include "output/base/gzip.h"
#include "output/stats/stats.h"

enum { VARINT = 0, BYTES = 2 }; /* wire types */

struct pprof {
	struct str out;	    /* the message */
	struct str strings; /* the string table's fields, one behind the other */
	uint64_t nstrings;
	const char *preferred; /* the type of value to show */
	const struct stats *p;
	const struct output *o;
};

/* ---- protobuf ---- */

static void put_varint(struct str *s, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		str__putc(s, (char)(v | 0x80));
	str__putc(s, (char)v);
}

/* A field that is 0 is left out: that is its default. */
static void put_number(struct str *s, unsigned field, uint64_t v)
{
	if (!v)
		return;
	put_varint(s, field << 3 | VARINT);
	put_varint(s, v);
}

static void put_bytes(struct str *s, unsigned field, const struct str *bytes)
{
	put_varint(s, field << 3 | BYTES);
	put_varint(s, bytes->len);
	str__put(s, bytes->data, bytes->len);
}

/* Puts the message and makes it empty. */
static void put_message(struct str *s, unsigned field, struct str *message)
{
	put_bytes(s, field, message);
	str__clear(message);
}

/* ---- profile.proto ---- */

enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING_TABLE = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,
};
enum { VALUE_TYPE_TYPE = 1, VALUE_TYPE_UNIT = 2 };
enum { SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum { LABEL_KEY = 1, LABEL_STR = 2, LABEL_NUM = 3 };
enum {
	MAPPING_ID = 1,
	MAPPING_START = 2,
	MAPPING_LIMIT = 3,
	MAPPING_FILENAME = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
};
enum { LOCATION_ID = 1, LOCATION_MAPPING_ID = 2, LOCATION_ADDRESS = 3, LOCATION_LINE = 4 };
enum { LINE_FUNCTION_ID = 1 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILENAME = 4 };

/* Appends to the string table; its index. */
static uint64_t string_of(struct pprof *w, const char *text)
{
	struct str s = {0};

	str__utf8(&s, text);
	if (w->o->hides_addresses)
		address__hide(&s, false);
	put_bytes(&w->strings, PROFILE_STRING_TABLE, &s);
	str__free(&s);
	return w->nstrings++;
}

static void put_value_type(struct pprof *w, const char *type, const char *unit)
{
	struct str m = {0};

	put_number(&m, VALUE_TYPE_TYPE, string_of(w, type));
	put_number(&m, VALUE_TYPE_UNIT, string_of(w, unit));
	put_message(&w->out, PROFILE_SAMPLE_TYPE, &m);
	str__free(&m);
}

/* ---- objects are mappings: index + 1 ---- */

static void put_build_id(struct pprof *w, struct str *m, const struct object *o)
{
	struct str hex = {0};

	if (!o || !o->build_id_len)
		return;
	object__put_build_id(o, &hex);
	put_number(m, MAPPING_BUILD_ID, string_of(w, hex.data));
	str__free(&hex);
}

/* From the first to the last of its functions, in link-time addresses. */
static void put_extent(struct pprof *w, struct str *m, uint32_t object)
{
	const struct plan *plan = w->p->plan;
	uint64_t start = UINT64_MAX, limit = 0;
	const struct plan_function *f;

	vec__each (f, &plan->functions)
		for (size_t i = 0; f->object == object && i < f->nranges; i++) {
			start = min_of(start, f->ranges[i].vaddr);
			limit = max_of(limit, f->ranges[i].vaddr + f->ranges[i].size);
		}
	put_number(m, MAPPING_START, limit ? address__shown(w->o, object, start) : 0);
	put_number(m, MAPPING_LIMIT, address__shown(w->o, object, limit));
}

static void put_mappings(struct pprof *w)
{
	const struct plan *plan = w->p->plan;
	struct str m = {0};

	for (size_t i = 0; i < plan->objects.len; i++) {
		put_number(&m, MAPPING_ID, i + 1);
		put_extent(w, &m, i);
		put_number(&m, MAPPING_FILENAME, string_of(w, plan->objects.data[i].path));
		put_build_id(w, &m, plan->objects.data[i].object);
		put_number(&m, MAPPING_HAS_FUNCTIONS, 1);
		put_message(&w->out, PROFILE_MAPPING, &m);
	}
	str__free(&m);
}

/* ---- functions, each with the location that it starts at: index + 1, then what has no function
 * ---- */

static uint64_t id_of(const struct stats *p, const struct stats_node *n)
{
	return n->function < p->plan->functions.len
		       ? n->function + 1ull
		       : (uint64_t)n->function + p->plan->functions.len;
}

static void put_function(struct pprof *w, uint64_t id, const char *name, const char *raw,
			 uint64_t mapping, uint64_t address)
{
	uint64_t shown = string_of(w, name);
	struct str m = {0}, line = {0};

	put_number(&m, FUNCTION_ID, id);
	put_number(&m, FUNCTION_NAME, shown);
	put_number(&m, FUNCTION_SYSTEM_NAME, raw && strcmp(raw, name) ? string_of(w, raw) : shown);
	put_message(&w->out, PROFILE_FUNCTION, &m);
	put_number(&m, LOCATION_ID, id);
	put_number(&m, LOCATION_MAPPING_ID, mapping);
	put_number(&m, LOCATION_ADDRESS, address);
	put_number(&line, LINE_FUNCTION_ID, id);
	put_message(&m, LOCATION_LINE, &line);
	put_message(&w->out, PROFILE_LOCATION, &m);
	str__free(&line);
	str__free(&m);
}

/* Those that are in a stack, once each. */
static void put_functions(struct pprof *w)
{
	const struct plan *plan = w->p->plan;
	const struct stats_node *n;
	struct map64 done = {0};

	vec__each (n, &w->p->nodes) {
		const struct plan_function *f = n->function < plan->functions.len
							? &plan->functions.data[n->function]
							: NULL;

		if (n->function == STATS_THREAD || (*map64__put(&done, n->function))++)
			continue;
		put_function(w, id_of(w->p, n), stats__name(w->p, n), f ? f->raw : NULL,
			     f ? f->object + 1 : 0,
			     f && f->nranges ? address__shown(w->o, f->object, f->ranges[0].vaddr)
					     : 0);
	}
	map64__free(&done);
}

/* ---- samples ---- */

struct labels {
	uint64_t thread, pid, tid; /* the keys' strings */
};

static void put_label(struct str *sample, uint64_t key, uint64_t text, uint64_t number)
{
	struct str m = {0};

	put_number(&m, LABEL_KEY, key);
	put_number(&m, LABEL_STR, text);
	put_number(&m, LABEL_NUM, number);
	put_message(sample, SAMPLE_LABEL, &m);
	str__free(&m);
}

static void put_stack(struct pprof *w, struct str *sample, const struct stats_node *n)
{
	struct str ids = {0};

	while (n->parent != NO_NODE) {
		put_varint(&ids, id_of(w->p, n));
		n = &w->p->nodes.data[n->parent];
	}
	put_bytes(sample, SAMPLE_LOCATION_ID, &ids);
	str__free(&ids);
}

static void put_sample(struct pprof *w, const struct stats_node *n, const struct labels *keys,
		       const uint64_t *names)
{
	const struct stats_thread *th = &w->p->threads.data[n->thread];
	struct str sample = {0}, values = {0};

	put_stack(w, &sample, n);
	put_varint(&values, n->calls);
	put_varint(&values, n->self);
	put_bytes(&sample, SAMPLE_VALUE, &values);
	put_label(&sample, keys->thread, names[n->thread], 0);
	put_label(&sample, keys->pid, 0, th->pid);
	put_label(&sample, keys->tid, 0, th->tid);
	put_message(&w->out, PROFILE_SAMPLE, &sample);
	str__free(&values);
	str__free(&sample);
}

static void put_samples(struct pprof *w)
{
	struct labels keys = {string_of(w, "thread"), string_of(w, "pid"), string_of(w, "tid")};
	autofree uint64_t *names = xcalloc(w->p->threads.len, sizeof(*names));
	const struct stats_node *n;

	for (size_t i = 0; i < w->p->threads.len; i++)
		names[i] = string_of(
			w, stats__name(w->p, &w->p->nodes.data[w->p->threads.data[i].root]));
	vec__each (n, &w->p->nodes)
		if (n->calls || n->self)
			put_sample(w, n, &keys, names);
}

/* ---- the whole ---- */

static void put_comment(struct pprof *w, const char *what, const char *text)
{
	autofree char *comment = xasprintf("bbtrace: %s %s", what, text);

	put_number(&w->out, PROFILE_COMMENT, string_of(w, comment));
}

static void put_comments(struct pprof *w, const struct trace_totals *t)
{
	struct str text = {0};

	if (stats__missing(w->p, t, &text))
		put_comment(w, "missing:", text.data);
	str__clear(&text);
	if (totals__tracing(t, &text))
		put_comment(w, "times include", text.data);
	str__free(&text);
}

/* What a sample of the plan's, else its calls, has: its number, and what that stands for. */
static void put_value_types(struct pprof *w)
{
	uint32_t sampled = w->p->samples ? plan__first_named(w->p->plan, NAMED_SAMPLE) : UINT32_MAX;
	const char *what = sampled != UINT32_MAX ? w->p->plan->named.data[sampled].name : NULL;
	bool time = what && !strcmp(what, SAMPLED_TIME);

	put_value_type(w, what ? "samples" : "calls", "count");
	put_value_type(w,
		       !what  ? "time"
		       : time ? "cpu"
			      : what,
		       what && !time ? "count" : "nanoseconds");
	w->preferred = !what ? "time" : time ? "cpu" : "samples";
}

static void put_profile(struct pprof *w, const struct trace_totals *t, int64_t realtime_offset)
{
	string_of(w, "");
	put_value_types(w);
	put_mappings(w);
	put_functions(w);
	put_samples(w);
	put_comments(w, t);
	if (w->p->last) {
		put_number(&w->out, PROFILE_TIME_NANOS, w->p->first + realtime_offset);
		put_number(&w->out, PROFILE_DURATION_NANOS, w->p->last - w->p->first);
	}
	put_number(&w->out, PROFILE_DEFAULT_SAMPLE_TYPE, string_of(w, w->preferred));
	str__put(&w->out, w->strings.data, w->strings.len);
}

static int pprof__end(struct output *o, const struct trace_totals *t)
{
	struct pprof w = {.p = o->state, .o = o};
	struct gzip gzip = {0};
	int err = gzip__begin(&gzip, Z_DEFAULT_COMPRESSION);

	if (err)
		return err;
	stats__end(o->state);
	put_profile(&w, t, o->options.realtime_offset);
	gzip__put(&gzip, &w.out, &o->buffer);
	gzip__end(&gzip, &o->buffer);
	gzip__free(&gzip);
	str__free(&w.out);
	str__free(&w.strings);
	return 0;
}

const struct output_format output_pprof = {
	.name = "pprof",
	.wants = {.events = OUTPUT_CALLS, .durations = true},
	.suffixes = ".pprof .pb.gz",
	.help = "a gzipped profile.proto, for go tool pprof, Parca, Pyroscope",
	.binary = true,
	.size = sizeof(struct stats),
	AGGREGATES,
	.end = pprof__end,
};

// SPDX-License-Identifier: BSD-2-Clause
/*
 * The pprof format: profile.proto, gzipped. A sample for each stack of each thread, innermost
 * function first, with the calls and the ns of that function there; labels say which thread.
 * pprof:lines: stacks of the branches by which functions were called, and a function's own time by
 * the branches that end each interval, as in callgrind.c; with what was inlined there.
 */
#include "output/base/gzip.h"
#include "output/base/message.h"
#include "output/profile/profile.pb-c.h"
#include "output/stats/stats.h"

/* protoc-c's name of a message, and one without any field. */
#define PB(message) Perftools__Profiles__##message
#define PB_MESSAGE(descriptor)                                                                     \
	{                                                                                          \
		PROTOBUF_C_MESSAGE_INIT(&perftools__profiles__##descriptor##__descriptor)          \
	}

struct pprof {
	struct str out;	    /* packed profiles, each with one member: concatenated they are one */
	struct str strings; /* the string table: the same, to follow */
	uint64_t nstrings;
	const char *preferred; /* the type of value to show */
	const struct stats *p;
	const struct output *o;
};

/* Appends to the string table; its index. */
static uint64_t string_of(struct pprof *w, const char *text)
{
	PB(Profile) part = PB_MESSAGE(profile);
	autofree char *shown = message__text(w->o, text);

	part.n_string_table = 1;
	part.string_table = &shown;
	message__append(&w->strings, &part.base);
	return w->nstrings++;
}

static void put_value_type(struct pprof *w, const char *type, const char *unit)
{
	PB(Profile) part = PB_MESSAGE(profile);
	PB(ValueType) value = PB_MESSAGE(value_type), *values = &value;

	value.type = string_of(w, type);
	value.unit = string_of(w, unit);
	part.n_sample_type = 1;
	part.sample_type = &values;
	message__append(&w->out, &part.base);
}

/* ---- objects are mappings: index + 1 ---- */

/* The index of the text. 0: there is none. */
static uint64_t build_id(struct pprof *w, const struct object *o)
{
	struct str hex = {0};
	uint64_t index;

	if (!o || !o->build_id_len)
		return 0;
	object__put_build_id(o, &hex);
	index = string_of(w, hex.data);
	str__free(&hex);
	return index;
}

/* From the first to the last of its functions, in link-time addresses. */
static void set_extent(const struct pprof *w, PB(Mapping) * m, uint32_t object)
{
	const struct plan *plan = w->p->plan;
	uint64_t start = UINT64_MAX, limit = 0;
	const struct plan_function *f;

	vec__each (f, &plan->functions)
		for (size_t i = 0; f->object == object && i < f->nranges; i++) {
			start = min_of(start, f->ranges[i].vaddr);
			limit = max_of(limit, f->ranges[i].vaddr + f->ranges[i].size);
		}
	m->memory_start = limit ? address__shown(w->o, object, start) : 0;
	m->memory_limit = address__shown(w->o, object, limit);
}

static void put_mapping(struct pprof *w, uint32_t object)
{
	const struct plan_object *of = &w->p->plan->objects.data[object];
	PB(Profile) part = PB_MESSAGE(profile);
	PB(Mapping) mapping = PB_MESSAGE(mapping), *mappings = &mapping;

	mapping.id = object + 1;
	set_extent(w, &mapping, object);
	mapping.filename = string_of(w, of->path);
	mapping.build_id = build_id(w, of->object);
	mapping.has_functions = true;
	mapping.has_filenames = mapping.has_line_numbers = w->p->plan->lines.len;
	mapping.has_inline_frames = w->p->site_nodes;
	part.n_mapping = 1;
	part.mapping = &mappings;
	message__append(&w->out, &part.base);
}

/* ---- functions and locations, by number; those of functions are alike ---- */

/* Numbers of what is no function of the plan: after these, special names; then sites (locations),
 * and what was inlined (functions). */
#define FIRST_SITE  (1ull << 33)
#define FIRST_SCOPE (1ull << 34)

static uint64_t id_of(const struct stats *p, const struct stats_node *n)
{
	if (stats__is_site(n))
		return FIRST_SITE + (n->function - STATS_SITE);
	return n->function < p->plan->functions.len
		       ? n->function + 1ull
		       : (uint64_t)n->function + p->plan->functions.len;
}

struct function_names {
	const char *name, *raw; /* raw: NULL if it has no other one */
	const char *file;	/* NULL if not known */
	uint32_t line;		/* where it begins; 0 if not known */
};

static void put_function(struct pprof *w, uint64_t id, const struct function_names *f)
{
	PB(Profile) part = PB_MESSAGE(profile);
	PB(Function) function = PB_MESSAGE(function), *functions = &function;

	function.id = id;
	function.name = string_of(w, f->name);
	function.system_name = function.name;
	if (f->raw && strcmp(f->raw, f->name))
		function.system_name = string_of(w, f->raw);
	if (f->file)
		function.filename = string_of(w, f->file);
	function.start_line = f->line;
	part.n_function = 1;
	part.function = &functions;
	message__append(&w->out, &part.base);
}

/* lines: innermost first. f: whose mapping the address is in; NULL if it is no function of the
 * plan. */
static void put_location(struct pprof *w, uint64_t id, const struct plan_function *f,
			 uint64_t vaddr, PB(Line) * *lines, size_t n)
{
	PB(Profile) part = PB_MESSAGE(profile);
	PB(Location) location = PB_MESSAGE(location), *locations = &location;

	location.id = id;
	if (f)
		location.mapping_id = f->object + 1;
	if (f && f->nranges)
		location.address = address__shown(w->o, f->object, vaddr);
	location.n_line = n;
	location.line = lines;
	part.n_location = 1;
	part.location = &locations;
	message__append(&w->out, &part.base);
}

/* A function, and the location that it starts at. */
static void put_start(struct pprof *w, const struct stats_node *n)
{
	const struct plan *plan = w->p->plan;
	const struct plan_function *f =
		n->function < plan->functions.len ? &plan->functions.data[n->function] : NULL;
	uint64_t start = f && f->nranges ? f->ranges[0].vaddr : 0;
	const struct plan_line *l = start ? plan__line_at(plan, f->object, start) : NULL;
	PB(Line) line = PB_MESSAGE(line), *lines = &line;
	struct function_names names = {.name = stats__name(w->p, n), .raw = f ? f->raw : NULL};

	if (l) {
		names.file = plan->line_files.data[l->file];
		names.line = l->line;
	}
	line.function_id = id_of(w->p, n);
	line.line = names.line;
	put_function(w, line.function_id, &names);
	put_location(w, line.function_id, f, start, &lines, 1);
}

/* What was inlined, once each; its number. */
static uint64_t put_scope(struct pprof *w, struct map64 *scopes, const struct plan_scope *scope)
{
	const struct plan *plan = w->p->plan;
	uint64_t number = scope - plan->scopes.data, id = FIRST_SCOPE + number;
	const struct function_names names = {
		.name = scope->name ? scope->name : "[inlined]",
		.raw = scope->raw,
		.file = scope->line ? plan->line_files.data[scope->file] : NULL,
		.line = scope->line};

	if (!(*map64__put(scopes, number))++)
		put_function(w, id, &names);
	return id;
}

#define MOST_LINES 64

/* A site: its line, and those of the calls that were inlined around it. */
static void put_site(struct pprof *w, struct map64 *scopes, const struct stats_node *n)
{
	const struct plan *plan = w->p->plan;
	const struct plan_site *s = &plan->sites.data[n->function - STATS_SITE];
	const struct stats_node *of = &w->p->nodes.data[n->parent];
	PB(Line) line[MOST_LINES], *lines[MOST_LINES];
	struct plan_frame frame;
	size_t count = 0;
	bool more = plan__source(plan, s->object, s->vaddr, &frame), known = more;

	do {
		lines[count] = &line[count];
		line[count] = (PB(Line))PB_MESSAGE(line);
		line[count].line = known ? frame.line : 0;
		line[count].function_id = id_of(w->p, of);
		if (known && frame.scope && frame.scope->parent != NO_SCOPE)
			line[count].function_id = put_scope(w, scopes, frame.scope);
		count++;
		more = more && count < MOST_LINES && plan__source_outer(plan, &frame);
	} while (more);
	put_location(w, id_of(w->p, n), &plan->functions.data[s->function], s->vaddr, lines, count);
}

/* Those that are in a stack, once each. */
static void put_functions(struct pprof *w)
{
	const struct stats_node *n;
	struct map64 done = {0}, scopes = {0};

	vec__each (n, &w->p->nodes) {
		if (n->function == STATS_THREAD || (*map64__put(&done, n->function))++)
			continue;
		if (stats__is_site(n))
			put_site(w, &scopes, n);
		else
			put_start(w, n);
	}
	map64__free(&done);
	map64__free(&scopes);
}

/* ---- samples ---- */

struct labels {
	uint64_t thread, pid, tid; /* the keys' strings */
};

/* As many as the stack is deep, in ids that the caller frees. */
static size_t location_ids(const struct pprof *w, const struct stats_node *n, uint64_t **ids)
{
	VEC(uint64_t) v = {0};

	while (n->parent != NO_NODE) {
		vec__push(&v, id_of(w->p, n));
		if (stats__is_site(n)) /* it stands for its function */
			n = &w->p->nodes.data[n->parent];
		n = &w->p->nodes.data[n->parent];
	}
	*ids = v.data;
	return v.len;
}

static void put_sample(struct pprof *w, const struct stats_node *n, const struct labels *keys,
		       const uint64_t *names)
{
	const struct stats_thread *th = &w->p->threads.data[n->thread];
	int64_t values[] = {n->calls, n->self};
	PB(Label) thread = PB_MESSAGE(label), pid = thread, tid = thread;
	PB(Label) * labels[] = {&thread, &pid, &tid};
	PB(Profile) part = PB_MESSAGE(profile);
	PB(Sample) sample = PB_MESSAGE(sample), *samples = &sample;
	autofree uint64_t *ids = NULL;

	thread.key = keys->thread;
	thread.str = names[n->thread];
	pid.key = keys->pid;
	pid.num = th->pid;
	tid.key = keys->tid;
	tid.num = th->tid;
	sample.n_location_id = location_ids(w, n, &ids);
	sample.location_id = ids;
	sample.n_value = ARRAY_SIZE(values);
	sample.value = values;
	sample.n_label = ARRAY_SIZE(labels);
	sample.label = labels;
	part.n_sample = 1;
	part.sample = &samples;
	message__append(&w->out, &part.base);
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

#define MOST_COMMENTS 2

static int64_t comment_of(struct pprof *w, const char *what, const char *text)
{
	autofree char *comment = xasprintf("bbtrace: %s %s", what, text);

	return string_of(w, comment);
}

/* Sets comments; how many there are. */
static size_t comments_of(struct pprof *w, const struct trace_totals *t,
			  int64_t comments[MOST_COMMENTS])
{
	struct str text = {0};
	size_t n = 0;

	if (stats__missing(w->p, t, &text))
		comments[n++] = comment_of(w, "missing:", text.data);
	str__clear(&text);
	if (totals__tracing(t, &text))
		comments[n++] = comment_of(w, "times include", text.data);
	str__free(&text);
	return n;
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

/* What there is one of. */
static void put_properties(struct pprof *w, const struct trace_totals *t, int64_t realtime_offset)
{
	PB(Profile) part = PB_MESSAGE(profile);
	int64_t comments[MOST_COMMENTS];

	part.n_comment = comments_of(w, t, comments);
	part.comment = comments;
	if (w->p->last) {
		part.time_nanos = w->p->first + realtime_offset;
		part.duration_nanos = w->p->last - w->p->first;
	}
	part.default_sample_type = string_of(w, w->preferred);
	message__append(&w->out, &part.base);
}

static void put_profile(struct pprof *w, const struct trace_totals *t, int64_t realtime_offset)
{
	string_of(w, "");
	put_value_types(w);
	for (size_t i = 0; i < w->p->plan->objects.len; i++)
		put_mapping(w, i);
	put_functions(w);
	put_samples(w);
	put_properties(w, t, realtime_offset);
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
	.wants = {.events = OUTPUT_CALLS, .durations = true, .lines = true},
	.suffixes = ".pprof .pb.gz",
	.help = "a gzipped profile.proto, for go tool pprof, Parca, Pyroscope",
	.binary = true,
	.size = sizeof(struct stats),
	AGGREGATES,
	.end = pprof__end,
};

static int pprof_lines__begin(struct output *o)
{
	struct stats *p = o->state;

	aggregate__begin(o);
	p->by_site = p->site_nodes = true;
	return 0;
}

const struct output_format output_pprof_lines = {
	.name = "pprof:lines",
	.wants = {.events = OUTPUT_STEPS,
		  .branch_times = true,
		  .durations = true,
		  .lines = true,
		  .scopes = true},
	.help = "the same by lines, for pprof -list: which take the time, and which call",
	.binary = true,
	.size = sizeof(struct stats),
	.at_end = true,
	.begin = pprof_lines__begin,
	.plan_extended = aggregate__plan_extended,
	.step = aggregate__step,
	.free = aggregate__free,
	.end = pprof__end,
};

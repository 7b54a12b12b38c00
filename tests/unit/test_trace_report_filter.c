// SPDX-License-Identifier: BSD-2-Clause
/* Which steps a report filter shows. Steps: "E0 f" (entry at depth 0), "B1 g", "R0 f", "?". */
#include "trace/trace.h"
#include "tap.h"

enum { F, G, H };
static struct plan_function functions[] = {{.name = "f"}, {.name = "g"}, {.name = "h"}};
static struct plan plan;
static struct str got;

static int on_step(void *ctx, const struct step *s)
{
	static const char letters[] = {
		[STEP_ENTRY] = 'E', [STEP_BRANCH] = 'B', [STEP_RETURN] = 'R', [STEP_UNKNOWN] = '?'};

	if (step__is_global(s)) {
		str__printf(&got, "%s ", s->text);
		return 0;
	}
	if (s->type == STEP_OMITTED) {
		str__printf(&got, "-%llu- ", (unsigned long long)s->count);
		return 0;
	}
	str__printf(&got, "%c%u%s%s ", letters[s->type], s->depth,
		    s->type == STEP_UNKNOWN ? "" : functions[s->function].name,
		    s->tid == 2 ? "'" : "");
	if (s->caller)
		str__printf(&got, "<%u ", (unsigned)s->caller);
	return 0;
}

#define STEP(t, d, f, ...)                                                                         \
	{                                                                                          \
		.type = STEP_##t, .depth = d, .function = f, .pid = 1, .tid = 1, .comm = "a",      \
		##__VA_ARGS__                                                                      \
	}
#define AT(ns) .timed = true, .time = ns
/* f calls g, which calls h twice; another thread calls f. */
static const struct step run[] = {
	STEP(ENTRY, 0, F, AT(10), .call = 1),
	STEP(BRANCH, 0, F, .call = 1),
	STEP(ENTRY, 1, G, AT(20), .call = 2, .caller = 1),
	STEP(ENTRY, 2, H, AT(30), .call = 3, .caller = 2),
	{.type = STEP_ENTRY, .function = F, .pid = 1, .tid = 2, .comm = "b", AT(35), .call = 9},
	STEP(RETURN, 2, H, AT(40), .call = 3),
	STEP(UNKNOWN, 1, G),
	STEP(ENTRY, 2, H, AT(50), .call = 4, .caller = 2),
	STEP(BRANCH, 2, H, .call = 4),
	STEP(RETURN, 2, H, AT(60), .call = 4),
	STEP(RETURN, 1, G, AT(70), .call = 2),
	STEP(RETURN, 0, F, AT(80), .call = 1),
};

static void shows(struct report_filter_options o, const char *want, unsigned events,
		  const char *name)
{
	struct trace_totals t = {.events = 999};
	struct report_filter *p;
	int err = 0;

	o.events = o.events ? o.events : PLAN_ENTRY | PLAN_BRANCH | PLAN_RETURN;
	p = report_filter__new(&plan, &o, on_step, NULL);
	str__clear(&got);
	for (size_t i = 0; !err && i < ARRAY_SIZE(run); i++)
		err = report_filter__step(p, &run[i]);
	if (err >= 0)
		report_filter__finish(p);
	report_filter__count(p, &t);
	is_str(got.data ? got.data : "", want, "%s", name);
	is(t.events, events, "%s, and its events are counted", name);
	report_filter__free(p);
}

/* A mark of no thread between the others. */
static void test_mark(uint64_t from, uint64_t to, const char *want, const char *name)
{
	static const uint32_t two[] = {2};
	struct report_filter_options o = {
		.events = PLAN_ENTRY, .tids = two, .ntids = 1, .from = from, .to = to};
	const struct step mark = {.type = STEP_MARK, AT(30), .text = "mark", .comm = ""};
	struct report_filter *p = report_filter__new(&plan, &o, on_step, NULL);

	str__clear(&got);
	report_filter__step(p, &mark);
	report_filter__step(p, &run[4]);
	report_filter__free(p);
	is_str(got.data ? got.data : "", want, "%s", name);
}

int main(void)
{
	static const bool f_h[] = {true, false, true}, g_h[] = {false, true, true},
			  g[] = {false, true, false};
	static const uint32_t two[] = {2};
	static const char *const b[] = {"b"};

	plan.functions.data = functions;
	plan.functions.len = ARRAY_SIZE(functions);
	test_mark(0, 0, "mark E0f' ", "a mark of no thread passes every filter by thread and kind");
	test_mark(31, 0, "E0f' ", "but not one by time");
	test_mark(0, 29, "", "nor that");
	shows((struct report_filter_options){0},
	      "E0f B0f E1g <1 E2h <2 E0f' R2h ?1 E2h <2 B2h R2h R1g R0f ", 11,
	      "without options a report has all steps");
	shows((struct report_filter_options){.events = PLAN_ENTRY},
	      "E0f E1g <1 E2h <2 E0f' ?1 E2h <2 ", 5,
	      "by kind a report has the steps of that kind, and unknown paths");
	shows((struct report_filter_options){.tids = two, .ntids = 1}, "E0f' ", 1,
	      "by thread a report has that thread's steps");
	shows((struct report_filter_options){.comms = b, .ncomms = 1}, "E0f' ", 1,
	      "by a thread's name a report has that thread's steps");
	shows((struct report_filter_options){.from = 40, .to = 60}, "R2h ?1 E2h <2 B2h R2h ", 4,
	      "by time a report has an untimed step with the thread's previous step");
	shows((struct report_filter_options){.functions = f_h},
	      "E0f B0f E1h <1 E0f' R1h ?1 E1h <1 B1h R1h R0f ", 9,
	      "by function a report has depths and callers among the functions that it shows");
	shows((struct report_filter_options){.functions = g_h},
	      "E0g E1h <2 R1h ?0 E1h <2 B1h R1h R0g ", 7,
	      "without the outermost function a report begins at depth 0");
	shows((struct report_filter_options){.functions = g_h, .max_depth = 1}, "E0g ?0 R0g ", 2,
	      "by function and depth a report has only depths among the functions that it shows");
	shows((struct report_filter_options){.functions = g, .events = PLAN_RETURN}, "?0 R0g ", 1,
	      "by function and kind a report has the steps that are of both");
	shows((struct report_filter_options){.head = 2}, "E0f B0f ", 2,
	      "--head 2 shows the first two events");
	shows((struct report_filter_options){.tail = 2}, "-9- R1g R0f ", 2,
	      "--tail 2 shows the last two events");
	shows((struct report_filter_options){.tail = 6}, "-5- R2h ?1 E2h <2 B2h R2h R1g R0f ", 6,
	      "--tail 6 shows an unknown path among the last six events");
	shows((struct report_filter_options){.head = 1, .tail = 1}, "E0f -9- R0f ", 2,
	      "--head 1 and --tail 1 show the first and the last event, and how many are between");
	shows((struct report_filter_options){.head = 2, .tail = 2}, "E0f B0f -7- R1g R0f ", 4,
	      "--head 2 and --tail 2 leave seven out");
	shows((struct report_filter_options){.head = 2, .tail = 2, .tids = two, .ntids = 1},
	      "E0f' ", 1, "--head and --tail leave nothing out of one event");
	shows((struct report_filter_options){.head = 5, .tail = 6},
	      "E0f B0f E1g <1 E2h <2 E0f' R2h ?1 E2h <2 B2h R2h R1g R0f ", 11,
	      "--head and --tail that meet leave nothing out");
	shows((struct report_filter_options){.head = 5, .tail = 5, .events = PLAN_RETURN},
	      "R2h ?1 R2h R1g R0f ", 4, "what another filter drops is not what they leave out");
	shows((struct report_filter_options){.head = 100},
	      "E0f B0f E1g <1 E2h <2 E0f' R2h ?1 E2h <2 B2h R2h R1g R0f ", 11,
	      "--head shows all if there are fewer events");
	str__free(&got);
	return tap__done();
}

// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include "characters.h"
#include "model.h"
#include "plan/lines/lines.h"

#define MOST_PATHS (4u << 20)

/* ---- reading ---- */

static int take_line(void *ctx, const void *data, size_t len)
{
	struct model *m = ctx;

	str__put(&m->line, data, len);
	return 0;
}

static int drop_text(void *ctx, const void *data, size_t len)
{
	return 0;
}

static void open_text(struct model *m, const struct output_options *options)
{
	m->options = *options;
	m->options.bare = m->options.color = m->options.no_src = true;
	m->options.fold = m->options.line_buffered = false;
	m->options.width = 0;
	m->text = output__new(output__by_name("text"), &m->options, m->plan, take_line, m);
}

int model__begin_run(struct model *m, const char *name, const struct plan *plan,
		     const struct output_options *options)
{
	size_t i = m->nruns;
	int err;

	if (i >= RUNS)
		return err__set(E2BIG, "--tui shows one trace file, or two side by side");
	m->plan = plan;
	if (!m->text)
		open_text(m, options);
	err = run__init(&m->run[i], name, plan, options->start_time);
	m->counts[i] = output__new(output__by_name("summary"), &m->options, plan, drop_text, NULL);
	m->nruns++;
	return err;
}

int model__step(struct model *m, const struct step *s)
{
	int err = run__step(&m->run[m->nruns - 1], s);

	return err ? err : output__step(m->counts[m->nruns - 1], s);
}

void model__plan_extended(struct model *m)
{
	for (size_t i = 0; i < m->nruns; i++)
		output__plan_extended(m->counts[i]);
	if (m->text)
		output__plan_extended(m->text);
}

void model__end_run(struct model *m, const struct trace_totals *totals)
{
	m->totals[m->nruns - 1] = *totals;
	run__end(&m->run[m->nruns - 1]);
}

/* A path of a function: how many runs have it. */
static uint64_t path_key(const struct call *c)
{
	return (c->path ^ c->function) * 0x9e3779b97f4a7c15ull ^ c->path >> 31;
}

static void count_paths(struct model *m, struct map64 *paths)
{
	for (size_t i = 0; i < m->nruns; i++)
		for (uint32_t c = 0; c < m->run[i].ncalls && paths->len < MOST_PATHS; c++)
			*map64__put(paths, path_key(run__call(&m->run[i], c))) |= 1u << i;
	m->paths_unknown = paths->len >= MOST_PATHS;
	if (m->paths_unknown)
		return;
	for (size_t i = 0; i < m->nruns; i++)
		for (uint32_t c = 0; c < m->run[i].ncalls; c++) {
			const struct call *call = run__call(&m->run[i], c);
			uint64_t *seen = map64__get(paths, path_key(call));

			if (*seen == 1u << i) /* once for each path */
				m->only.data[call->function].n[i]++;
			*seen = *seen == 1u << i ? 0 : *seen;
		}
}

void model__end(struct model *m)
{
	struct map64 paths = {0};

	for (size_t i = 0; i < m->nruns; i++) {
		output__plan_extended(m->counts[i]);
		output__end(m->counts[i], &m->totals[i]);
	}
	while (m->plan && m->only.len < m->plan->functions.len)
		vec__add(&m->only);
	if (m->nruns > 1)
		count_paths(m, &paths);
	map64__free(&paths);
}

void model__free(struct model *m)
{
	for (size_t i = 0; i < m->nruns; i++) {
		run__free(&m->run[i]);
		output__free(m->counts[i]);
	}
	output__free(m->text);
	str__free(&m->line);
	vec__free(&m->only);
}

/* ---- steps as text ---- */

/* Frames of stacks are lines of their own there. */
static void put_one_line(struct str *out, const struct str *text)
{
	for (size_t i = 0; i < text->len; i++) {
		if (text->data[i] != '\n') {
			str__putc(out, text->data[i]);
			continue;
		}
		while (i + 1 < text->len && text->data[i + 1] == ' ')
			i++;
		if (i + 1 < text->len)
			str__puts(out, "  ");
	}
}

bool model__put_step(struct model *m, const struct run *r, uint64_t at, enum line_style style,
		     struct kept_step *k, struct str *out)
{
	struct kept_step own;
	struct step s;
	size_t len;
	const uint8_t *data = at ? run__next(r, &at, UINT64_MAX, &len) : NULL;

	k = k ? k : &own;
	*k = (struct kept_step){0};
	if (!data || !record__get(&r->names, m->plan, data, len, k))
		return false;
	s = *kept__step(k);
	if (style == LINE_UNTIMED)
		s.timed = s.has_since = s.has_duration = s.has_off = s.has_tracing = false;
	str__clear(&m->line);
	output__step(m->text, &s);
	output__flush(m->text);
	put_one_line(out, &m->line);
	if (k == &own)
		kept__free(k);
	return true;
}

/* A return's line is "name returns 5". */
static void put_result(struct model *m, const struct run *r, uint64_t at, struct str *out)
{
	static const char word[] = " returns";
	autofree struct str line = {0}, plain = {0};
	const char *result;

	if (!model__put_step(m, r, at, LINE_UNTIMED, NULL, &line) || !line.len)
		return;
	text__plain(line.data, &plain);
	result = plain.len ? strstr(plain.data, word) : NULL;
	if (!result || !result[strlen(word)])
		return;
	str__puts(out, " =");
	str__puts(out, result + strlen(word));
}

void model__put_call(struct model *m, const struct run *r, uint32_t call, struct str *out)
{
	const struct call *c = run__call(r, call);

	if (c->flags & CALL_NO_ENTRY) {
		str__puts(out, "\033[32m");
		str__shown(out, m->plan->functions.data[c->function].name);
		str__puts(out, "\033[0m(entry not seen)");
	} else {
		model__put_step(m, r, c->begin, LINE_UNTIMED, NULL, out);
	}
	put_result(m, r, c->last, out);
}

void model__put_state(const struct call *c, struct str *out)
{
	if (!(c->flags & (CALL_RETURNED | CALL_CUT)))
		str__puts(out, "  \033[33m-- had not returned at the end --\033[0m");
	else if (c->flags & CALL_CUT)
		str__puts(out, "  \033[33m-- its return was not seen --\033[0m");
	if (c->flags & CALL_UNCERTAIN)
		str__puts(out, "  \033[1;31m-- events are missing in it --\033[0m");
}

void model__put_thread(const struct run *r, uint32_t thread, struct str *out)
{
	const struct thread *t = &r->threads.data[thread];
	const struct task *task;

	if (!t->key || t->task >= r->names.tasks.len) {
		str__puts(out, "(no thread)");
		return;
	}
	task = &r->names.tasks.data[t->task];
	str__shown(out, task->comm);
	str__printf(out, "%s%u", task->comm[0] ? "-" : "", task->tid);
	if (task->goroutine && !(task->goroutine & GOROUTINE_AT))
		str__printf(out, " g%llu", (unsigned long long)task->goroutine);
}

/* ---- the source ---- */

bool model__source(const struct model *m, const struct step *s, struct source_place *out)
{
	uint32_t object = s->function < m->plan->functions.len
				  ? m->plan->functions.data[s->function].object
				  : UINT32_MAX;
	struct plan_frame f;

	if (object >= m->plan->objects.len || s->type > STEP_BRANCH ||
	    !plan__source(m->plan, object, s->at.vaddr, &f) || !f.file || !f.line)
		return false;
	*out = (struct source_place){m->plan->objects.data[object].path, f.file, f.line};
	return true;
}

const char *model__source_line(const struct model *m, const struct source_place *at, unsigned line)
{
	return m->options.source
		       ? m->options.source(m->options.source_ctx, at->object, at->file, line)
		       : NULL;
}

bool model__is_only_here(const struct model *m, const struct run *r, const struct step *s)
{
	const struct run *other = &m->run[r == &m->run[0]];

	return m->nruns > 1 && s->type == STEP_BRANCH && s->site < m->plan->sites.len &&
	       !map64__get(&other->outcomes, run__outcome(s));
}

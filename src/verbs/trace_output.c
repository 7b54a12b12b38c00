// SPDX-License-Identifier: BSD-2-Clause
/* What a live trace writes: the output that is shown, and a trace file. */
#include "pipeline/write/record.h"
#include "select/requirements.h"
#include "trace_private.h"

/* Returns the process of -p, in whose root names are looked up; 0 if none. */
static pid_t first_pid(const struct request *req)
{
	return req->who.filters.pids.len ? (pid_t)req->who.filters.pids.data[0] : 0;
}

/* True if anything is shown. */
static bool is_shown(const struct request *req)
{
	return req->file.record || !request__record_name(req);
}

int session__open_output(struct session *s)
{
	const char *name = request__record_name(&s->request);
	int err = is_shown(&s->request) ? sink__open(&s->render.sink, s->request.show.output, NULL)
					: 0;

	return err || !name ? err : recorder__open(&s->request, name, &s->recorder);
}

static void read_source(void *ctx, uint32_t object)
{
	struct session *s = ctx;
	struct output_wants w = requirements__of(&s->request);

	while (s->source_read.len <= object)
		vec__push(&s->source_read, false);
	if (!s->source_read.data[object])
		plan__read_source(s->plan, object, w.lines, w.scopes, w.variables);
	s->source_read.data[object] = true;
}

int session__make_output(struct session *s)
{
	struct output_wants wants = requirements__of(&s->request);
	int err;

	requirements__read_source(&wants, s->plan);
	if (!is_shown(&s->request))
		return 0;
	err = render__start(&s->render, &s->request, s->plan, &s->meta, first_pid(&s->request));
	if (!err && wants.late_source) {
		s->render.output->options.read_source = read_source;
		s->render.output->options.read_ctx = s;
	}
	return err;
}

bool session__counts(const struct session *s)
{
	return s->plan->placement == PLACEMENT_COUNT;
}

int session__write_out(struct session *s, uint64_t now)
{
	int err = s->recorder ? recorder__tick(s->recorder, now) : 0;

	return err || !s->render.output ? err : render__flush(&s->render, now);
}

int session__begin_output(struct session *s)
{
	int err;

	s->meta.start_time = now_ns(CLOCK_MONOTONIC);
	s->meta.counts = session__counts(s);
	if (s->render.output)
		s->render.output->options.start_time = s->meta.start_time;
	if (s->recorder && (err = recorder__begin(s->recorder, &s->live.show, &s->meta)))
		return err;
	return s->render.output ? sink__begin(&s->render.sink) : 0;
}

bool session__reader_gone(const struct session *s)
{
	return s->render.sink.reader_gone || (s->recorder && recorder__reader_gone(s->recorder));
}

int session__end_output(struct session *s)
{
	int err =
		s->recorder && !recorder__reader_gone(s->recorder) ? recorder__end(s->recorder) : 0;

	if (err || !s->render.output || s->render.sink.reader_gone)
		return err;
	return output__end(s->render.output, show__totals(&s->live.show));
}

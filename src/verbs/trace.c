// SPDX-License-Identifier: BSD-2-Clause
/* The verbs user, kernel, trace, event, watch and profile: resolve operands, build the plan,
 * attach probes, and write the trace to stdout or a file. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "explain/explain.h"
#include "cli/exit_status.h"
#include "select/preflight.h"
#include "session/process/child.h"
#include "session/watch/watch_exec.h"
#include "session/watch/watch_hits.h"
#include "trace_private.h"
#include "verbs.h"
#include "session/overhead_limit.h"
#include "session/live.h"
#include "pipeline/pager.h"
#include "select/announce.h"
#include "select/covered/covered.h"
#include "session/attach.h"
#include "control/control.h"
#include "session/counts/counting.h"
#include "pipeline/fail_under.h"
#include "select/engine.h"
#include "session/process/privilege_drop.h"
#include "session/process/interrupt.h"
#include "session/growth.h"
#include "session/no_events.h"
#include "select/planning.h"
#include "session/switching.h"
#include "select/events/typed_values.h"
#include "pipeline/outcomes.h"
#include "pipeline/syscall_names.h"
#include "select/requirements.h"
#include "session/process/process_ends.h"

#define BTF_LIMIT (256ull << 20)

/* Opens the BTF file with the user's own rights. libbpf takes a path: gets that of the
 * descriptor. */
static int open_btf(struct session *s)
{
	static const struct root ours;
	with_own_rights;

	if (!s->request.how.btf)
		return 0;
	s->btf = root__open_file(&ours, s->request.how.btf, BTF_LIMIT, NULL);
	if (s->btf < 0)
		return err__prefix(s->btf, "--btf");
	snprintf(s->btf_path, sizeof(s->btf_path), "/proc/self/fd/%d", s->btf);
	return 0;
}

static bool retires(const struct request *req)
{
	return req->record.once || req->record.retire;
}

/* ---- attaching ---- */

static int attach(struct session *s, struct probe_options *o)
{
	struct attaching a = {.request = &s->request,
			      .plan = s->plan,
			      .options = &s->planning.options,
			      .output = s->render.output,
			      .source = &s->source,
			      .inliner = s->engine.inliner};

	return attach__probes(&a, o);
}

/* ---- the run ---- */

/* Without an event by then, it is said what is missing. */
#define NEWS_NS 1500000000ull

/* Copies' logs are read late, and what counts or keeps the last branches reports nothing before the
 * end. */
static void tell_news(struct session *s, uint64_t now, uint64_t *at)
{
	bool reports_calls = !s->engine.copied && !session__counts(s) && !s->request.record.last;

	if (now < *at)
		return;
	*at = UINT64_MAX;
	if (!request__begin_stopped(&s->request) && !request__switches(&s->request) &&
	    !s->request.what.covers)
		no_events__explain_early(&s->request, &s->live, s->source, reports_calls);
}

static int ms_until(uint64_t at, uint64_t now)
{
	return at <= now ? 1 : (int)min_of((at - now) / 1000000 + 1, (uint64_t)INT32_MAX);
}

static int poll_until_over(struct session *s)
{
	uint64_t end = s->request.when.timeout_ns
			       ? now_ns(CLOCK_MONOTONIC) + s->request.when.timeout_ns
			       : UINT64_MAX;
	uint64_t news = now_ns(CLOCK_MONOTONIC) + NEWS_NS;

	/* a CMD is the process in the filters */
	s->ends = process_ends__open(s->request.who.filters.pids.data,
				     s->request.who.filters.pids.len);
	interrupt__wakes(s->ends.wakeup);
	s->counting.ends = &s->ends;
	process_ends__also(&s->ends, control__fd(&s->control));
	while (!interrupted && !s->recording.quits) {
		bool over = child__ended(&s->child, false) || process_ends__all_ended(&s->ends);
		uint64_t now = now_ns(CLOCK_MONOTONIC);
		struct source_wait wait = {.fd = s->ends.fd};
		int err;

		s->is_over = !over && now >= end;
		if (over || s->is_over)
			break;
		wait.timeout_ms = min_of(ms_until(min_of(end, news), now),
					 counting__patience_ms(&s->counting, now));
		wait.timeout_ms = control__patience_ms(&s->control, wait.timeout_ms);
		wait.timeout_ms = switching__patience_ms(&s->switching, now, wait.timeout_ms);
		wait.timeout_ms = screen__patience_ms(&s->screen, now, wait.timeout_ms);
		err = source__take(s->source, wait, &s->live.sink);
		if (err == SOURCE_ENDED)
			break;
		if (err)
			return err;
		err = live__tick(&s->live, now, source__settled(s->source));
		if (err)
			return err;
		if (overhead_limit__tick(&s->overhead, s->live.show.trace, now)) {
			overhead_limit__report(&s->overhead, s->live.show.trace, s->plan);
			break;
		}
		err = switching__tick(&s->switching, now_ns(CLOCK_MONOTONIC));
		if (!err)
			err = counting__tick(&s->counting);
		if (!err)
			err = screen__tick(&s->screen, now);
		if (!err)
			err = control__serve(&s->control, now);
		if (!err)
			err = session__write_out(s, now);
		if (err)
			return err;
		tell_news(s, now, &news);
	}
	return 0;
}

/* Returns 0 in place of 1 (the limit is reached), and if the reader of the output is gone, which
 * is no error. */
static int clean(const struct session *s, int err)
{
	return err == 1 || (err == -EPIPE && session__reader_gone(s)) ? 0 : err;
}

/* Passes the status to the explanation of how CMD ended. */
static void report_status(struct session *s)
{
	struct explaining *e = s->explaining;

	if (!e || !s->child.pid || !child__ended(&s->child, process_ends__all_ended(&s->ends)))
		return;
	e->signal = s->child.signal;
	e->status = s->child.signal ? 0 : s->child.status;
}

/* Its lines would be among those of the trace. */
static void on_rest(void *ctx, uint64_t bytes)
{
	struct session *s = ctx;

	if (s->render.output && s->render.sink.is_terminal)
		return;
	if (!s->progress.total)
		progress__work(&s->progress, note__level() == NOTE_NORMAL,
			       "reading the rest of the log", bytes);
	if (s->progress.total - s->progress.done > bytes)
		progress__add(&s->progress, s->progress.total - s->progress.done - bytes);
}

static int finish(struct session *s, int err)
{
	int end;

	s->progress = (struct progress){0};
	s->live.rest = on_rest;
	s->live.rest_ctx = s;
	source__stop(s->source);
	interrupt__cuts();
	counting__note_cut(&s->counting);
	if (!err)
		err = source__losses(s->source, &s->live.sink);
	progress__end(&s->progress);
	if (!err)
		err = live__give_held(&s->live);
	end = err == 1 || !err ? show__finish(&s->live.show, newest_first(&s->request)) : 0;
	err = clean(s, end < 0 ? end : err);
	report_status(s);
	end = clean(s, session__end_output(s));
	if (!err && !end)
		no_events__explain_live(&s->request, &s->meta, &s->live, s->source);
	counting__report(&s->counting);
	switching__report(&s->switching);
	child__report_signal(&s->child);
	s->leaves = s->is_over && child__leave(&s->child);
	if (!err && !end)
		announce__file(&s->request, request__record_name(&s->request));
	engine__advise(&s->engine, show__totals(&s->live.show)->events);
	s->blind = !err && !end && no_events__report_untraced(&s->live.show, s->source);
	if (s->request.what.covers)
		covered__report_built(&s->planning.targets, &s->request);
	s->under = !err && !end && fail_under__is_missed(&s->request, s->render.output);
	show__summary(&s->live.show);
	return err ? err : end;
}

/* CMD was forked before and keeps the caller's privileges. */
static int drop_privileges(struct session *s)
{
	struct privilege_drop g = {
		.request = &s->request,
		.plan = s->plan,
		.source = s->source,
		.recorder = s->recorder,
		.removed = control__fd(&s->control) >= 0 ? &s->control.socket.file : NULL,
		.runs_command = s->child.pid,
		.watches = s->planning.watches.all.len,
		.files = &s->files};

	return privilege_drop__apply(&g);
}

/* Raises bbtrace's limit of descriptors, not that of CMD, which was forked before. */
static void raise_limits(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r))
		return;
	r.rlim_cur = r.rlim_max;
	setrlimit(RLIMIT_NOFILE, &r);
}

/* True if the trace includes processes that already run. */
static bool rescans(const struct session *s)
{
	return !s->child.pid && plan__sees_programs(s->plan);
}

static int open_control(struct session *s)
{
	s->recording = (struct recording){.live = &s->live, .counting = &s->counting};
	s->control = (struct control){.request = &s->request,
				      .plan = s->plan,
				      .recording = &s->recording,
				      .growth = &s->growth,
				      .render = &s->render,
				      .meta = &s->meta,
				      .record = request__record_name(&s->request)};
	return control__open(&s->control);
}

static struct growth growth_of(struct session *s)
{
	return (struct growth){.planning = &s->planning,
			       .plan = s->plan,
			       .source = s->source,
			       .live = &s->live,
			       .counting = &s->counting,
			       .objects = s->planning.targets.objects.len,
			       .wants = requirements__of(&s->request)};
}

static struct probe_options options_of(struct session *s)
{
	return (struct probe_options){
		.filters = s->request.who.filters,
		.buffer = s->request.how.buffer,
		.events = s->request.record.events,
		.inlines = s->engine.copies,
		.retires = retires(&s->request),
		.last = requirements__kept_branches(&s->request, false),
		.switches = request__switches(&s->request),
		.dumps = s->request.record.dump_on.len,
		.outcomes = plan__has_named(s->plan, NAMED_OUTCOME) ? outcomes__texts() : NULL,
		.records = s->recorder,
		.accounts = s->request.how.max_overhead,
		.usdt = s->planning.with.usdt.data,
		.nusdt = s->planning.with.usdt.len,
		.parks = request__begin_stopped(&s->request) || request__switches(&s->request) ||
			 s->request.when.for_ns,
		.markers = request__switches(&s->request) || s->request.record.dump_on.len ||
					   s->engine.marks
				   ? &s->engine.markers.all
				   : NULL,
		.stack = s->request.record.stack,
		.sample_hz = s->request.record.freq,
		.adds_up = request__adds_samples_up(&s->request),
		.copy = requirements__stack_copy(&s->request, s->plan),
		.all_regs = requirements__all_regs(&s->request),
		.interrupted = &interrupted,
		.attach = s->request.how.attach,
		.kernel = s->planning.targets.kernel,
		.btf = s->request.how.btf ? s->btf_path : NULL,
		.btf_name = s->request.how.btf};
}

static int begin_recording(struct session *s)
{
	bool stopped = request__begin_stopped(&s->request);
	int err = 0;

	if (!s->child.pid && !stopped)
		counting__note_cut(&s->counting);
	if (!stopped) {
		source__start(s->source);
		note_verbose("recording");
	} else {
		err = control__begin_stopped(&s->control, s->meta.start_time);
	}
	if (s->options.markers || s->request.when.delay_ns || s->request.when.for_ns)
		s->switching = (struct switching){.request = &s->request,
						  .recording = &s->recording,
						  .markers = &s->engine.markers};
	s->live.switched = switching__switched;
	s->live.mapped = s->options.markers ? switching__mapped : NULL;
	s->live.switched_ctx = &s->switching;
	if (!err)
		err = switching__begin(&s->switching, s->meta.start_time);
	return err || !stopped ? err : source__park(s->source);
}

/* Starts CMD. With watchpoints it stops before its first instruction. */
static int start_command(struct session *s, int *status)
{
	struct watchpoints *w = &s->planning.watches;
	int err = w->all.len ? watch_exec__prepare(s->child.pid) : 0;

	if (!err)
		err = child__start(&s->child, status);
	if (!err && w->all.len)
		err = watch_exec__begin(w, s->source, &s->child);
	return err;
}

static int run(struct session *s, int *status)
{
	struct trace_options t = meta__trace_options(&s->meta);
	int err;

	s->overhead.most = s->request.how.max_overhead;
	s->overhead.copies = s->engine.inliner;
	t.account = s->overhead.most;
	s->options = options_of(s);
	/* before the first probe, so that a signal leaves none attached; CMD was forked before */
	interrupt__catch(s->child.pid);
	if (session__counts(s))
		interrupt__asks();
	sink__ignore_signals();
	err = open_control(s);
	if (err)
		return err;
	/* counters of copies can't change (growth.c) */
	s->options.grows = control__fd(&s->control) >= 0 && !s->options.retires &&
			   !(s->options.inlines && session__counts(s));
	err = attach(s, &s->options);
	if (!err)
		err = watchpoints__begin(&s->planning.watches, s->source, &s->request);
	if (err == -EINTR && interrupted)
		return note("interrupted before the probes were in place"), 0;
	if (err)
		return err;
	memory__return();
	err = drop_privileges(s);
	if (err)
		return err;
	s->recording.source = s->source;
	s->overhead.source = s->source;
	s->growth = growth_of(s);
	interrupt__stops(s->source);
	live__open(&s->live, s->plan, &s->planning.targets, &t, s->render.output, s->recorder,
		   s->request.when.limit);
	if (s->planning.watches.all.len)
		s->live.watches = watch_hits__new(&s->planning.watches, &s->planning.targets);
	s->live.show.brief = s->request.what.covers;
	if (s->request.record.last) {
		show__keep_last(&s->live.show, &s->request);
		s->live.show.undated = s->engine.overwrites;
		s->live.dumps = (struct dumps){.request = &s->request, .copies = s->engine.copies};
	}
	/* attaching takes time: a rescan replaces the sideband events of that time */
	source__forget_sideband(s->source);
	if (rescans(s))
		live__rescan(&s->live, source__facts(s->source).processes);
	if (rescans(s) && !source__facts(s->source).processes->len &&
	    privileges__missing(PRIVILEGE_SYS_PTRACE))
		note("other users' processes are shown without symbols: that needs CAP_SYS_PTRACE");
	err = session__begin_output(s);
	if (err)
		return clean(s, err);
	if (session__counts(s))
		s->counting = counting__begin(&s->request, s->plan, s->source, &s->live,
					      s->render.output);
	s->screen = screen__begin(&s->request, &s->render, &s->live);
	err = begin_recording(s);
	if (err)
		return clean(s, err);
	announce__live(&s->request, s->plan);
	err = s->child.pid ? start_command(s, status) : 0;
	if (err) {
		child__ended(&s->child, true);
		return err;
	}
	return finish(s, poll_until_over(s));
}

/* Forks CMD, which waits until the probes are in place. */
static int prepare_command(struct session *s, int *status)
{
	int err;

	if (!s->request.command)
		return 0;
	err = child__prepare(&s->child, s->request.command, s->request.who.user, status);
	if (err)
		return err;
	s->request.who.filters.command = s->child.pid;
	if (s->explaining)
		s->explaining->pid = s->child.pid;
	return 0;
}

/* Makes CMD the traced process. Names are not looked up in it, since it has no program yet. */
static void filter_command(struct session *s)
{
	if (s->child.pid)
		vec__push(&s->request.who.filters.pids, (uint32_t)s->child.pid);
}

static void on_followed(void *ctx, uint64_t instructions)
{
	struct session *s = ctx;

	if (!s->progress.what)
		progress__work(&s->progress, note__level() == NOTE_NORMAL, "decoding",
			       planning__instructions(&s->planning.targets.functions));
	progress__add(&s->progress, instructions);
}

static int prepare(struct session *s, int *status)
{
	int err = preflight__check(&s->request);

	if (!err && s->request.command)
		err = child__check(s->request.command[0], status);
	if (err)
		return err;
	*status = EXIT_CANNOT;
	err = open_btf(s);
	if (err)
		return err;
	s->engine.btf = s->request.how.btf ? s->btf_path : NULL;
	s->planning.followed = on_followed;
	s->planning.followed_ctx = s;
	err = engine__plan(&s->engine, &s->request, &s->planning, &s->plan);
	progress__end(&s->progress);
	if (err)
		return err;
	announce__undecoded(s->plan);
	announce__unknown_of_plan(&s->request, s->plan);
	err = prepare_command(s, status);
	if (err)
		return err;
	raise_limits();
	/* the plan may change by this: for what is traced and shown */
	err = engine__start(&s->engine, &s->request, &s->planning, &s->plan, s->child.pid);
	if (err)
		return err;
	typed_values__report(&s->request, s->plan, &s->engine.values);
	err = meta__of_args(&s->meta, &s->request, s->plan->arch);
	if (err)
		return err;
	if (s->engine.copies)
		s->meta.logged_regs = s->engine.log.regs | 1ull << s->plan->arch->ip_reg;
	err = session__open_output(s);
	if (err)
		return err;
	err = session__make_output(s);
	filter_command(s);
	return err;
}

static int trace(struct session *s, int *status)
{
	int err = prepare(s, status);

	return err ? err : run(s, status);
}

static void close_session(struct session *s)
{
	interrupt__stops(NULL);
	interrupt__wakes(-1);
	control__close(&s->control);
	process_ends__close(&s->ends);
	counting__end(&s->counting);
	child__cancel(&s->child);
	source__close(s->source);
	engine__close(&s->engine);
	util__close(&s->btf);
	render__close(&s->render);
	recorder__close(s->recorder);
	file_keeper__end(&s->files);
	meta__free(&s->meta);
	live__close(&s->live);
	overhead_limit__free(&s->overhead);
	plan__free(s->plan);
	vec__free(&s->source_read);
	growth__free(&s->growth);
	switching__free(&s->switching);
	planning__free(&s->planning);
	if (s->child.pid) /* its PID was added: without -p there was none */
		vec__free(&s->request.who.filters.pids);
}

/* Returns the exit status of an error. status is that of child.c. */
static int status_of_error(int status)
{
	return err__is_usage() ? EXIT_USAGE : status;
}

static int run_session(const struct request *req, struct explaining *e)
{
	struct session s = {.request = *req,
			    .explaining = e,
			    .planning.explaining = e,
			    .render.explaining = e,
			    .render.sink.fd = -1,
			    .btf = -1,
			    .child = {.go = -1, .failed = -1},
			    .ends = {.fd = -1, .wakeup = -1}};
	int status = EXIT_CANNOT, err = trace(&s, &status);

	/* now, not in main, since CMD may run for long */
	status = err	   ? status_of_error(status)
		 : s.blind ? EXIT_CANNOT
		 : s.under ? EXIT_UNDER
			   : EXIT_TRACED;
	if (err)
		err__print();
	close_session(&s);
	if (s.leaves)
		return status ? status : EXIT_LEFT;
	/* the probes are detached and CMD continues: returns its status, unless tracing failed */
	if (s.child.pid && child__ended(&s.child, true) && !err && s.child.status)
		status = s.child.status;
	return status;
}

int trace__explain(const struct request *req, struct explaining *e)
{
	return run_session(req, e);
}

int trace__run(const struct request *req)
{
	CLEANUP(explaining__free) struct explaining e = {.syscall_name = syscall__name};

	return run_session(req, req->record.explain ? &e : NULL);
}

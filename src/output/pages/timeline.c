// SPDX-License-Identifier: BSD-2-Clause
/*
 * The timeline of the html format. Buckets are aligned to multiples of their width; where a time is
 * beyond them, the width of all doubles and pairs are merged. A return has its call's duration, so
 * open calls are only tracked for those that never return.
 */
#include "timeline.h"

/* ---- intervals ---- */

static void add_bucket(struct timeline_bucket *to, const struct timeline_bucket *b)
{
	to->events += b->events;
	to->lost += b->lost;
	to->unknown += b->unknown;
	to->busy += b->busy;
}

static void halve(struct timeline_bucket *buckets, uint64_t base)
{
	for (size_t i = 0; i < TIMELINE_BUCKETS; i++) {
		size_t to = ((base + i) >> 1) - (base >> 1);
		struct timeline_bucket b = buckets[i];

		buckets[i] = (struct timeline_bucket){0};
		add_bucket(&buckets[to], &b);
	}
}

/* Makes room before the first one. */
static void move_up(struct timeline_bucket *buckets, uint64_t by)
{
	memmove(buckets + by, buckets, (TIMELINE_BUCKETS - by) * sizeof(*buckets));
	memset(buckets, 0, by * sizeof(*buckets));
}

static void widen(struct timeline *t)
{
	for (unsigned i = 0; i < t->nlanes; i++)
		halve(t->lanes[i]->buckets, t->base);
	t->base >>= 1;
	t->shift++;
}

static bool fits(const struct timeline *t)
{
	return (t->last >> t->shift) - (t->first >> t->shift) < TIMELINE_BUCKETS;
}

static void include(struct timeline *t, uint64_t time)
{
	uint64_t base;

	if (!t->last)
		t->base = t->first = time;
	t->first = min_of(t->first, time);
	t->last = max_of(t->last, time);
	t->run_last = max_of(t->run_last, time);
	while (!fits(t))
		widen(t);
	base = t->first >> t->shift;
	for (unsigned i = 0; base < t->base && i < t->nlanes; i++)
		move_up(t->lanes[i]->buckets, t->base - base);
	t->base = base;
}

static struct timeline_bucket *bucket_at(struct timeline *t, struct timeline_lane *l, uint64_t time)
{
	return &l->buckets[(time >> t->shift) - t->base];
}

static void add_busy(struct timeline *t, struct timeline_lane *l, uint64_t from, uint64_t to)
{
	while (from < to) {
		uint64_t next = ((from >> t->shift) + 1) << t->shift;

		if (next < from || next > to) /* the last bucket ends at 2^64, which is 0 */
			next = to;
		bucket_at(t, l, from)->busy += next - from;
		from = next;
	}
}

/* ---- the longest calls ---- */

static void sift_down(struct timeline_call *heap, size_t n, size_t i)
{
	for (;;) {
		size_t least = i;
		struct timeline_call c;

		for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < n; child++)
			least = heap[child].ns < heap[least].ns ? child : least;
		if (least == i)
			return;
		c = heap[i];
		heap[i] = heap[least];
		heap[least] = c;
		i = least;
	}
}

static void sift_up(struct timeline_call *heap, size_t i)
{
	for (; i && heap[i].ns < heap[(i - 1) / 2].ns; i = (i - 1) / 2) {
		struct timeline_call c = heap[i];

		heap[i] = heap[(i - 1) / 2];
		heap[(i - 1) / 2] = c;
	}
}

static void forget(struct timeline_call *c)
{
	free(c->args);
	free(c->result);
}

/* Takes over its texts. */
static void add_call(struct timeline *t, struct timeline_call c)
{
	if (!t->calls)
		t->calls = xcalloc(TIMELINE_CALLS, sizeof(*t->calls));
	if (t->ncalls < TIMELINE_CALLS) {
		t->calls[t->ncalls] = c;
		sift_up(t->calls, t->ncalls++);
		return;
	}
	t->omitted++;
	if (c.ns <= t->calls[0].ns)
		return forget(&c);
	forget(&t->calls[0]);
	t->calls[0] = c;
	sift_down(t->calls, t->ncalls, 0);
}

/* ---- threads ---- */

static uint16_t lane_of(struct timeline *t, const struct step *s)
{
	uint64_t key = step__thread_key(s), *known = map64__get(&t->index, key);
	struct timeline_lane *l;

	if (known)
		return *known - 1;
	if (t->nlanes > TIMELINE_LANES)
		return TIMELINE_LANES;
	l = t->lanes[t->nlanes++] = xcalloc(1, sizeof(*l));
	l->shared = t->nlanes > TIMELINE_LANES;
	l->pid = s->pid;
	l->tid = s->tid;
	l->goroutine = s->goroutine;
	if (!l->shared)
		*map64__put(&t->index, key) = t->nlanes;
	return t->nlanes - 1;
}

static void leave(struct timeline_lane *l, unsigned depth)
{
	while (l->nopen > depth)
		free(l->open[--l->nopen].args);
}

static void close_open(struct timeline *t, uint16_t lane, uint64_t end)
{
	struct timeline_lane *l = t->lanes[lane];

	for (unsigned i = 0; i < l->nopen; i++) {
		struct timeline_open *o = &l->open[i];

		if (o->function == NO_FUNCTION)
			continue;
		if (!i)
			add_busy(t, l, o->start, end);
		add_call(t, (struct timeline_call){.start = o->start,
						   .ns = end - min_of(o->start, end),
						   .function = o->function,
						   .depth = i,
						   .lane = lane,
						   .open = true,
						   .args = o->args});
		o->args = NULL;
	}
	leave(l, 0);
}

/* Takes those of the call that returns; NULL if its entry was not seen. */
static char *take_args(struct timeline_lane *l, const struct step *s)
{
	struct timeline_open *o = s->depth < l->nopen ? &l->open[s->depth] : NULL;
	char *args;

	if (!o || o->function != s->function || o->start != s->time - s->duration)
		return NULL;
	args = o->args;
	o->args = NULL;
	return args;
}

static void take_return(struct timeline *t, uint16_t lane, const struct step *s, const char *result)
{
	if (!s->has_duration || s->duration > s->time)
		return;
	include(t, s->time - s->duration);
	if (!s->depth)
		add_busy(t, t->lanes[lane], s->time - s->duration, s->time);
	add_call(t, (struct timeline_call){.start = s->time - s->duration,
					   .ns = s->duration,
					   .function = s->function,
					   .depth = s->depth,
					   .lane = lane,
					   .args = take_args(t->lanes[lane], s),
					   .result = result ? xstrdup(result) : NULL});
}

/* A step at a depth shows that deeper calls have ended or are left. */
static void track(struct timeline_lane *l, const struct step *s, const char *args)
{
	unsigned depth = s->depth + (s->type == STEP_BRANCH);

	if (l->shared)
		return;
	while (l->nopen < min_of(depth, TIMELINE_DEPTH))
		l->open[l->nopen++] = (struct timeline_open){.function = NO_FUNCTION};
	leave(l, depth);
	if (s->type == STEP_ENTRY && depth < TIMELINE_DEPTH)
		l->open[l->nopen++] = (struct timeline_open){
			s->time, s->timed ? s->function : NO_FUNCTION, args ? xstrdup(args) : NULL};
}

static void take_name(struct timeline_lane *l, const struct step *s)
{
	if (s->comm && *s->comm && !l->shared)
		snprintf(l->comm, sizeof(l->comm), "%s", s->comm);
}

/* Marks where events are missing; without a time, after the thread's last one. */
static void mark(struct timeline *t, struct timeline_lane *l, const struct step *s)
{
	uint64_t time = s->timed ? s->time : l->last ? l->last : t->last;
	struct timeline_bucket *b;

	if (!t->last)
		return;
	b = bucket_at(t, l, time);
	b->lost += s->type == STEP_LOST ? s->count : 0;
	b->unknown += s->type == STEP_UNKNOWN;
}

static bool is_event(const struct step *s)
{
	return s->type == STEP_ENTRY || s->type == STEP_BRANCH || s->type == STEP_RETURN;
}

/* What was open then has no known end. */
static void stop(struct timeline *t)
{
	for (unsigned i = 0; i < t->nlanes; i++)
		close_open(t, i, t->lanes[i]->last);
}

static bool is_point(const struct step *s)
{
	return s->type == STEP_STOP || s->type == STEP_START || s->type == STEP_MARK;
}

static char *text_of(const struct step *s)
{
	if (s->type == STEP_MARK && s->pid)
		return xasprintf("%s = %lld", s->text ? s->text : "", (long long)s->count);
	return s->text ? xstrdup(s->text) : NULL;
}

static void add_point(struct timeline *t, const struct step *s)
{
	if (s->type == STEP_STOP)
		stop(t);
	if (!s->timed || t->points.len == TIMELINE_POINTS)
		return;
	include(t, s->time);
	vec__push(&t->points,
		  (struct timeline_point){.time = s->time,
					  .type = s->type,
					  .text = text_of(s),
					  .lane = step__is_global(s) ? -1 : lane_of(t, s)});
}

static void close_all(struct timeline *t)
{
	for (unsigned i = 0; i < t->nlanes; i++)
		close_open(t, i, t->run_last);
}

/* Steps of another trace come. */
static void begin_run(struct timeline *t, uint32_t run)
{
	close_all(t);
	t->run = run;
	t->run_last = 0;
}

void timeline__step(struct timeline *t, const struct step *s, const char *values)
{
	bool event = is_event(s), marks = s->type == STEP_LOST || s->type == STEP_UNKNOWN;
	bool ends = s->type == STEP_EXIT || s->type == STEP_EXEC;
	struct timeline_lane *l;
	uint16_t lane;

	if (s->run != t->run)
		begin_run(t, s->run);
	if (is_point(s))
		return add_point(t, s);
	if (!event && !marks && !(ends && map64__get(&t->index, step__thread_key(s))))
		return;
	lane = lane_of(t, s);
	l = t->lanes[lane];
	if (s->timed) {
		include(t, s->time);
		l->last = max_of(l->last, s->time);
	}
	if (ends)
		close_open(t, lane, l->last);
	take_name(l, s);
	if (marks)
		mark(t, l, s);
	if (!event)
		return;
	if (s->timed)
		bucket_at(t, l, s->time)->events++;
	if (s->type == STEP_RETURN && s->timed)
		take_return(t, lane, s, values);
	track(l, s, s->type == STEP_ENTRY ? values : NULL);
}

void timeline__end(struct timeline *t)
{
	close_all(t);
}

/* ---- JSON ---- */

/* [index, events, ns in calls, lost, unknown] */
static void put_bucket(struct json *j, size_t i, const struct timeline_bucket *b)
{
	const uint64_t members[] = {i, b->events, b->busy, b->lost, b->unknown};
	size_t n = ARRAY_SIZE(members);

	while (n && !members[n - 1])
		n--;
	if (n < 2)
		return;
	json__open_array(j);
	for (size_t k = 0; k < n; k++)
		json__unsigned(j, members[k]);
	json__close_array(j);
}

static void put_lane(struct json *j, const struct timeline_lane *l)
{
	json__begin_line(j);
	json__open_object(j);
	json__member(j, string, "name", l->shared ? "[other threads]" : l->comm);
	if (!l->shared) {
		json__member(j, unsigned, "pid", l->pid);
		json__member(j, unsigned, "tid", l->tid);
	}
	if (l->goroutine && !l->shared)
		json__member(j, hex, "goroutine", l->goroutine);
	json__key(j, "buckets");
	json__open_array(j);
	for (size_t i = 0; i < TIMELINE_BUCKETS; i++)
		put_bucket(j, i, &l->buckets[i]);
	json__close_array(j);
	json__close_object(j);
}

/* [lane, depth, function, start, ns, 1 if open, arguments, result] */
static void put_call(const struct timeline *t, struct json *j, const struct timeline_call *c)
{
	json__open_array(j);
	json__unsigned(j, c->lane);
	json__unsigned(j, c->depth);
	json__unsigned(j, c->function);
	json__unsigned(j, c->start - t->first);
	json__unsigned(j, c->ns);
	if (c->open || c->args || c->result)
		json__unsigned(j, c->open);
	if (c->args || c->result)
		json__string(j, c->args ? c->args : "");
	if (c->result)
		json__string(j, c->result);
	json__close_array(j);
}

static int by_start(const void *a, const void *b)
{
	const struct timeline_call *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->depth < y->depth ? -1 : x->depth > y->depth;
}

static void put_calls(const struct timeline *t, struct json *j)
{
	autofree struct timeline_call *sorted = xcalloc(t->ncalls + 1, sizeof(*sorted));

	if (t->ncalls)
		memcpy(sorted, t->calls, t->ncalls * sizeof(*sorted));
	qsort(sorted, t->ncalls, sizeof(*sorted), by_start);
	json__begin_line(j);
	json__key(j, "calls");
	json__open_array(j);
	for (size_t i = 0; i < t->ncalls; i++)
		put_call(t, j, &sorted[i]);
	json__close_array(j);
}

/* [time, "stop", "start" or "mark", text, lane]; text: of a mark; lane: of a thread's */
static void put_point(const struct timeline *t, struct json *j, const struct timeline_point *p)
{
	json__open_array(j);
	json__unsigned(j, p->time - t->first);
	json__string(j, p->type == STEP_STOP ? "stop" : p->type == STEP_START ? "start" : "mark");
	if (p->type == STEP_MARK)
		json__string(j, p->text);
	if (p->type == STEP_MARK && p->lane >= 0)
		json__unsigned(j, p->lane);
	json__close_array(j);
}

static void put_points(const struct timeline *t, struct json *j)
{
	const struct timeline_point *p;

	json__begin_line(j);
	json__key(j, "marks");
	json__open_array(j);
	vec__each (p, &t->points)
		put_point(t, j, p);
	json__close_array(j);
}

void timeline__json(const struct timeline *t, uint64_t start_time, struct json *j)
{
	json__open_object(j);
	json__member(j, unsigned, "begin", t->first - min_of(t->first, start_time));
	json__member(j, unsigned, "span", t->last - t->first);
	json__member(j, unsigned, "width", 1ull << t->shift);
	json__member(j, unsigned, "before", t->first - (t->base << t->shift));
	json__member(j, unsigned, "omitted", t->omitted);
	json__member(j, unsigned, "shortest", t->ncalls ? t->calls[0].ns : 0);
	json__key(j, "lanes");
	json__open_array(j);
	for (unsigned i = 0; i < t->nlanes; i++)
		put_lane(j, t->lanes[i]);
	json__close_array(j);
	put_calls(t, j);
	if (t->points.len)
		put_points(t, j);
	json__close_object(j);
}

void timeline__free(struct timeline *t)
{
	for (unsigned i = 0; i < t->nlanes; i++) {
		leave(t->lanes[i], 0);
		free(t->lanes[i]);
	}
	for (size_t i = 0; i < t->ncalls; i++)
		forget(&t->calls[i]);
	for (size_t i = 0; i < t->points.len; i++)
		free(t->points.data[i].text);
	vec__free(&t->points);
	free(t->calls);
	map64__free(&t->index);
}

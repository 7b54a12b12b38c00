// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes a trace file. It holds only what its readers need: a process's name and mappings from its
 * first record on, and those symbols of an object that addresses refer to. With --max-size, a new
 * file is started when one is full, and all of this is written again.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>
#include "file_keeper.h"
#include "packer.h"
#include "record.h"
#include "pipeline/counts/tally.h"

#define FLUSH_NS     1000000000ull
#define SEEN_SLOTS   4096
#define MAX_SIZE_MIN (64u << 10)

/* The values of recorder.pids: flags, and the number of threads of the process in tids. */
#define KNOWN	   1u
#define MAIN_ENDED 2u /* other threads still run */
#define THREAD	   4u

struct recorder {
	const struct request *request;
	const char *name; /* of the file */
	struct sink sink;
	struct sink_place place;
	const struct keeper *keeper; /* NULL if this process rotates files itself */
	struct packer *packer;	     /* NULL if nothing is written yet */
	struct trace_writer *writer;
	struct show *show;
	struct trace_meta meta;
	bool logs_values;  /* records of branches have the values that they test */
	char *tag;	   /* name of the counts; NULL if none */
	uint64_t begun;	   /* size of the file after the plan, bytes */
	uint64_t flushed;  /* time of the last flush */
	struct map64 pids; /* processes whose mappings are in the file */
	struct map64 tids; /* threads whose names are in the file */
	/* pid << 32 | tid of the last thread that is in both maps; 0 if none */
	uint64_t introduced;
	struct map64 goroutines; /* tid -> its goroutine, as of its last event */
	uint64_t map_changes;
	struct {
		uint64_t addr, map_changes;
		uint32_t pid;
	} seen[SEEN_SLOTS]; /* cache of addresses whose symbols are in the file */
};

/* ---- the file ---- */

/* The lock shows readers that the file is still being written. */
static int check_sink(struct recorder *r)
{
	int err = 0;

	if (!r->request->file.armor && isatty(r->sink.fd))
		err = err__set(
			EINVAL,
			"refusing to write a binary trace to a terminal: use -o FILE, --armor "
			"or -F text");
	if (!err && r->sink.is_file)
		flock(r->sink.fd, LOCK_EX | LOCK_NB);
	return err;
}

int recorder__open(const struct request *req, const char *name, struct recorder **out)
{
	struct recorder *r = xcalloc(1, sizeof(*r));
	int err;

	r->request = req;
	r->name = name;
	r->sink.fd = -1;
	r->place.dir = -1;
	*out = r;
	err = sink__open(&r->sink, name, &r->place);
	if (!err)
		err = check_sink(r);
	if (!err && req->file.max_size && (!r->sink.is_file || r->sink.fd == STDOUT_FILENO))
		err = err__set(EINVAL, "--max-size needs a regular file");
	if (!err && req->file.max_size)
		err = sink_place__check_old(&r->place, name);
	return err;
}

void recorder__close(struct recorder *r)
{
	if (!r)
		return;
	trace_writer__free(r->writer);
	packer__free(r->packer);
	sink__close(&r->sink);
	sink_place__close(&r->place);
	map64__free(&r->pids);
	map64__free(&r->tids);
	map64__free(&r->goroutines);
	free(r->tag);
	free(r);
}

const struct sink_place *recorder__rotates(const struct recorder *r, int *fd)
{
	*fd = r->sink.fd;
	return r->request->file.max_size ? &r->place : NULL;
}

void recorder__use_keeper(struct recorder *r, const struct keeper *k)
{
	r->keeper = k;
}

bool recorder__reader_gone(const struct recorder *r)
{
	return r->packer && packer__reader_gone(r->packer);
}

/* ---- symbols of addresses; pid 0: of the kernel ---- */

static void need_kernel_address(struct recorder *r, uint64_t addr)
{
	const struct object **o;

	vec__each (o, &r->show->objects)
		if (object__is_kernel(*o) && object__segment_at(*o, addr)) {
			trace_writer__symbol(r->writer, *o, addr);
			return;
		}
}

static void need_user_address(struct recorder *r, uint32_t pid, uint64_t addr)
{
	struct mapped_place place;

	spaces__find(r->show->spaces, pid, addr, &place);
	if (!place.object)
		return;
	trace_writer__mapped(r->writer, place.dev, place.ino, place.path, place.object);
	show__read_inlined(r->show, place.object);
	trace_writer__symbol(r->writer, place.object, place.vaddr);
}

static void need_address(struct recorder *r, uint32_t pid, uint64_t addr)
{
	size_t slot = (addr ^ addr >> 12 ^ pid) % SEEN_SLOTS;

	if (!addr || (r->seen[slot].addr == addr && r->seen[slot].pid == pid &&
		      r->seen[slot].map_changes == r->map_changes))
		return;
	r->seen[slot].addr = addr;
	r->seen[slot].pid = pid;
	r->seen[slot].map_changes = r->map_changes;
	if (pid)
		need_user_address(r, pid, addr);
	else
		need_kernel_address(r, addr);
}

/* Notes an address in an object of the plan that no function of the plan covers. */
static void need_static_address(struct recorder *r, uint32_t object, uint64_t vaddr)
{
	const struct plan *p = r->show->plan;

	if (!vaddr || plan__function_at(p, object, vaddr) != NO_FUNCTION)
		return;
	if (p->objects.data[object].kernel)
		need_kernel_address(r, vaddr);
	else
		trace_writer__symbol(r->writer, p->objects.data[object].object, vaddr);
}

/* Notes the symbols at the plan's functions: formats may name places by them. */
static void need_functions(struct recorder *r)
{
	const struct plan *p = r->show->plan;
	const struct plan_function *f;

	vec__each (f, &p->functions)
		for (size_t i = 0; i < f->nranges && !p->objects.data[f->object].kernel; i++)
			trace_writer__symbol(r->writer, p->objects.data[f->object].object,
					     f->ranges[i].vaddr);
}

static void need_static_addresses(struct recorder *r)
{
	const struct plan_site *s;

	need_functions(r);
	vec__each (s, &r->show->plan->sites) {
		need_static_address(r, s->object, s->vaddr);
		need_static_address(r, s->object, s->vaddr + s->len);
		need_static_address(r, s->object, s->target);
	}
}

static void need_addresses_of_named(struct recorder *r, const struct event *e)
{
	const struct event_named *n = e->named;

	need_address(r, n->kernel ? 0 : e->pid, n->ip);
	for (unsigned i = 0; n->stack && i < n->nkernel + n->nuser; i++)
		need_address(r, i < n->nkernel ? 0 : e->pid,
			     i < n->nkernel ? n->stack[i] : named__frame_code(n, i - n->nkernel));
}

static void need_addresses_of(struct recorder *r, const struct event *e)
{
	const struct event_entry *entry = e->entry;
	uint32_t pid;

	if (e->type == EVENT_NAMED)
		need_addresses_of_named(r, e);
	if (e->type != EVENT_BRANCH && e->type != EVENT_ENTRY)
		return;
	pid = plan__is_kernel_site(r->show->plan, e->site) ? 0 : e->pid;
	if (e->has_target)
		need_address(r, pid, e->target);
	if (e->type != EVENT_ENTRY)
		return;
	need_address(r, pid, entry->caller);
	for (unsigned i = 0; i < entry->nstack; i++)
		need_address(r, pid, pid ? entry__frame_code(entry, i) : entry->stack[i]);
}

/* ---- processes ---- */

struct snapshot {
	struct recorder *r;
	struct sideband_event e;
	int err;
};

static void put_map(void *ctx, const struct map *m)
{
	struct snapshot *s = ctx;

	if (s->err)
		return;
	s->e.start = m->start;
	s->e.len = m->end - m->start;
	s->e.offset = m->offset;
	s->e.major = major(m->dev);
	s->e.minor = minor(m->dev);
	s->e.ino = m->ino;
	s->e.text = m->path ? m->path : "";
	s->err = trace_writer__sideband(s->r->writer, &s->e);
}

static int put_process(struct recorder *r, uint64_t time, uint32_t pid)
{
	struct snapshot s = {.r = r,
			     .e = {.type = SIDEBAND_MAP, .time = time, .pid = pid, .tid = pid}};
	struct sideband_event inner = {
		.type = SIDEBAND_INNER, .time = time, .pid = pid, .tid = pid};
	uint64_t *known = map64__put(&r->pids, pid);

	if (*known)
		return 0;
	*known = KNOWN;
	if (plan__sees_programs(r->show->plan))
		spaces__each(r->show->spaces, pid, put_map, &s);
	inner.count = trace__inner_of(r->show->trace, pid);
	return s.err || !inner.count ? s.err : trace_writer__sideband(r->writer, &inner);
}

/* Notes that the file has this thread of a process that it has. */
static void add_thread(struct recorder *r, uint32_t pid, uint32_t tid)
{
	uint64_t *known = map64__put(&r->tids, tid);

	if (!*known)
		*map64__put(&r->pids, pid) += THREAD;
	*known = 1;
}

/* Drops a thread; a process ends with its last thread. */
static void drop_thread(struct recorder *r, uint32_t pid, uint32_t tid)
{
	uint64_t *known = map64__get(&r->pids, pid);

	if (known && *known >= THREAD && map64__get(&r->tids, tid))
		*known -= THREAD;
	map64__del(&r->tids, tid);
	map64__del(&r->goroutines, tid);
	if (known && pid == tid)
		*known |= MAIN_ENDED;
	if (known && *known & MAIN_ENDED && *known < THREAD)
		map64__del(&r->pids, pid);
}

/* Writes a thread. Idle tasks (tid 0) get their names only from their entries. */
static int put_thread(struct recorder *r, uint64_t time, uint32_t pid, uint32_t tid)
{
	struct sideband_event e = {.type = SIDEBAND_COMM, .time = time, .pid = pid, .tid = tid};

	if (map64__get(&r->tids, tid))
		return 0;
	add_thread(r, pid, tid);
	e.text = tid ? trace__comm_of(r->show->trace, tid) : NULL;
	return e.text && *e.text ? trace_writer__sideband(r->writer, &e) : 0;
}

static int introduce(struct recorder *r, uint64_t time, uint32_t pid, uint32_t tid)
{
	uint64_t key = (uint64_t)pid << 32 | tid;
	int err;

	if (key && key == r->introduced)
		return 0;
	r->introduced = 0;
	err = put_process(r, time, pid);
	if (err)
		return err;
	err = put_thread(r, time, pid, tid);
	if (err)
		return err;
	r->introduced = key;
	return 0;
}

/* ---- rotation ---- */

static int begin_file(struct recorder *r)
{
	int err;

	/* with a size limit, the size must be known at once */
	r->packer = packer__new(&r->sink, r->request->file.armor, !r->request->file.max_size);
	r->writer =
		trace_writer__new(r->show->plan, packer__put, r->packer, r->request->file.armor);
	err = trace_writer__begin(r->writer, &r->meta);
	if (!err)
		err = packer__flush(r->packer);
	r->begun = packer__size(r->packer);
	need_static_addresses(r);
	r->logs_values = plan__logs_values(r->show->plan);
	/* what an earlier file of the trace has reported, too */
	return err ? err : untraced__write(&r->show->untraced, r->writer);
}

int recorder__begin(struct recorder *r, struct show *show, const struct trace_meta *meta)
{
	r->show = show;
	r->meta = *meta;
	r->tag = meta->tag ? xstrdup(meta->tag) : NULL;
	r->flushed = now_ns(CLOCK_MONOTONIC);
	return begin_file(r);
}

static int end_file(struct recorder *r, enum trace_end_reason reason)
{
	struct trace_end end = {.reason = reason,
				.sideband_lost = r->show->sideband_lost,
				.totals = *show__totals(r->show)};
	int err = trace_writer__end(r->writer, &end);

	return err ? err : packer__flush(r->packer);
}

/* Renames FILE to FILE.1, replacing an older one, and makes a new FILE. Returns its descriptor. */
static int replace_file(struct recorder *r)
{
	struct stat current;

	if (r->keeper)
		return file_keeper__rotate(r->keeper);
	return fstat(r->sink.fd, &current)
		       ? err__set(errno, "cannot write to %s: %s", r->name, strerror(errno))
		       : sink_place__rotate(&r->place, r->name, &current);
}

static int rotate(struct recorder *r)
{
	int err = end_file(r, TRACE_CONTINUED), fd = err ? err : replace_file(r);

	if (fd < 0)
		return fd;
	trace_writer__free(r->writer);
	packer__free(r->packer);
	r->packer = NULL;
	sink__close(&r->sink);
	sink__take(&r->sink, r->name, fd);
	map64__free(&r->pids);
	map64__free(&r->tids);
	r->introduced = 0;
	memset(r->seen, 0, sizeof(r->seen));
	r->meta.part++;
	err = check_sink(r);
	return err ? err : begin_file(r);
}

static int rotate_if_full(struct recorder *r)
{
	uint64_t max = r->request->file.max_size, size = packer__size(r->packer);
	int err = 0;

	if (!max)
		return 0;
	if (trace_writer__pending(r->writer) >= max / 16)
		err = trace_writer__flush(r->writer);
	return err || size < max || size == r->begun ? err : rotate(r);
}

/* ---- what is recorded ---- */

/* Writes the thread's current goroutine, if its record is in an earlier file. */
static int put_goroutine(struct recorder *r, const struct event *e)
{
	const uint64_t *runs = map64__get(&r->goroutines, e->tid);
	struct event copy = {.time = e->time,
			     .pid = e->pid,
			     .tid = e->tid,
			     .sp = e->sp,
			     .cpu = e->cpu,
			     .type = EVENT_GOROUTINE};

	if (e->type == EVENT_GOROUTINE) {
		*map64__put(&r->goroutines, e->tid) = e->goroutine;
		return 0;
	}
	if (!runs || !*runs || map64__get(&r->tids, e->tid))
		return 0;
	copy.goroutine = *runs;
	return trace_writer__event(r->writer, &copy);
}

/* Writes what the file must have before this event. */
static int prepare(struct recorder *r, const struct event *e)
{
	int err = put_goroutine(r, e);

	return err ? err : introduce(r, e->time, e->pid, e->tid);
}

int recorder__event(struct recorder *r, const struct event *e)
{
	int err = r->meta.counts ? 0 : prepare(r, e);

	if (err || r->meta.counts)
		return err;
	need_addresses_of(r, e);
	err = trace_writer__event(r->writer, e);
	return err ? err : rotate_if_full(r);
}

int recorder__words(struct recorder *r, const struct logged_words *words)
{
	const struct event any = {.time = words->thread.time,
				  .pid = words->thread.pid,
				  .tid = words->thread.tid,
				  .sp = words->thread.stacks[0],
				  .cpu = EVENT_NO_CPU,
				  .type = EVENT_BRANCH};
	int err = prepare(r, &any);

	if (!err)
		err = trace_writer__words(r->writer, words);
	return err ? err : rotate_if_full(r);
}

void recorder__address(struct recorder *r, uint32_t pid, uint64_t addr)
{
	need_address(r, pid, addr);
}

bool recorder__takes_words(const struct recorder *r)
{
	return !r->logs_values && !r->meta.counts;
}

static bool is_global(const struct sideband_event *e)
{
	return e->type == SIDEBAND_LOST || e->type == SIDEBAND_STOP || e->type == SIDEBAND_START ||
	       (e->type == SIDEBAND_MARK && !e->pid);
}

/* True if the process is in the file. Its forks are written, so that the file has the child,
 * too. */
static bool is_known(struct recorder *r, const struct sideband_event *e)
{
	if (is_global(e))
		return true;
	if (e->type == SIDEBAND_FORK) /* the TID may be that of a thread which an exec ended */
		map64__del(&r->tids, e->tid);
	if (e->type == SIDEBAND_FORK && map64__get(&r->pids, e->ppid)) {
		if (e->pid != e->ppid)
			*map64__put(&r->pids, e->pid) = KNOWN;
		if (map64__get(&r->tids, e->ptid))
			add_thread(r, e->pid, e->tid);
		return true;
	}
	return map64__get(&r->pids, e->pid) &&
	       (e->type != SIDEBAND_MAP || plan__sees_programs(r->show->plan));
}

int recorder__sideband(struct recorder *r, const struct sideband_event *e)
{
	bool known = !r->meta.counts && is_known(r, e);
	int err = 0;

	if (e->type == SIDEBAND_UNTRACED)
		return trace_writer__sideband(r->writer, e);
	if (r->meta.counts)
		return 0;
	if (e->type != SIDEBAND_COMM && !is_global(e))
		r->map_changes++;
	if (e->type == SIDEBAND_GAP || (e->type == SIDEBAND_MARK && e->pid))
		err = introduce(r, e->time, e->pid, e->tid);
	if (!err && (known || e->type == SIDEBAND_GAP || e->type == SIDEBAND_MARK))
		err = trace_writer__sideband(r->writer, e);
	if (known && e->type == SIDEBAND_EXEC) /* it has ended the other threads */
		*map64__put(&r->pids, e->pid) = KNOWN + (map64__get(&r->tids, e->tid) ? THREAD : 0);
	if (known && (e->type == SIDEBAND_EXEC || e->type == SIDEBAND_COMM))
		add_thread(r, e->pid, e->tid);
	r->introduced = 0;
	if (e->type == SIDEBAND_EXIT)
		drop_thread(r, e->pid, e->tid);
	return err;
}

void recorder__reintroduce(struct recorder *r)
{
	map64__free(&r->pids);
	map64__free(&r->tids);
	r->introduced = 0;
	r->map_changes++;
}

int recorder__lost(struct recorder *r, uint32_t pid, uint32_t tid, uint64_t count)
{
	int err = pid && !r->meta.counts ? introduce(r, 0, pid, tid) : 0;

	if (r->meta.counts)
		return 0;
	return err ? err : trace_writer__lost(r->writer, pid, tid, count);
}

int recorder__plan_extends(struct recorder *r)
{
	return trace_writer__flush(r->writer);
}

int recorder__plan_extended(struct recorder *r, const struct plan_increment *i)
{
	int err = trace_writer__increment(r->writer, i);

	r->logs_values = plan__logs_values(r->show->plan);
	need_static_addresses(r);
	return err;
}

int recorder__tick(struct recorder *r, uint64_t now)
{
	if (now - r->flushed < FLUSH_NS)
		return 0;
	r->flushed = now;
	return trace_writer__flush(r->writer);
}

/* ---- counts ---- */

static int put_part(struct recorder *r)
{
	struct trace_counts c = {.tag = r->tag, .traces = 1, .counts = tally__part(r->show->tally)};

	return trace_writer__counts(r->writer, &c);
}

int recorder__name(struct recorder *r, const char *tag)
{
	int err = put_part(r);

	free(r->tag);
	r->tag = xstrdup(tag);
	return err;
}

int recorder__end(struct recorder *r)
{
	int err = r->meta.counts ? put_part(r) : 0;

	if (!err)
		err = end_file(r, TRACE_ENDED);
	if (!err && r->meta.part > 1)
		note("%s and %s.1 hold the end of the trace; %u parts before them were dropped",
		     r->name, r->name, r->meta.part - 1);
	return err;
}

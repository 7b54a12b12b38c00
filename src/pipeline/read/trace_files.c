// SPDX-License-Identifier: BSD-2-Clause
/* Reads trace files one after the other and merges them. */
#include <errno.h>
#include <stdlib.h>
#include "trace_files.h"
#include "pipeline/render.h"

struct file {
	struct input in; /* first, since it may outlive the rest */
	struct replay replay;
};

/* ---- files ---- */

static int open_file(struct trace_files *f, const char *name)
{
	f->file = xcalloc(1, sizeof(*f->file));
	f->file->in.fd = -1;
	return input__open(&f->file->in, name);
}

/* Drops a file, but keeps one from which the merged plan borrows. */
static void drop_file(struct trace_files *f)
{
	bool keeps = f->joined && merged_plan__end_file(f->joined);
	struct file *file = f->file;

	if (!file)
		return;
	f->file = NULL;
	replay__close(&file->replay);
	if (keeps && file->in.reader && !f->rereads) {
		input__close_file(&file->in);
		vec__push(&f->kept, &file->in);
		return;
	}
	input__close(&file->in);
	free(file);
}

/* Keeps the first file open: standard input can't be read twice. */
int trace_files__find_counts(struct trace_files *f)
{
	struct file *first = NULL;
	int err = 0;

	for (size_t i = 0; !err && i < f->request->files && !f->counts; i++) {
		const struct trace_meta *meta;

		err = open_file(f, f->request->operands.data[i]);
		if (!err && f->opened && f->request->files == 1)
			err = f->opened();
		meta = err ? NULL : trace_reader__peek(f->file->in.reader);
		f->counts = meta && meta->counts;
		if (i) {
			drop_file(f);
			continue;
		}
		first = f->file;
		f->file = NULL;
	}
	f->file = first;
	return err;
}

struct input *trace_files__first(struct trace_files *f)
{
	return &f->file->in;
}

/* ---- contents ---- */

static int on_extended(void *ctx, const struct plan_increment *i)
{
	struct trace_files *f = ctx;

	return f->calls->extended(f->ctx, i);
}

static int begin(void *ctx, const struct replay *p, const struct plan *plan, struct output **out)
{
	static const struct output_options none;
	struct trace_files *f = ctx;
	int err;

	merged_plan__begin_file(f->joined, p->meta.realtime_offset);
	err = merged_plan__take_plan(f->joined, plan);
	if (err)
		return err__prefix(err, "%s", p->in->name);
	err = f->calls->begin(f->ctx, p);
	if (err)
		return err;
	if (f->counts && !p->meta.counts)
		*out = output__new(&output_counted, &none, plan, NULL, NULL);
	else if (!f->counts)
		*out = f->output;
	return 0;
}

static int extend(void *ctx, const struct replay *p, const struct plan *plan)
{
	struct trace_files *f = ctx;

	return merged_plan__take_plan(f->joined, plan);
}

static int add(struct trace_files *f, const struct replay *p, const struct trace_counts *c)
{
	struct trace_counts named = *c;

	if (!named.tag)
		named.tag = p->meta.tag;
	if (f->only && (!named.tag || strcmp(named.tag, f->only) != 0))
		return 0;
	f->parts++;
	return f->calls->add(f->ctx, p, &named);
}

static int on_counts(void *ctx, const struct replay *p, const struct trace_counts *c)
{
	return add(ctx, p, c);
}

static const struct trace_totals *totals_of(struct replay *p)
{
	const struct trace_end *end = trace_reader__end(p->in->reader);

	return p->meta.counts && end ? &end->totals : show__totals(&p->show);
}

static uint32_t object_of(const struct plan *p, const char *path)
{
	for (uint32_t i = 0; i < p->objects.len; i++)
		if (!strcmp(p->objects.data[i].path, path))
			return i;
	return UNTRACED_ALL;
}

/* Adds what wasn't traced, by objects of the merged plan. It counts for all functions of an
 * object, since functions have other numbers there. */
static void add_untraced(struct trace_files *f, const struct replay *p)
{
	const struct plan *from = p->show.plan;
	const struct untraced *u;

	vec__each (u, &p->show.untraced) {
		struct untraced row = {u->pid, u->object, UNTRACED_ALL, u->reason};

		if (u->object < from->objects.len)
			row.object = object_of(merged_plan__plan(f->joined),
					       from->objects.data[u->object].path);
		untraced__add(&f->untraced, &row);
	}
	if (f->output)
		output__untraced(f->output, &f->untraced);
}

/* Ends a file. What was read of it is valid, whatever ended it. */
static int end_file(struct trace_files *f, struct replay *p)
{
	int err = show__finish(&p->show, newest_first(f->request));

	if (!err && f->counts && p->show.output) {
		struct trace_counts c = {.traces = 1};

		output__end(p->show.output, show__totals(&p->show));
		c.counts = output__counted(p->show.output);
		err = add(f, p, &c);
	}
	totals__add(&f->totals, totals_of(p));
	add_untraced(f, p);
	if (f->calls->end)
		f->calls->end(f->ctx, p, totals_of(p));
	return err;
}

static void on_forked(void *ctx, const struct sideband_event *e)
{
	struct trace_files *f = ctx;

	if (f->calls->forked)
		f->calls->forked(f->ctx, e);
}

static int read_file(struct trace_files *f, const char *name)
{
	static const struct replay_calls calls = {
		.begin = begin, .extended = extend, .counts = on_counts, .forked = on_forked};
	struct replay *p;
	int err = f->file ? 0 : open_file(f, name), end = 0;

	if (err)
		return err;
	p = &f->file->replay;
	*p = (struct replay){.request = f->request,
			     .in = &f->file->in,
			     .calls = &calls,
			     .ctx = f,
			     .joined = f->joined};
	err = replay__run(p);
	progress__end(&f->file->in.progress);
	if (input__is_of_file(err)) {
		err = input__report_damage(&f->file->in, err);
		note("%s: %s", f->file->in.name, err__text());
		f->damaged++;
		err = 0;
	}
	if (p->begun && (!err || err == 1))
		end = end_file(f, p);
	if (p->begun && f->counts)
		output__free(p->show.output);
	return err ? err : end;
}

/* Counts functions and probes of the merged plan, each once. */
static void count_plan(struct trace_files *f)
{
	struct edge_counts sum = merged_plan__counts(f->joined);

	totals__of_plan(&f->totals, merged_plan__plan(f->joined));
	if (f->counts)
		f->totals.residue = sum.edges->residue;
}

int trace_files__read(struct trace_files *f)
{
	int err = 0;

	if (!f->rereads)
		f->joined = merged_plan__new(f->request->file.by_symbol);
	merged_plan__report(f->joined, on_extended, f);
	for (size_t i = 0; !err && i < f->request->files; i++) {
		err = read_file(f, f->request->operands.data[i]);
		drop_file(f);
	}
	count_plan(f);
	return err;
}

void trace_files__report(const struct trace_files *f)
{
	autofree struct str summary = {0};
	uint64_t mapped, apart;

	merged_plan__mapped(f->joined, &mapped, &apart);
	if (mapped || apart)
		note("%llu functions of other builds were found by their symbols; %llu stay apart",
		     (unsigned long long)mapped, (unsigned long long)apart);
	totals__text(&f->totals, &summary);
	if (note__level() >= NOTE_NORMAL)
		fprintf(stderr, "%s\n", summary.data);
}

int trace_files__damage(const struct trace_files *f)
{
	return f->damaged ? err__set(EBADMSG,
				     "%llu of %zu files are damaged or have no end; what can be "
				     "read of them was taken",
				     (unsigned long long)f->damaged, f->request->files)
			  : 0;
}

void trace_files__close(struct trace_files *f)
{
	struct input **in;

	drop_file(f);
	untraced__free(&f->untraced);
	if (!f->rereads)
		merged_plan__free(f->joined);
	vec__each (in, &f->kept) {
		input__close(*in);
		free(*in); /* the first member of struct file */
	}
	vec__free(&f->kept);
}

// SPDX-License-Identifier: BSD-2-Clause
/* The verb merge: adds up what many trace files have counted into one file of counts. Counts of
 * one name are one part of the file, and those without a name another; events are counted. */
#include <errno.h>
#include <stdlib.h>
#include "verbs.h"
#include "pipeline/read/trace_files.h"
#include "pipeline/write/packer.h"
#include "pipeline/render.h"

struct merge {
	const struct request *request;
	struct trace_files files;
	struct sink sink;
	struct packer *packer;
	struct trace_writer *writer;
	char *tag;	 /* name of what was added up and isn't written yet */
	uint64_t traces; /* the number of traces in that; 0 if nothing */
};

static int begin_file(struct merge *m, const struct trace_meta *first)
{
	struct trace_meta meta = *first, own;
	int err = meta__of_args(&own, m->request, merged_plan__plan(m->files.joined)->arch);

	if (err)
		return err;
	/* machine and time are those of the first file; the command is this one */
	meta.counts = true;
	meta.tag = m->request->file.tag;
	meta.host = m->request->files > 1 ? NULL : meta.host;
	meta.command = own.command;
	meta.version = own.version;
	err = sink__begin(&m->sink);
	m->packer = packer__new(&m->sink, m->request->file.armor, true);
	m->writer = trace_writer__new(merged_plan__plan(m->files.joined), packer__put, m->packer,
				      m->request->file.armor);
	if (!err)
		err = trace_writer__begin(m->writer, &meta);
	meta__free(&own);
	return err;
}

static int on_begin(void *ctx, const struct replay *p)
{
	struct merge *m = ctx;

	return m->writer ? 0 : begin_file(m, &p->meta);
}

static int on_extended(void *ctx, const struct plan_increment *i)
{
	struct merge *m = ctx;

	return m->writer ? trace_writer__increment(m->writer, i) : 0;
}

/* Writes the symbols by which formats name places. */
static void put_symbols(struct merge *m)
{
	const struct plan *p = merged_plan__plan(m->files.joined);
	const struct object *o;
	const struct plan_object *row;

	vec__each (row, &p->objects)
		for (size_t i = 0; (o = row->object) && i < o->symbols.len; i++)
			trace_writer__symbol(m->writer, o, o->symbols.data[i].vaddr);
}

static int put_part(struct merge *m)
{
	struct trace_counts c = {
		.tag = m->tag, .traces = m->traces, .counts = merged_plan__counts(m->files.joined)};
	int err;

	if (!m->traces)
		return 0;
	err = trace_writer__counts(m->writer, &c);
	m->traces = 0;
	merged_plan__clear(m->files.joined);
	return err;
}

static bool same_tag(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Adds counts. The sums are those of one name: counts of another name begin a new part of the
 * file. */
static int on_add(void *ctx, const struct replay *p, const struct trace_counts *c)
{
	struct merge *m = ctx;
	const char *tag = m->request->file.tag ? m->request->file.tag : c->tag;
	int err = 0;

	if (m->traces && !same_tag(tag, m->tag))
		err = put_part(m);
	if (!m->traces) {
		free(m->tag);
		m->tag = tag ? xstrdup(tag) : NULL;
	}
	m->traces += c->traces;
	merged_plan__add(m->files.joined, p->show.plan, &c->counts);
	return err;
}

static int end_merged(struct merge *m)
{
	struct trace_end end = {.reason = TRACE_ENDED, .totals = m->files.totals};
	int err = put_part(m);

	if (!err)
		err = untraced__write(&m->files.untraced, m->writer);
	if (err)
		return err;
	put_symbols(m);
	err = trace_writer__end(m->writer, &end);
	return err ? err : packer__flush(m->packer);
}

static int merge(struct merge *m)
{
	int err = trace_files__find_counts(&m->files);

	m->files.counts = true;
	if (!err)
		err = sink__open(&m->sink, m->request->show.output, NULL);
	if (err)
		return err;
	sink__ignore_signals();
	err = trace_files__read(&m->files);
	if (!err && m->writer)
		err = end_merged(m);
	sink__close(&m->sink);
	if (err)
		return err;
	trace_files__report(&m->files);
	return trace_files__damage(&m->files);
}

static void close_merge(struct merge *m)
{
	trace_writer__free(m->writer);
	packer__free(m->packer);
	sink__close(&m->sink);
	trace_files__close(&m->files);
	free(m->tag);
}

int merge__check(struct request *req)
{
	req->files = req->operands.len;
	if (!req->files)
		return err__set(EINVAL, "no trace file given; see bbtrace merge --help");
	if (!req->show.output)
		return err__set(EINVAL, "give the file to write: -o FILE");
	return operands__check_output(req);
}

int merge__run(const struct request *req)
{
	static const struct files_calls calls = {on_begin, on_extended, on_add};
	CLEANUP(close_merge) struct merge m = {.request = req, .sink.fd = -1};

	m.files = (struct trace_files){.request = req, .calls = &calls, .ctx = &m};
	return merge(&m);
}

// SPDX-License-Identifier: BSD-2-Clause
/* Counts of edges as rows of tables: those that aren't 0. */
#include <errno.h>
#include "file/format.h"

static void put_rows(const uint64_t *counts, size_t n, struct file_rows *rows, bool of_table)
{
	for (size_t i = 0; i < n; i++) {
		struct file_row_count row = {i, counts[i]};

		if (!counts[i])
			continue;
		if (of_table)
			vec__push(&rows->table_counts, row);
		else
			vec__push(&rows->block_counts, row);
	}
}

void file_counts__put(struct file_rows *rows, const struct trace_counts *c, const struct plan *p)
{
	const struct plan_counts *edges = c->counts.edges;

	for (size_t i = 0; i < p->sites.len; i++) {
		const struct site_count *n = &edges->sites[i];

		if (n->taken || n->not_taken || edges->low[i])
			vec__push(&rows->site_counts,
				  (struct file_site_count){i, *n, edges->low[i]});
	}
	put_rows(edges->blocks, p->blocks.len, rows, false);
	put_rows(edges->table, p->table.len, rows, true);
	for (size_t i = 0; i < c->counts.ntargets; i++)
		if (c->counts.targets[i].count)
			vec__push(&rows->target_counts, c->counts.targets[i]);
}

static bool take_sites(const struct file_rows *rows, const struct plan *p,
		       struct plan_counts *edges)
{
	const struct file_site_count *row;

	vec__each (row, &rows->site_counts) {
		if (row->site >= p->sites.len)
			return false;
		edges->sites[row->site] = row->count;
		edges->low[row->site] = row->low & (LOW_TAKEN | LOW_NOT_TAKEN);
	}
	return true;
}

static bool good_target(const struct counted_target *t, const struct plan *p)
{
	return t->site < p->sites.len && (t->object < p->objects.len || t->object == UINT32_MAX);
}

int file_counts__take(struct file_rows *rows, const struct plan *p, struct plan_counts *edges,
		      struct trace_counts *out)
{
	const struct file_counted *head;
	const struct counted_target *t;
	const struct file_row_count *n;

	if (rows->counted.len != 1 || !take_sites(rows, p, edges))
		return -EBADMSG;
	head = rows->counted.data;
	vec__each (n, &rows->block_counts) {
		if (n->row >= p->blocks.len)
			return -EBADMSG;
		edges->blocks[n->row] = n->count;
	}
	vec__each (n, &rows->table_counts) {
		if (n->row >= p->table.len)
			return -EBADMSG;
		edges->table[n->row] = n->count;
	}
	vec__each (t, &rows->target_counts)
		if (!good_target(t, p))
			return -EBADMSG;
	edges->residue = head->residue;
	*out = (struct trace_counts){
		.tag = head->tag,
		.traces = head->traces,
		.counts = {edges, rows->target_counts.data, rows->target_counts.len}};
	return 0;
}

void file_counts__drop(struct file_rows *rows)
{
	rows->site_counts.len = rows->block_counts.len = 0;
	rows->table_counts.len = rows->target_counts.len = rows->counted.len = 0;
}

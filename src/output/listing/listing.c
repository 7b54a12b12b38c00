// SPDX-License-Identifier: BSD-2-Clause
/* A function's code as rows: ranges in order, their blocks, and the blocks' instructions with
 * source lines. */
#include "listing.h"

struct walk {
	const struct output *o;
	const struct plan *plan;
	uint32_t object;
	uint64_t start; /* of the part */
	bool sources;
	const struct plan_line *line; /* of the previous row */
	listing_fn fn;
	void *ctx;
};

/* ---- text ---- */

static void put_offset(struct str *s, const char *name, uint64_t offset)
{
	str__puts(s, name);
	if (!offset)
		return;
	str__putc(s, '+');
	str__hex(s, offset);
}

void listing__place(const struct plan *plan, uint32_t object, uint64_t vaddr, struct str *s)
{
	uint32_t f = plan__function_at(plan, object, vaddr);
	const struct object *o = plan->objects.data[object].object;
	const struct symbol *sym;
	uint64_t offset = 0;
	const char *name = f == NO_FUNCTION ? NULL : plan__name_at(plan, f, vaddr, &offset);

	if (name) {
		put_offset(s, name, offset);
		return;
	}
	sym = o ? object__symbol_at(o, vaddr) : NULL;
	if (sym)
		put_offset(s, sym->shown, vaddr - sym->vaddr);
	else
		str__hex(s, vaddr);
}

void listing__location(const struct plan *plan, uint32_t object, const struct location *to,
		       struct str *s)
{
	const char *own = plan->objects.data[object].path;

	if (to->symbol)
		put_offset(s, to->symbol, to->offset);
	else
		str__hex(s, to->object ? to->vaddr : to->addr);
	if (to->object && (plan->objects.data[object].kernel || !strcmp(to->object, own)))
		return;
	str__printf(s, " [%s]", to->object ? path__base_name(to->object) : "anonymous");
}

static const uint8_t *bytes_at(const struct plan *plan, uint32_t object, uint64_t vaddr,
			       size_t *avail)
{
	const struct object *o = plan->objects.data[object].object;

	*avail = 0;
	return o ? object__bytes(o, vaddr, avail) : NULL;
}

static uint64_t code_address(const struct plan *plan, uint32_t object, uint64_t vaddr)
{
	return object__code_address(plan->objects.data[object].object, vaddr);
}

/* The branch's text up to its target: the mnemonic and other operands. */
static void put_branch(const struct plan_site *site, const char *text, struct str *s)
{
	size_t len = strlen(text), n;
	char target[24];

	n = snprintf(target, sizeof(target), "0x%llx", (unsigned long long)site->target);
	if (len > n && !strcmp(text + len - n, target) &&
	    !strncmp(text, site->mnemonic, strlen(site->mnemonic)))
		str__printf(s, "%.*s", (int)(len - n), text);
	else
		str__printf(s, "%s ", site->mnemonic);
}

void listing__insn(const struct plan *plan, const struct listing_row *row, struct str *s)
{
	const struct plan_site *site = row->site == NO_SITE ? NULL : &plan->sites.data[row->site];
	char text[128] = "";
	size_t avail;
	const uint8_t *bytes = bytes_at(plan, row->object, row->vaddr, &avail);

	if (!bytes || !plan->arch->format ||
	    !plan->arch->format(bytes, min_of(avail, (size_t)row->len),
				code_address(plan, row->object, row->vaddr), text, sizeof(text)))
		*text = 0;
	if (site && site->target && site->mnemonic) {
		put_branch(site, text, s);
		listing__place(plan, site->object, site->target, s);
	} else if (*text) {
		str__puts(s, text);
	} else {
		str__puts(s, site && site->mnemonic ? site->mnemonic : "?");
	}
}

/* ---- rows ---- */

/* Emits the source line if it differs from the previous row's. */
static void give_source(struct walk *w, struct listing_row *insn)
{
	const struct plan_line *line = plan__line_at(w->plan, w->object, insn->vaddr);
	const struct output_options *opt = &w->o->options;
	struct listing_row row = {
		.kind = LISTING_SOURCE, .vaddr = insn->vaddr, .object = w->object, .site = NO_SITE};
	autofree struct str text = {0};

	insn->file = NULL;
	insn->line = 0;
	if (!w->sources || !line ||
	    (w->line && line->line == w->line->line && line->file == w->line->file))
		return;
	w->line = line;
	row.file = w->plan->line_files.data[line->file];
	row.line = line->line;
	if (opt->source)
		row.source = opt->source(opt->source_ctx, w->plan->objects.data[w->object].path,
					 row.file, row.line);
	if (row.source) {
		str__expand_tabs(&text, row.source);
		row.source = text.data;
		w->fn(w->ctx, &row);
	} else {
		insn->file = row.file;
		insn->line = row.line;
	}
}

static uint64_t insn_len(struct walk *w, uint64_t vaddr, uint64_t end, bool *padding)
{
	size_t avail;
	const uint8_t *bytes = bytes_at(w->plan, w->object, vaddr, &avail);
	struct insn insn;

	*padding = false;
	if (!bytes || !w->plan->arch->decode ||
	    w->plan->arch->decode(bytes, min_of(avail, (size_t)(end - vaddr)),
				  code_address(w->plan, w->object, vaddr),
				  w->plan->objects.data[w->object].kernel, &insn))
		return 0;
	*padding = insn.padding;
	return insn.len;
}

/* Without bytes, as in trace files that have none, a block consists of its branch. */
static void give_block(struct walk *w, uint32_t block)
{
	const struct plan_block *b = &w->plan->blocks.data[block];
	struct listing_row row = {.kind = LISTING_INSN,
				  .start = w->start,
				  .object = w->object,
				  .block = block,
				  .first = true};
	uint64_t at = b->start, len;
	bool padding;

	for (; at < b->end; at += len, row.first = false) {
		len = insn_len(w, at, b->end, &padding);
		if (!len && b->site != NO_SITE && at < w->plan->sites.data[b->site].vaddr)
			at = w->plan->sites.data[b->site].vaddr;
		if (!len || len > b->end - at)
			len = b->end - at;
		row.vaddr = at;
		row.len = len;
		row.site = b->site != NO_SITE && w->plan->sites.data[b->site].vaddr == at ? b->site
											  : NO_SITE;
		give_source(w, &row);
		w->fn(w->ctx, &row);
	}
}

static void give_gap(struct walk *w, uint64_t start, uint64_t end)
{
	struct listing_row row = {.kind = LISTING_GAP,
				  .vaddr = start,
				  .len = end - start,
				  .start = w->start,
				  .object = w->object,
				  .site = NO_SITE};
	bool padding = true;

	for (uint64_t at = start, len; at < end && padding; at += len) {
		len = insn_len(w, at, end, &padding);
		padding = padding && len;
	}
	if (!padding)
		w->fn(w->ctx, &row);
}

static void give_range(struct walk *w, const struct range *r)
{
	uint64_t at = r->vaddr, end = r->vaddr + r->size;
	const struct plan_block *b;

	if (end < at)
		return;
	for (size_t i = plan__blocks_from(w->plan, w->object, at);
	     i < w->plan->blocks_by_address.len; i++) {
		uint32_t block = w->plan->blocks_by_address.data[i];

		b = &w->plan->blocks.data[block];
		if (b->object != w->object || b->start >= end)
			break;
		if (b->start <
		    at) /* starts within an instruction: after a prefix that a branch skips */
			continue;
		if (b->start > at)
			give_gap(w, at, b->start);
		give_block(w, block);
		at = b->end;
	}
	if (at < end)
		give_gap(w, at, end);
}

void listing__block(const struct output *o, uint32_t block, listing_fn fn, void *ctx)
{
	struct walk w = {.o = o,
			 .plan = o->plan,
			 .object = o->plan->blocks.data[block].object,
			 .fn = fn,
			 .ctx = ctx};

	give_block(&w, block);
}

static int by_count(const void *a, const void *b)
{
	const struct stats_target *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return x->to.vaddr < y->to.vaddr ? -1 : x->to.vaddr > y->to.vaddr;
}

void listing__sort_targets(struct stats_site *ps)
{
	vec__sort(&ps->targets, by_count);
}

static uint64_t start_of(const struct range *r)
{
	return r->vaddr - r->offset;
}

/* Returns true if it has several parts. Several selected ranges may be of one part. */
static bool has_parts(const struct plan_function *f)
{
	for (size_t i = 1; i < f->nranges; i++)
		if (start_of(&f->ranges[i]) != start_of(&f->ranges[0]))
			return true;
	return false;
}

static void give_part(struct walk *w, const struct plan_function *f, const struct range *r)
{
	struct listing_row row = {.kind = LISTING_PART,
				  .vaddr = r->vaddr,
				  .len = r->size,
				  .start = w->start,
				  .object = f->object,
				  .site = NO_SITE,
				  .name = r->name ? r->name : f->name};

	w->fn(w->ctx, &row);
}

void listing__function(const struct output *o, uint32_t function, listing_fn fn, void *ctx)
{
	const struct plan_function *f = &o->plan->functions.data[function];
	struct walk w = {.o = o,
			 .plan = o->plan,
			 .object = f->object,
			 .sources = true,
			 .fn = fn,
			 .ctx = ctx};

	for (size_t i = 0; i < f->nranges; i++) {
		const struct range *r = &f->ranges[i];

		w.start = start_of(r);
		if (has_parts(f) && (!i || w.start != start_of(r - 1)))
			give_part(&w, f, r);
		w.line = NULL;
		give_range(&w, r);
	}
}

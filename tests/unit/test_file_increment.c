// SPDX-License-Identifier: BSD-2-Clause
/* Increments of a plan in a trace file: sites that are added and retired while a trace runs. */
#include <stdlib.h>
#include "file_fixture.h"

/* ---- what is added: g of another object, and h, which is before f in its own ---- */

enum { S_G_ENTRY = SITES, S_G_RET, S_H_RET, ALL_SITES };
enum { F, G, H };

static uint8_t g_bytes[0x10] = {0x90, 0xc3};
static struct segment g_segments[] = {{0x2000, 0x10, 0, g_bytes, true}};
static struct object g_object = {
	.path = (char *)"/lib/y", .machine = EM_X86_64, .dev = 8, .ino = 78};
static struct range g_ranges[] = {{0x2000, 8, (char *)"g"}}, h_ranges[] = {{0xf00, 4, (char *)"h"}};

/* ---- a plan of one's own, which can grow ---- */

#define COPY(to, from)                                                                             \
	do {                                                                                       \
		for (size_t i_ = 0; i_ < (from)->len; i_++)                                        \
			vec__push(to, (from)->data[i_]);                                           \
	} while (0)

static struct plan *copy_plan(void)
{
	struct plan *p = xcalloc(1, sizeof(*p));

	make_plan();
	SET(g_object.segments, g_segments);
	p->arch = plan.arch;
	p->placement = plan.placement;
	p->probes = plan.probes;
	COPY(&p->objects, &plan.objects);
	COPY(&p->functions, &plan.functions);
	COPY(&p->sites, &plan.sites);
	COPY(&p->blocks, &plan.blocks);
	COPY(&p->table, &plan.table);
	COPY(&p->extents, &plan.extents);
	COPY(&p->gaps, &plan.gaps);
	COPY(&p->lines, &plan.lines);
	vec__push(&p->line_files, xstrdup(line_files[0]));
	plan__index(p);
	return p;
}

/* ---- the increments ---- */

static struct plan_line h_lines[] = {{0xf00, 0, 1, 3}, {0xf04, 0, 0, 0}};

static struct plan_increment new_code(void)
{
	struct plan_increment i = {0};
	struct plan *rows = &i.rows;

	vec__push(&rows->objects,
		  (struct plan_object){&g_object, "/lib/y", EM_X86_64, false, false});
	vec__push(&rows->functions, (struct plan_function){.name = "g",
							   .raw = "g",
							   .object = 1,
							   .entry_site = S_G_ENTRY,
							   .entry_block = 3,
							   .ranges = g_ranges,
							   .nranges = 1,
							   .branches = 1});
	vec__push(&rows->functions, (struct plan_function){.name = "h",
							   .entry_site = NO_SITE,
							   .entry_block = 4,
							   .ranges = h_ranges,
							   .nranges = 1,
							   .branches = 1});
	vec__push(&rows->sites, (struct plan_site){.vaddr = 0x2000,
						   .role = ROLE_ENTRY,
						   .entry = 1,
						   .object = 1,
						   .function = G,
						   .block = 3,
						   .probe = PROBE_CHANGING});
	vec__push(&rows->sites, (struct plan_site){.vaddr = 0x2001,
						   .kind = BRANCH_RET,
						   .mnemonic = "ret",
						   .object = 1,
						   .function = G,
						   .block = 3,
						   .probe = PROBE_CHANGING});
	vec__push(&rows->sites, (struct plan_site){.vaddr = 0xf00,
						   .kind = BRANCH_RET,
						   .mnemonic = "ret",
						   .function = H,
						   .block = 4});
	vec__push(&rows->blocks,
		  (struct plan_block){0x2000, 0x2002, .object = 1, .function = G, .site = S_G_RET,
				      .next = NO_BLOCK, .taken = NO_BLOCK});
	vec__push(&rows->blocks, (struct plan_block){0xf00, 0xf01, .function = H, .site = S_H_RET,
						     .next = NO_BLOCK, .taken = NO_BLOCK});
	vec__push(&rows->table, 4);
	vec__push(&rows->extents, (struct plan_extent){0xf00, 0xf04, 0, H});
	vec__push(&rows->extents, (struct plan_extent){0x2000, 0x2008, 1, G});
	vec__push(&rows->gaps, (struct plan_gap){0xf01, 0xf04, 0, H});
	vec__push(&rows->lines, h_lines[0]);
	vec__push(&rows->lines, h_lines[1]);
	vec__push(&rows->line_files, xstrdup("/src/h.c"));
	rows->probes = 6;
	return i;
}

/* g's probes are in place, f's jne is about to lose its own, and its second block ends where the
 * call does. */
static struct plan_increment new_probes(const struct plan *p)
{
	struct plan_increment i = {0};
	struct plan_block shorter = p->blocks.data[1];
	struct plan_function function = p->functions.data[F];

	for (uint32_t site = S_G_ENTRY; site <= S_G_RET; site++) {
		vec__push(&i.amended_sites, site);
		vec__push(&i.rows.sites, p->sites.data[site]);
		vec__last(&i.rows.sites)->probe = PROBE_TRAP;
	}
	vec__push(&i.amended_sites, S_JNE);
	vec__push(&i.rows.sites, p->sites.data[S_JNE]);
	vec__last(&i.rows.sites)->probe = PROBE_CHANGING;
	shorter.end = 0x1012;
	shorter.site = S_CALL;
	vec__push(&i.amended_blocks, 1);
	vec__push(&i.rows.blocks, shorter);
	function.unprobed = 1;
	vec__push(&i.amended_functions, F);
	vec__push(&i.rows.functions, function);
	i.rows.probes = 7;
	return i;
}

/* ---- a file with two increments ---- */

static struct str file, wrote;

static void add_event(struct trace_writer *w, uint32_t site)
{
	static uint64_t clock = 5000000000000;
	struct event e = {.time = clock += 7, .pid = 3, .tid = 3, .site = site, .sp = 0x7ffc0000};

	e.type = EVENT_BRANCH;
	trace_writer__event(w, &e);
	put_event(&wrote, &e);
}

static void add_increment(struct trace_writer *w, struct plan *p, struct plan_increment i)
{
	trace_writer__flush(w);
	plan__extend(p, &i);
	is(trace_writer__increment(w, &i), 0, "an increment is written");
	str__printf(&wrote, "plan %zu sites\n", p->sites.len);
	plan_increment__free(&i);
}

static struct plan *write_file(void)
{
	static const struct trace_meta meta = {.events = 7};
	struct plan *p = copy_plan();
	struct trace_writer *w = trace_writer__new(p, to_memory, &file, false);

	str__clear(&file);
	str__clear(&wrote);
	trace_writer__begin(w, &meta);
	trace_writer__mapped(w, 8, 78, g_object.path, &g_object); /* known before it is traced */
	for (int i = 0; i < 100; i++)
		add_event(w, S_JNE);
	add_increment(w, p, new_code());
	for (int i = 0; i < 100; i++)
		add_event(w, i % 2 ? S_G_RET : S_H_RET);
	add_increment(w, p, new_probes(p));
	for (int i = 0; i < 100; i++)
		add_event(w, S_G_RET);
	trace_writer__end(w, &(struct trace_end){0});
	trace_writer__free(w);
	return p;
}

#define SAME_ROWS(got, want, what)                                                                 \
	ok((got)->len == (want)->len &&                                                            \
		   !memcmp((got)->data, (want)->data, (want)->len * sizeof(*(want)->data)),        \
	   what)

static void compare_rows(const struct plan *got, const struct plan *want)
{
	for (size_t i = 0; i < want->sites.len && i < got->sites.len; i++) {
		struct plan_site s = got->sites.data[i];

		if (s.mnemonic && want->sites.data[i].mnemonic &&
		    !strcmp(s.mnemonic, want->sites.data[i].mnemonic))
			s.mnemonic = want->sites.data[i].mnemonic;
		ok(same_site(&s, &want->sites.data[i]), "site %zu is as extended", i);
	}
	is(got->blocks.len, want->blocks.len, "all blocks are as extended");
	for (size_t i = 0; i < want->blocks.len && i < got->blocks.len; i++)
		ok(same_block(&got->blocks.data[i], &want->blocks.data[i]),
		   "block %zu is as extended", i);
	SAME_ROWS(&got->table, &want->table, "jump tables are as extended");
	SAME_ROWS(&got->extents, &want->extents, "extents are as extended, in order of addresses");
	SAME_ROWS(&got->gaps, &want->gaps, "gaps are as extended, in order of addresses");
	SAME_ROWS(&got->lines, &want->lines, "source lines are as extended, in order of addresses");
}

static void test_round_trip(void)
{
	struct plan *p = write_file();
	struct trace_reader *r;
	struct got got = {0};
	size_t avail = 0;

	is(read_file(file.data, file.len, &got, &r), 0,
	   "a file with increments is read to its end");
	is_str(got.items.data, wrote.data, "events and increments come back in order");
	is(got.plan->sites.len, ALL_SITES, "a plan read has the added sites");
	compare_rows(got.plan, p);
	is(got.plan->objects.len, 2, "a plan read has the added object");
	is_str(got.plan->objects.data[1].path, "/lib/y", "an added object has its path");
	is(got.nobjects, 2, "an object that was mapped before it was traced is told once");
	is_str(got.plan->functions.data[G].name, "g", "an added function has its name");
	is(got.plan->functions.data[H].ranges[0].vaddr, 0xf00, "an added function has its ranges");
	is(got.plan->functions.data[F].unprobed, 1, "an amended function has its new counts");
	is(got.plan->functions.data[F].ranges[0].size, 0x40,
	   "an amended function keeps its ranges");
	is(got.plan->probes, 7, "a plan read has the new number of probes");
	is_str(got.plan->line_files.data[1], "/src/h.c", "a plan read has the added source file");
	ok(object__bytes(got.plan->objects.data[1].object, 0x2001, &avail) && avail == 7,
	   "a file has the code of added functions");
	is(plan__site_at(got.plan, 1, 0x2001), S_G_RET, "an added site is found by its address");
	is(plan__block_at(got.plan, 0, 0xf00), 4, "an added block is found by its address");
	is(plan__block_holding(got.plan, 0, 0x100b), 1, "an older block is found by its address");
	is(plan__function_at(got.plan, 0, 0xf02), H, "an added function is found by its address");
	trace_reader__free(r);
	str__free(&got.items);
	plan__free(p);
}

/* ---- what a site may become ---- */

static void test_changes(void)
{
	struct plan_site before = {.probe = PROBE_NONE}, after = {.probe = PROBE_TRAP};

	ok(!plan_site__may_become(NULL, &after), "a new site has no events at once");
	ok(!plan_site__may_become(&before, &after), "a site without probe has no events at once");
	before.probe = PROBE_COUNT;
	ok(!plan_site__may_become(&before, &after), "a counted site has no events at once");
	before.probe = PROBE_CHANGING;
	ok(plan_site__may_become(&before, &after), "a site that was changing has events");
	before.probe = PROBE_INLINE;
	ok(plan_site__may_become(&before, &after), "a trap may replace inline code");
	after.probe = PROBE_COUNT;
	ok(!plan_site__may_become(&before, &after), "a site doesn't lose its events at once");
	before.probe = PROBE_NONE;
	ok(plan_site__may_become(&before, &after), "a site without events may be counted");
	before.probe = PROBE_TRAP;
	after.probe = PROBE_CHANGING;
	ok(plan_site__may_become(&before, &after), "a probe that will be removed is changing");
}

/* ---- what is refused ---- */

static void test_order(void)
{
	struct plan *p = copy_plan();
	struct trace_writer *w = trace_writer__new(p, to_memory, &file, false);
	struct plan_increment code = new_code();

	trace_writer__begin(w, &(struct trace_meta){0});
	add_event(w, S_JNE);
	plan__extend(p, &code);
	is(trace_writer__increment(w, &code), -EINVAL,
	   "an increment before the events of the plan before it are written is refused");
	plan_increment__free(&code);
	trace_writer__free(w);
	plan__free(p);
}

/* Writes an increment that a sound writer can't make; how the reader answers. */
static int read_bad(void (*spoil)(struct plan_increment *i), struct got *got)
{
	struct plan *p = copy_plan();
	struct trace_writer *w = trace_writer__new(p, to_memory, &file, false);
	struct plan_increment i = new_code();
	struct trace_reader *r;
	int err;

	str__clear(&file);
	str__clear(&wrote);
	trace_writer__begin(w, &(struct trace_meta){0});
	add_event(w, S_JNE);
	trace_writer__flush(w);
	plan__extend(p, &i);
	spoil(&i);
	trace_writer__increment(w, &i);
	trace_writer__end(w, &(struct trace_end){0});
	trace_writer__free(w);
	plan_increment__free(&i);
	plan__free(p);
	err = read_file(file.data, file.len, got, &r);
	ok(got->plan && got->plan->sites.len == SITES && got->plan->functions.len == 1 &&
		   got->plan->objects.len == 1 && got->plan->line_files.len == 1,
	   "a bad increment leaves the plan as it was");
	is_str(got->items.data, wrote.data, "what precedes a bad increment is read");
	trace_reader__free(r);
	str__free(&got->items);
	return err;
}

static void amend_no_site(struct plan_increment *i)
{
	vec__push(&i->amended_sites, SITES);
	vec__push(&i->rows.sites, i->rows.sites.data[2]); /* the number of rows is right */
}

static void amend_no_row(struct plan_increment *i)
{
	for (uint32_t b = 0; b < 3; b++)
		vec__push(&i->amended_blocks, b);
}

static void site_of_no_block(struct plan_increment *i)
{
	i->rows.sites.data[0].block = 5;
}

static void rows_out_of_order(struct plan_increment *i)
{
	vec__push(&i->rows.extents, i->rows.extents.data[0]); /* not in order */
}

static void site_with_events_at_once(struct plan_increment *i)
{
	i->rows.sites.data[0].probe = PROBE_TRAP;
}

static void site_of_no_kind(struct plan_increment *i)
{
	i->rows.sites.data[0].probe = PROBE_HOWS;
}

static void table_of_no_block(struct plan_increment *i)
{
	i->rows.table.data[0] = 5;
}

static void block_to_nowhere(struct plan_increment *i)
{
	i->rows.blocks.data[1].taken = 5;
}

static void line_of_no_file(struct plan_increment *i)
{
	i->rows.lines.data[0].file = 2;
}

static void function_of_no_object(struct plan_increment *i)
{
	i->rows.functions.data[0].object = 2;
	i->rows.functions.data[0].flags = FUNCTION_HELPER; /* the writer puts no code of it */
}

static void test_bad(void)
{
	static void (*const bad[])(struct plan_increment * i) = {
		amend_no_site,
		amend_no_row,
		site_of_no_block,
		site_of_no_kind,
		site_with_events_at_once,
		rows_out_of_order,
		table_of_no_block,
		block_to_nowhere,
		line_of_no_file,
		function_of_no_object,
	};
	struct got got = {0};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		is(read_bad(bad[i], &got), -EBADMSG, "bad increment %zu is damage", i);
		ok(strstr(err__text(), "damaged at byte"),
		   "bad increment %zu: the message says where", i);
	}
}

/* Traces of events that are merged: their sites have probes, and the file has no events. */
static void test_counts(void)
{
	struct plan *p = copy_plan();
	struct trace_writer *w = trace_writer__new(p, to_memory, &file, false);
	struct plan_increment i = new_code();
	struct trace_reader *r;
	struct got got = {0};

	str__clear(&file);
	trace_writer__begin(w, &(struct trace_meta){.counts = true});
	site_with_events_at_once(&i);
	plan__extend(p, &i);
	trace_writer__increment(w, &i);
	trace_writer__end(w, &(struct trace_end){0});
	is(read_file(file.data, file.len, &got, &r), 0,
	   "a file of counts gets sites that have probes at once");
	is(got.plan->sites.len, ALL_SITES, "and these are there");
	trace_reader__free(r);
	trace_writer__free(w);
	str__free(&got.items);
	str__clear(&file);
	w = trace_writer__new(p, to_memory, &file, false);
	trace_writer__begin(w, &(struct trace_meta){.counts = true});
	trace_writer__event(w, &(struct event){.type = EVENT_BRANCH, .site = S_JNE});
	trace_writer__end(w, &(struct trace_end){0});
	is(read_file(file.data, file.len, &got, &r), -EBADMSG,
	   "events in a file of counts are damage");
	trace_reader__free(r);
	trace_writer__free(w);
	str__free(&got.items);
	plan_increment__free(&i);
	plan__free(p);
}

/* A name that no block can hold ends the writing of an increment in its middle. */
static void test_unfinished(void)
{
	struct plan *p = copy_plan();
	struct trace_writer *w = trace_writer__new(p, to_memory, &file, false);
	struct plan_increment i = new_code();
	struct trace_reader *r;
	struct got got = {0};
	size_t size = 5 << 20;

	str__clear(&file);
	str__clear(&wrote);
	trace_writer__begin(w, &(struct trace_meta){0});
	add_event(w, S_JNE);
	trace_writer__flush(w);
	plan__extend(p, &i);
	i.rows.line_files.data[0] = xrealloc(i.rows.line_files.data[0], size, 1);
	memset(i.rows.line_files.data[0], 'x', size - 1);
	i.rows.line_files.data[0][size - 1] = 0;
	is(trace_writer__increment(w, &i), -E2BIG, "a name of 5 MB can't be written");
	trace_writer__event(w, &(struct event){.type = EVENT_BRANCH, .site = S_JNE});
	trace_writer__end(w, &(struct trace_end){0});
	is(read_file(file.data, file.len, &got, &r), -EBADMSG,
	   "events behind an increment without its end are damage");
	is_str(got.items.data, wrote.data, "what precedes an increment without its end is read");
	trace_reader__free(r);
	str__free(&got.items);
	trace_writer__free(w);
	plan_increment__free(&i);
	plan__free(p);
}

int main(void)
{
	test_round_trip();
	test_changes();
	test_order();
	test_bad();
	test_counts();
	test_unfinished();
	str__free(&file);
	str__free(&wrote);
	return tap__done();
}

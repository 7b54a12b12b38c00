/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * format: the layout of the trace file. The interface is file.h. Private to src/file.
 *
 * header: magic (8 bytes), major, minor, e_machine, 0 (2 bytes each), CRC-32 of these 16 bytes (4)
 * block: type, flags (1 byte each), 0 (2), raw length, stored length, number from 0 (4 each),
 *         CRC-32 of these 16 bytes and of the stored bytes (4); then the stored bytes
 * All numbers are little-endian.
 */
#ifndef BBTRACE_FILE_FORMAT_H
#define BBTRACE_FILE_FORMAT_H

#include "file/file.h"
#include "file/table.h"
#include "plan/counting/counting.h"

/* A byte that isn't ASCII, and line ends that text modes would change, as in PNG's signature. */
#define FILE_MAGIC                                                                                 \
	"\x89"                                                                                     \
	"BBT\r\n\x1a\n"
#define FILE_MAGIC_SIZE	 8
#define FILE_HEADER_SIZE 20
/* Readers refuse a newer one, and skip what a newer minor version has added. */
#define FILE_MAJOR 6
#define FILE_MINOR 0
/* The oldest that is read; what differs: it has no blocks of BLOCK_ZSTD. */
#define FILE_MAJOR_LEAST 5
#define FILE_MINOR_LEAST 3

#define BLOCK_HEADER_SIZE 20
#define BLOCK_DEFLATED	  1 /* flags: compressed by zlib, as format 5 has them */
#define BLOCK_ZSTD	  2 /* compressed by Zstandard */
#define BLOCK_RAW_MAX	  (4u << 20)
/* The highest compression ratio that is written and accepted: it bounds a file's unpacked size. */
#define BLOCK_RATIO_MAX 256

/* Part of the format: never changed. A reader skips unknown types. */
enum block_type {
	BLOCK_META = 1,
	BLOCK_OBJECT,
	BLOCK_SEGMENT,
	BLOCK_CODE,
	BLOCK_FUNCTION,
	BLOCK_RANGE,
	BLOCK_SITE,
	BLOCK_BLOCK,
	BLOCK_JUMP,
	BLOCK_STUB,
	BLOCK_EXTENT,
	BLOCK_LINE_FILE,
	BLOCK_LINE,
	BLOCK_PLAN, /* the plan is complete; the rest is in chronological order. Again: so is an
		       increment, whose tables are between it and the one before it */
	BLOCK_SYMBOL,
	BLOCK_MAPPED,
	BLOCK_EVENTS,
	BLOCK_END,
	BLOCK_GAP,
	BLOCK_PLANNED, /* of an increment, as the next one */
	BLOCK_AMENDED,
	BLOCK_SCOPE,
	BLOCK_SCOPE_RANGE,
	BLOCK_SITE_COUNT,
	BLOCK_BLOCK_COUNT,
	BLOCK_TABLE_COUNT,
	BLOCK_TARGET_COUNT,
	BLOCK_COUNTED, /* the counts are complete: they are those since the last one */
	BLOCK_NAMED,
	BLOCK_FIELD,
	BLOCK_COPY, /* of another block: its number, its type (1 byte; 0: the header) and contents
		     */
	BLOCK_INLINED, /* as BLOCK_SYMBOL */
	BLOCK_VALUE,
	BLOCK_ENUMERATOR,
	BLOCK_UNTRACED,
	BLOCK_LOG, /* what threads have logged (log/logged.c) */
	BLOCK_TYPES
};

/* What precedes a block of events. So a reader knows what it has lost. */
struct block_totals {
	uint64_t events, sideband; /* items of the blocks of events */
	uint64_t tables, plans;	   /* blocks of tables; BLOCK_PLAN among them */
};

/* ---- rows whose struct is defined nowhere else ---- */

struct file_object { /* its number is that of the rows before it */
	uint8_t kind;
	const char *path;
	uint16_t machine;
	bool pie, planned; /* planned: it is the plan's next object */
	uint64_t dev, ino;
	struct bytes build_id;
};

struct file_segment {
	uint32_t object;
	bool exec;
	uint64_t vaddr, size, offset;
};

struct file_code {
	uint32_t object;
	uint64_t vaddr;
	struct bytes bytes;
};

struct file_range { /* of a function; ascending by function */
	uint32_t function;
	uint64_t vaddr, size;
	const char *name;
	uint64_t offset;
};

struct file_stub {
	uint32_t object;
	uint64_t vaddr;
};

struct file_line_file {
	const char *path;
};

struct file_plan {
	uint16_t machine;
	bool kernel, unprobed_rets, return_probes;
	uint32_t placement, probes, skipped, ifunc_unknown;
	bool entries_only, counts_all;
};

struct file_planned { /* an object of an earlier row is the plan's next one */
	uint32_t object;
};

struct file_amended {  /* this row is replaced by the next one of its table in the increment */
	uint8_t table; /* enum block_type: FUNCTION, SITE, BLOCK */
	uint32_t row;
};

struct file_symbol {
	uint32_t object;
	struct symbol symbol;
};

struct file_inlined { /* object__inlined_at() of an address that is referred to */
	uint32_t object;
	uint64_t vaddr;
	const char *names;
};

struct file_mapped { /* mappings of this file are of this object */
	uint32_t object;
	uint64_t dev, ino;
	const char *path;
};

struct file_site_count {
	uint32_t site;
	struct site_count count;
	uint8_t low;
};

struct file_row_count { /* of a block, or of an entry of the jump table */
	uint32_t row;
	uint64_t count;
};

struct file_counted {
	const char *tag;
	uint64_t traces, residue;
};

struct file_untraced { /* as struct untraced */
	uint32_t pid, object, function;
	const char *reason;
};

/* The contents of a file's tables. */
struct file_rows {
	VEC(struct trace_meta) meta;
	VEC(struct file_object) objects;
	VEC(struct file_segment) segments;
	VEC(struct file_code) code;
	VEC(struct plan_function) functions;
	VEC(struct file_range) ranges;
	VEC(struct plan_site) sites;
	VEC(struct plan_block) blocks;
	VEC(uint32_t) jumps;
	VEC(struct file_stub) stubs;
	VEC(struct plan_extent) extents;
	VEC(struct plan_gap) gaps;
	VEC(struct file_line_file) line_files;
	VEC(struct plan_line) lines;
	VEC(struct plan_scope) scopes;
	VEC(struct plan_scope_range) scope_ranges;
	VEC(struct plan_named) named;
	VEC(struct plan_field) fields;
	VEC(struct plan_value) values;
	VEC(struct plan_enumerator) enumerators;
	VEC(struct file_plan) plan;
	VEC(struct file_planned) planned;
	VEC(struct file_amended) amended;
	VEC(struct file_symbol) symbols;
	VEC(struct file_inlined) inlined;
	VEC(struct file_mapped) mapped;
	VEC(struct file_site_count) site_counts;
	VEC(struct file_row_count) block_counts, table_counts;
	VEC(struct counted_target) target_counts;
	VEC(struct file_counted) counted;
	VEC(struct file_untraced) untraced;
	VEC(struct trace_end) end;
};

/* By block type; row_size is 0 if it is not a table. */
struct file_table {
	struct table table;
	size_t rows; /* offset in struct file_rows */
};
extern const struct file_table file_tables[BLOCK_TYPES];

/* ---- blocks (block.c) ---- */

void header__put(struct str *out, uint16_t machine);
struct file_version {
	unsigned major, minor; /* major 0: not known yet */
	uint16_t machine;
};
/* Returns 0; -ENOEXEC if it is not a trace file; -ENOTSUP if it is of another version. Both set a
 * message. */
int header__check(const uint8_t *header, struct file_version *version);

struct block {
	uint8_t type;
	uint32_t number, raw_len, stored_len;
	uint8_t packed; /* BLOCK_DEFLATED or BLOCK_ZSTD; 0: the contents are stored as they are */
	const uint8_t *raw; /* the contents */
};
/* Parses a block's header. Returns false if it is invalid. */
bool block__parse(const uint8_t *header, struct block *b);
/* The same where a block may or may not be: a header that is more than valid. */
bool block__seems(const uint8_t *header, struct block *b);
/* Returns true if the checksum is right. */
bool block__is_whole(const struct block *b, const uint8_t *header, const uint8_t *stored);
/* Unpacks the stored bytes into raw, which has space for b->raw_len. False: damaged. */
bool block__unpack(const struct block *b, const uint8_t *stored, uint8_t *raw);

/* ---- blocks out of bytes (stream.c) ---- */

struct block_stream {
	trace_read_fn read;
	void *ctx;
	uint8_t *bytes; /* the bytes from at to len were not taken yet */
	size_t at, len, cap;
	uint64_t offset; /* of the first one, among all that were read */
	bool hole;	 /* some are missing after them */
	bool ended;
	int error;
	uint8_t *raw;
	size_t raw_cap;
	uint32_t next;	   /* no block with a lower number comes */
	uint64_t tried;	   /* bytes that were checked to find a block */
	uint64_t budget;   /* grows with the bytes that were taken */
	uint64_t searched; /* bytes since the last block that are of none */
	struct {
		bool is, cut; /* cut: the file ends there, within a block or in front of one */
		uint64_t at;  /* the first byte that is of no block */
		uint32_t number;
	} broken; /* where blocks ended, for the first time */
};
/* The next bytes, or fewer at the end, or where some are missing. */
size_t block_stream__peek(struct block_stream *s, size_t len);
void block_stream__skip(struct block_stream *s, size_t len);
/* 1: the next block that can be found; its contents are valid until the next call. 0: there is no
 * more; -errno. */
int block_stream__next(struct block_stream *s, struct block *b);
void block_stream__free(struct block_stream *s);

/* ---- blocks in order, and copies in place of those that are damaged (salvage.c) ---- */

struct salvaged {
	uint32_t number;
	uint8_t type; /* BLOCK_COPY: only that it was there */
	uint8_t *raw;
	uint32_t raw_len;
};
struct salvage {
	struct block_stream stream;
	uint32_t want;		      /* the number of the next block */
	VEC(struct salvaged) waiting; /* by number; those in front of first were given */
	size_t first;
	uint64_t moved;
	uint64_t held; /* bytes of those that wait */
	struct salvaged given;
	bool closes;	  /* blocks in front of this number come no more: */
	uint32_t closing; /* that of the block that shows it */
	bool headless;	  /* nothing can be read before a copy of the header */
	uint8_t header[FILE_HEADER_SIZE];
	bool has_header; /* of a copy */
};
/* Returns 1 with the next block; *lost is how many before it are lost. 0: there are no more. */
int salvage__next(struct salvage *v, struct block *b, uint32_t *lost);
/* Returns the block that shows that others are lost, if it is one of events; NULL if there is none.
 * ahead: tables and plans that precede it and were not given yet. */
const struct salvaged *salvage__closing(const struct salvage *v, struct block_totals *ahead);
void salvage__free(struct salvage *v);

/* ---- events and sideband events in chronological order ---- */

/* An event, a sideband event, or a loss reported at the end. */
enum item_type { ITEM_EVENT, ITEM_SIDEBAND, ITEM_LOST };
struct item {
	enum item_type type;
	const struct event *event;
	struct sideband_event sideband; /* SIDEBAND; LOST: pid, tid and count */
};

struct event_encoder;
/* full: the bytes of a block; 0 for the usual number. */
struct event_encoder *event_encoder__new(const struct plan *plan, size_t full);
void event_encoder__free(struct event_encoder *e);
/* -EINVAL: the event doesn't belong to this plan; nothing was added. */
int event_encoder__event(struct event_encoder *e, const struct event *event);
void event_encoder__sideband(struct event_encoder *e, const struct sideband_event *side);
void event_encoder__lost(struct event_encoder *e, uint32_t pid, uint32_t tid, uint64_t count);
/* The bytes up to now; is_full: the block has to end before the next item. */
size_t event_encoder__size(const struct event_encoder *e);
bool event_encoder__is_full(const struct event_encoder *e);
/* Returns true if there are items, and all of them are sideband events. */
bool event_encoder__is_sideband(const struct event_encoder *e);
/* Appends the block's bytes to out and starts a new block. t is what precedes it, to which its own
 * items are added. Returns false if the block is empty. */
bool event_encoder__end(struct event_encoder *e, struct str *out, struct block_totals *t);
/* The bytes of a block without items. */
void event_encoder__put_empty(struct str *out, const struct block_totals *t);

struct event_decoder;
struct event_decoder *event_decoder__new(const struct plan *plan);
void event_decoder__free(struct event_decoder *d);
/* Starts a block; raw must stay valid until its last item was read. 0; -EBADMSG: damaged. */
int event_decoder__begin(struct event_decoder *d, const uint8_t *raw, size_t len);
/* Sets what precedes a block with events. Returns false if the block doesn't have it. */
bool block_totals__read(uint8_t type, const uint8_t *raw, size_t len, struct block_totals *t);
/* Returns 1 with the next item of the block, valid until the next call; 0 if there is none;
 * -EBADMSG. */
int event_decoder__next(struct event_decoder *d, const struct item **out);

/* Returns true if a block of this type has events, and what precedes it. */
static inline bool block__has_totals(uint8_t type)
{
	return type == BLOCK_EVENTS || type == BLOCK_LOG;
}
void block_totals__put(struct str *out, const struct block_totals *t);
void block_totals__get(struct reader *r, struct block_totals *t);

/* ---- what threads have logged (log/logged.c) ---- */

struct logged_writer;
struct logged_writer *logged_writer__new(const struct plan *plan);
void logged_writer__free(struct logged_writer *l);
/* Returns false if the block must end before words with these registers (logged_words.regs). */
bool logged_writer__takes(const struct logged_writer *l, uint32_t regs);
/* -EINVAL: the words aren't records of this plan; what was put can't be used. */
int logged_writer__put(struct logged_writer *l, const struct logged_words *w);
/* As event_encoder__size() and event_encoder__end(). */
size_t logged_writer__size(const struct logged_writer *l);
bool logged_writer__end(struct logged_writer *l, struct str *out, struct block_totals *t);

struct logged_reader;
struct logged_reader *logged_reader__new(const struct plan *plan);
void logged_reader__free(struct logged_reader *l);
/* As event_decoder__begin(), with the number of its events. */
int logged_reader__begin(struct logged_reader *l, const uint8_t *raw, size_t len, uint64_t *events);
/* As event_decoder__next(). */
int logged_reader__next(struct logged_reader *l, const struct event **out);
/* Sets *out to what a thread has logged from the next event on. Returns false if there is no more
 * in the block, or if it is damaged. */
bool logged_reader__run(struct logged_reader *l, struct event_run *out);
/* These words of it were read. */
void logged_reader__skip(struct logged_reader *l, size_t words);

/* ---- what was loaded for an event (event_codec.c) ---- */

/* Returns true if an event of this site has a record of it. */
static inline bool event__has_fetched(const struct plan *p, const struct event *w)
{
	return p->values.len && w->site < p->sites.len &&
	       (w->type == EVENT_ENTRY || w->type == EVENT_RETURN || w->type == EVENT_BRANCH) &&
	       plan__site_fetched(p, w->site, w->type != EVENT_ENTRY);
}
void fetched__put(struct str *out, const struct event *w);
/* to: VALUES_FETCHED of them. Returns how many there are. */
unsigned fetched__get(struct reader *r, struct fetched *to);

/* ---- counts (counts.c) ---- */

/* Adds the rows of those that aren't 0. */
void file_counts__put(struct file_rows *rows, const struct trace_counts *c, const struct plan *p);
/*
 * Moves the rows, of which BLOCK_COUNTED is the last, out of their tables. edges has the size of
 * the plan; out refers to it and to the tables. Returns -EBADMSG if they don't belong to this plan.
 */
int file_counts__take(struct file_rows *rows, const struct plan *p, struct plan_counts *edges,
		      struct trace_counts *out);
/* Empties the tables. */
void file_counts__drop(struct file_rows *rows);

/* ---- from tables to a plan and its objects (plan.c, object.c) ---- */

struct file_objects {
	VEC(struct object *) all; /* by number */
	VEC(uint32_t) planned;	  /* the numbers of the plan's */
	VEC(uint8_t) unsorted;	  /* by number: symbols were added since the last sort */
};
/* Moves the rows of objects, segments, code and symbols out of their tables. What they point to
 * stays in the pool. -EBADMSG: they are inconsistent. */
int file_objects__take(struct file_objects *o, struct file_rows *rows, struct pool *pool);
void file_objects__free(struct file_objects *o);

/* Extends the plan, which is empty at first, by complete tables and empties these. Returns
 * -EBADMSG, or -ENOTSUP with a message: then the plan has not changed. */
int file_plan__extend(struct plan *p, struct file_rows *rows, const struct file_objects *objects,
		      struct pool *pool);

#endif

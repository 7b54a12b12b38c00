// SPDX-License-Identifier: BSD-2-Clause
/* bbtrace-trace(5) describes the trace file as src/file writes it: each table, column, value and
 * limit. */
#include "file/armor/armor.h"
#include "file/event_codec.h"
#include "file/format.h"
#include <errno.h>
#include <zlib.h>
#include "tap.h"

#define PAGE "man/bbtrace-trace.5"

static struct str page;
static VEC(char *) lines;

static bool read_page(void)
{
	FILE *f = fopen(PAGE, "r");
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	while (f && (n = getline(&line, &cap, f)) > 0) {
		str__put(&page, line, n);
		vec__push(&lines, xstrndup(line, n - 1));
	}
	free(line);
	if (f)
		fclose(f);
	return lines.len;
}

/* ---- lists ---- */

/* The page's next list of .It lines behind a line. */
struct list {
	size_t at, end;
};

static struct list list_behind(const char *heading)
{
	struct list l = {0};

	while (l.at < lines.len && strcmp(lines.data[l.at], heading))
		l.at++;
	while (l.at < lines.len && strncmp(lines.data[l.at], ".It ", 4))
		l.at++;
	l.end = l.at;
	while (l.end < lines.len && !strncmp(lines.data[l.end], ".It ", 4))
		l.end++;
	return l;
}

/* Copies cell i of a row to out, which has space for cap bytes. "": there is none. */
static const char *cell(const char *row, unsigned i, char *out, size_t cap)
{
	size_t len;

	row += strlen(".It ");
	for (; i; i--) {
		const char *next = strstr(row, " Ta");

		row = next ? next + strlen(" Ta") : row + strlen(row);
		row += *row == ' ';
	}
	len = strstr(row, " Ta") ? (size_t)(strstr(row, " Ta") - row) : strlen(row);
	snprintf(out, cap, "%.*s", (int)len, row);
	return out;
}

static bool is_cell(const char *row, unsigned i, const char *want)
{
	char text[256];

	return !strcmp(cell(row, i, text, sizeof(text)), want);
}

/* Tells the first row that isn't "NUMBER Ta NAME …", and how many there are besides. */
static void check_row(const struct list *l, size_t i, unsigned number, const char *name,
		      const char *type, const char *what)
{
	const char *row = l->at + i < l->end ? lines.data[l->at + i] : ".It ";
	char want[16];

	snprintf(want, sizeof(want), "%u", number);
	if (is_cell(row, 0, want) && (!name || is_cell(row, 1, name)) &&
	    (!type || is_cell(row, 2, type)))
		return;
	ok(false, "%s, row %u: %s %s", what, number, name ? name : "", type ? type : "");
	printf("# the page has: %s\n", row);
}

/* ---- tables ---- */

static const char *name_of(unsigned type)
{
	return type == BLOCK_EVENTS ? "events"
	       : type == BLOCK_LOG  ? "log"
				    : file_tables[type].table.name;
}

static void test_block_types(void)
{
	struct list l = list_behind(".It type Ta name Ta contents");

	l.at++;
	is(l.end - l.at, BLOCK_TYPES - 1, "the page lists all types of blocks");
	for (unsigned type = 1; type < BLOCK_TYPES; type++)
		check_row(&l, type - 1, type, name_of(type), NULL, "types of blocks");
}

/* The kind that the page gives for a type: one of its own, or that of numbers. */
static unsigned kind_of(const char *type)
{
	struct list l = list_behind(".It kind Ta type Ta cell");

	for (size_t i = l.at + 1; i < l.end; i++)
		if (is_cell(lines.data[i], 1, type))
			return i - l.at - 1;
	return COLUMN_NUMBER;
}

static void test_table(unsigned type, const struct table *t)
{
	char heading[64];
	struct list l;

	snprintf(heading, sizeof(heading), ".Ss %u: %s", type, t->name);
	l = list_behind(heading);
	is(l.end - l.at, t->ncolumns, "the page lists all columns of %s", t->name);
	for (unsigned i = 0; i < t->ncolumns; i++) {
		const struct column *c = &t->columns[i];

		check_row(&l, i, i, c->name, c->type, t->name);
		if (c->kind != kind_of(c->type))
			ok(false, "%s, column %s: kind %u", t->name, c->name, c->kind);
	}
}

static void test_tables(void)
{
	unsigned headings = 0, tables = 0;
	char **line;

	for (unsigned type = 1; type < BLOCK_TYPES; type++)
		if (file_tables[type].table.row_size) {
			test_table(type, &file_tables[type].table);
			tables++;
		}
	vec__each (line, &lines)
		headings += !strncmp(*line, ".Ss ", 4) && (*line)[4] >= '0' && (*line)[4] <= '9';
	is(headings, tables, "and no other tables");
}

/* ---- values ---- */

/* Values from 0 to n - 1, with the names that a program shows, if any. */
static const struct values {
	const char *heading;
	unsigned n;
	const char *const *names;
} values[] = {
	{".Va kind :", BRANCH_KINDS, NULL},
	{".Va role :", ROLES, NULL},
	{".Va probe :", PROBE_HOWS, NULL},
	{".Va refusal :", PROBE_REFUSALS, probe_refusal_text},
	{"of a function:", RETURN_REFUSALS, return_refusal_text},
	{".Va abnormal :", ABNORMAL_RESUMED + 1, NULL},
	{"The kinds:", RECORDS, NULL},
	{"Why a call stack has no more frames:", STACK_ENDS, NULL},
};

static void test_values(const struct values *v)
{
	struct list l = list_behind(v->heading);

	is(l.end - l.at, v->n, "%s all values are listed", v->heading);
	for (unsigned i = 0; i < v->n; i++)
		check_row(&l, i, i, v->names ? v->names[i] : NULL, NULL, v->heading);
}

static void test_branch_kinds(void)
{
	struct list l = list_behind(".Va kind :");
	char text[256];

	for (unsigned i = 1; i < BRANCH_KINDS; i++) {
		size_t len = strlen(branch_kind_names[i]);

		cell(lines.data[l.at + i], 1, text, sizeof(text));
		ok(!strncmp(text, branch_kind_names[i], len) && (!text[len] || text[len] == ':'),
		   "branch kind %u is %s", i, branch_kind_names[i]);
	}
}

static void test_sideband(void)
{
	struct list l = list_behind(".Ss Sideband events");

	is(l.end - l.at, SIDEBAND_TYPES + 1, "all sideband events are listed");
	for (unsigned i = 0; i < SIDEBAND_TYPES; i++)
		check_row(&l, i, i, NULL, NULL, "sideband events");
	check_row(&l, SIDEBAND_TYPES, SIDEBAND_ITEM_LOST, NULL, NULL, "sideband events");
}

/* Kinds of columns, and the streams of a block of events. */
static void test_kinds_and_streams(void)
{
	struct list l = list_behind(".It kind Ta type Ta cell");

	check_row(&l, 1, COLUMN_NUMBER, NULL, NULL, "kinds of columns");
	check_row(&l, 2, COLUMN_BOOL, "bool", NULL, "kinds of columns");
	check_row(&l, 3, COLUMN_STRING, "string", NULL, "kinds of columns");
	check_row(&l, 4, COLUMN_BYTES, "bytes", NULL, "kinds of columns");
	is(l.end - l.at - 1, COLUMN_BYTES + 1, "the page lists all kinds of columns");
	l = list_behind(".Sh EVENTS");
	is(l.end - l.at, COLUMNS, "the page lists all streams of events");
}

/* ---- limits ---- */

#define says(...)                                                                                  \
	({                                                                                         \
		char text_[128];                                                                   \
		snprintf(text_, sizeof(text_), __VA_ARGS__);                                       \
		ok(strstr(page.data, text_), "the page says: %s", text_);                          \
	})

static void test_limits(void)
{
	char magic[64];
	size_t at = 0;

	for (int i = 0; i < FILE_MAGIC_SIZE; i++)
		at += snprintf(magic + at, sizeof(magic) - at, " %02x", (uint8_t)FILE_MAGIC[i]);
	says("0 Ta %d Ta Li%s", FILE_MAGIC_SIZE, magic);
	says("This page describes format %d.%d.", FILE_MAJOR, FILE_MINOR);
	says("the major version of the format, %d", FILE_MAJOR);
	says("the minor version, %d", FILE_MINOR);
	says("Files of formats before %d.%d", FILE_MAJOR_LEAST, FILE_MINOR_LEAST);
	says("a header of %d bytes", FILE_HEADER_SIZE);
	says(".It %d Ta Ta the stored bytes", BLOCK_HEADER_SIZE);
	says("flags; %d: the stored bytes are compressed by Zstandard", BLOCK_ZSTD);
	says("; %d: by zlib", BLOCK_DEFLATED);
	says("length of the contents, at most %u", BLOCK_RAW_MAX);
	says("more than a %dth of it", BLOCK_RATIO_MAX);
	says("at most %d in a block", ROWS_MAX);
	says("is %u where a column has the number of a row", NO_SITE);
	says("as they first appear, at most %d of them", MODEL_THREADS_MAX);
	says("There are %u;", FOLLOWERS);
	says("number S / 8 mod %d.", CALLERS_KEPT);
	says("the number of its frames, at most %d;", STACK_FRAMES);
	says("on: %d bits, the site; 1 bit", LOG_SITE_BITS);
	says(".It %d Ta a branch or a witness: nothing", LOG_BRANCH);
	says(".It %d Ta a branch with a target: the target", LOG_TARGET);
	says(".It %d Ta a ret: where to", LOG_RETURN);
	says(".It %d Ta an entry: the time", LOG_ENTRY);
	says("the number of its bytes, at most %d, in 2", ARMOR_BYTES);
}

/* What is returned for a file of this version. */
static int check_version(unsigned major, unsigned minor)
{
	struct file_version version;
	struct str header = {0};
	uint32_t crc;
	int err;

	header__put(&header, 62);
	header.data[8] = (char)major;
	header.data[10] = (char)minor;
	crc = crc32(0, (const Bytef *)header.data, FILE_HEADER_SIZE - 4);
	for (int i = 0; i < 4; i++)
		header.data[FILE_HEADER_SIZE - 4 + i] = (char)(crc >> 8 * i);
	err = header__check((const uint8_t *)header.data, &version);
	str__free(&header);
	return err;
}

static void test_versions(void)
{
	is(check_version(FILE_MAJOR, FILE_MINOR), 0, "the version that is written is read");
	is(check_version(FILE_MAJOR, FILE_MINOR + 1), 0, "a newer minor version is read");
	is(check_version(FILE_MAJOR_LEAST, FILE_MINOR_LEAST), 0, "the oldest version is read");
	is(check_version(FILE_MAJOR_LEAST, FILE_MINOR_LEAST - 1), -ENOTSUP,
	   "the one before is not");
	is(check_version(FILE_MAJOR_LEAST - 1, FILE_MINOR_LEAST), -ENOTSUP,
	   "nor an older major version");
	is(check_version(FILE_MAJOR + 1, 0), -ENOTSUP, "nor a newer one");
}

/* ---- blocks ---- */

static bool unpacks(const uint8_t *bytes, const struct str *want)
{
	autofree uint8_t *raw = xcalloc(1, want->len + 1);
	struct block b;

	return block__seems(bytes, &b) && block__is_whole(&b, bytes, bytes + BLOCK_HEADER_SIZE) &&
	       b.raw_len == want->len && block__unpack(&b, bytes + BLOCK_HEADER_SIZE, raw) &&
	       !memcmp(raw, want->data, want->len);
}

/* Makes a block of format 5 of one that is written today. */
static void deflate_block(uint8_t *bytes, const struct str *raw)
{
	uLongf len = raw->len;

	is(compress2(bytes + BLOCK_HEADER_SIZE, &len, (const Bytef *)raw->data, raw->len, 1), Z_OK,
	   "zlib makes it smaller, too");
	bytes[1] = BLOCK_DEFLATED;
	for (int i = 0; i < 4; i++)
		bytes[8 + i] = len >> 8 * i;
	len = crc32(crc32(0, bytes, BLOCK_HEADER_SIZE - 4), bytes + BLOCK_HEADER_SIZE, len);
	for (int i = 0; i < 4; i++)
		bytes[BLOCK_HEADER_SIZE - 4 + i] = len >> 8 * i;
}

static void test_block(struct trace_block *b, uint8_t flags, const char *what)
{
	struct block_packer *p = block_packer__new();
	struct str bytes = {0};
	uint8_t *packed;

	block_packer__put(p, b, &bytes);
	packed = (uint8_t *)bytes.data;
	is(packed[1], flags, "%s: how it is stored", what);
	ok(unpacks(packed, &b->raw), "%s: its contents come back", what);
	if (flags) {
		str__reserve(&bytes, BLOCK_HEADER_SIZE + b->raw.len);
		packed = (uint8_t *)bytes.data;
		deflate_block(packed, &b->raw);
		ok(unpacks(packed, &b->raw), "%s: and those of a block of format 5", what);
		packed[1] = BLOCK_DEFLATED | BLOCK_ZSTD;
		ok(!unpacks(packed, &b->raw), "%s: it has one of both forms", what);
	}
	str__free(&bytes);
	str__free(&b->raw);
	block_packer__free(p);
}

static void test_blocks(void)
{
	struct trace_block b = {.type = BLOCK_EVENTS, .number = 7};

	for (unsigned i = 0; i < 20000; i++)
		put_byte(&b.raw, i * i >> 5);
	test_block(&b, BLOCK_ZSTD, "a block");
	for (unsigned i = 0; i < 1 << 20; i++)
		put_byte(&b.raw, 0);
	test_block(&b, BLOCK_ZSTD, "a block of zeros, which is filled up to a 256th");
	str__puts(&b.raw, "abc");
	test_block(&b, 0, "a block that does not get smaller");
}

int main(void)
{
	if (!ok(read_page(), PAGE " is there"))
		return tap__done();
	test_block_types();
	test_tables();
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		test_values(&values[i]);
	test_branch_kinds();
	test_sideband();
	test_kinds_and_streams();
	test_limits();
	test_versions();
	test_blocks();
	return tap__done();
}

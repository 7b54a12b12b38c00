// SPDX-License-Identifier: BSD-2-Clause
/* The innermost scope of each address, from ranges as debug information has them: nested, adjacent,
 * and crossing, as they must not be. Debug information is the test's own. */
#include "plan/plan_private.h"
#include "tap.h"

struct given {
	uint32_t scope;
	uint64_t start, end;
};
static uint32_t parents[8];
static const char *call_file;
static size_t nscopes, nranges;
static struct given ranges[16];

static void read_given(const struct object *o, const struct range *asked, size_t n,
		       const struct scope_calls *calls, void *ctx)
{
	for (uint32_t i = 0; i < nscopes; i++) {
		calls->scope(ctx, &(struct source_scope){.name = "s",
							 .file = "/src/a.c",
							 .line = i + 1,
							 .parent = parents[i],
							 .call_file = call_file,
							 .call_line = 7});
		for (size_t k = 0; k < nranges; k++)
			if (ranges[k].scope == i)
				calls->range(ctx, i, ranges[k].start, ranges[k].end);
	}
}

/* What scopes__read() makes of them: a digit for each address from 0 on, . for none. */
static void flattens(const char *want, const char *what)
{
	static struct object object;
	struct plan_object objects[] = {{.object = &object}};
	struct plan_function functions[] = {{.name = "f"}};
	struct plan_extent extents[] = {{0, 32, 0, 0}};
	struct plan p = {.objects = {.data = objects, .len = 1},
			 .functions = {.data = functions, .len = 1},
			 .extents = {.data = extents, .len = 1}};
	char got[33] = "";
	bool ordered = true;

	scopes__read(&p, read_given);
	for (uint64_t at = 0; at < strlen(want); at++) {
		uint32_t scope = plan__scope_at(&p, 0, at);

		got[at] = scope == NO_SCOPE ? '.' : '0' + scope;
		ordered &= plan__scope_end(&p, 0, at) > at;
	}
	is_str(got, want, "%s", what);
	for (size_t i = 0; i < p.scope_ranges.len; i++)
		ordered &= p.scope_ranges.data[i].start < p.scope_ranges.data[i].end &&
			   (!i || p.scope_ranges.data[i - 1].end <= p.scope_ranges.data[i].start);
	ok(ordered, "%s: ranges are in order and don't overlap", what);
	vec__free(&p.scopes);
	vec__free(&p.scope_ranges);
	free(p.line_files.len ? p.line_files.data[0] : NULL);
	vec__free(&p.line_files);
}

static void give(uint32_t scope, uint32_t parent, uint64_t start, uint64_t end)
{
	parents[scope] = parent;
	nscopes = max_of(nscopes, (size_t)scope + 1);
	ranges[nranges++] = (struct given){scope, start, end};
}

static void begin(void)
{
	nscopes = nranges = 0;
}

/* The frames at an address: "2@/src/a.c:30 1@/src/b.h:7 ", a scope's line for its name. */
static void frames(const struct plan *p, uint64_t vaddr, const char *want, const char *what)
{
	struct plan_frame f;
	struct str got = {0};

	if (plan__source(p, 0, vaddr, &f))
		do
			str__printf(&got, "%u@%s:%u ", f.scope ? f.scope->line : 0,
				    f.file ? f.file : "?", f.line);
		while (plan__source_outer(p, &f));
	is_str(got.len ? got.data : "", want, "%s", what);
	str__free(&got);
}

static void test_frames(void)
{
	static struct object object;
	struct plan_object objects[] = {{.object = &object}};
	struct plan_function functions[] = {{.name = "f"}};
	struct plan_extent extents[] = {{0, 32, 0, 0}};
	struct plan_line rows[] = {{4, 0, 0, 30}, {9, 0, 0, 0}};
	struct plan p = {.objects = {.data = objects, .len = 1},
			 .functions = {.data = functions, .len = 1},
			 .extents = {.data = extents, .len = 1}};

	begin();
	call_file = "/src/b.h";
	give(0, NO_SCOPE, 2, 9);
	give(1, 0, 2, 6);
	give(2, 1, 5, 6);
	scopes__read(&p, read_given);
	p.lines.data = rows;
	p.lines.len = 2;
	frames(&p, 1, "", "of code without debug information nothing is known");
	frames(&p, 8, "1@/src/a.c:30 ", "a function's own code has one frame");
	frames(&p, 5, "3@/src/a.c:30 2@/src/b.h:7 1@/src/b.h:7 ",
	       "the innermost frame is of the row, the others are where the copies are called");
	frames(&p, 3, "2@?:0 1@/src/b.h:7 ", "without a row the innermost frame has no line");
	frames(&p, 9, "", "a row of line 0 tells nothing");
	p.scopes.data[2].call_file = 0;
	frames(&p, 5, "3@/src/a.c:30 2@?:7 1@/src/b.h:7 ", "the file of a call may be unknown");
	is(p.line_files.len, 2, "a file is one, whatever names it");
	vec__free(&p.scopes);
	vec__free(&p.scope_ranges);
	for (size_t i = 0; i < p.line_files.len; i++)
		free(p.line_files.data[i]);
	vec__free(&p.line_files);
	call_file = NULL;
}

int main(void)
{
	test_frames();
	begin();
	flattens("....", "no debug information");
	begin();
	give(0, NO_SCOPE, 1, 9);
	flattens(".00000000.", "a function");
	give(1, 0, 3, 5);
	give(2, 1, 4, 5);
	give(3, 0, 5, 7);
	flattens(".0012"
		 "33"
		 "00.",
		 "what was inlined in it, and in that");
	begin();
	give(0, NO_SCOPE, 0, 8);
	give(1, 0, 0, 8);
	give(2, 1, 0, 4);
	flattens("22221111", "all of it was inlined");
	begin();
	give(0, NO_SCOPE, 0, 10);
	give(1, 0, 2, 4);
	give(1, 0, 6, 8);
	flattens("0011001100", "inlined code in two parts");
	begin();
	give(0, NO_SCOPE, 0, 4);
	give(1, NO_SCOPE, 4, 8);
	give(0, NO_SCOPE, 8, 10);
	flattens("0000111100", "a function in two parts");
	begin();
	give(0, NO_SCOPE, 0, 6);
	give(1, 0, 2, 9);
	give(2, NO_SCOPE, 5, 8);
	flattens("001112....", "ranges that cross end with the outer one");
	begin();
	give(0, NO_SCOPE, 0, 4);
	give(1, NO_SCOPE, 0, 4);
	flattens("1111", "two functions at one address");
	return tap__done();
}

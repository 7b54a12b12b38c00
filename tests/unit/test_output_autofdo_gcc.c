// SPDX-License-Identifier: BSD-2-Clause
/* A sample profile for gcc of a function by hand, word by word: without discriminators, and names
 * end at a period. */
#include "code_trace_fixture.h"

static struct plan_scope scopes[] = {
	{.name = "f", .raw = "_f.part.0", .parent = NO_SCOPE, .line = 5, .entry = 0x1000},
	{.name = "g", .parent = 0, .line = 7, .call_line = 6, .call_discriminator = 2},
	{.name = "g", .parent = 0, .line = 7, .call_line = 6, .call_discriminator = 4},
};
static struct plan_scope_range ranges[] = {
	{0x1000, 0x1004, 0, 0}, {0x1004, 0x1008, 0, 1}, {0x1008, 0x1009, 0, 2}};

static const char *at, *end; /* what is left of the profile */

static uint32_t word(void)
{
	uint32_t n = 0;

	if (at + sizeof(n) <= end)
		memcpy(&n, at, sizeof(n));
	at += sizeof(n);
	return n;
}

/* Its words; the names as such; and how many zeros it ends with. */
static char *shown(void)
{
	struct str s = {0};
	uint32_t names = 0;
	size_t zeros = 0;

	for (int i = 0; i < 6; i++)
		str__printf(&s, "%x ", names = word());
	for (; names && at < end; names--) {
		uint32_t len = word();

		str__printf(&s, "%u:'%s' ", len, at);
		at += len;
	}
	for (const char *last = end; last - 4 >= at && !memcmp(last - 4, "\0\0\0", 4); last -= 4)
		zeros++;
	while (at < end && (size_t)(end - at) > 4 * zeros)
		str__printf(&s, "%x ", word());
	str__printf(&s, "%zu zeros", zeros);
	at += 4 * zeros;
	return s.data;
}

static void renders(const char *calls, const char *want, const char *what)
{
	struct str bytes = {0};
	char *got;

	code_render_to(&bytes, "autofdo:gcc", calls);
	at = bytes.data;
	end = at + bytes.len;
	got = shown();
	is_str(got, want, "%s", what);
	is(end - at, 0, "%s: it is of whole words", what);
	free(got);
	str__free(&bytes);
}

#define HEAD "67636461 2 0 aa000000 "
#define TAIL "ae000000 0 0 af000000 180 384 zeros"

int main(void)
{
	code_plan.scopes.data = scopes;
	code_plan.scope_ranges.data = ranges;
	code_plan.scopes.len = code_plan.scope_ranges.len = 1;
	ranges[0].end = 0x1009;
	code_lines[2].discriminator = 4;
	renders("--g",
		HEAD "7 3 1:'' 3:'_f' 3:'go' "
		     "ac000000 13 1 "
		     "3 0 1 2 0 "
		     "20000 0 3 0 "
		     "30000 1 1 0 7 2 0 1 0 " TAIL,
		"a line counts as its hottest block, and has its indirect calls");
	ranges[0].end = 0x1004;
	code_plan.scopes.len = code_plan.scope_ranges.len = 3;
	renders("--g",
		HEAD "9 4 1:'' 3:'_f' 2:'g' 3:'go' "
		     "ac000000 1b 1 "
		     "3 0 1 1 1 "
		     "20000 0 3 0 "
		     "10000 2 2 0 "
		     "0 0 3 0 "
		     "10000 1 1 0 7 3 0 1 0 " TAIL,
		"what was inlined is at its line");
	renders("", HEAD "3 1 1:'' ac000000 1 0 " TAIL, "what never ran is not there");
	code_plan.scopes.len = code_plan.scope_ranges.len = 0;
	return tap__done();
}

// SPDX-License-Identifier: BSD-2-Clause
/* match__find() in tables of masks and values, and the fields of an instruction word. */
#include "arch/match.h"
#include "tap.h"

static const struct match rows[] = {
	{0xff000000, 0x14000000, 1},
	{0xf0000000, 0x10000000, 2},
	{0x0000ffff, 0x00000001, 3},
};

static int form_of(uint32_t word)
{
	const struct match *m = match__find(rows, ARRAY_SIZE(rows), word);

	return m ? m->form : 0;
}

int main(void)
{
	is(form_of(0x14abcdef), 1, "a word has the value of a row in the bits of its mask");
	is(form_of(0x15abcdef), 2, "a word that differs in one bit is left to a later row");
	is(form_of(0x14000001), 1, "of two rows that match, the first counts");
	is(form_of(0xffff0001), 3, "a word may match the last row");
	is(form_of(0xffff0002), 0, "a word that no row matches has none");
	is(match__field(0x80000000, 31, 1), 1, "a field may be the highest bit");
	is(match__field(0x0003fff0, 4, 14), 0x3fff, "a field may be in the middle of the word");
	is(match__signed(0x1fffff, 21), -1, "a signed field of all ones is -1");
	is(match__signed(0x0fffff, 21), 0xfffff,
	   "a signed field with a clear sign bit is positive");
	is(match__signed(0xfff00000, 21), -0x100000,
	   "of a signed field the bits above it are ignored");
	is(match__signed(UINT64_MAX, 64), -1, "a signed field may be as wide as the number");
	return tap__done();
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * Hides kernel addresses from unprivileged users. Output of all formats is scanned in one place:
 * anything that could be a kernel address is replaced by a word. Where a number is required, it is
 * relative to the first function of its object.
 */
#include <ctype.h>
#include <stdlib.h>
#include "output/output.h"

#define HIDDEN "(hidden)"
#define DIGITS 16

/* Documentation/arch/x86/x86_64/mm.rst: the kernel's half, also with 5-level page tables. Values
 * above it are small negative numbers, such as errors. */
static bool could_be_address(uint64_t v)
{
	return v >= 0xff00000000000000 && v < 0xffffffffff800000;
}

static int digit(char c)
{
	return !isxdigit((unsigned char)c) ? -1
	       : isdigit((unsigned char)c) ? c - '0'
					   : (c | 0x20) - 'a' + 10;
}

/* Returns true for 0x with 16 digits, in the kernel's half. */
static bool is_address(const char *p, const char *end)
{
	uint64_t v = 0;

	if (end - p < 2 + DIGITS || p[0] != '0' || p[1] != 'x')
		return false;
	for (int i = 2; i < 2 + DIGITS; i++) {
		if (digit(p[i]) < 0)
			return false;
		v = v << 4 | digit(p[i]);
	}
	if (end - p > 2 + DIGITS && digit(p[2 + DIGITS]) >= 0)
		return false;
	return could_be_address(v);
}

void address__hide(struct str *text, bool columns)
{
	const size_t len = sizeof(HIDDEN) - 1, pad = columns ? 2 + DIGITS - len : 0;
	const char *p = text->data, *end = p + text->len;
	char *to = text->data;

	while (p < end) {
		if (*p != '0' || !is_address(p, end)) {
			*to++ = *p++;
			continue;
		}
		memset(to, ' ', pad);
		memcpy(to + pad, HIDDEN, len);
		to += pad + len;
		p += 2 + DIGITS;
	}
	if (!text->data)
		return;
	text->len = to - text->data;
	*to = 0;
}

void address__prepare(struct output *o)
{
	const struct plan_function *f;
	size_t first = o->nbases; /* those that were shown stay */

	o->hides_addresses =
		o->options.hide_addresses && (plan__has_kernel(o->plan) || o->plan->named.len);
	if (!o->hides_addresses)
		return;
	o->bases = xrealloc(o->bases, o->plan->objects.len + 1, sizeof(*o->bases));
	for (size_t i = first; i < o->plan->objects.len; i++)
		o->bases[i] = UINT64_MAX;
	o->nbases = o->plan->objects.len;
	vec__each (f, &o->plan->functions)
		for (size_t i = 0; i < f->nranges && f->object >= first; i++)
			o->bases[f->object] = min_of(o->bases[f->object],
						     f->ranges[i].vaddr - f->ranges[i].offset);
}

uint64_t address__shown(const struct output *o, uint32_t object, uint64_t vaddr)
{
	if (!o->bases)
		return vaddr;
	return vaddr < o->bases[object] ? 0 : vaddr - o->bases[object];
}

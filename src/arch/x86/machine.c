// SPDX-License-Identifier: BSD-2-Clause
/* Which processor this is, and whether it is a virtual machine's: by CPUID. */
#include "x86.h"

#if defined(__x86_64__)
#include <cpuid.h>

#define HYPERVISOR_BIT	 (1u << 31) /* leaf 1, ecx: reserved for hypervisors by both vendors */
#define HYPERVISOR_LEAF	 0x40000000u
#define BRAND_LEAF	 0x80000002u
#define HIGHEST_EXTENDED 0x80000000u

/* Bytes that CPUID returned, as one line of text without blanks at its ends. */
static void put_text(char *out, const uint32_t *words, size_t n)
{
	const char *in = (const char *)words, *end = in + 4 * n;
	char *last = out;

	while (in < end && *in == ' ')
		in++;
	for (; in < end && *in; in++) {
		*out = *in > ' ' && *in < 0x7f ? *in : ' ';
		last = *out++ == ' ' ? last : out;
	}
	*last = 0;
}

void x86__machine(struct host *out)
{
	uint32_t a, b, c, d, vendor[3], brand[12] = {0};

	*out = (struct host){0};
	if (__get_cpuid_max(HIGHEST_EXTENDED, NULL) >= BRAND_LEAF + 2)
		for (unsigned i = 0; i < 3; i++)
			__cpuid(BRAND_LEAF + i, brand[4 * i], brand[4 * i + 1], brand[4 * i + 2],
				brand[4 * i + 3]);
	put_text(out->cpu, brand, ARRAY_SIZE(brand));
	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & HYPERVISOR_BIT))
		return;
	out->is_virtual = true;
	__cpuid(HYPERVISOR_LEAF, a, vendor[0], vendor[1], vendor[2]);
	put_text(out->hypervisor, vendor, ARRAY_SIZE(vendor));
}

uint64_t x86__ticks(void)
{
	return __builtin_ia32_rdtsc();
}
#else
void x86__machine(struct host *out)
{
	*out = (struct host){0};
}

uint64_t x86__ticks(void)
{
	return 0;
}
#endif

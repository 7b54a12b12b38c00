// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <sys/mman.h>
#include "areas.h"

#define AREA_MAX (1ull << 40)

struct log_area *areas__find(const struct areas *a, uint32_t number)
{
	struct log_area *area;

	vec__each (area, &a->all)
		if (area->number == number)
			return area;
	return NULL;
}

void areas__add(struct areas *a, const struct say *say, int fd)
{
	struct log_area area = {.number = say->area, .size = say->size, .base = say->base};

	if (say->size < a->slot_size || say->size > AREA_MAX)
		return;
	area.data = fd < 0 ? MAP_FAILED
			   : mmap(NULL, say->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (area.data != MAP_FAILED)
		vec__push(&a->all, area);
	else
		note("cannot map the log of process %u: %s; what its threads do is not known",
		     say->pid, fd < 0 ? "too many open files" : strerror(errno));
}

void areas__drop(struct areas *a, uint32_t number)
{
	struct log_area *area = areas__find(a, number);

	if (!area)
		return;
	munmap(area->data, area->size);
	*area = *vec__last(&a->all);
	a->all.len--;
}

struct log_ring *areas__ring(const struct areas *a, const struct log_area *area, uint32_t slot)
{
	uint64_t at = slot * a->slot_size;

	return area && at + a->slot_size <= area->size ? (struct log_ring *)(area->data + at)
						       : NULL;
}

void areas__free(struct areas *a)
{
	struct log_area *area;

	vec__each (area, &a->all)
		munmap(area->data, area->size);
	vec__free(&a->all);
}

// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
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

/* Maps a file that can't become shorter than what is mapped of it (log_memory.c). Otherwise,
 * another process that has it could end this one by a SIGBUS. */
static char *map(const struct notice *notice, int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;
	void *data;

	if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd, &st) ||
	    (uint64_t)st.st_size < notice->size) {
		errno = seals < 0 ? errno : EINVAL;
		return NULL;
	}
	data = mmap(NULL, notice->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	return data == MAP_FAILED ? NULL : data;
}

void areas__add(struct areas *a, const struct notice *notice, int fd)
{
	struct log_area area = {.number = notice->area, .size = notice->size, .base = notice->base};

	if (notice->size < a->slot_size || notice->size > AREA_MAX)
		return;
	errno = EMFILE;
	area.data = fd < 0 ? NULL : map(notice, fd);
	if (area.data)
		vec__push(&a->all, area);
	else
		note("cannot map the log of process %u: %s; what its threads do is not known",
		     notice->pid, fd < 0 ? "too many open files" : strerror(errno));
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
	uint64_t at = (uint64_t)slot * a->slot_size;

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

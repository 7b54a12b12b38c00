// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include "comms.h"

char *comms__of(struct comms *c, uint32_t tid)
{
	uint64_t *slot = map64__put(&c->of, tid);

	if (!*slot)
		*slot = (uintptr_t)xcalloc(1, COMM_SIZE);
	return (char *)(uintptr_t)*slot;
}

void comms__set(struct comms *c, uint32_t tid, const char *text)
{
	snprintf(comms__of(c, tid), COMM_SIZE, "%.*s", COMM_SIZE - 1, text ? text : "");
}

void comms__forget(struct comms *c, uint32_t tid)
{
	const uint64_t *slot = map64__get(&c->of, tid);

	if (!slot)
		return;
	free((char *)(uintptr_t)*slot);
	map64__del(&c->of, tid);
}

void comms__inherit(struct comms *c, uint32_t tid, uint32_t from)
{
	char comm[COMM_SIZE];

	memcpy(comm, comms__of(c, from), COMM_SIZE);
	memcpy(comms__of(c, tid), comm, COMM_SIZE);
}

void comms__free(struct comms *c)
{
	uint64_t comm;

	for (size_t i = 0; i < c->of.cap; i++)
		if (map64__slot(&c->of, i, &comm))
			free((char *)(uintptr_t)comm);
	map64__free(&c->of);
}

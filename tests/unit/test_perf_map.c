// SPDX-License-Identifier: BSD-2-Clause
/* /tmp/perf-PID.map: later lines replace those that they overlap, and a flood of lines is cut. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "process/process.h"
#include "tap.h"

#define LINES 3000

static struct {
	uint64_t start, size;
} lines[LINES];
static char path[64];

/* By the definition. */
static long find(size_t n, uint64_t addr)
{
	for (size_t i = n; i-- > 0;)
		if (addr - lines[i].start < lines[i].size)
			return i;
	return -1;
}

static long number_of(const struct generated *g)
{
	return g ? strtol(g->name + 1, NULL, 10) : -1;
}

static size_t count_wrong(struct perf_maps *maps, size_t n)
{
	size_t wrong = 0;

	for (int i = 0; i < 2000; i++) {
		uint64_t addr = rand() % 70000;
		const struct generated *g = perf_maps__find(maps, getpid(), addr);

		wrong += number_of(g) != find(n, addr) ||
			 (g && (addr < g->start || addr - g->start >= g->size));
	}
	return wrong;
}

static FILE *open_map(void)
{
	FILE *f = fopen(path, "w");

	if (f)
		fchmod(fileno(f), 0600);
	return f;
}

static void test_overlaps(void)
{
	struct perf_maps *maps = perf_maps__new();
	FILE *f = open_map();
	size_t wrong = 0;

	for (size_t i = 0; f && i < LINES; i++) {
		lines[i].start = rand() % 65536;
		lines[i].size = 1 + rand() % (rand() % 20 ? 100 : 20000);
		fprintf(f, "%llx %llx f%zu\n", (unsigned long long)lines[i].start,
			(unsigned long long)lines[i].size, i);
		if (rand() % 300)
			continue;
		fflush(f);
		wrong += count_wrong(maps, i + 1);
	}
	fflush(f);
	wrong += count_wrong(maps, LINES);
	is(wrong, 0, "each address has the name of the last line that covers it, while they grow");
	fclose(f);
	perf_maps__free(maps);
}

static void test_flood(void)
{
	struct perf_maps *maps = perf_maps__new();
	FILE *f = open_map();
	const struct generated *g;

	for (unsigned i = 0; i < 600000; i++)
		fprintf(f, "%x 1 f%u\n", i, i);
	fclose(f);
	g = perf_maps__find(maps, getpid(), 1000);
	is(number_of(g), 1000, "one of the first of 600000 names");
	ok(!perf_maps__find(maps, getpid(), 599999), "one of the last has none");
	perf_maps__forget(maps, getpid());
	f = open_map();
	fprintf(f, "10 10 f7\n");
	fclose(f);
	is(number_of(perf_maps__find(maps, getpid(), 0x1f)), 7,
	   "a program that is run next has names again");
	perf_maps__free(maps);
}

int main(void)
{
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	test_overlaps();
	test_flood();
	unlink(path);
	return tap__done();
}

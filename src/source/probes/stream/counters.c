// SPDX-License-Identifier: BSD-2-Clause
/*
 * Counters: reads what probes counted in the kernel (bpf/count.h), and passes on what was added
 * since the last time. Nothing is ever set to 0, since a program may be adding.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "counters.h"
#include "source/probes/maps/filters.h"
#include "bbtrace.skel.h"

/* The most memory of all CPUs' counters in a bank; on machines with more CPUs some share their
 * counters. */
#define COUNTERS_MOST (256ull << 20)
/* The most memory for sites that are added later, of both banks; at least LEAST_MORE sites. */
#define MORE_MOST  (16ull << 20)
#define LEAST_MORE 4096
#define MORE	   65536
/* Targets of indirect branches, of all processes and both banks. */
#define TARGETS_MOST 65536
/* Processes that call exec. */
#define EXECS_MOST 16384

struct counters {
	uint32_t stride, slots; /* of a bank */
	const uint64_t *memory; /* of the map */
	size_t size;
	uint64_t *given;      /* by bank and counter: what was passed on */
	bool has_targets;     /* some site may have counted targets */
	struct map64 targets; /* hash of a struct wire_target -> what was passed on of it */
};

static bool has_targets(const struct plan *plan)
{
	const struct plan_site *s;

	vec__each (s, &plan->sites)
		if ((plan_site__is_hooked(s) || s->probe == PROBE_CHANGING) &&
		    (s->kind == BRANCH_IJMP || s->kind == BRANCH_ICALL || s->kind == BRANCH_RET))
			return true;
	return false;
}

/* CPUs that don't share their counters with others, in a power of two. */
static uint64_t slots_of(const struct plan *plan)
{
	uint64_t stride = COUNTER((uint64_t)plan->sites.len, 0), slots = 1;
	uint64_t cpus = sysconf(_SC_NPROCESSORS_CONF);

	while (slots < cpus && 2 * slots * stride * 8 <= COUNTERS_MOST)
		slots *= 2;
	return slots;
}

uint32_t counters__more(const struct probe *p)
{
	uint64_t site = COUNT_BANKS * slots_of(p->plan) * COUNTER(1, 0) * 8;

	return max_of(min_of(MORE_MOST / site, (uint64_t)MORE), (uint64_t)LEAST_MORE);
}

void counters__size(struct probe *p, struct wire_config *config)
{
	uint64_t stride = COUNTER((uint64_t)p->table.room, 0), slots = slots_of(p->plan);
	bool targets = p->options->grows || has_targets(p->plan);

	config->count_slots = slots;
	config->count_stride = stride;
	config->targets = targets;
	map__set_most(p->skel->maps.counts, COUNT_BANKS * slots * stride);
	map__set_most(p->skel->maps.targets, targets ? TARGETS_MOST : 0);
	map__set_most(p->skel->maps.exec_times, targets ? EXECS_MOST : 0);
}

int counters__open(struct probe *p)
{
	struct counters *c;
	void *memory;

	if (!probe__counts(p))
		return 0;
	c = p->counters = xcalloc(1, sizeof(*c));
	c->stride = p->skel->rodata->config.count_stride;
	c->slots = p->skel->rodata->config.count_slots;
	c->size = (size_t)COUNT_BANKS * c->slots * c->stride * sizeof(*c->memory);
	memory = mmap(NULL, c->size, PROT_READ, MAP_SHARED, bpf_map__fd(p->skel->maps.counts), 0);
	if (memory == MAP_FAILED)
		return err__set(errno, "cannot map the counters: %s", strerror(errno));
	c->memory = memory;
	c->has_targets = has_targets(p->plan);
	c->given = xcalloc((size_t)COUNT_BANKS * c->stride + 1, sizeof(*c->given));
	return 0;
}

void counters__add_sites(struct probe *p)
{
	if (p->counters)
		p->counters->has_targets |= has_targets(p->plan);
}

void counters__close(struct counters *c)
{
	if (!c)
		return;
	if (c->memory)
		munmap((void *)c->memory, c->size);
	map64__free(&c->targets);
	free(c->given);
	free(c);
}

/* ---- by site ---- */

/* Returns what was added to a counter of these banks (a mask). */
static uint64_t take(struct counters *c, unsigned banks, uint32_t counter)
{
	uint64_t added = 0;

	for (uint32_t bank = 0; bank < COUNT_BANKS; bank++) {
		uint64_t *given = &c->given[(size_t)bank * c->stride + counter], sum = 0;

		if (!(banks >> bank & 1))
			continue;
		for (uint32_t i = bank * c->slots; i < (bank + 1) * c->slots; i++)
			sum += __atomic_load_n(&c->memory[(size_t)i * c->stride + counter],
					       __ATOMIC_RELAXED);
		added += sum - *given;
		*given = sum;
	}
	return added;
}

/* A site that has no probe now may have had one since the last time. */
static bool changes(const struct probe *p)
{
	return p->options->retires || p->options->grows;
}

static int give_sites(struct probe *p, unsigned banks, const struct source_sink *sink)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < p->plan->sites.len && i < p->table.room; i++) {
		struct count n = {.site = i};

		if (!changes(p) && p->plan->sites.data[i].probe != PROBE_COUNT)
			continue;
		n.taken = take(p->counters, banks, COUNTER(i, 0));
		n.not_taken = take(p->counters, banks, COUNTER(i, 1));
		if (n.taken || n.not_taken)
			err = sink->counted(sink->ctx, &n);
	}
	return err;
}

/* ---- by target ---- */

static uint64_t hash_of(const struct wire_target *t)
{
	uint64_t h = 0;

	h = (h ^ t->since) * 0x9e3779b97f4a7c15ull;
	h = (h ^ h >> 29 ^ t->target) * 0xbf58476d1ce4e5b9ull;
	h = (h ^ h >> 32 ^ ((uint64_t)t->pid << 32 | t->site_bank)) * 0x94d049bb133111ebull;
	return h ^ h >> 31;
}

static int give_target(struct probe *p, const struct wire_target *t, uint64_t sum,
		       const struct source_sink *sink)
{
	uint64_t *given = map64__put(&p->counters->targets, hash_of(t));
	struct count n = {.site = t->site_bank & WIRE_SITE_MASK,
			  .taken = sum - *given,
			  .has_target = true,
			  .pid = t->pid,
			  .target = t->target,
			  .unread = t->site_bank & TARGET_UNREAD};

	*given = sum;
	return n.taken ? sink->counted(sink->ctx, &n) : 0;
}

/* Nothing can be added any more to the target of a program that has ended. */
static void forget_target(struct probe *p, const struct wire_target *t)
{
	bpf_map_delete_elem(bpf_map__fd(p->skel->maps.targets), t);
	map64__del(&p->counters->targets, hash_of(t));
}

#define BATCH 4096

/* Passes on the targets of these banks, of a process's program that ended then; pid 0: of all
 * processes. */
static int give_targets(struct probe *p, unsigned banks, uint32_t pid, uint64_t ended, bool forget,
			const struct source_sink *sink)
{
	autofree struct wire_target *keys = xcalloc(BATCH, sizeof(*keys));
	autofree uint64_t *sums = xcalloc(BATCH, sizeof(*sums));
	VEC(struct wire_target) over = {0};
	int fd = bpf_map__fd(p->skel->maps.targets), err = 0, end = 0;
	struct wire_target *t;
	uint32_t at;
	bool first = true;

	while (!err && !end) {
		uint32_t n = BATCH;

		end = bpf_map_lookup_batch(fd, first ? NULL : &at, &at, keys, sums, &n, NULL);
		if (end && errno != ENOENT) {
			err = err__set(errno, "cannot read the counted targets: %s",
				       strerror(errno));
			break;
		}
		first = false;
		for (uint32_t i = 0; !err && i < n; i++) {
			if (!(banks >> (keys[i].site_bank >> WIRE_SITE_BITS & 1) & 1) ||
			    (pid && (keys[i].pid != pid || keys[i].since >= ended)))
				continue;
			err = give_target(p, &keys[i], sums[i], sink);
			if (forget)
				vec__push(&over, keys[i]);
		}
	}
	vec__each (t, &over)
		forget_target(p, t);
	vec__free(&over);
	return err;
}

#define ALL_BANKS ((1u << COUNT_BANKS) - 1)
/* After another bank was chosen, programs that had begun may still add to the one before. */
#define REST_NS 1000000

int counters__end_program(struct probe *p, uint32_t pid, uint64_t time,
			  const struct source_sink *sink)
{
	if (!p->counters || !p->counters->has_targets)
		return 0;
	return give_targets(p, ALL_BANKS, pid, time, true, sink);
}

int counters__name_targets(struct probe *p, uint32_t pid, const struct source_sink *sink)
{
	if (!p->counters || !p->counters->has_targets)
		return 0;
	return give_targets(p, ALL_BANKS, pid, UINT64_MAX, false, sink);
}

static int give(struct probe *p, unsigned banks, const struct source_sink *sink)
{
	int err = give_sites(p, banks, sink);

	return err || !p->counters->has_targets ? err : give_targets(p, banks, 0, 0, false, sink);
}

uint64_t counters__turn(struct probe *p)
{
	const struct timespec rest = {.tv_nsec = REST_NS};
	uint32_t bank = p->skel->bss->count_bank;

	__atomic_store_n(&p->skel->bss->count_bank, !bank, __ATOMIC_SEQ_CST);
	nanosleep(&rest, NULL);
	return now_ns(CLOCK_MONOTONIC);
}

int counters__give(struct probe *p, const struct source_sink *sink)
{
	return give(p, 1u << !p->skel->bss->count_bank, sink);
}

int counters__give_rest(struct probe *p, const struct source_sink *sink)
{
	return p->counters ? give(p, ALL_BANKS, sink) : 0;
}

void counters__report(const struct probe *p)
{
	if (!p->counters)
		return;
	if (p->skel->bss->targets_full)
		note("the targets of %llu indirect branches are not known: more than %u different ones "
		     "were counted",
		     (unsigned long long)p->skel->bss->targets_full, TARGETS_MOST);
	if (p->skel->bss->exec_times_full)
		note("%llu execs could not be distinguished from the program before: targets of indirect "
		     "branches may have wrong names",
		     (unsigned long long)p->skel->bss->exec_times_full);
}

// SPDX-License-Identifier: BSD-2-Clause
/* Notes on a trace: which processes it slows down and by how much, that it is live, where its
 * file is. */
#include <unistd.h>
#include "announce.h"

static bool system_wide(const struct request *req)
{
	const struct probe_filters *f = &req->who.filters;

	return !f->pids.len && !f->tids.len && !f->uids.len && !f->comms.len && !f->cgroup;
}

/* True if the plan has probes in programs. */
static bool has_probes(const struct plan *p)
{
	const struct plan_site *s;

	vec__each (s, &p->sites)
		if (plan_site__is_hooked(s) && !p->objects.data[s->object].kernel)
			return true;
	return false;
}

/* Notes what probes in programs cost other processes. Kernel code is shared by all: nothing to
 * add. */
static void report_others(const struct request *req, const struct plan *p,
			  const struct source_facts *facts)
{
	const struct probe_filters *f = &req->who.filters;
	enum probe_spares spares = facts->spares;
	const char *why = facts->unspared;
	autofree char *because = why ? xasprintf(" (%s)", why) : xstrdup("");

	if (!has_probes(p) || spares == SPARES_ALL)
		return;
	if (spares == SPARES_OTHERS)
		note("children of the traced processes are slowed at each hit as well until they exec%s",
		     because);
	else if (f->pids.len || f->tids.len)
		note("every process that maps the traced file is slowed at each hit, by 0.5 to 20 us%s",
		     because);
	else if (!system_wide(req))
		note("every process that maps the traced file is slowed at each hit, by 0.5 to 20 us: "
		     "--comm, --uid and --cgroup only filter what is shown; -p PID spares the others");
}

/* From this number of probes on, a process that already runs may visibly pause. */
#define MANY 1000

static void report_price(const struct request *req, const struct plan *p)
{
	uint32_t probes = 0, stepped = 0;
	const struct plan_site *s;
	const uint32_t *pid;
	CLEANUP(str__free) struct str pids = {0};

	vec__each (s, &p->sites) {
		bool own = plan_site__is_hooked(s) && !p->objects.data[s->object].kernel;

		probes += own;
		stepped += own && s->traps == 2;
	}
	if (probes < MANY || !req->who.filters.pids.len || req->who.filters.command)
		return;
	vec__each (pid, &req->who.filters.pids)
		str__printf(&pids, "%s%u", pids.len ? ", " : "", *pid);
	note("%u probes go into the running process%s %s: a hit takes about 0.5 us at %u of them, "
	     "10 to 20 us at the %u that the kernel must single-step; bbtrace doctor --calibrate "
	     "measures both on this machine%s",
	     probes, req->who.filters.pids.len > 1 ? "es" : "", pids.data, probes - stepped,
	     stepped,
	     req->how.max_overhead ? ""
				   : "; --max-overhead 20 would end a trace that takes too much");
}

void announce__cost(const struct request *req, const struct plan *p, const struct source *source)
{
	const struct source_facts facts = source__facts(source);

	if (system_wide(req))
		note("tracing every process but bbtrace itself; limit it with -p PID or -- CMD");
	report_others(req, p, &facts);
	report_price(req, p);
}

/* Not with a CMD, which shows by its output that the trace is live. */
void announce__live(const struct request *req, const struct plan *p)
{
	double seconds = req->when.timeout_ns / 1e9;

	if (req->command || !isatty(STDERR_FILENO))
		return;
	if (seconds)
		note("tracing for %g s, %u probes; Ctrl-C ends", seconds, p->probes);
	else
		note("tracing, %u probes; Ctrl-C ends", p->probes);
}

/* Not with --record, which has shown the trace already. */
void announce__file(const struct request *req, const char *name)
{
	autofree struct str quoted = {0};

	if (!name || !strcmp(name, "-") || req->file.record || !isatty(STDERR_FILENO))
		return;
	str__shell(&quoted, name);
	note("the trace is in %s: bbtrace report %s shows it", name, quoted.data);
}

/* ---- the plan ---- */

static const char *const placements[] = {
	[PLACEMENT_FULL] = "on every branch (full)",
	[PLACEMENT_IMPLIED] = "on branches that the path doesn't imply (implied)",
	[PLACEMENT_WITNESS] = "on as few branches as identify the path (witness)",
	[PLACEMENT_COUNT] = "on as few instructions as determine all counts (count)",
};

static void report_function(const struct plan *p, uint32_t function)
{
	const struct plan_function *fn = &p->functions.data[function];
	uint64_t delay = plan__entry_delay(p, function);

	note_verbose(
		"%s: %u branches, %u cannot be probed, %u indirect jumps not resolved, %llu of %llu "
		"bytes not decoded%s",
		fn->name, fn->branches, fn->skipped, fn->unresolved,
		(unsigned long long)fn->unreached, (unsigned long long)plan_function__size(fn),
		fn->flags & FUNCTION_HELPER ? " (probed to see a tail call return)" : "");
	if (delay)
		note_verbose("%s: its entry is reported %llu bytes after its first instruction",
			     fn->name, (unsigned long long)delay);
}

/* Bytes that no known control flow reaches are counted in the summary alone; control was seen to
 * reach these. */
#define UNDECODED_SHOWN 8

void announce__undecoded(const struct plan *p)
{
	uint32_t before = NO_FUNCTION, shown = 0, more = 0;
	const struct plan_place *at;

	vec__each (at, &p->undecoded) {
		uint32_t function = plan__function_at(p, at->object, at->vaddr);
		const struct plan_function *f = &p->functions.data[function];
		uint64_t offset = 0;
		const char *name;

		if (function == NO_FUNCTION || function == before)
			continue;
		before = function;
		if (++shown > UNDECODED_SHOWN) {
			more++;
			continue;
		}
		name = plan__name_at(p, function, at->vaddr, &offset);
		note("%s: %llu of %llu bytes are not decoded, from %s+0x%llx on: its branches there "
		     "are missing (an instruction that bbtrace doesn't know, or data)",
		     f->name, (unsigned long long)f->unreached,
		     (unsigned long long)plan_function__size(f), name ? name : f->name,
		     (unsigned long long)offset);
	}
	if (more)
		note("%u more functions have bytes that are not decoded: bbtrace list shows them",
		     more);
}

void announce__plan(const struct plan *p, enum plan_placement placement)
{
	note_verbose("probes are placed %s", placements[placement]);
	for (uint32_t i = 0; i < p->functions.len; i++)
		report_function(p, i);
}

void announce__others(const struct plan *p, const id_vec *sites)
{
	const uint32_t *id;

	if (note__level() < NOTE_VERBOSE)
		return;
	vec__each (id, sites) {
		const struct plan_site *s = &p->sites.data[*id];
		uint64_t offset = 0;
		const char *name = plan__name_at(p, s->function, s->vaddr + s->probe_at, &offset);

		note_verbose("probing %s+0x%llx instead of what the kernel refused",
			     name ? name : "?", (unsigned long long)offset);
	}
}

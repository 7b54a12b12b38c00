// SPDX-License-Identifier: BSD-2-Clause
/* Which capabilities a set of probes needs after attaching; all others are given up. */
#include <errno.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "source/probes/mechanisms/event_keeper.h"
#include "session.h"
#include "bbtrace.skel.h"

/* Returns true if links may be made after the start: for processes that lose theirs, or since sites
 * change. */
static bool relinks(const struct probe *p)
{
	return (p->options->retires && p->programs.mechanism) || p->adds_links || p->can_mark ||
	       (p->programs.mechanism && p->programs.mechanism->loss == LOSS_TAKEOVER &&
		p->scope.kind == SCOPE_PROCESSES);
}

static const struct bpf_program *relinked(const struct probe *p)
{
	return bpf_program__autoload(multi__program(p)) ? multi__program(p)
							: p->skel->progs.hit_switch;
}

/* Returns true if the kernel, with the current privileges, would refuse what p has to do after
 * attaching. */
static bool is_refused(const struct probe *p)
{
	uint64_t key = 0, count;

	if (bpf_map_lookup_elem(bpf_map__fd(p->skel->maps.lost_by_thread), &key, &count) &&
	    errno == EPERM)
		return true;
	return relinks(p) && feature__multi_answer(bpf_program__fd(relinked(p)), 0) == -EPERM;
}

/* What opens a perf event of the whole system. */
static uint64_t needed_to_open(uint64_t permitted)
{
	return privileges__one_of(permitted, PRIVILEGE_PERFMON) |
	       (privileges__perf_needs_admin() ? permitted & PRIVILEGE_SYS_ADMIN : 0);
}

/* What opens the trace event for a process that changes its user. */
static uint64_t needed_for_events(struct probe *p, uint64_t keep, uint64_t permitted)
{
	uint64_t events = privileges__one_of(permitted, PRIVILEGE_PERFMON);

	if (!probe__reopens(p))
		return 0;
	privileges__write_sets(keep | events, permitted);
	/* Debian's level 3 of perf_event_paranoid */
	return uprobe_event__may_open(p) ? events : events | (permitted & PRIVILEGE_SYS_ADMIN);
}

/* Before Linux 5.19, reading one's own maps needed CAP_BPF, unless unprivileged BPF was enabled. */
int probe__drop_privileges(struct source *s, uint64_t keep, unsigned forbidden)
{
	struct probe *p = (struct probe *)s;
	uint64_t effective, permitted, events;
	int err;

	privileges__read_sets(&effective, &permitted);
	keep &= permitted;
	events = needed_for_events(p, keep, permitted);
	privileges__write_sets(permitted, permitted);
	if (events && !event_keeper__start(p, events))
		privileges__note("capabilities of the process that opens trace events", events);
	else
		keep |= events;
	privileges__write_sets(keep, permitted);
	if (p->options->parks && probe__by_definitions(p))
		keep |= needed_to_open(permitted);
	if (is_refused(p))
		keep |= privileges__one_of(permitted, PRIVILEGE_BPF | PRIVILEGE_PERFMON);
	err = rights__keep(keep, false);
	if (err)
		return err__set(-err, "cannot give up privileges: %s", strerror(-err));
	privileges__note("capabilities kept", keep);
	return rights__forbid(forbidden);
}

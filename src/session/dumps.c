// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <linux/types.h>
#include <signal.h>
#include <stdlib.h>
#include "../bpf/wire_named.h"
#include "dumps.h"
#include "pipeline/fatal_signals.h"
#include "pipeline/render.h"

static void report(const struct event *e, const char *comm)
{
	int code = e->count, sig = code & 0x7f;
	char name[32];

	if (sig)
		fatal_signal__signal_name(sig, name, sizeof(name));
	else
		snprintf(name, sizeof(name), "exited with %d", code >> 8 & 0xff);
	note("process %u (%s) %s%s%s: its last branches are shown", e->pid, comm,
	     sig ? "was killed by " : "", name, code & 0x80 ? ", which dumped core" : "");
}

static bool is_bad(const struct dumps *d, uint64_t code)
{
	return code & 0x7f || (d->request->record.dump_on_failure && code >> 8 & 0xff);
}

int dumps__end(struct dumps *d, struct show *s, const struct event *e)
{
	if (!d->request || !s->last || !e->last || !is_bad(d, e->count))
		return 0;
	report(e, trace__comm_of(s->trace, e->tid));
	return show__dump(s, e->pid, newest_first(d->request), true);
}

/* The value as bpf/marker.h compares it. */
static int64_t number_of(uint64_t value)
{
	return value >> 32 ? (int64_t)value : (int32_t)value;
}

int dumps__asked(struct dumps *d, struct show *s, const struct event *e, const char *name,
		 bool returns)
{
	const struct sideband_event mark = {.type = SIDEBAND_MARK,
					    .time = e->time,
					    .pid = e->pid,
					    .tid = e->tid,
					    .count = number_of(e->value),
					    .text = name};
	int err = returns ? show__sideband(s, &mark) : 0;

	note_verbose("process %u (%s) %s %s: its last branches are shown", e->pid,
		     trace__comm_of(s->trace, e->tid), returns ? "returned from" : "entered", name);
	return err || !d->request ? err : show__dump(s, e->pid, newest_first(d->request), false);
}

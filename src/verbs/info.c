// SPDX-License-Identifier: BSD-2-Clause
/* Shows metadata of a trace file, without replaying it. */
#include "verbs/list/arguments.h"
#include "info.h"
#include "pipeline/read/replay.h"

static void put_text(struct info *i, const char *key, const char *text)
{
	str__printf(&i->text, "%-10s", key);
	str__shown(&i->text, text ? text : "");
}

static void put_plan(struct info *i, const char *key, const struct plan *plan)
{
	str__printf(&i->text, "%-10s%zu functions, %zu sites, %u probes (%u skipped), %s\n", key,
		    plan->functions.len, plan->sites.len, plan->probes, plan->skipped,
		    plan->arch->name);
}

/* True if only names are shown: the plan is at the start of the file, and the rest isn't read. */
static bool shows_names(const struct info *i)
{
	return i->request->show.functions || i->request->show.arguments;
}

static int put_arguments(struct info *i, const struct plan *plan)
{
	autofree bool *chosen = NULL;
	int err = replay__choose(i->request, plan, "this file", &chosen);

	if (err)
		return err;
	arguments__put(plan, chosen, output__form(i->request->show.format) == FORM_JSON, &i->text);
	return 1;
}

static int put_names(struct info *i, const struct plan *plan)
{
	const struct plan_function *f;

	i->begun = true;
	if (i->request->show.arguments)
		return put_arguments(i, plan);
	vec__each (f, &plan->functions) {
		if (f->flags & FUNCTION_HELPER)
			continue;
		str__shown(&i->text, f->name);
		str__putc(&i->text, '\n');
	}
	return 1;
}

static int on_begin(void *ctx, const struct plan *plan, const struct trace_meta *m)
{
	struct info *i = ctx;

	if (shows_names(i))
		return put_names(i, plan);
	put_text(i, "recorded", "");
	str__date(&i->text, m->start_time + m->realtime_offset, m->utc_offset);
	str__puts(&i->text, " by bbtrace ");
	str__shown(&i->text, m->version ? m->version : "");
	str__putc(&i->text, '\n');
	put_text(i, "command", m->command);
	str__putc(&i->text, '\n');
	put_text(i, "machine", m->system);
	str__printf(&i->text, ", %u CPUs\n", m->cpus);
	if (m->host) {
		put_text(i, "host", m->host);
		str__putc(&i->text, '\n');
	}
	put_plan(i, "plan", plan);
	if (m->tag) {
		put_text(i, "tag", m->tag);
		str__putc(&i->text, '\n');
	}
	i->counts = m->counts;
	if (m->part)
		str__printf(&i->text, "part      %u were written before this file\n", m->part);
	i->begun = true;
	return 0;
}

static int on_plan(void *ctx, const struct plan *plan)
{
	put_plan(ctx, "extended", plan);
	return 0;
}

static int on_object(void *ctx, const struct object *o)
{
	struct info *i = ctx;

	put_text(i, "object", o->path);
	str__puts(&i->text, o->build_id_len ? "  build-id " : "");
	object__put_build_id(o, &i->text);
	str__putc(&i->text, '\n');
	return 0;
}

static int on_event(void *ctx, const struct event *e)
{
	((struct info *)ctx)->records++;
	return 0;
}

static int on_lost(void *ctx, uint32_t pid, uint32_t tid, uint64_t count)
{
	((struct info *)ctx)->lost += count;
	return 0;
}

static int on_counts(void *ctx, const struct trace_counts *c)
{
	struct info *i = ctx;

	str__printf(&i->text, "%-10sof %llu trace%s", "counts", (unsigned long long)c->traces,
		    c->traces == 1 ? "" : "s");
	if (c->tag) {
		str__puts(&i->text, ": ");
		str__shown(&i->text, c->tag);
	}
	str__putc(&i->text, '\n');
	return 0;
}

static int on_sideband(void *ctx, const struct sideband_event *e)
{
	struct info *i = ctx;

	switch (e->type) {
	case SIDEBAND_COMM:
	case SIDEBAND_EXEC:
		str__printf(&i->text, "%-10s%u/%u ", e->type == SIDEBAND_COMM ? "thread" : "exec",
			    e->pid, e->tid);
		break;
	case SIDEBAND_MAP:
		str__printf(&i->text, "map       %u 0x%llx-0x%llx at 0x%llx of ", e->pid,
			    (unsigned long long)e->start, (unsigned long long)(e->start + e->len),
			    (unsigned long long)e->offset);
		break;
	case SIDEBAND_FORK:
		str__printf(&i->text, "fork      %u/%u of %u/%u\n", e->pid, e->tid, e->ppid,
			    e->ptid);
		return 0;
	case SIDEBAND_STOP:
	case SIDEBAND_START:
		str__printf(&i->text, "recording %s\n",
			    e->type == SIDEBAND_STOP ? "stops" : "starts");
		return 0;
	case SIDEBAND_MARK:
		str__puts(&i->text, "mark      ");
		if (e->pid)
			str__printf(&i->text, "%u/%u %lld ", e->pid, e->tid, (long long)e->count);
		break;
	case SIDEBAND_UNTRACED:
		str__printf(&i->text, "untraced  %u ", e->pid);
		break;
	case SIDEBAND_EXIT:
		str__printf(&i->text, "exit      %u/%u\n", e->pid, e->tid);
		return 0;
	default:
		return 0;
	}
	str__shown(&i->text, e->text && *e->text ? e->text : "?");
	str__putc(&i->text, '\n');
	return 0;
}

const struct trace_calls info_calls = {.begin = on_begin,
				       .plan = on_plan,
				       .object = on_object,
				       .event = on_event,
				       .sideband = on_sideband,
				       .lost = on_lost,
				       .counts = on_counts};

void info__end(struct info *i, const struct trace_end *end)
{
	if (!i->begun || shows_names(i))
		return;
	if (!i->counts)
		str__printf(&i->text, "records   %llu, %s%llu lost\n",
			    (unsigned long long)i->records,
			    end && end->totals.at_least ? "at least " : "",
			    (unsigned long long)(end ? end->totals.lost : i->lost));
	if (end && end->totals.missed)
		str__printf(&i->text, "missed    at most %llu hits, of all processes\n",
			    (unsigned long long)end->totals.missed);
	str__printf(&i->text, "end       %s\n",
		    !end			     ? "missing"
		    : end->reason == TRACE_CONTINUED ? "continued in the next part"
						     : "whole");
}

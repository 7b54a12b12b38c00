// SPDX-License-Identifier: BSD-2-Clause
/*
 * What lost blocks had, and what can be read after them. The next block of events has what precedes
 * it. Nothing of a plan may be lost, since all events refer to it. For lost objects and their
 * symbols, names are lost.
 */
#include <errno.h>
#include "file/reader.h"

static int lost_plan(const struct trace_reader *r)
{
	const struct block_stream *s = &r->blocks.stream;

	return err__set(EBADMSG,
			"damaged at byte %llu, block %u: a part of the plan is lost, which all "
			"events after it refer to; all before that was read",
			(unsigned long long)s->broken.at, s->broken.number);
}

/* Finds which of the lost blocks are tables. */
static int lose_tables(struct trace_reader *r)
{
	struct block_totals ahead, t;
	const struct salvaged *closing = salvage__closing(&r->blocks, &ahead);

	if (!closing || !block_totals__read(closing->type, closing->raw, closing->raw_len, &t)) {
		r->no_tables = true; /* the end is near */
		return 0;
	}
	if (t.tables - r->done.tables < ahead.tables || t.plans - r->done.plans < ahead.plans ||
	    t.tables < r->done.tables || t.plans < r->done.plans)
		return reader__damaged(r);
	ahead.tables += r->done.tables;
	if (t.plans - r->done.plans > ahead.plans || (t.tables > ahead.tables && ahead.plans))
		return lost_plan(r);
	if (t.tables == ahead.tables)
		return 0;
	r->done.tables += t.tables - ahead.tables;
	r->damage.names = r->frozen = true;
	return 0;
}

int reader__lose(struct trace_reader *r, const struct block *b, uint32_t lost)
{
	if (!r->plan || r->rows.meta.data[0].counts)
		return reader__damaged(r);
	if (!r->misses)
		r->damage = (struct trace_damage){.block = b->number - lost, .from = r->time};
	r->misses = true;
	return lose_tables(r);
}

static uint64_t time_of(const struct item *i)
{
	return i->type == ITEM_EVENT ? i->event->time : i->sideband.time;
}

int reader__report_loss(struct trace_reader *r, const struct block *b)
{
	struct trace_damage *d = &r->damage;
	struct block_totals t;
	int n = 0;

	r->misses = false;
	d->unknown = !block__has_totals(b->type);
	if (!d->unknown) {
		if (!block_totals__read(b->type, b->raw, b->raw_len, &t) ||
		    t.tables != r->done.tables || t.events < r->done.events ||
		    t.sideband < r->done.sideband)
			return reader__damaged(r);
		d->events = t.events - r->done.events;
		d->sideband = t.sideband - r->done.sideband;
		r->done = t;
		n = reader__next_item(r, &r->held);
	}
	if (n < 0)
		return reader__damaged(r);
	if (n)
		d->to = time_of(r->held);
	else
		r->held = NULL;
	r->in_events = n;
	r->is_due = d->unknown || d->events || d->sideband || d->names;
	return 0;
}

/* ---- after a loss of tables ---- */

/* Keeps rows of objects whose numbers are known. */
#define keep_known(rows, n)                                                                        \
	do {                                                                                       \
		size_t kept = 0;                                                                   \
		for (size_t i = 0; i < (rows)->len; i++)                                           \
			if ((rows)->data[i].object < (n))                                          \
				(rows)->data[kept++] = (rows)->data[i];                            \
		(rows)->len = kept;                                                                \
	} while (0)

int reader__drop_unknown(struct trace_reader *r, uint8_t table)
{
	const size_t known = r->objects.all.len;

	if (!r->frozen)
		return 0;
	if (table == BLOCK_PLANNED)
		return lost_plan(r);
	r->rows.objects.len = 0;
	keep_known(&r->rows.segments, known);
	keep_known(&r->rows.code, known);
	keep_known(&r->rows.symbols, known);
	keep_known(&r->rows.mapped, known);
	keep_known(&r->rows.inlined, known);
	return 0;
}

/* ---- what is reported ---- */

void reader__give_damage(struct trace_reader *r, struct trace_item *out)
{
	const struct trace_damage *d = &r->damage;

	r->is_due = false;
	r->lost.places++;
	r->lost.events += d->events;
	r->lost.sideband += d->sideband;
	r->lost.unknown |= d->unknown;
	r->lost.names |= d->names;
	*out = (struct trace_item){.type = TRACE_DAMAGE, .damage = d};
}

int reader__sum_up(struct trace_reader *r)
{
	const struct block_stream *s = &r->blocks.stream;
	char text[160];

	if (!r->lost.places || r->lost.reported)
		return 0;
	r->lost.reported = true;
	trace_damage__text(&(struct trace_damage){.events = r->lost.events,
						  .sideband = r->lost.sideband,
						  .unknown = r->lost.unknown,
						  .names = r->lost.names},
			   text, sizeof(text));
	return err__set(EBADMSG, "damaged at byte %llu, block %u: %s lost%s; all else was read",
			(unsigned long long)s->broken.at, s->broken.number, text,
			r->lost.places > 1 ? ", in several places" : "");
}

void trace_damage__text(const struct trace_damage *d, char *text, size_t len)
{
	const char *more = d->unknown ? "at least " : "";

	if (d->events || d->unknown)
		snprintf(text, len, "%s%llu event%s", more, (unsigned long long)d->events,
			 d->events == 1 ? "" : "s");
	else
		snprintf(text, len, "no event");
	if (d->sideband)
		snprintf(text + strlen(text), len - strlen(text), " and %llu about processes",
			 (unsigned long long)d->sideband);
	if (d->names)
		snprintf(text + strlen(text), len - strlen(text), " and names");
	snprintf(text + strlen(text), len - strlen(text), "%s",
		 d->events == 1 && !d->sideband && !d->names ? " is" : " are");
}

// SPDX-License-Identifier: BSD-2-Clause
/* doctor --calibrate: what a hit costs here, as a table, and whether the placement assumes the
 * same. */
#include <elf.h>
#include <stdlib.h>
#include "cmd.h"

static double cheapest(const calibration_vec *v)
{
	const struct calibration *c;
	double least = v->len ? v->data[0].ns : 0;

	vec__each (c, v)
		least = min_of(least, c->ns);
	return least;
}

static void put_row(const struct calibration *c, double ratio, bool json)
{
	if (json)
		printf("{\"mechanism\":\"%s\",\"insn\":\"%s\",\"class\":\"%s\",\"record\":\"%s\","
		       "\"ns\":%.1f,\"ratio\":%.2f}\n",
		       c->mechanism, c->insn, cost_class_names[c->class], c->record, c->ns, ratio);
	else
		printf("%-14s %-6s %-9s %-8s %9.1f %7.2f\n", c->mechanism, c->insn,
		       cost_class_names[c->class], c->record, c->ns, ratio);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The median of a class of branches; 0: there is none. */
static double cost_of(const calibration_vec *v, const char *mechanism, enum cost_class class)
{
	autofree double *ns = xcalloc(v->len + 1, sizeof(*ns));
	const struct calibration *c;
	size_t n = 0;

	vec__each (c, v)
		if (c->class == class && !strcmp(c->mechanism, mechanism) &&
		    !strcmp(c->record, "branch"))
			ns[n++] = c->ns;
	qsort(ns, n, sizeof(*ns), by_value);
	return n ? ns[n / 2] : 0;
}

static void put_verdict(const calibration_vec *v, const struct cost_row *row, bool json)
{
	double emulated = cost_of(v, row->mechanism, COST_EMULATED);
	double stepped = cost_of(v, row->mechanism, COST_STEPPED);
	double assumed = (double)row->cost[COST_STEPPED] / row->cost[COST_EMULATED];

	if (emulated <= 0 || stepped <= 0)
		return;
	if (json)
		printf("{\"mechanism\":\"%s\",\"measured\":%.2f,\"assumed\":%.2f}\n",
		       row->mechanism, stepped / emulated, assumed);
	else
		printf("%s: stepped/emulated: %.1f, placement assumes %.1f\n", row->mechanism,
		       stepped / emulated, assumed);
}

int calibrate__show(bool json)
{
	const struct calibration *c;
	const struct cost_row *row;
	calibration_vec v = {0};
	int err = calibrate__run(&v);

	if (!err && !json)
		printf("%-14s %-6s %-9s %-8s %9s %7s\n", "mechanism", "insn", "class", "record",
		       "ns/hit", "ratio");
	vec__each (c, &v)
		if (!err)
			put_row(c, c->ns / cheapest(&v), json);
	for (row = cost_rows; !err && row->machine; row++)
		put_verdict(&v, row, json);
	vec__free(&v);
	return err;
}

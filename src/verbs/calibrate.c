// SPDX-License-Identifier: BSD-2-Clause
/* doctor --calibrate: a table of what a hit costs on this machine, whether that agrees with what
 * placement assumes, and what to do about it. */
#include <elf.h>
#include <stdlib.h>
#include "plan/placement/cost.h"
#include "select/targets.h"
#include "verbs.h"
#include "cli/request.h"
#include "select/costs.h"
#include "util/json.h"

static double cheapest(const calibration_vec *v)
{
	const struct calibration *c;
	double least = 0;

	vec__each (c, v)
		if (c->ns > 0 && (!least || c->ns < least))
			least = c->ns;
	return least;
}

/* Appends a row. A cost that is not above 0 is below the noise, and has no ratio. */
static void put_row_json(struct str *s, const struct calibration *c, double least)
{
	struct json j = {.out = s};

	json__open_object(&j);
	json__member(&j, string, "mechanism", c->mechanism);
	json__member(&j, string, "insn", c->insn);
	json__member(&j, string, "class", cost__class_name(arch__native(), c->class));
	json__member(&j, string, "record", c->record);
	json__member(&j, real, "ns", c->ns, 1);
	if (c->ns > 0)
		json__member(&j, real, "ratio", c->ns / least, 2);
	json__close_object(&j);
}

static void put_row_text(struct str *s, const struct calibration *c, double least)
{
	str__printf(s, "%-14s %-6s %-9s %-8s %9.1f", c->mechanism, c->insn,
		    cost__class_name(arch__native(), c->class), c->record, c->ns);
	if (c->ns > 0)
		str__printf(s, " %7.2f", c->ns / least);
}

static void put_row(const struct calibration *c, double least, bool json)
{
	struct str s = {0};

	(json ? put_row_json : put_row_text)(&s, c, least);
	puts(s.data);
	str__free(&s);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Returns the median cost of a class of branches; 0 if none was measured. */
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

static void put_verdict_json(const struct cost_row *row, double measured, double assumed)
{
	struct str s = {0};
	struct json j = {.out = &s};

	json__open_object(&j);
	json__member(&j, string, "mechanism", row->mechanism);
	json__member(&j, real, "measured", measured, 2);
	json__member(&j, real, "assumed", assumed, 2);
	json__close_object(&j);
	puts(s.data);
	str__free(&s);
}

static void put_verdict(const calibration_vec *v, const struct cost_row *row, bool json)
{
	enum cost_class more = row->kernel ? COST_BREAKPOINT : COST_STEPPED;
	enum cost_class less = row->kernel ? COST_JUMP : COST_EMULATED;
	const struct arch *arch = arch__native();
	double high = cost_of(v, row->mechanism, more), low = cost_of(v, row->mechanism, less);
	double assumed = (double)row->cost[more] / row->cost[less];

	if (low <= 0 || high <= 0)
		return;
	if (json)
		put_verdict_json(row, high / low, assumed);
	else
		printf("%s: %s/%s: %.1f, placement assumes %.1f\n", row->mechanism,
		       cost__class_name(arch, more), cost__class_name(arch, less), high / low,
		       assumed);
}

/* ---- the file for later traces ---- */

/* Makes rows of the mechanisms of which all costs that traces need were measured. */
static void make_rows(const calibration_vec *v, struct cost_row *rows)
{
	const struct cost_row *usual;

	for (usual = arch__native()->costs; usual && usual->mechanism; usual++) {
		struct cost_row row = {.mechanism = usual->mechanism, .kernel = usual->kernel};
		bool complete = true;

		for (unsigned class = 0; class < COST_CLASSES; class ++) {
			double ns = cost_of(v, row.mechanism, class);

			if (usual->cost[class] && ns > 0)
				row.cost[class] = ns + 1;
			complete &= !usual->cost[class] || row.cost[class] ||
				    (row.kernel && class != COST_BREAKPOINT);
		}
		if (complete)
			*rows++ = row;
	}
}

static void put_kept(const char *path, bool json)
{
	CLEANUP(str__free) struct str s = {0};
	struct json j = {.out = &s};

	if (!json) {
		printf("written to %s: traces place their probes by these costs\n", path);
		return;
	}
	json__open_object(&j);
	json__member(&j, string, "kept", path);
	json__close_object(&j);
	puts(s.data);
}

static void keep(const calibration_vec *v, bool json)
{
	struct cost_row rows[COSTS_ROWS] = {0};
	autofree char *path = NULL;

	make_rows(v, rows);
	if (!rows[0].mechanism)
		return;
	if (costs__keep(arch__native(), rows, &path))
		note("these costs were not written, so traces assume the usual ones: %s",
		     err__text());
	else
		put_kept(path, json);
	err__clear();
}

/* ---- advice ---- */

/* Returns the cost of this instruction with this record; 0 if not measured, or below the noise. */
static double cost_at(const calibration_vec *v, const char *mechanism, const char *insn,
		      const char *record)
{
	const struct calibration *c;

	vec__each (c, v)
		if (!strcmp(c->mechanism, mechanism) && !strcmp(c->insn, insn) &&
		    !strcmp(c->record, record))
			return c->ns > 0 ? c->ns : 0;
	return 0;
}

static void put_advice(const char *mechanism, double ret, struct json_key than, double ns,
		       const char *advice, bool json)
{
	CLEANUP(str__free) struct str s = {0};
	struct json j = {.out = &s};

	if (!json) {
		printf("%s: %s\n", mechanism, advice);
		return;
	}
	json__open_object(&j);
	json__member(&j, string, "mechanism", mechanism);
	json__member(&j, real, "ret_ns", ret, 1);
	json__put_key(&j, than);
	json__real(&j, ns, 1);
	json__member(&j, string, "advice", advice);
	json__close_object(&j);
	puts(s.data);
}

/* Advises whether return probes are worth it. */
static void advise_returns(const char *mechanism, double ret, double probe, bool json)
{
	autofree char *advice = NULL;

	if (ret > 2 * probe)
		advice = xasprintf(
			"a return costs %.0f ns at its ret, %.0f ns by a return probe: "
			"with -e entry,return, --returns probe saves %.0f %% of that, for "
			"programs that neither unwind (C++, Rust, Go) nor read their stack",
			ret, probe, 100 - 100 * probe / ret);
	else
		advice = xasprintf("a return costs %.0f ns at its ret, %.0f ns by a return probe: "
				   "--returns probe saves little here",
				   ret, probe);
	put_advice(mechanism, ret, (struct json_key)JSON_KEY("return_probe_ns"), probe, advice,
		   json);
}

/* Advises if calls cost much more than their branches. */
static void advise_calls(const char *mechanism, double ret, double conditional, bool json)
{
	autofree char *advice = NULL;

	if (ret <= 4 * conditional)
		return;
	advice = xasprintf("a ret costs as much as %.0f conditionals: fewer calls save most: "
			   "--exclude small functions that are called often",
			   ret / conditional);
	put_advice(mechanism, ret, (struct json_key)JSON_KEY("conditional_ns"), conditional, advice,
		   json);
}

static void advise(const calibration_vec *v, const char *mechanism, bool json)
{
	double ret = cost_at(v, mechanism, "ret", "value");
	double probe = cost_at(v, mechanism, "nop", "return");
	double conditional = cost_at(v, mechanism, "jcc", "branch");

	if (ret && probe)
		advise_returns(mechanism, ret, probe, json);
	if (ret && conditional)
		advise_calls(mechanism, ret, conditional, json);
}

static int measure_kernel(calibration_vec *v)
{
	autofree char *name = xasprintf("%sgetppid", arch__native()->kernel->syscalls->prefix);
	const struct request a = {.verb = verb__find("kernel"),
				  .operands = {.data = &name, .len = 1}};
	CLEANUP(targets__free) struct targets n = {0};
	int err = targets__find(&n, &a, 0, false);

	if (err)
		return err;
	return calibrate__kernel(n.functions.data[0].object, n.functions.data[0].entry, v);
}

/* Adds kprobes, if the kernel has them. */
static void add_kernel(calibration_vec *v)
{
	const struct feature *f = features;

	while (f->name && strcmp(f->name, "kprobe_event"))
		f++;
	if (!f->name || f->check())
		return;
	if (!arch__native()->kernel)
		return;
	if (measure_kernel(v))
		note("kprobes are not measured: %s", err__text());
}

int calibrate__show(bool json)
{
	const struct calibration *c;
	const struct cost_row *row;
	autofree calibration_vec v = {0};
	int err = calibrate__run(&v);

	if (err)
		return err;
	add_kernel(&v);
	if (!json)
		printf("%-14s %-6s %-9s %-8s %9s %7s\n", "mechanism", "insn", "class", "record",
		       "ns/hit", "ratio");
	vec__each (c, &v)
		put_row(c, cheapest(&v), json);
	for (row = costs__usual(arch__native()); row && row->mechanism; row++)
		put_verdict(&v, row, json);
	for (row = arch__native()->costs; row && row->mechanism; row++)
		advise(&v, row->mechanism, json);
	keep(&v, json);
	return 0;
}

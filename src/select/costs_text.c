// SPDX-License-Identifier: BSD-2-Clause
/*
 * costs_text: the file that `doctor --calibrate` writes, as text. Pure.
 *
 *	bbtrace costs 1
 *	kernel 6.12.9-amd64
 *	cpu AMD EPYC 7B13
 *	hypervisor KVMKVMKVM		("physical": none)
 *	cost uprobe_multi emulated 580	(ns)
 *	cost uprobe_multi stepped 20100
 *	end
 *
 * The lines are in this order, each has a line end, and nothing follows them. A mechanism has
 * a line for each class that its hits can have.
 */
#include <errno.h>
#include "plan/placement/cost.h"
#include "costs.h"

#define FIRST	 "bbtrace costs 1"
#define LAST	 "end"
#define PHYSICAL "physical"
#define UNNAMED	 "unknown" /* a hypervisor, or a processor, without a name */
#define MOST_NS	 1000000000u

static const char *or_unnamed(const char *name)
{
	return *name ? name : UNNAMED;
}

/* True if hits by this row's mechanism can be of this class. */
static bool has_class(const struct cost_row *row, unsigned class)
{
	return row->cost[class];
}

static const struct cost_row *row_of(const struct arch *arch, const char *mechanism)
{
	const struct cost_row *r;

	for (r = arch->costs; r && r->mechanism; r++)
		if (!strcmp(r->mechanism, mechanism))
			return r;
	return NULL;
}

void costs_text__put(struct str *out, const struct arch *arch, const struct machine_costs *c)
{
	const struct cost_row *r;

	str__printf(out, FIRST "\nkernel %s\ncpu %s\nhypervisor %s\n", or_unnamed(c->kernel),
		    or_unnamed(c->machine.cpu),
		    c->machine.is_virtual ? or_unnamed(c->machine.hypervisor) : PHYSICAL);
	for (r = c->rows; r->mechanism; r++)
		for (unsigned class = 0; class < COST_CLASSES; class ++)
			if (has_class(r, class))
				str__printf(out, "cost %s %s %u\n", r->mechanism,
					    cost__class_name(arch, class), r->cost[class]);
	str__puts(out, LAST "\n");
}

/* ---- parsing ---- */

struct reader {
	const char *p, *end;
	unsigned line;
	const struct arch *arch;
};

static int bad(const struct reader *r, const char *what)
{
	return err__set(EBADMSG, "line %u: %s", r->line, what);
}

/* Reads the next line, without its end. */
static int take_line(struct reader *r, char *line, size_t size)
{
	const char *newline = r->p < r->end ? memchr(r->p, '\n', r->end - r->p) : NULL;
	size_t len = newline ? newline - r->p : 0;

	r->line++;
	if (!newline)
		return bad(r, "it ends too early");
	if (len >= size)
		return bad(r, "it is too long");
	for (const char *c = r->p; c < newline; c++)
		if (*c < ' ' || *c > '~')
			return bad(r, "it has bytes that aren't text");
	memcpy(line, r->p, len);
	line[len] = 0;
	r->p = newline + 1;
	return 0;
}

/* "KEY VALUE" */
static int take_value(struct reader *r, const char *key, char *value, size_t size)
{
	char line[128];
	size_t len = strlen(key);
	int err = take_line(r, line, sizeof(line));

	if (err)
		return err;
	if (strncmp(line, key, len) || line[len] != ' ' || !line[len + 1])
		return bad(r, "it is not the one that belongs there");
	if (strlen(line + len + 1) >= size)
		return bad(r, "it is too long");
	strcpy(value, line + len + 1);
	if (!strcmp(value, UNNAMED))
		*value = 0;
	return 0;
}

static int take_machine(struct reader *r, struct machine_costs *out)
{
	char line[128];
	int err = take_line(r, line, sizeof(line));

	if (err)
		return err;
	if (strcmp(line, FIRST))
		return bad(r, "it is not of this version of bbtrace");
	err = take_value(r, "kernel", out->kernel, sizeof(out->kernel));
	if (err)
		return err;
	err = take_value(r, "cpu", out->machine.cpu, sizeof(out->machine.cpu));
	if (err)
		return err;
	err = take_value(r, "hypervisor", out->machine.hypervisor, sizeof(out->machine.hypervisor));
	out->machine.is_virtual = strcmp(out->machine.hypervisor, PHYSICAL) != 0;
	if (!out->machine.is_virtual)
		out->machine.hypervisor[0] = 0;
	return err;
}

/* Returns the mechanism's row, which is added if missing. NULL if there is no such mechanism. */
static struct cost_row *add_row(struct reader *r, const char *mechanism, struct cost_row *rows)
{
	const struct cost_row *usual = row_of(r->arch, mechanism);
	size_t n = 0;

	while (n < COSTS_ROWS - 1 && rows[n].mechanism && strcmp(rows[n].mechanism, mechanism))
		n++;
	if (!usual || n == COSTS_ROWS - 1)
		return NULL;
	rows[n].mechanism = usual->mechanism;
	rows[n].kernel = usual->kernel;
	return &rows[n];
}

static unsigned class_of(const struct reader *r, const char *name)
{
	unsigned class = 0;

	while (class < COST_CLASSES && strcmp(cost__class_name(r->arch, class), name))
		class ++;
	return class;
}

/* Splits "cost MECHANISM CLASS NS" in place. */
static bool split(char *line, char *words[4])
{
	for (int i = 0; i < 4; i++) {
		words[i] = line;
		line = strchr(line, ' ');
		if (!line != (i == 3) || !*words[i])
			return false;
		if (line)
			*line++ = 0;
	}
	return !strcmp(words[0], "cost");
}

static int take_cost(struct reader *r, char *line, struct machine_costs *out)
{
	struct cost_row *row;
	char *words[4];
	unsigned class;
	uint64_t ns;

	if (!split(line, words))
		return bad(r, "it is not the one that belongs there");
	row = add_row(r, words[1], out->rows);
	class = class_of(r, words[2]);
	if (!row || class == COST_CLASSES || !has_class(row_of(r->arch, words[1]), class))
		return bad(r, "there is no such cost");
	if (row->cost[class])
		return bad(r, "that cost is there twice");
	if (parse__u64(words[3], false, &ns) || !ns || ns > MOST_NS)
		return bad(r, "it has no number of nanoseconds");
	row->cost[class] = ns;
	return 0;
}

/* Fails if a class is missing that traces need: two of a program's probes, breakpoints of the
 * kernel's. */
static int check_complete(const struct reader *r, const struct machine_costs *c)
{
	const struct cost_row *row;

	for (row = c->rows; row->mechanism; row++)
		if (row->kernel ? !row->cost[COST_BREAKPOINT]
				: !row->cost[COST_EMULATED] || !row->cost[COST_STEPPED])
			return bad(r, "a cost is missing before it");
	return c->rows[0].mechanism ? 0 : bad(r, "there are no costs before it");
}

static int take_costs(struct reader *r, struct machine_costs *out)
{
	char line[128];
	int err;

	for (;;) {
		err = take_line(r, line, sizeof(line));
		if (err)
			return err;
		if (!strcmp(line, LAST))
			return check_complete(r, out);
		err = take_cost(r, line, out);
		if (err)
			return err;
	}
}

int costs_text__parse(const char *text, size_t len, const struct arch *arch,
		      struct machine_costs *out)
{
	struct reader r = {.p = text, .end = text + len, .arch = arch};
	int err;

	*out = (struct machine_costs){0};
	err = take_machine(&r, out);
	if (err)
		return err;
	err = take_costs(&r, out);
	if (err)
		return err;
	r.line++;
	return r.p == r.end ? 0 : bad(&r, "it follows the end");
}

bool costs__are_of(const struct machine_costs *c, const char *kernel, const struct host *m)
{
	return !strcmp(c->kernel, kernel) && !strcmp(c->machine.cpu, m->cpu) &&
	       !strcmp(c->machine.hypervisor, m->hypervisor) &&
	       c->machine.is_virtual == m->is_virtual;
}

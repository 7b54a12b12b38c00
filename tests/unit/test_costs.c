// SPDX-License-Identifier: BSD-2-Clause
/* The file of measured costs, as text, and the costs that a plan is made by. */
#include <errno.h>
#include "plan/placement/cost.h"
#include "select/costs.h"
#include "tap.h"

#define HEAD "bbtrace costs 1\nkernel 6.1\ncpu A CPU\nhypervisor KVMKVMKVM\n"
#define USER "cost uprobe_multi emulated 500\ncost uprobe_multi stepped 9000\n"

extern const struct arch arch_x86_64;

static struct machine_costs got;

static int parse(const char *text)
{
	err__clear();
	return costs_text__parse(text, strlen(text), &arch_x86_64, &got);
}

static void test_written(void)
{
	struct machine_costs c = {.kernel = "6.12.9-amd64",
				  .machine = {.cpu = "A CPU", .is_virtual = true},
				  .rows = {{"uprobe_event", false, {500, 9000}},
					   {"kprobe_event", true, {[COST_BREAKPOINT] = 430}}}};
	CLEANUP(str__free) struct str text = {0};

	costs_text__put(&text, &arch_x86_64, &c);
	is_str(text.data,
	       "bbtrace costs 1\nkernel 6.12.9-amd64\ncpu A CPU\nhypervisor unknown\n"
	       "cost uprobe_event emulated 500\ncost uprobe_event stepped 9000\n"
	       "cost kprobe_event int3 430\nend\n",
	       "costs are written as text");
	is(parse(text.data), 0, "what was written is read: %s", err__text());
	ok(costs__are_of(&got, c.kernel, &c.machine), "its kernel and machine are read");
	ok(!memcmp(got.rows, c.rows, sizeof(c.rows)) || got.rows[1].cost[COST_BREAKPOINT] == 430,
	   "its costs are read");
	ok(!got.rows[2].mechanism, "and no others");
}

static void test_refused(void)
{
	static const struct {
		const char *text, *what;
	} rows[] = {
		{"", "nothing"},
		{"bbtrace costs 2\nkernel 6.1\n", "another version"},
		{"bbtrace costs 1\r\n", "lines that end otherwise"},
		{"bbtrace costs 1\nkernel 6.1\nhypervisor physical\ncpu A\n" USER "end\n",
		 "lines in another order"},
		{"bbtrace costs 1\nkernel \ncpu A\nhypervisor physical\n" USER "end\n", "no value"},
		{HEAD USER, "a file that was cut off"},
		{HEAD USER "en", "a line that was cut off"},
		{HEAD USER "end", "a last line without end"},
		{HEAD USER "end\n\n", "more behind the end"},
		{HEAD "end\n", "no costs"},
		{HEAD "cost uprobe_multi emulated 500\nend\n", "a mechanism without a cost"},
		{HEAD USER "cost uprobe_multi stepped 9000\nend\n", "a cost that stands twice"},
		{HEAD USER "cost uprobe_multi int3 9\nend\n", "a class that it can't have"},
		{HEAD USER "cost uprobe_multi swapped 9\nend\n", "an unknown class"},
		{HEAD USER "cost vprobe_multi stepped 9\nend\n", "an unknown mechanism"},
		{HEAD USER "cost uprobe_event stepped 0\nend\n", "a cost of 0"},
		{HEAD USER "cost uprobe_event stepped -5\nend\n", "a negative cost"},
		{HEAD USER "cost uprobe_event stepped 5x\nend\n", "a cost that is no number"},
		{HEAD USER "cost uprobe_event stepped 1000000001\nend\n", "a cost of seconds"},
		{HEAD USER "cost uprobe_event stepped 18446744073709551617\nend\n", "an overflow"},
		{HEAD USER "cost  uprobe_event stepped 5\nend\n", "two blanks"},
		{HEAD USER "cost uprobe_event stepped 5 \nend\n", "a blank at the end"},
		{HEAD USER "price uprobe_event stepped 5\nend\n", "an unknown line"},
		{HEAD "cost kprobe_event jump 60\nend\n", "no cost of a breakpoint"},
		{"bbtrace costs 1\nkernel 6.\x1b[31m1\ncpu A\nhypervisor physical\n" USER "end\n",
		 "escape sequences"},
	};
	char nul[] = HEAD USER "end\n";
	char long_line[300];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		ok(parse(rows[i].text) == -EBADMSG && *err__text(), "%s is refused: %s",
		   rows[i].what, err__text());
	nul[20] = 0;
	is(costs_text__parse(nul, sizeof(nul) - 1, &arch_x86_64, &got), -EBADMSG,
	   "a NUL is refused");
	memset(long_line, 'a', sizeof(long_line));
	is(costs_text__parse(long_line, sizeof(long_line), &arch_x86_64, &got), -EBADMSG,
	   "a long line is refused");
	is(parse(HEAD USER "end\n"), 0, "the same without a fault is read");
}

static void test_machine(void)
{
	struct host here;

	parse(HEAD USER "end\n");
	here = got.machine;
	ok(here.is_virtual && costs__are_of(&got, "6.1", &here), "costs are of the machine");
	ok(!costs__are_of(&got, "6.2", &here), "not of another kernel");
	here.is_virtual = false;
	ok(!costs__are_of(&got, "6.1", &here), "not of the machine without a hypervisor");
	here = got.machine;
	strcpy(here.cpu, "B CPU");
	ok(!costs__are_of(&got, "6.1", &here), "not of another processor");
	is(parse("bbtrace costs 1\nkernel 6.1\ncpu A\nhypervisor physical\n" USER "end\n"), 0,
	   "costs of a physical machine are read");
	ok(!got.machine.is_virtual && !*got.machine.hypervisor, "it has no hypervisor");
}

static double ratio(const struct cost_row *row)
{
	return (double)row->cost[COST_STEPPED] / row->cost[COST_EMULATED];
}

static void test_plan(void)
{
	const struct plan_site emulated = {.kind = BRANCH_RET, .traps = 1};
	const struct plan_site stepped = {.kind = BRANCH_JCC, .traps = 2};
	const struct cost_row measured[] = {
		{"uprobe_event", false, {7, 9}}, {"uprobe_multi", false, {5, 50}}, {0}};
	struct plan_options o = {0};
	const struct cost_row *row = cost__row(&arch_x86_64, false, &o);

	is(cost__class(row, &emulated), COST_EMULATED,
	   "what the kernel emulates costs so, whatever its kind");
	is(cost__class(row, &stepped), COST_STEPPED, "what it steps costs so");
	is(cost__class(cost__row(&arch_x86_64, true, &o), &emulated), COST_BREAKPOINT,
	   "a kprobe costs a breakpoint");
	ok(ratio(row) >= 2 && ratio(row) <= 4, "stepping usually costs 2 to 4 times as much");
	row = cost__find(arch_x86_64.virtual_costs, false, NULL);
	ok(ratio(row) >= 10 && ratio(row) <= 40, "on a virtual machine 10 to 40 times");
	o.costs = measured;
	o.mechanism = "uprobe_multi";
	is(cost__row(&arch_x86_64, false, &o)->cost[COST_STEPPED], 50,
	   "a plan is made by what was measured of its mechanism");
	o.mechanism = NULL;
	is(cost__row(&arch_x86_64, false, &o)->cost[COST_STEPPED], 9,
	   "or of the first one measured");
}

int main(void)
{
	test_written();
	test_refused();
	test_machine();
	test_plan();
	return tap__done();
}

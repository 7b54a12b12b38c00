// SPDX-License-Identifier: BSD-2-Clause
/* The verbs as rows. */
#include "cmd.h"

static int run_user(int argc, char **argv)
{
	return cmd__trace(argc, argv, &verbs[0]);
}

static int run_kernel(int argc, char **argv)
{
	return cmd__trace(argc, argv, &verbs[1]);
}

static int run_list(int argc, char **argv)
{
	return cmd__list(argc, argv, &verbs[2]);
}

static int run_report(int argc, char **argv)
{
	return cmd__report(argc, argv, &verbs[3]);
}

static int run_doctor(int argc, char **argv)
{
	return cmd__doctor(argc, argv, &verbs[4]);
}

const struct verb verbs[] = {
	{"user", "OBJECT FUNC... | OBJECT:FUNC... [options] [-- CMD ARG...]",
	 "Trace entry, branches and return of functions of a program or shared library.", VERB_USER,
	 run_user},
	{"kernel", "FUNC... [options] [-- CMD ARG...]",
	 "Trace entry, branches and return of functions of the running kernel and its modules.",
	 VERB_KERNEL, run_kernel},
	{"list", "OBJECT|kernel [FUNC...] [options]",
	 "List functions, with address, size and number of branches.", VERB_LIST, run_list},
	{"report", "FILE|- [FUNC...] [options]",
	 "Render a recorded trace, whole or in part, in any format.", VERB_REPORT, run_report},
	{"doctor", "[options]",
	 "Tell what this kernel and machine allow, and the remedy for what they don't.",
	 VERB_DOCTOR, run_doctor},
	{0},
};

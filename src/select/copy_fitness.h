/* SPDX-License-Identifier: BSD-2-Clause */
/* copy_fitness: may a command run under the ptracer that copies need (--engine auto)? */
#ifndef BBTRACE_SELECT_COPY_FITNESS_H
#define BBTRACE_SELECT_COPY_FITNESS_H

#include "arch/arch.h"

enum fitness {
	FIT,
	UNFIT_PTRACE,  /* it calls ptrace(2): its children can have one tracer only */
	UNFIT_CHECKER, /* its leak checker does, on itself, and makes it fail */
	UNFIT_LOG,     /* it sets the register that finds the log */
};
extern const char *const fitness_text[];

/* Of a program that is called so, as far as its file shows; of a script, its interpreter's. */
enum fitness copy_fitness__of(const char *name, const struct arch *arch);

#endif

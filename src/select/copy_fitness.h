/* SPDX-License-Identifier: BSD-2-Clause */
/* copy_fitness: whether a command can run under the ptrace tracer that copies need (--engine
 * auto). */
#ifndef BBTRACE_SELECT_COPY_FITNESS_H
#define BBTRACE_SELECT_COPY_FITNESS_H

#include "arch/arch.h"

enum fitness {
	FIT,
	UNFIT_PTRACE,  /* it calls ptrace(2), and a process can have one tracer only */
	UNFIT_CHECKER, /* its leak checker uses ptrace on itself, and would fail */
	UNFIT_LOG,     /* it sets the register that locates the log */
};
extern const char *const fitness_text[];

/* Judges the program that this name executes, as far as its file shows; of a script, its
 * interpreter. */
enum fitness copy_fitness__of(const char *name, const struct arch *arch);
/* Returns why the program of a process must not have a ptracer, as far as its file shows; NULL if
 * it may. Files are read once. */
const char *copy_fitness__unfit(pid_t pid);

#endif

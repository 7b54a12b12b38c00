/* SPDX-License-Identifier: BSD-2-Clause */
/* own_libraries: the libraries that belong to a program, as those beside it that it finds by its
 * RUNPATH; not those of the system, which others use, too. */
#ifndef BBTRACE_SELECT_COVERED_OWN_LIBRARIES_H
#define BBTRACE_SELECT_COVERED_OWN_LIBRARIES_H

#include "select/targets.h"

/*
 * Adds all functions of the libraries that belong to the program, which is among the objects, by
 * object__find_needed(): those that it needs itself, and those that these need. Libraries are
 * left out when all have so much code that planning would take long.
 */
void own_libraries__add(struct targets *n);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* own_libraries: the libraries that belong to a program, as those beside it that it finds by its
 * own RUNPATH; not those of the system, which others use, too. */
#ifndef BBTRACE_SELECT_COVERED_OWN_LIBRARIES_H
#define BBTRACE_SELECT_COVERED_OWN_LIBRARIES_H

#include "select/targets.h"

/*
 * Adds all functions of the libraries that the first object needs, directly or by others of its
 * own, and that are found by LD_LIBRARY_PATH, RUNPATH or RPATH (ld.so(8)) outside of the system's
 * folders: as long as their code isn't so large that planning takes long.
 */
void own_libraries__add(struct targets *n, pid_t pid);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache: the plans and copies of earlier starts, kept in files of the user's, so that a program
 * that is traced again isn't decoded again. Public header of src/cache.
 *
 * A file is found by a digest of all that its content was made from: the code, symbols and tables
 * of the objects, the functions, the options, and this build of bbtrace with its libraries. So what
 * is found is what would be made. It is used only if it is a file of this user's that nobody else
 * may write, and if its own digest is right. A bbtrace with file capabilities uses none: what a
 * user can write is not trusted with more rights than that user has.
 */
#ifndef BBTRACE_CACHE_CACHE_H
#define BBTRACE_CACHE_CACHE_H

#include "copy/copy.h"
#include "plan/plan.h"

/* As plan__build() and copies__make(). What can't be read or kept is made, with a note of -v. */
int cache__plan(const function_vec *functions, const struct plan_options *options,
		struct plan **out);
int cache__copies(struct plan *plan, const struct log_options *options, struct copies **out);

#endif

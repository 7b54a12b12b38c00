/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packed: a plan as bytes, as plan__build() made it, to be kept for the next start. Pure.
 */
#ifndef BBTRACE_PLAN_PACKED_H
#define BBTRACE_PLAN_PACKED_H

#include "plan/pack.h"
#include "plan/plan.h"

/* The objects that a plan may refer to, by number in its bytes. */
typedef VEC(const struct object *) object_vec;
#define NO_OBJECT UINT32_MAX
/* Returns its number; NO_OBJECT if it is none of them. */
uint32_t object_vec__number(const object_vec *objects, const struct object *o);

/* Passes the plan on as bytes. Returns false if it refers to another object, or is no longer as it
 * was built: then the bytes are worth nothing. */
bool plan__pack(const struct plan *p, const object_vec *objects, const struct pack_sink *out);
/* Makes the plan again. Bytes must be those of plan__pack() of this build, with the same objects.
 * Returns NULL if they are not whole. */
struct plan *plan__unpack(const void *bytes, size_t len, const object_vec *objects);

#endif

// SPDX-License-Identifier: BSD-2-Clause
/* What conditional branches test: the instruction that set the flags, and what an outcome proves.
 */
#include "plan/build.h"

bool plan__condition(const struct plan *p, uint32_t site, bool taken, struct str *out)
{
	const struct plan_site *s = &p->sites.data[site];

	return plan_site__is_conditional(s) && p->arch->proves &&
	       p->arch->proves(s->kind, s->cond, taken, s->compare, out);
}

// SPDX-License-Identifier: BSD-2-Clause
/* Which processes a mechanism spares, and how a traced process may lose its probes. */
#include "source/probes/session.h"

enum probe_spares mechanism__spares(const struct probe *p, const struct mechanism *m)
{
	return m->spares ? m->spares(p->scope.kind) : SPARES_NOBODY;
}

enum target_loss mechanism__loss(const struct probe *p)
{
	if (probe__spares(p) == SPARES_NOBODY)
		return LOSS_NONE;
	return p->programs.mechanism->loss == LOSS_EVENTS && !feature__inherited_events()
		       ? LOSS_THREAD
		       : p->programs.mechanism->loss;
}

bool probe__inherits(const struct probe *p)
{
	return mechanism__loss(p) == LOSS_EVENTS;
}

bool probe__reopens(const struct probe *p)
{
	return mechanism__loss(p) >= LOSS_EVENTS;
}

enum probe_spares probe__spares(const struct probe *p)
{
	return p->programs.mechanism ? mechanism__spares(p, p->programs.mechanism) : SPARES_NOBODY;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* screen: shows what was added up since the screen before, at intervals (bbtrace top). */
#ifndef BBTRACE_SESSION_SCREEN_H
#define BBTRACE_SESSION_SCREEN_H

#include "pipeline/render.h"
#include "session/live.h"

/* Zeroed: there are no screens, and all functions do nothing. */
struct screen {
	struct render *render;
	struct live *live;
	uint64_t every, next; /* ns, CLOCK_MONOTONIC */
};
/* Both are borrowed. */
struct screen screen__begin(const struct request *req, struct render *render, struct live *live);
/* Returns how long screen__tick() need not be called, at most ms. */
int screen__patience_ms(const struct screen *s, uint64_t now, int ms);
/* Shows what is due, and adds up from zero again. Returns 0, or -errno. */
int screen__tick(struct screen *s, uint64_t now);

#endif

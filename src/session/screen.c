// SPDX-License-Identifier: BSD-2-Clause
/* Screens at intervals, each of what happened since the one before. */
#include "screen.h"

struct screen screen__begin(const struct request *req, struct render *render, struct live *live)
{
	if (!req->show.screens)
		return (struct screen){0};
	return (struct screen){.render = render,
			       .live = live,
			       .every = req->show.every_ns,
			       .next = now_ns(CLOCK_MONOTONIC) + req->show.every_ns};
}

int screen__patience_ms(const struct screen *s, uint64_t now, int ms)
{
	if (!s->every)
		return ms;
	return s->next <= now ? 0 : (int)min_of((s->next - now) / 1000000 + 1, (uint64_t)ms);
}

int screen__tick(struct screen *s, uint64_t now)
{
	struct output *o;
	int err;

	if (!s->every || now < s->next)
		return 0;
	s->next = now + s->every;
	o = s->render->output;
	render__resize(s->render);
	err = output__interval(o, now, show__totals(&s->live->show));
	output__restart(o);
	return err;
}

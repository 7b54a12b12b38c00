// SPDX-License-Identifier: BSD-2-Clause
/* What bbtrace asks the supervisor for. */
#include <errno.h>
#include <sys/socket.h>
#include "tracer.h"

/* Threads that are stopped for a change of the springboards have stopped by now, too. */
static void pause_all(struct tracer *s)
{
	if (tracer__pause(s))
		tracer__change_away(s);
}

int tracer__hear(struct tracer *s)
{
	struct ask ask;
	ssize_t n;

	while (s->socket >= 0) {
		n = recv(s->socket, &ask, sizeof(ask), MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n != sizeof(ask))
			return -EPIPE;
		if (ask.type == ASK_DONE)
			tracer__slot_done(s, ask.area, ask.slot);
		else if (ask.type == ASK_PAUSE)
			pause_all(s);
		else if (ask.type == ASK_GO_ON)
			tracer__go_on(s);
		else if (ask.type == ASK_AWAY || ask.type == ASK_BACK)
			tracer__set_away(s, ask.type == ASK_AWAY);
		else if (ask.type == ASK_QUIT)
			tracer__let_go(s);
	}
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
/* What bbtrace asks the supervisor for. */
#include <errno.h>
#include <sys/socket.h>
#include "tracer.h"

/* Threads that are stopped for a change of the springboards have stopped by now, too. */
static void pause_all(struct tracer *s)
{
	if (tracer__pause(s))
		tracer__change_disarmed(s);
}

int tracer__take_requests(struct tracer *s)
{
	struct supervisor_request request;
	ssize_t n;

	while (s->socket >= 0) {
		n = recv(s->socket, &request, sizeof(request), MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n != sizeof(request))
			return -EPIPE;
		if (request.type == REQUEST_FREE_SLOT)
			tracer__slot_done(s, request.area, request.slot);
		else if (request.type == REQUEST_PAUSE)
			pause_all(s);
		else if (request.type == REQUEST_RESUME)
			tracer__go_on(s);
		else if (request.type == REQUEST_DISARM || request.type == REQUEST_ARM)
			tracer__set_disarmed(s, request.type == REQUEST_DISARM);
		else if (request.type == REQUEST_QUIT)
			tracer__detach_all(s);
	}
	return 0;
}

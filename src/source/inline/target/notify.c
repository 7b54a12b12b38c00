// SPDX-License-Identifier: BSD-2-Clause
/* Messages to bbtrace, which are queued if it doesn't read them, and from it. */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>
#include "target.h"

/* Returns 0, -EAGAIN, or another error: nobody will read. */
static int send_message(int socket, const struct queued_notice *m)
{
	return (int)min_of(fd__send(socket, &m->notice, sizeof(m->notice), m->fd, MSG_DONTWAIT), 0);
}

void tracer__flush(struct tracer *s)
{
	size_t sent = 0;
	int err = 0;

	while (sent < s->out.len) {
		if (s->socket >= 0)
			err = send_message(s->socket, &s->out.data[sent]);
		if (err == -EAGAIN)
			break;
		if (s->out.data[sent].fd >= 0)
			close(s->out.data[sent].fd);
		sent++;
	}
	if (sent)
		memmove(s->out.data, s->out.data + sent,
			(s->out.len - sent) * sizeof(*s->out.data));
	s->out.len -= sent;
}

void tracer__notify(struct tracer *s, const struct notice *notice, int fd)
{
	vec__push(&s->out, (struct queued_notice){*notice, fd});
	tracer__flush(s);
}

void tracer__notify_text(struct tracer *s, uint32_t type, const struct process *p, uint32_t object,
			 const char *text)
{
	struct notice notice = {.type = type, .pid = p->pid, .tid = p->pid, .object = object};

	snprintf(notice.text, sizeof(notice.text), "%s", text);
	tracer__notify(s, &notice, -1);
}

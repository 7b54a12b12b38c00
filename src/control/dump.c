// SPDX-License-Identifier: BSD-2-Clause
/* The command dump. A forked child ends its copy of the trace, renders it, and sends it to the
 * client at the client's pace: the trace neither changes nor waits. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "control.h"

#define PATIENCE_MS 60000 /* with a client that doesn't read */

/* ---- in the child ---- */

static int put(void *text, const void *data, size_t len)
{
	str__put(text, data, len);
	return 0;
}

/* Returns the output to render by: a new one for branches that were kept, which are not rendered
 * yet; the trace's own if it sums up. */
static struct output *output_of(struct control *c, struct str *text)
{
	struct output *o = c->render->output;

	o->options.color = o->options.line_buffered = false;
	o->options.width = 0;
	o->write = put;
	o->write_ctx = text;
	return c->recording->live->show.last
		       ? output__new(o->format, &o->options, c->plan, put, text)
		       : o;
}

static int end_copy(struct control *c, struct str *text)
{
	struct show *show = &c->recording->live->show;
	int err;

	show->output = output_of(c, text);
	show->limit = 0;
	err = show__finish(show, newest_first(c->request));
	return err ? err : output__end(show->output, show__totals(show));
}

static bool send_all(int fd, const char *data, size_t len)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};

	while (len) {
		ssize_t n = send(fd, data, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EAGAIN) {
			if (poll(&p, 1, PATIENCE_MS) <= 0)
				return false;
			continue;
		}
		if (n < 0 && errno != EINTR)
			return false;
		data += max_of(n, 0);
		len -= max_of(n, 0);
	}
	return true;
}

/* Closes all but this descriptor: the probes, the files that are written and the socket belong
 * to the trace alone. */
static void give_up_all_but(int fd)
{
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	signal(SIGUSR1, SIG_DFL);
	fd__close_others(&fd, 1);
	note__set_level(NOTE_QUIET);
}

static void __attribute__((noreturn)) answer_for(struct control *c, int fd)
{
	struct str text = {0}, head = {0};
	int err = end_copy(c, &text);

	if (err) {
		str__clear(&text);
		str__printf(&text, "%s\n", err__text());
	}
	control_head__put(&head, err ? CONTROL_ERROR : CONTROL_OK, text.len);
	_exit(!send_all(fd, head.data, head.len) || !send_all(fd, text.data, text.len));
}

/* Waits until the trace writes to go, when it doesn't trace this child. */
static void await(const int go[2])
{
	char byte;

	close(go[1]);
	while (read(go[0], &byte, 1) < 0 && errno == EINTR)
		;
}

/* ---- in the trace ---- */

void control__reap_dumps(struct control *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(c->dumps); i++) {
		if (!c->dumps[i] || !waitpid(c->dumps[i], NULL, WNOHANG))
			continue;
		source__exclude(c->recording->source, c->dumps[i], false);
		c->dumps[i] = 0;
	}
}

static pid_t *free_slot(struct control *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(c->dumps); i++)
		if (!c->dumps[i])
			return &c->dumps[i];
	return NULL;
}

/* Forks with signals blocked, until the child no longer has the trace's handlers. */
static pid_t fork_quietly(struct control *c, const int go[2])
{
	sigset_t all, old;
	pid_t pid;

	fflush(NULL);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	pid = fork();
	if (!pid) {
		await(go);
		give_up_all_but(c->reply->fd);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	return pid;
}

static int hand_over(struct control *c)
{
	pid_t *slot = free_slot(c), pid;
	int go[2];

	if (!slot)
		return err__set(EBUSY, "%d dumps are still being read", CONTROL_DUMPS);
	if (pipe2(go, O_CLOEXEC))
		return err__set(errno, "cannot make a pipe: %s", strerror(errno));
	pid = fork_quietly(c, go);
	if (!pid)
		answer_for(c, c->reply->fd);
	if (pid > 0)
		source__exclude(c->recording->source, pid, true);
	(void)!write(go[1], "", 1);
	close(go[0]);
	close(go[1]);
	if (pid < 0)
		return err__set(errno, "cannot fork: %s", strerror(errno));
	*slot = pid;
	c->reply->handed_over = true;
	return 0;
}

/* Fails if the trace has written its events at once and doesn't have them any more. */
static int check(const struct control *c)
{
	const struct show *show = &c->recording->live->show;

	if (show->tally || show->last || (show->output && show->output->format->at_end))
		return 0;
	if (c->record && strcmp(c->record, "-"))
		return err__set(EINVAL, "bbtrace report %s shows what the trace has so far",
				c->record);
	return err__set(EINVAL, "this trace writes each event at once; dump is of --last N, of "
				"counts (-c) and of formats such as -F summary");
}

int control__dump(struct control *c, const char *text, struct str *answer)
{
	int err = control__no_text("dump", text);

	if (err)
		return err;
	err = check(c);
	if (err)
		return err;
	if (c->recording->live->show.tally)
		return control__counts(c, text, answer);
	if (c->json && c->render->output->format->form != FORM_JSON)
		return err__usage("dump has the format of the trace");
	err = recording__catch_up(c->recording);
	if (err)
		return err;
	source__misses(c->recording->source, &c->recording->live->sink);
	return hand_over(c);
}

// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <unistd.h>
#include "control.h"
#include "util/json.h"

int control__no_text(const char *command, const char *text)
{
	return *text ? err__usage("%s takes nothing after it", command) : 0;
}

/* ---- status ---- */

/* The status of a trace, shown as text and as JSON. */
struct status {
	const char *state;
	uint64_t elapsed, hits;
	bool counts; /* the trace counts in the kernel */
	const struct trace_totals *totals;
};

/* Finds the status: counts that no event has are read from the kernel. */
static int find_status(struct control *c, struct status *s)
{
	int err = recording__catch_up(c->recording);

	s->state = c->recording->stopped ? "stopped" : "running";
	s->counts = c->recording->live->show.tally;
	s->elapsed = now_ns(CLOCK_MONOTONIC) - c->meta->start_time;
	if (!err && s->counts) {
		err = source__counts(c->recording->source, &c->recording->live->sink);
		show__give_counts(&c->recording->live->show);
	}
	if (!err)
		source__misses(c->recording->source, &c->recording->live->sink);
	s->hits = c->recording->live->show.hits;
	s->totals = show__totals(&c->recording->live->show);
	return err;
}

static void put_number(struct str *out, const char *key, uint64_t n)
{
	str__printf(out, "%s: %llu\n", key, (unsigned long long)n);
}

static void status_text(const struct control *c, const struct status *s, struct str *out)
{
	const struct missed *m;

	put_number(out, "pid", getpid());
	str__puts(out, "command: ");
	str__shown(out, c->meta->command);
	str__puts(out, "\nbegan: ");
	str__date(out, c->meta->start_time + c->meta->realtime_offset, c->meta->utc_offset);
	str__printf(out, "\nstate: %s\nseconds: %.3f\n", s->state, s->elapsed / 1e9);
	put_number(out, "functions", s->totals->functions);
	put_number(out, "probes", s->totals->probes);
	put_number(out, "events", s->totals->events);
	if (s->counts)
		put_number(out, "hits", s->hits);
	str__printf(out, "lost: %s%llu\n", s->totals->at_least ? "at least " : "",
		    (unsigned long long)s->totals->lost);
	if (s->totals->missed)
		str__printf(out, "missed: at most %llu\n", (unsigned long long)s->totals->missed);
	vec__each (m, &c->recording->live->show.missed) {
		str__puts(out, "missed (");
		missed__name(m, c->plan, out);
		put_number(out, ")", m->hits);
	}
	if (s->totals->untraced)
		put_number(out, "not fully traced", s->totals->untraced);
}

static void status_json(const struct control *c, const struct status *s, struct str *out)
{
	struct json j = {.out = out};

	json__open_object(&j);
	json__member(&j, unsigned, "pid", getpid());
	json__member(&j, string, "command", c->meta->command);
	json__member(&j, unsigned, "began_ns", c->meta->start_time + c->meta->realtime_offset);
	json__member(&j, string, "state", s->state);
	json__member(&j, unsigned, "elapsed_ns", s->elapsed);
	json__member(&j, unsigned, "functions", s->totals->functions);
	json__member(&j, unsigned, "probes", s->totals->probes);
	json__member(&j, unsigned, "events", s->totals->events);
	if (s->counts)
		json__member(&j, unsigned, "hits", s->hits);
	json__member(&j, unsigned, "lost", s->totals->lost);
	if (s->totals->at_least)
		json__member(&j, bool, "at_least", true);
	if (s->totals->missed)
		json__member(&j, unsigned, "missed_at_most", s->totals->missed);
	missed__json(&c->recording->live->show.missed, c->plan, &j);
	untraced__json(&c->recording->live->show.untraced, c->plan, &j);
	json__close_object(&j);
	str__putc(out, '\n');
}

static int status(struct control *c, const char *text, struct str *answer)
{
	struct status s;
	int err = control__no_text("status", text);

	if (err)
		return err;
	err = find_status(c, &s);
	if (err)
		return err;
	(c->json ? status_json : status_text)(c, &s, answer);
	return 0;
}

/* ---- quit, help ---- */

static int quit(struct control *c, const char *text, struct str *answer)
{
	int err = control__no_text("quit", text);

	c->recording->quits |= !err;
	return err;
}

static int help(struct control *c, const char *text, struct str *answer);

static const struct control_command commands[] = {
	{"status", "", "what is traced, when that began, and the number of events so far", status},
	{"counts", "", "the counts so far", control__counts},
	{"reset", "", "count from 0 again", control__reset},
	{"add", "FUNC...", "trace these functions, too", control__add},
	{"remove", "FUNC...", "stop tracing these functions", control__remove},
	{"dump", "", "what the trace would print if it ended now", control__dump},
	{"stop", "", "record nothing until start", control__stop},
	{"start", "", "record again", control__start},
	{"mark", "TEXT", "write TEXT into the trace as a mark", control__mark},
	{"quit", "", "end the trace", quit},
	{"help", "", "this text", help},
};

static int help(struct control *c, const char *text, struct str *answer)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		autofree char *head = xasprintf("%s%s%s", commands[i].name,
						*commands[i].args ? " " : "", commands[i].args);

		str__printf(answer, "%-16s %s\n", head, commands[i].help);
	}
	return 0;
}

/* ---- requests ---- */

static const struct control_command *find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static int unknown(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (str__distance(name, strlen(name), commands[i].name, strlen(commands[i].name),
				  2) <= 2)
			return err__usage("unknown command '%s'; did you mean %s?", name,
					  commands[i].name);
	return err__usage("unknown command '%s'; bbtrace ctl help lists them", name);
}

static int on_request(void *ctx, char *line, struct control_reply *reply)
{
	const struct control_command *command;
	struct control_request request;
	struct control *c = ctx;
	int err = control_request__parse(line, &request);

	if (err)
		return err;
	command = find(request.command);
	if (!command)
		return unknown(request.command);
	note_verbose("bbtrace ctl: %s%s%s", command->name, *request.text ? " " : "", request.text);
	c->json = request.json;
	c->reply = reply;
	return command->run(c, request.text, &reply->text);
}

/* ---- the main loop's side ---- */

int control__open(struct control *c)
{
	const char *path = c->request->when.control_socket;
	int err;

	c->socket = (struct control_socket){.fd = -1, .file.folder = -1};
	if (path && !strcmp(path, "none"))
		return 0;
	err = control_socket__open(path, &c->socket);
	if (err || c->socket.fd < 0)
		return err;
	note_verbose("bbtrace ctl reaches this trace by %s", c->socket.path);
	c->server = control_server__new(c->socket.fd, rights__user(), on_request, c);
	return 0;
}

int control__fd(const struct control *c)
{
	return c->server ? control_server__fd(c->server) : -1;
}

int control__patience_ms(const struct control *c, int most)
{
	return c->server && control_server__has_more(c->server) ? 0 : most;
}

int control__serve(struct control *c, uint64_t now)
{
	if (!c->server)
		return 0;
	control_server__serve(c->server, now);
	control__reap_dumps(c);
	return c->recording->failed;
}

void control__close(struct control *c)
{
	control_server__free(c->server);
	c->server = NULL;
	if (c->request)
		control_socket__close(&c->socket);
}

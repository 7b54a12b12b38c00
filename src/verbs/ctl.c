// SPDX-License-Identifier: BSD-2-Clause
/* The verb ctl: lists running traces, or sends a command to one. */
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/option.h"
#include "cli/exit_status.h"
#include "verbs.h"
#include "cli/request.h"
#include "control/client.h"
#include "control/socket.h"
#include "util/json.h"

#define GREETING_MS 10000
#define ANSWER_MS   60000
/* Attaching thousands of probes takes this long. */
#define ATTACH_MS 600000
/* Time for the answer of each listed trace. */
#define LISTED_MS 1000

struct ctl {
	const struct request *request;
	bool json;
	/* also used in messages */
	uint32_t pid; /* 0 if the trace is named by path, or not at all */
	char *path, *who;
	char **words; /* the command and its text */
	size_t nwords;
};

/* ---- traces that run ---- */

struct running {
	uint32_t pid;
	char *path; /* of the trace's socket; owned */
};
typedef VEC(struct running) running_vec;

static void free_running(running_vec *all)
{
	struct running *r;

	vec__each (r, all)
		free(r->path);
	vec__free(all);
}

static void add_folder(running_vec *out, const char *folder, uid_t owner)
{
	control_pids pids = {0};
	const uint32_t *pid;
	with_own_rights;

	if (folder && control_folder__list(folder, owner, &pids))
		vec__each (pid, &pids)
			vec__push(out,
				  (struct running){*pid, xasprintf("%s/%u.sock", folder, *pid)});
	err__clear();
	vec__free(&pids);
}

/* Adds the traces of other users with capabilities, which root may control, too. */
static void add_users(running_vec *out)
{
	DIR *dir = opendir("/run/user");
	const struct dirent *e;

	while (dir && (e = readdir(dir))) {
		unsigned long uid = strtoul(e->d_name, NULL, 10);
		autofree char *folder = uid ? control_folder__of(uid) : NULL;

		add_folder(out, folder, uid);
	}
	if (dir)
		closedir(dir);
}

static void find_running(running_vec *out)
{
	autofree char *own = control_folder__own();

	add_folder(out, own, rights__user());
	if (!rights__user())
		add_users(out);
}

/* Returns the number of traces that only root may control. */
static size_t count_roots(void)
{
	autofree char *folder = control_folder__of(0);
	running_vec roots = {0};
	size_t n;

	if (rights__user())
		add_folder(&roots, folder, 0);
	n = roots.len;
	free_running(&roots);
	return n;
}

static const char *hint_of_root(void)
{
	return count_roots() ? "; sudo bbtrace ctl lists those of root" : "";
}

/* ---- the list ---- */

static int collect(void *text, const char *data, size_t len)
{
	str__put(text, data, len);
	return 0;
}

/* Returns the value in the line "key: value" of a status; the caller frees it. */
static char *value_of(const struct str *status, const char *key)
{
	autofree char *head = xasprintf("%s: ", key);

	for (const char *line = status->data; line && *line;) {
		size_t len = strcspn(line, "\n");

		if (!strncmp(line, head, strlen(head)))
			return xstrndup(line + strlen(head), len - strlen(head));
		line += len + (line[len] != 0);
	}
	return xstrdup("-");
}

static void list_text(const struct running *r, const struct str *status)
{
	autofree char *state = status->len ? value_of(status, "state") : xstrdup("no answer");
	autofree char *seconds = value_of(status, "seconds"),
		      *command = value_of(status, "command");
	autofree char *events = value_of(status, "hits");
	autofree struct str line = {0}, shown = {0};

	if (!strcmp(events, "-")) {
		free(events);
		events = value_of(status, "events");
	}
	str__printf(&line, "%-8u %-9s %12s %12s  %s", r->pid, state, seconds, events, command);
	str__shown(&shown, line.data);
	puts(shown.data);
}

static void list_json(const struct running *r, const struct str *status)
{
	autofree struct str line = {0};
	struct json j = {.out = &line};

	if (status->len) {
		fwrite(status->data, 1, status->len, stdout);
		return;
	}
	json__open_object(&j);
	json__member(&j, unsigned, "pid", r->pid);
	json__member(&j, string, "state", "no answer");
	json__close_object(&j);
	puts(line.data);
}

static void list_one(const struct ctl *ctl, const struct running *r)
{
	autofree char *who = xasprintf("trace %u", r->pid);
	CLEANUP(control_client__close)
	struct control_client c = {.fd = -1, .timeout_ms = LISTED_MS, .who = who};
	autofree struct str status = {0};

	if (control_client__open(&c, r->path) ||
	    control_client__ask(&c, ctl->json ? "status -F json" : "status", collect, &status)) {
		note_verbose("%s", err__text());
		str__clear(&status);
	}
	err__clear();
	(ctl->json ? list_json : list_text)(r, &status);
}

static int list(const struct ctl *ctl)
{
	CLEANUP(free_running) running_vec all = {0};
	const struct running *r;

	find_running(&all);
	if (!all.len)
		note("no trace is running that you may control%s", hint_of_root());
	else if (!ctl->json)
		printf("%-8s %-9s %12s %12s  %s\n", "PID", "STATE", "SECONDS", "EVENTS", "COMMAND");
	vec__each (r, &all)
		list_one(ctl, r);
	return EXIT_TRACED;
}

/* ---- the choice of the trace ---- */

static int several(const running_vec *all)
{
	CLEANUP(str__free) struct str pids = {0};
	const struct running *r;

	vec__each (r, all)
		str__printf(&pids, "%s%u", pids.len ? ", " : "", r->pid);
	return err__usage("%zu traces are running: give the PID of one, %s: bbtrace ctl PID "
			  "COMMAND; bbtrace ctl lists the traces, ctl help the commands",
			  all->len, pids.data);
}

static int choose_only(struct ctl *ctl)
{
	CLEANUP(free_running) running_vec all = {0};

	find_running(&all);
	if (!all.len)
		return err__set(ESRCH,
				"no trace is running that you may control (bbtrace ctl help lists "
				"the commands)%s",
				hint_of_root());
	if (all.len > 1)
		return several(&all);
	ctl->pid = all.data[0].pid;
	ctl->path = xstrdup(all.data[0].path);
	return 0;
}

static bool is_there(const char *path)
{
	struct stat st;
	with_own_rights;

	return path && !lstat(path, &st);
}

static char *path_in(const char *folder, uint32_t pid)
{
	return folder ? xasprintf("%s/%u.sock", folder, pid) : NULL;
}

/* Returns the path of a trace's socket: in the folder of this user, or of root, whose trace may
 * be another user's process, or of the user whose process it is. */
static char *path_of(uint32_t pid)
{
	char *folders[] = {control_folder__own(), control_folder__of(0),
			   control_folder__of(thread__status_number(pid, "Uid"))};
	char *path = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(folders) && !is_there(path); i++) {
		free(path);
		path = path_in(folders[i], pid);
	}
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		free(folders[i]);
	return path;
}

static int choose_pid(struct ctl *ctl)
{
	autofree char *proc = xasprintf("/proc/%u", ctl->pid);

	ctl->path = path_of(ctl->pid);
	if (is_there(ctl->path))
		return 0;
	if (access(proc, F_OK))
		return err__set(ESRCH, "no such process: %u; bbtrace ctl lists the traces",
				ctl->pid);
	return err__set(
		ENOENT,
		"process %u is not a trace that you can reach; bbtrace ctl lists them; a trace "
		"with --control-socket PATH is named by PATH",
		ctl->pid);
}

static bool is_number(const char *word)
{
	return *word && strspn(word, "0123456789") == strlen(word) && strlen(word) < 10;
}

/* Chooses the trace by the first operand: a PID, a socket, or already the command. */
static int choose(struct ctl *ctl)
{
	const char *first = ctl->request->operands.data[0];
	bool named = is_number(first) || strchr(first, '/');
	int err;

	ctl->words = ctl->request->operands.data + named;
	ctl->nwords = ctl->request->operands.len - named;
	if (is_number(first)) {
		ctl->pid = strtoul(first, NULL, 10);
		err = choose_pid(ctl);
	} else if (named) {
		ctl->path = xstrdup(first);
		err = 0;
	} else {
		err = choose_only(ctl);
	}
	if (!err)
		ctl->who = ctl->pid ? xasprintf("trace %u", ctl->pid)
				    : xasprintf("the trace at %s", ctl->path);
	return err;
}

/* ---- a command ---- */

/* Shows an answer; text for a terminal only when it is complete. */
struct shown {
	bool terminal;
	struct str text;
};

static int show(void *ctx, const char *data, size_t len)
{
	struct shown *s = ctx;

	if (s->terminal)
		str__put(&s->text, data, len);
	else if (fwrite(data, 1, len, stdout) != len)
		return err__set(errno, "cannot write to stdout: %s", strerror(errno));
	return 0;
}

static int show_on_terminal(const struct str *text)
{
	autofree struct str shown = {0};

	if (text->len && memchr(text->data, 0, text->len))
		return err__set(EINVAL,
				"refusing to write binary data to a terminal: use a pipe, or "
				"> FILE");
	for (const char *line = text->data; line && *line;) {
		size_t len = strcspn(line, "\n");
		autofree char *copy = xstrndup(line, len);

		str__shown(&shown, copy);
		str__putc(&shown, '\n');
		line += len + (line[len] != 0);
	}
	fwrite(shown.data ? shown.data : "", 1, shown.len, stdout);
	return 0;
}

static int refused(const struct ctl *ctl, int err)
{
	if (err == -ECONNREFUSED && control_socket__remove_dead(ctl->path))
		return err__set(ESRCH,
				"%s has ended without removing its socket, which is removed now; "
				"bbtrace ctl lists those that run",
				ctl->who);
	if (err == -ECONNREFUSED || err == -ENOENT)
		return err__set(ESRCH,
				"nobody listens at %s; bbtrace ctl lists the traces that run",
				ctl->path);
	if (err == -EACCES || err == -EPERM)
		return err__set(
			EACCES,
			"%s: not permitted; only root and the user of the trace may control "
			"it: run with sudo",
			ctl->who);
	return err;
}

/* Makes a relative path absolute: the trace may have another working directory. */
static void put_folder(struct str *s, const char *word)
{
	size_t prefix = strncmp(word, "user:", 5) ? 0 : 5, path = word[prefix] == '@';
	autofree char *folder = getcwd(NULL, 0);
	const char *name = word + prefix + path;

	str__put(s, word, prefix + path);
	if (folder && *name != '/' && memchr(name, '/', strcspn(name, ":")))
		str__printf(s, "%s/", folder);
	str__puts(s, name);
}

/* Appends a word, quoted if words must stay separate. */
static void put_word(struct str *s, const char *word, bool apart)
{
	autofree struct str full = {0};

	if (!apart) {
		str__puts(s, word);
		return;
	}
	put_folder(&full, word);
	str__shell(s, full.data ? full.data : "");
}

static bool takes_functions(const struct ctl *ctl)
{
	return ctl->nwords && (!strcmp(ctl->words[0], "add") || !strcmp(ctl->words[0], "remove"));
}

static char *request_of(const struct ctl *ctl)
{
	struct str s = {0};

	str__puts(&s, ctl->nwords ? ctl->words[0] : "status");
	str__puts(&s, ctl->json ? " -F json" : "");
	for (size_t i = 1; i < ctl->nwords; i++) {
		str__putc(&s, ' ');
		put_word(&s, ctl->words[i], takes_functions(ctl));
	}
	return s.data;
}

static int command(const struct ctl *ctl)
{
	autofree char *request = request_of(ctl);
	struct shown shown = {.terminal = isatty(STDOUT_FILENO)};
	struct control_client c = {
		.fd = -1,
		.timeout_ms = ctl->request->when.timeout_ns
				      ? (int)min_of(ctl->request->when.timeout_ns / 1000000 + 1,
						    (uint64_t)INT32_MAX)
			      : takes_functions(ctl) ? ATTACH_MS
						     : GREETING_MS,
		.who = ctl->who};
	int err = 0;

	if (strpbrk(request, "\r\n"))
		return err__usage("a command is one line");
	err = control_client__open(&c, ctl->path);
	c.timeout_ms = ctl->request->when.timeout_ns ? c.timeout_ms : ANSWER_MS;
	if (err)
		err = refused(ctl, err);
	else
		err = control_client__ask(&c, request, show, &shown);
	if (!err && ctl->request->wait)
		control_client__await_end(&c);
	control_client__close(&c);
	if (!err)
		err = show_on_terminal(&shown.text);
	if (!err && fflush(stdout))
		err = err__set(errno, "cannot write to stdout: %s", strerror(errno));
	str__free(&shown.text);
	return err;
}

/* ---- the verb ---- */

/* ---- options ---- */

static const struct option_row option_rows[] = {
	{"wait", 0, NULL, VERB_CTL, SWITCH(wait),
	 "quit: return only when the trace has written everything"},
	{"timeout", 't', "SEC", VERB_CTL, DURATION(when.timeout_ns),
	 "wait this long for an answer (default: 60, 10 for the first sign)"},
};

const struct option_group options_ctl = {"Of bbtrace ctl", option_rows, ARRAY_SIZE(option_rows)};

int ctl__check(struct request *req)
{
	const char *last = req->operands.len ? *vec__last(&req->operands) : "";

	if (req->wait && strcmp(last, "quit"))
		return err__set(EINVAL, "--wait is for quit: bbtrace ctl PID quit --wait");
	return 0;
}

int ctl__run(const struct request *req)
{
	struct ctl ctl = {.request = req, .json = output__form(req->show.format) == FORM_JSON};
	int err;

	if (!req->operands.len)
		return list(&ctl);
	err = choose(&ctl);
	if (!err)
		err = command(&ctl);
	free(ctl.path);
	free(ctl.who);
	return err ? err : EXIT_TRACED;
}

// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cli/exit_status.h"
#include "resolve/resolve.h"
#include "verbs/verbs.h"
#include "pipeline/outcomes.h"
#include "pipeline/syscall_names.h"
#include "why_run.h"

/* What the run's process leaves in shared memory. */
struct left {
	bool traced, complete, cut;
	size_t explained, nfailed, text_len;
	struct failed_call blamed;
	struct failed_call failed[512];
	struct names {
		size_t len;
		char all[64 << 10]; /* each with its NUL */
	} wanted, elsewhere, programs;
	char text[16 << 20];
};

static void leave_name(struct names *n, const char *name)
{
	size_t len = strlen(name) + 1;

	if (n->len + len > sizeof(n->all))
		return;
	memcpy(n->all + n->len, name, len);
	n->len += len;
}

static void leave(struct left *l, const struct explaining *e)
{
	char *const *name;

	l->traced = e->text.data;
	l->complete = e->complete;
	l->explained = e->explained;
	l->blamed = e->blamed;
	l->nfailed = min_of(e->failed.len, ARRAY_SIZE(l->failed));
	memcpy(l->failed, e->failed.data, l->nfailed * sizeof(*l->failed));
	vec__each (name, &e->wanted)
		leave_name(&l->wanted, *name);
	vec__each (name, &e->elsewhere)
		leave_name(&l->elsewhere, *name);
	vec__each (name, &e->programs)
		leave_name(&l->programs, *name);
	l->cut = e->text.len > sizeof(l->text);
	l->text_len = min_of(e->text.len, sizeof(l->text));
	memcpy(l->text, e->text.data, l->text_len);
}

/* ---- libraries, in whose texts messages are looked for ---- */

struct library {
	char *name; /* by which it was asked for */
	struct object *o;
};
typedef VEC(struct library) library_vec;

static const struct object *open_library(void *ctx, const char *name)
{
	library_vec *all = ctx;
	struct object *o = NULL;
	struct library *known;
	struct found found;

	vec__each (known, all)
		if (!strcmp(known->name, name))
			return known->o;
	if (object__find(name, 0, &found) || object__read(&found, &o))
		err__clear();
	vec__push(all, (struct library){xstrdup(name), o});
	return o;
}

static void free_libraries(library_vec *all)
{
	struct library *l;

	vec__each (l, all) {
		object__free(l->o);
		free(l->name);
	}
	vec__free(all);
}

/* Traces, in the run's process. */
static int trace(struct left *l, const struct request *req, char *const *operands, size_t n,
		 struct why_options o)
{
	CLEANUP(free_libraries) library_vec libraries = {0};
	struct explaining e = {.ends = true,
			       .captured = true,
			       .again = req->what.again,
			       .last = !req->what.syscalls.len,
			       .passing = o.passing,
			       .passes = o.passes,
			       .command = req->command[0],
			       .syscall_name = syscall__name,
			       .syscall_texts = outcomes__texts_of,
			       .output_number = STDOUT_FILENO,
			       .outputs_most = outcomes__outputs_most(),
			       .is_wait = outcomes__is_wait,
			       .is_own_signal = outcomes__is_own_signal,
			       .named_arguments = outcomes__put_arguments,
			       .socket_address = outcomes__put_address,
			       .library = open_library,
			       .library_ctx = &libraries};
	struct request traced = *req;
	int status;

	traced.verb = verb__find("trace");
	traced.operands.data = NULL;
	traced.operands.len = traced.operands.cap = 0;
	for (size_t i = 0; i < n; i++)
		vec__push(&traced.operands, operands[i]);
	if (o.system_calls)
		vec__push(&traced.what.with, "raw_syscalls:sys_exit");
	traced.show.output = NULL;
	traced.who.filters.follow = true;
	traced.record.explain = true;
	traced.what.own_libraries = true;
	if (trace__check(&traced)) {
		err__print();
		return EXIT_USAGE;
	}
	status = trace__explain(&traced, &e);
	leave(l, &e);
	return status;
}

static void take(struct why_run *r, const struct left *l)
{
	r->traced = l->traced;
	r->complete = l->complete;
	r->explained = l->explained;
	r->blamed = l->blamed;
	for (size_t i = 0; i < l->nfailed; i++)
		vec__push(&r->failed, l->failed[i]);
	for (size_t i = 0; i < l->wanted.len; i += strlen(l->wanted.all + i) + 1)
		vec__push(&r->wanted, xstrdup(l->wanted.all + i));
	for (size_t i = 0; i < l->elsewhere.len; i += strlen(l->elsewhere.all + i) + 1)
		vec__push(&r->elsewhere, xstrdup(l->elsewhere.all + i));
	for (size_t i = 0; i < l->programs.len; i += strlen(l->programs.all + i) + 1)
		vec__push(&r->programs, xstrdup(l->programs.all + i));
	r->text = xstrndup(l->text, l->text_len);
	r->len = strlen(r->text);
	if (l->cut)
		note("what was found is more than 16 MiB: the rest is left out");
}

static pid_t running;

static void pass_on(int sig)
{
	if (running > 0)
		kill(running, sig);
}

/* Sets handlers. A signal of the terminal's keys reaches the run's process, too. */
static void catch_signals(void (*terminal)(int), void (*others)(int))
{
	signal(SIGINT, terminal);
	signal(SIGTERM, others);
}

/* Waits for the run's process. *out is its exit status. */
static int wait_for(pid_t pid, int *out)
{
	int status;

	running = pid;
	catch_signals(SIG_IGN, pass_on);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err__set(errno, "cannot wait for the run: %s", strerror(errno));
	running = 0;
	catch_signals(SIG_DFL, SIG_DFL);
	if (!WIFEXITED(status))
		return err__set(EIO, "the run was ended by signal %d (%s): it has no result",
				WTERMSIG(status), strsignal(WTERMSIG(status)));
	*out = WEXITSTATUS(status);
	return 0;
}

/* What it reads and writes is not CMD's. */
static void drop_output(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
	}
	if (note__level() == NOTE_NORMAL)
		note__set_level(NOTE_QUIET);
}

int why_run__do(struct why_run *r, const struct request *req, char *const *operands, size_t n,
		struct why_options o)
{
	struct left *l = mmap(NULL, sizeof(*l), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	pid_t pid;
	int err;

	*r = (struct why_run){.status = EXIT_CANNOT};
	if (l == MAP_FAILED)
		return err__set(errno, "no memory for the result of a run: %s", strerror(errno));
	fflush(NULL);
	pid = fork();
	if (!pid) {
		int status;

		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (o.passes)
			drop_output();
		status = trace(l, req, operands, n, o);
		fflush(NULL);
		_exit(status);
	}
	err = pid > 0 ? wait_for(pid, &r->status)
		      : err__set(errno, "cannot fork: %s", strerror(errno));
	if (!err)
		take(r, l);
	munmap(l, sizeof(*l));
	return err;
}

void why_run__free(struct why_run *r)
{
	char **name;

	vec__each (name, &r->wanted)
		free(*name);
	vec__free(&r->wanted);
	vec__each (name, &r->elsewhere)
		free(*name);
	vec__free(&r->elsewhere);
	vec__each (name, &r->programs)
		free(*name);
	vec__free(&r->programs);
	vec__free(&r->failed);
	free(r->text);
	*r = (struct why_run){0};
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * `supervised [-f] [-v] [-t FILE[:FUNC]]... [-a US] [-q MS] [-k US] [-w] -- CMD...`: runs the
 * command under the supervisor, with copies of these functions (FUNC: '*'), and reads their logs
 * without looking at them. -f: children, too. -a: attaches to the command when it has run for so
 * long. -q: lets go after so long; -k: kills the supervisor. -w: nobody reads the logs. Its exit
 * status is the command's. -v prints what was said. -n N: so many runs, and -a, -q and -k are the
 * longest of random times; prints the status of each.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "plan/plan.h"
#include "resolve/resolve.h"
#include "source/inline/supervisor/supervisor.h"

struct slot {
	uint32_t area, slot;
	bool ended;
};

static struct {
	bool follow, verbose, unread, gone;
	unsigned attach_us, quit_ms, kill_us, runs;
	uint8_t *areas[1024];
	VEC(struct slot) slots;
	uint64_t segments, dropped, areas_seen, rings, mapped, refused, let_go;
	uint64_t ticks;
	struct supervisor *s;
} run;

static function_vec functions;

static bool add(const char *text)
{
	const char *colon = strchr(text, ':');
	autofree char *file = xstrndup(text, colon ? (size_t)(colon - text) : strlen(text));
	struct object *o;
	struct spec spec;
	bool good;

	if (object__open(file, &o) || spec__parse(colon ? colon + 1 : "*", false, &spec))
		return false;
	good = !object__resolve(o, &spec, &functions);
	spec__free(&spec);
	return good;
}

static bool make(struct plan **p, struct copies **c)
{
	struct plan_options options = {.events = PLAN_ENTRY | PLAN_BRANCH | PLAN_RETURN,
				       .placement = PLACEMENT_FULL};
	struct log_options log = {0};

	*c = xcalloc(1, sizeof(**c));
	if (!functions.len) {
		*p = xcalloc(1, sizeof(**p));
		(*p)->arch = arch__native();
		return true;
	}
	return !plan__build(&functions, &options, p) && !copies__make(*p, &log, c);
}

/* ---- what it says ---- */

static struct log_ring *ring_of(const struct slot *s)
{
	return (void *)(run.areas[s->area] + (size_t)s->slot * LOG_SLOT);
}

static void print(const struct notice *m)
{
	static const char *const names[] = {"area",   "area gone", "ring",    "end",
					    "mapped", "begun",	   "refused", "let go",
					    "note",   "uncovered", "covered", "gone"};

	fprintf(stderr, "%s pid %u tid %u area %u slot %u object %u position %llx base %llx: %s\n",
		names[m->type], m->pid, m->tid, m->area, m->slot, m->object,
		(unsigned long long)m->position, (unsigned long long)m->base, m->text);
}

static void end_slot(const struct notice *m)
{
	struct supervisor_request done = {REQUEST_FREE_SLOT, m->area, m->slot};

	for (size_t i = 0; i < run.slots.len; i++) {
		struct slot *s = &run.slots.data[i];

		if (s->area != m->area || s->slot != m->slot)
			continue;
		run.segments += ring_of(s)->segments & 0xffffff;
		run.dropped += ring_of(s)->dropped;
		run.slots.data[i] = run.slots.data[--run.slots.len];
		break;
	}
	send(supervisor__socket(run.s), &done, sizeof(done), MSG_NOSIGNAL);
}

static void handle(const struct notice *m, int fd)
{
	if (run.verbose)
		print(m);
	switch (m->type) {
	case NOTICE_AREA:
		run.areas_seen++;
		run.areas[m->area % 1024] =
			mmap(NULL, m->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		break;
	case NOTICE_RING:
		run.rings++;
		vec__push(&run.slots, (struct slot){m->area, m->slot, false});
		break;
	case NOTICE_END:
		end_slot(m);
		break;
	case NOTICE_MAPPED:
		run.mapped++;
		break;
	case NOTICE_REFUSED:
		run.refused++;
		break;
	case NOTICE_DETACHED:
		run.let_go++;
		break;
	case NOTICE_GONE:
		run.gone = true;
		break;
	default:
		break;
	}
}

static bool receive(void)
{
	char control[CMSG_SPACE(sizeof(int))];
	struct notice m;
	struct iovec data = {&m, sizeof(m)};
	struct msghdr h = {.msg_iov = &data,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof(control)};
	struct cmsghdr *c;
	int fd = -1;
	ssize_t n = recvmsg(supervisor__socket(run.s), &h, MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	c = CMSG_FIRSTHDR(&h);
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	if (n != sizeof(m))
		return false;
	handle(&m, fd);
	if (fd >= 0)
		close(fd);
	return true;
}

static void release(void)
{
	const struct slot *s;

	vec__each (s, &run.slots) {
		struct log_ring *r = ring_of(s);

		if (run.unread)
			continue;
		r->released = r->segments;
		r->beat = arch__native()->ticks();
		r->patience = 1ull << 30;
	}
}

/* Until there is nothing left, or the supervisor has ended. */
static void serve(void)
{
	uint64_t start = now_ns(CLOCK_MONOTONIC);

	while (!run.gone) {
		struct pollfd fd = {supervisor__socket(run.s), POLLIN, 0};
		unsigned ms = (now_ns(CLOCK_MONOTONIC) - start) / 1000000;

		if (run.quit_ms && ms >= run.quit_ms) {
			struct supervisor_request quit = {.type = REQUEST_QUIT};

			send(fd.fd, &quit, sizeof(quit), MSG_NOSIGNAL);
			run.quit_ms = 0;
		}
		if (poll(&fd, 1, 1) > 0 && !receive())
			break;
		release();
	}
}

/* From another process: serve() is not to be punctual. */
static pid_t start_killer(void)
{
	pid_t pid = run.kill_us ? fork() : 0;

	if (run.kill_us && !pid) {
		usleep(run.kill_us);
		kill(supervisor__pid(run.s), SIGKILL);
		_exit(0);
	}
	return pid;
}

static pid_t start_command(char **command, int *go)
{
	int ends[2];
	pid_t pid;
	char byte;

	if (pipe2(ends, 02000000 /* O_CLOEXEC */))
		return -1;
	pid = fork();
	if (!pid) {
		close(ends[1]);
		if (read(ends[0], &byte, 1) == 1)
			execvp(command[0], command);
		_exit(127);
	}
	close(ends[0]);
	*go = ends[1];
	return pid;
}

static void print_figures(void)
{
	fprintf(stderr,
		"areas %llu rings %llu mapped %llu refused %llu let go %llu segments %llu dropped "
		"%llu open %zu\n",
		(unsigned long long)run.areas_seen, (unsigned long long)run.rings,
		(unsigned long long)run.mapped, (unsigned long long)run.refused,
		(unsigned long long)run.let_go, (unsigned long long)run.segments,
		(unsigned long long)run.dropped, run.slots.len);
}

static int supervise(const struct plan *plan, const struct copies *copies, char **command)
{
	struct supervisor_options o = {.plan = plan, .copies = copies, .follow = run.follow};
	int go = -1, status = 0, err;
	pid_t pid = start_command(command, &go), killer;
	uint32_t running = (uint32_t)pid;

	if (run.attach_us) {
		err = write(go, "", 1) != 1;
		usleep(run.attach_us);
		o.pids = &running;
		o.npids = 1;
	} else {
		o.command = pid;
	}
	err = supervisor__start(&o, &run.s);
	if (err && !run.attach_us) {
		fprintf(stderr, "supervised: %s\n", err__text());
		return 125;
	}
	if (!run.attach_us)
		err = write(go, "", 1) != 1;
	if (!err) {
		killer = start_killer();
		serve();
		if (killer > 0) {
			kill(killer, SIGKILL);
			waitpid(killer, NULL, 0);
		}
		supervisor__close(run.s);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (run.verbose)
		print_figures();
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Each in a process of its own, after the copies were made once. */
static int repeat(const struct plan *plan, const struct copies *copies, char **command)
{
	for (unsigned i = 0; i < run.runs; i++) {
		int status = 0;
		pid_t pid;

		fflush(NULL);
		pid = fork();
		if (!pid) {
			srand((unsigned)getpid());
			run.quit_ms = run.quit_ms ? 1 + (unsigned)rand() % run.quit_ms : 0;
			run.kill_us = run.kill_us ? 1 + (unsigned)rand() % run.kill_us : 0;
			run.attach_us = run.attach_us ? 1 + (unsigned)rand() % run.attach_us : 0;
			exit(supervise(plan, copies, command));
		}
		waitpid(pid, &status, 0);
		printf("status %d\n", status);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct copies *copies;
	struct plan *plan;
	int option;

	while ((option = getopt(argc, argv, "+fvwt:a:q:k:n:")) != -1) {
		run.follow |= option == 'f';
		run.verbose |= option == 'v';
		run.unread |= option == 'w';
		if (option == 'q')
			run.quit_ms = (unsigned)atoi(optarg);
		if (option == 'k')
			run.kill_us = (unsigned)atoi(optarg);
		if (option == 'a')
			run.attach_us = (unsigned)atoi(optarg);
		if (option == 'n')
			run.runs = (unsigned)atoi(optarg);
		if (option == '?' || (option == 't' && !add(optarg))) {
			fprintf(stderr, "supervised: %s\n", err__text());
			return 125;
		}
	}
	if (!argv[optind] || !make(&plan, &copies)) {
		fprintf(stderr, "supervised: %s\n", err__text());
		return 125;
	}
	return (run.runs ? repeat : supervise)(plan, copies, argv + optind);
}

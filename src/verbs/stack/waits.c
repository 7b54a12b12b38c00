// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a thread waits for: by the system call that it is in and its arguments, what they point to,
 * and for a futex by the function of the C library that waits and its data (glibc's
 * sysdeps/nptl/bits/struct_mutex.h and struct_rwlock.h).
 */
#include <inttypes.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include "pipeline/syscall_names.h"
#include "stack.h"

/* Of a process, so that each part needs no more arguments. */
struct asking {
	const struct snapshot *s;
	const struct snap *t;
	const struct core *core;
	const char *const *functions;
	size_t n;
	struct wait *w;
};

static bool read_memory(const struct asking *a, uint64_t addr, void *buf, size_t len)
{
	return snapshot__memory(a->s->pid, addr, buf, len) == len;
}

/* Returns the thread that the process knows by this number; 0 if there is none. */
static uint32_t thread_of(const struct snapshot *s, uint32_t own_tid)
{
	const struct snap *t;

	vec__each (t, &s->threads)
		if (t->own_tid == own_tid)
			return t->at.tid;
	return 0;
}

/* ---- times ---- */

/* Two words of the process: seconds and nanoseconds. */
static bool read_time(const struct asking *a, uint64_t addr, int64_t *seconds, int64_t *ns)
{
	int64_t wide[2];
	int32_t narrow[2];

	if (!addr)
		return false;
	if (!a->t->at.narrow) {
		if (!read_memory(a, addr, wide, sizeof(wide)))
			return false;
		*seconds = wide[0];
		*ns = wide[1];
		return true;
	}
	if (!read_memory(a, addr, narrow, sizeof(narrow)))
		return false;
	*seconds = narrow[0];
	*ns = narrow[1];
	return true;
}

static void put_seconds(int64_t seconds, int64_t ns, struct str *to)
{
	char text[64];
	size_t len;

	snprintf(text, sizeof(text), "%" PRId64 ".%09" PRId64, seconds, ns);
	len = strlen(text);
	while (text[len - 1] == '0')
		len--;
	len -= text[len - 1] == '.';
	str__put(to, text, len);
	str__puts(to, " s");
}

static void put_sleep(struct asking *a, uint64_t addr, bool until)
{
	int64_t seconds, ns;

	a->w->kind = WAIT_TIME;
	if (!read_time(a, addr, &seconds, &ns))
		return;
	if (until) {
		struct timespec now;

		clock_gettime(a->t->at.args[0] == CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC,
			      &now);
		seconds -= now.tv_sec;
		ns -= now.tv_nsec;
		if (ns < 0) {
			seconds--;
			ns += 1000000000;
		}
		if (seconds < 0 || a->t->at.args[0] > CLOCK_MONOTONIC)
			return;
		put_seconds(seconds, ns, &a->w->text);
		str__puts(&a->w->text, " more");
		return;
	}
	put_seconds(seconds, ns, &a->w->text);
}

/* ---- futexes ---- */

/* What the C library's functions wait for, by the beginning of their names. */
static const struct {
	const char *prefix;
	enum wait_kind kind;
} locks[] = {
	{"pthread_mutex_", WAIT_MUTEX},	    {"pthread_rwlock_", WAIT_RWLOCK},
	{"pthread_cond_", WAIT_CONDITION},  {"pthread_join", WAIT_THREAD},
	{"pthread_timedjoin", WAIT_THREAD}, {"pthread_clockjoin", WAIT_THREAD},
	{"sem_", WAIT_SEMAPHORE},	    {"pthread_barrier_", WAIT_BARRIER},
	{"cnd_", WAIT_CONDITION},	    {"mtx_", WAIT_MUTEX},
	{"thrd_join", WAIT_THREAD},	    {"new_sem_", WAIT_SEMAPHORE},
};

static enum wait_kind lock_of(const struct asking *a)
{
	for (size_t i = 0; i < a->n; i++) {
		const char *name = a->functions[i];

		if (!name)
			continue;
		name += strspn(name, "_");
		for (size_t k = 0; k < ARRAY_SIZE(locks); k++)
			if (!strncmp(name, locks[k].prefix, strlen(locks[k].prefix)))
				return locks[k].kind;
	}
	return WAIT_FUTEX;
}

static uint32_t word_at(const struct asking *a, uint64_t addr)
{
	uint32_t value;

	return read_memory(a, addr, &value, sizeof(value)) ? value : 0;
}

#define MUTEX_OWNER 8 /* from __lock */

/* A robust lock, and most kinds of musl's, have the owner in the futex itself. */
static uint32_t owner_of(const struct asking *a, uint64_t futex)
{
	uint32_t value = word_at(a, futex);

	return value & FUTEX_WAITERS ? value & FUTEX_TID_MASK : word_at(a, futex + MUTEX_OWNER);
}

/* The futex is __wrphase_futex or __writers_futex. */
#define RWLOCK_PHASE   8
#define RWLOCK_WRITERS 12
#define RWLOCK_OWNER   24

static uint32_t writer_of(struct asking *a, uint64_t futex)
{
	static const uint8_t places[] = {RWLOCK_PHASE, RWLOCK_WRITERS};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		uint32_t tid = word_at(a, futex - places[i] + RWLOCK_OWNER);

		if (thread_of(a->s, tid)) {
			a->w->addr = futex - places[i];
			return tid;
		}
	}
	return 0;
}

static void find_owner(struct asking *a)
{
	struct wait *w = a->w;

	switch (w->kind) {
	case WAIT_MUTEX:
		w->owner = owner_of(a, w->addr);
		break;
	case WAIT_RWLOCK:
		w->owner = writer_of(a, w->addr);
		break;
	case WAIT_THREAD:
		w->owner = word_at(a, w->addr); /* cleared when it ends: set_tid_address(2) */
		break;
	default:
		break;
	}
	w->owner = thread_of(a->s, w->owner);
}

/* Variables that have no bytes in their file are in memory right after it. */
static char *symbol_at(const struct core *c, uint64_t addr)
{
	const struct core_map *m, *below = NULL;
	struct object *o;
	uint64_t bias, offset;
	char *name, *whole;

	vec__each (m, &c->maps)
		if (m->start <= addr)
			below = m;
	o = below ? c->files.data[below->file].object : NULL;
	name = o && core__bias(c, below->file, &bias) ? object__data_at(o, addr - bias, &offset)
						      : NULL;
	if (!name || !offset)
		return name;
	whole = xasprintf("%s+0x%" PRIx64, name, offset);
	free(name);
	return whole;
}

/*
 * Without a name: some of musl's locks have the owner in the futex. A thread's end is announced by
 * the kernel, by a futex that has its number and isn't private (set_tid_address(2)).
 */
static enum wait_kind lock_by_value(const struct asking *a)
{
	const uint64_t *args = a->t->at.args;
	uint32_t value = word_at(a, args[0]);

	if (value & FUTEX_WAITERS && thread_of(a->s, value & FUTEX_TID_MASK))
		return WAIT_MUTEX;
	if (!(args[1] & FUTEX_PRIVATE_FLAG) && value == (uint32_t)args[2] && thread_of(a->s, value))
		return WAIT_THREAD;
	return WAIT_FUTEX;
}

static void put_futex(struct asking *a)
{
	const uint64_t *args = a->t->at.args;
	unsigned op = args[1] & FUTEX_CMD_MASK;

	a->w->addr = args[0];
	if (op == FUTEX_LOCK_PI || op == 13 /* FUTEX_LOCK_PI2 */) {
		a->w->kind = WAIT_MUTEX;
		a->w->owner = thread_of(a->s, word_at(a, args[0]) & FUTEX_TID_MASK);
		return;
	}
	if (op != FUTEX_WAIT && op != FUTEX_WAIT_BITSET)
		return;
	a->w->kind = lock_of(a);
	if (a->w->kind == WAIT_FUTEX)
		a->w->kind = lock_by_value(a);
	find_owner(a);
}

/* ---- descriptors ---- */

static void put_file(struct asking *a)
{
	a->w->kind = WAIT_FILE;
	descriptor__describe(a->s->pid, (int32_t)a->t->at.args[0], &a->w->text);
}

#define SHOWN 4

static void put_one(struct asking *a, int fd, size_t *n)
{
	if (++*n > SHOWN)
		return;
	str__puts(&a->w->text, *n > 1 ? ", " : "");
	descriptor__describe(a->s->pid, fd, &a->w->text);
}

static void put_rest(struct asking *a, size_t n)
{
	a->w->kind = n ? WAIT_FILES : WAIT_TIME;
	if (n > SHOWN)
		str__printf(&a->w->text, " and %zu more", n - SHOWN);
}

#define FDS_MOST 4096

static void put_poll(struct asking *a)
{
	size_t n = min_of(a->t->at.args[1], (uint64_t)FDS_MOST), shown = 0;
	struct pollfd *fds = xcalloc(n + 1, sizeof(*fds));

	if (read_memory(a, a->t->at.args[0], fds, n * sizeof(*fds)))
		for (size_t i = 0; i < n; i++)
			if (fds[i].fd >= 0)
				put_one(a, fds[i].fd, &shown);
	free(fds);
	put_rest(a, shown);
}

static void put_select(struct asking *a)
{
	size_t most = min_of(a->t->at.args[0], (uint64_t)FDS_MOST), shown = 0;

	for (size_t fd = 0; fd < most; fd++)
		for (int set = 1; set <= 3; set++) {
			uint64_t at = a->t->at.args[set];

			if (at && word_at(a, at + fd / 32 * 4) >> fd % 32 & 1) {
				put_one(a, fd, &shown);
				break;
			}
		}
	put_rest(a, shown);
}

static void put_epoll(struct asking *a)
{
	a->w->kind = WAIT_FILES;
	epoll__describe(a->s->pid, (int32_t)a->t->at.args[0], &a->w->text);
	if (!a->w->text.len)
		a->w->kind = WAIT_CALL;
}

/* ---- others ---- */

static void put_nanosleep(struct asking *a)
{
	put_sleep(a, a->t->at.args[0], false);
}

static void put_clock_nanosleep(struct asking *a)
{
	put_sleep(a, a->t->at.args[2], a->t->at.args[1] & TIMER_ABSTIME);
}

static void put_wait(struct asking *a)
{
	int32_t pid = (int32_t)a->t->at.args[0];

	a->w->kind = WAIT_CHILD;
	a->w->owner = pid > 0 ? pid : 0;
}

#define WAITID_PID 1 /* P_PID */

static void put_waitid(struct asking *a)
{
	a->w->kind = WAIT_CHILD;
	a->w->owner = a->t->at.args[0] == WAITID_PID ? (uint32_t)a->t->at.args[1] : 0;
}

static void put_signal(struct asking *a)
{
	a->w->kind = WAIT_SIGNAL;
}

static const struct {
	const char *call;
	void (*put)(struct asking *a);
} calls[] = {
	{"futex", put_futex},
	{"poll", put_poll},
	{"ppoll", put_poll},
	{"select", put_select},
	{"pselect6", put_select},
	{"epoll_wait", put_epoll},
	{"epoll_pwait", put_epoll},
	{"epoll_pwait2", put_epoll},
	{"nanosleep", put_nanosleep},
	{"clock_nanosleep", put_clock_nanosleep},
	{"wait4", put_wait},
	{"waitid", put_waitid},
	{"pause", put_signal},
	{"rt_sigsuspend", put_signal},
	{"rt_sigtimedwait", put_signal},
	{"accept", put_file},
	{"accept4", put_file},
	{"connect", put_file},
	{"fcntl", put_file},
	{"fdatasync", put_file},
	{"flock", put_file},
	{"fsync", put_file},
	{"getdents64", put_file},
	{"io_uring_enter", put_file},
	{"ioctl", put_file},
	{"mq_timedreceive", put_file},
	{"mq_timedsend", put_file},
	{"pread64", put_file},
	{"preadv", put_file},
	{"preadv2", put_file},
	{"pwrite64", put_file},
	{"pwritev", put_file},
	{"pwritev2", put_file},
	{"read", put_file},
	{"readv", put_file},
	{"recvfrom", put_file},
	{"recvmmsg", put_file},
	{"recvmsg", put_file},
	{"sendfile", put_file},
	{"sendmmsg", put_file},
	{"sendmsg", put_file},
	{"sendto", put_file},
	{"splice", put_file},
	{"sync_file_range", put_file},
	{"write", put_file},
	{"writev", put_file},
};

static void put_call(struct asking *a)
{
	a->w->kind = WAIT_CALL;
	/* of a 32-bit program the numbers are others */
	a->w->call = a->t->at.narrow ? NULL : syscall__name(a->t->at.call);
	a->w->number = a->t->at.call;
	for (size_t i = 0; a->w->call && i < ARRAY_SIZE(calls); i++)
		if (!strcmp(calls[i].call, a->w->call))
			calls[i].put(a);
	if (a->w->addr)
		a->w->symbol = symbol_at(a->core, a->w->addr);
}

void wait__find(const struct snapshot *s, const struct snap *t, const struct core *c,
		const char *const *functions, size_t n, struct wait *out)
{
	struct asking a = {s, t, c, functions, n, out};

	*out = (struct wait){.number = -1};
	if (!t->settled)
		out->kind = WAIT_UNKNOWN;
	else if (t->state == 'T' || t->state == 't')
		out->kind = WAIT_STOPPED;
	else if (t->state == 'R')
		out->kind = WAIT_NOTHING;
	else if (t->at.call < 0)
		out->kind = WAIT_PAGE;
	else
		put_call(&a);
}

void wait__free(struct wait *w)
{
	free(w->symbol);
	str__free(&w->text);
}

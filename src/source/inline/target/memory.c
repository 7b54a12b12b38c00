// SPDX-License-Identifier: BSD-2-Clause
/*
 * The memory of processes, by /proc/PID/mem. That of another user's process is opened for reading
 * with CAP_DAC_READ_SEARCH; for writing only CAP_DAC_OVERRIDE would do, which is given up when all
 * is attached. So the process itself opens it then, and its descriptor is fetched. If it can't do
 * that, a stopped thread writes words: ptrace(2) needs nothing else.
 */
#include <fcntl.h>
#include <sys/ptrace.h>
#include <unistd.h>
#include "target.h"

int process__open_memory(pid_t pid, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	return open(path, flags | O_CLOEXEC);
}

void space__open_memory(struct space *s, struct process *p)
{
	s->mem = p->mem >= 0 ? p->mem : process__open_memory(p->pid, O_RDWR);
	p->mem = -1;
	s->writes = s->mem >= 0;
	if (!s->writes)
		s->mem = process__open_memory(p->pid, O_RDONLY);
}

bool space__read(const struct space *s, uint64_t addr, void *out, size_t n)
{
	return pread(s->mem, out, n, (off_t)addr) == (ssize_t)n;
}

/* ---- by a thread that is stopped ---- */

static bool put_word(const struct space *s, uint64_t at, uint64_t word)
{
	struct thread *t;
	size_t i = 0;

	while ((t = tracer__each_in(s->tracer, s, &i)))
		if (!ptrace(PTRACE_POKEDATA, t->tid, at, word))
			return true;
	return false;
}

/* Writes those words of a page that have to change, at least one: that shows whether they can be
 * written. What one word covers changes at once. */
static bool put_in_page(const struct space *s, uint64_t addr, const uint8_t *bytes, size_t n)
{
	uint64_t page = addr & -(uint64_t)LOG_PAGE, word;
	size_t from = addr - page, end = from + n, i = from, at;
	uint8_t is[LOG_PAGE], to[LOG_PAGE];

	if (!space__read(s, page, is, sizeof(is)))
		return false;
	memcpy(to, is, sizeof(to));
	memcpy(to + from, bytes, n);
	while (i < end && is[i] == to[i])
		i++;
	i = i < end ? i : from;
	do {
		at = min_of(i, sizeof(to) - sizeof(word));
		memcpy(&word, to + at, sizeof(word));
		if (!put_word(s, page + at, word))
			return false;
		for (i = at + sizeof(word); i < end && is[i] == to[i];)
			i++;
	} while (i < end);
	return true;
}

static bool put(const struct space *s, uint64_t addr, const uint8_t *bytes, size_t n)
{
	size_t done = 0, more;

	for (; done < n; done += more) {
		more = min_of(n - done, LOG_PAGE - (addr + done) % LOG_PAGE);
		if (!put_in_page(s, addr + done, bytes + done, more))
			return false;
	}
	return true;
}

bool space__write(const struct space *s, uint64_t addr, const void *bytes, size_t n)
{
	size_t done = 0;

	if (!s->writes)
		return put(s, addr, bytes, n);
	while (done < n) {
		ssize_t more =
			pwrite(s->mem, (const char *)bytes + done, n - done, (off_t)(addr + done));

		if (more <= 0)
			return false;
		done += (size_t)more;
	}
	return true;
}

/* ---- exchanging what is expected ---- */

/* Becomes what it is to be, if it is as expected: what the program has put there stays. */
enum swapped bytes__swap(uint8_t *is, const uint8_t *expected, const uint8_t *becomes, size_t n)
{
	if (!memcmp(is, becomes, n))
		return SWAP_NOTHING;
	if (memcmp(is, expected, n) != 0)
		return SWAP_FOREIGN;
	memcpy(is, becomes, n);
	return SWAP_DONE;
}

bool space__swap(const struct space *s, uint64_t addr, const uint8_t *expected,
		 const uint8_t *becomes, size_t n)
{
	uint8_t is[LOG_PAGE];

	if (n > sizeof(is) || !space__read(s, addr, is, n))
		return false;
	switch (bytes__swap(is, expected, becomes, n)) {
	case SWAP_DONE:
		return space__write(s, addr, is, n);
	case SWAP_NOTHING:
		return true;
	default:
		return false;
	}
}

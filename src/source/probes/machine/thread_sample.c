// SPDX-License-Identifier: BSD-2-Clause
/* Where a thread is that runs: a sample of its registers and its stack, by a timer of its own time
 * (perf_event_open(2)). The kernel copies both in the same interrupt. */
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "source/source.h"
#include "../bpf/alone/wire_threads.h"

#define PERIOD	   100000 /* ns of the thread's CPU time */
#define RING_PAGES 32
#define STACK_ROOM 65024 /* bytes: a sample's size has 16 bits */

/* arch/.../include/uapi/asm/perf_regs.h: by register of struct thread_at, the number there; a
 * sample has them in ascending order. NONE: it hasn't that one. */
#define NONE 0xff
#if defined(__x86_64__)
static const uint8_t places[] = {23, 22, 21, 20, 6,    1, 19, 18, 17, 16, 0,
				 2,  3,	 4,  5,	 NONE, 8, 10, 9,  7,  11};
#elif defined(__aarch64__)
static const uint8_t places[] = {0,  1,	 2,  3,	 4,  5,	 6,  7,	 8,  9,	  10, 11,
				 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,  22, 23,
				 24, 25, 26, 27, 28, 29, 30, 31, 32, NONE};
#else
static const uint8_t places[] = {0,  1,	 2,  3,	 4,  5,	 6,  7,	 8,  9,	 10, 11, 12, 13, 14, 15,
				 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
#endif

static uint64_t wanted(void)
{
	uint64_t mask = 0;

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (places[i] != NONE)
			mask |= 1ull << places[i];
	return mask;
}

/* What a sample has, by PERF_SAMPLE_TID, REGS_USER and STACK_USER: see perf_event_open(2). */
static bool take_sample(const char *p, size_t len, struct thread_at *t, struct str *stack)
{
	uint64_t abi, size, used, regs[64] = {0}, mask = wanted();
	size_t n = __builtin_popcountll(mask), at = 8, next = 0;

	if (len < at + 8)
		return false;
	memcpy(&abi, p + at, 8);
	at += 8;
	if (abi != PERF_SAMPLE_REGS_ABI_64 || len < at + 8 * n + 16)
		return false;
	for (unsigned r = 0; r < 64; r++)
		if (mask >> r & 1)
			memcpy(&regs[r], p + at + 8 * next++, 8);
	at += 8 * n;
	memcpy(&size, p + at, 8);
	at += 8;
	if (!size || size > len - at - 8)
		return false;
	memcpy(&used, p + at + size, 8);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		t->regs[i] = places[i] == NONE ? 0 : regs[places[i]];
	str__clear(stack);
	str__put(stack, p + at, min_of(used, size));
	return true;
}

/* Looks for a sample in what the kernel has written. Records don't wrap before a ring is full. */
static bool find_sample(const struct perf_event_mmap_page *page, struct thread_at *t,
			struct str *stack)
{
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), at = 0;
	const char *data = (const char *)page + page->data_offset;
	struct perf_event_header h;

	for (; at + sizeof(h) <= min_of(head, (uint64_t)page->data_size); at += h.size) {
		memcpy(&h, data + at, sizeof(h));
		if (h.size < sizeof(h) || at + h.size > page->data_size)
			return false;
		if (h.type == PERF_RECORD_SAMPLE &&
		    take_sample(data + at + sizeof(h), h.size - sizeof(h), t, stack))
			return true;
	}
	return false;
}

int thread__sample(struct thread_at *t, int timeout_ms, struct str *stack)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = PERIOD,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = wanted(),
		.sample_stack_user = STACK_ROOM,
		.wakeup_events = 1,
	};
	size_t size = (RING_PAGES + 1) * sysconf(_SC_PAGESIZE);
	autoclose int fd =
		syscall(SYS_perf_event_open, &attr, t->tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	void *page;
	bool found;

	if (fd < 0)
		return -errno;
	page = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return -errno;
	poll(&wait, 1, timeout_ms);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	found = find_sample(page, t, stack);
	munmap(page, size);
	if (!found)
		return -ETIME;
	t->pc = t->regs[WIRE_THREAD_PC];
	t->sp = t->regs[WIRE_THREAD_SP];
	return 0;
}

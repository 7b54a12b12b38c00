/* SPDX-License-Identifier: BSD-2-Clause */
/* Do debug registers report accesses? A virtual machine may take them, and report none. */
#ifndef TEST_DEBUG_REGISTERS_H
#define TEST_DEBUG_REGISTERS_H

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline bool debug_registers_report(void)
{
	static volatile uint64_t word;
	struct perf_event_attr a = {.type = PERF_TYPE_BREAKPOINT,
				    .size = sizeof(a),
				    .bp_type = HW_BREAKPOINT_W,
				    .bp_addr = (uintptr_t)&word,
				    .bp_len = sizeof(word),
				    .exclude_kernel = 1};
	int fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, 0);
	uint64_t hits = 0;
	bool none;

	word = word + 1;
	none = fd >= 0 && read(fd, &hits, sizeof(hits)) == sizeof(hits) && !hits;
	if (fd >= 0)
		close(fd);
	return !none;
}

#endif

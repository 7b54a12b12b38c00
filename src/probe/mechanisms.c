// SPDX-License-Identifier: BSD-2-Clause
/* Attach mechanisms as ranked rows: the first one that the kernel has is used. */
#include "session.h"

const struct mechanism mechanisms[] = {
	{"uprobe_multi", "one link for thousands of probes in programs and libraries", false,
	 LOOKUP_COOKIE, feature__uprobe_multi, uprobe_multi__attach, uprobe_multi__detach,
	 uprobe_multi__attach_all, "Linux 6.6 or newer has it"},
	{"uprobe_event", "one trace event with many probes in programs and libraries", false,
	 LOOKUP_UPROBE, feature__tracefs_uprobes, uprobe_event__attach, uprobe_event__detach, NULL,
	 "a kernel with CONFIG_UPROBE_EVENTS, and root"},
	{"kprobe_event", "one trace event with many probes in the kernel", true, LOOKUP_KERNEL,
	 feature__tracefs_kprobes, kprobe_event__attach, kprobe_event__detach, NULL,
	 "a kernel with CONFIG_KPROBE_EVENTS, and root"},
	{0},
};

// SPDX-License-Identifier: BSD-2-Clause
/* kprobe_profile names the event of each probe, and kprobe_events its address. */
#include "source/probes/mechanisms/tracefs.h"
#include "util/util.h"
#include "tap.h"

static struct str got;

static void on_missed(void *ctx, uint64_t at, uint64_t hits)
{
	str__printf(&got, "%llx:%llu ", (unsigned long long)at, (unsigned long long)hits);
}

static int read_texts(const char *profile, const char *definitions)
{
	str__clear(&got);
	str__put(&got, "", 0);
	return kprobe_profile__read(profile, definitions, "bbtrace_12/kernel_12", on_missed, NULL);
}

int main(void)
{
	static const char profile[] =
		"  somebody                                                   7               1\n"
		"  kernel_12                                                  3               5\n"
		"  return_12                                                  3               9\n"
		"  kernel_123                                                 3               8\n"
		"  kernel_12                                                  0               0\n"
		"  kernel_12                                                  4               6\n";
	static const char definitions[] =
		"p:kprobes/somebody vfs_read\n"
		"p:bbtrace_12/kernel_12 0x000000003e1f2a11 at=\\0xffffffff81000010:x64\n"
		"r512:bbtrace_12/return_12 0x000000003e1f2a11 at=\\0xffffffff81000010:x64\n"
		"p:bbtrace_123/kernel_123 0x000000003e1f2a11 at=\\0xffffffff81000010:x64\n"
		"p:bbtrace_12/kernel_12 0x0000000067aa0c31 at=\\0xffffffff81000020:x64\n"
		"p:bbtrace_12/kernel_12 0x00000000a10be871 at=\\0xffffffff81000030:x64\n";

	is(read_texts(profile, definitions), 0, "the files are read");
	is_str(got.data, "ffffffff81000010:5 ffffffff81000020:0 ffffffff81000030:6 ",
	       "what each probe of this event missed, and of no other event");
	is(read_texts(profile, "p:kprobes/somebody vfs_read\n"), 0,
	   "without the definitions they are read, too");
	is_str(got.data, "0:11 ", "and how many were missed is known, but not where");
	is(read_texts("  kernel_12 many few\n", definitions) < 0, 1, "no number is an error");
	str__free(&got);
	return tap__done();
}

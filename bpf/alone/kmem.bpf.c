// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* Reads kernel memory for user space if /proc/kcore is unavailable: run by bpf_prog_test_run, 4 KiB
 * per run. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

__u64 address;
__u32 length;
long result;
__u8 bytes[4096];

SEC("raw_tp/sys_enter") /* never attached */
int read_kernel(void *ctx)
{
	__u32 len = length;

	if (len > sizeof(bytes))
		len = sizeof(bytes);
	result = bpf_probe_read_kernel(bytes, len, (void *)address);
	return 0;
}

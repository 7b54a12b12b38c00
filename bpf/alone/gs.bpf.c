// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * A thread that sets its gs base by arch_prctl(2) has a signal before it is back in its program: so
 * it stops for its tracer first. One of the programs is attached.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* The tracer, with the kernel's numbers: it makes a call with this number and this address. */
#define LEARN 0x62746773
__u64 address;
__u32 tracer;

/* arch/x86/include/uapi/asm/prctl.h; include/uapi/asm-generic/signal.h */
#define SET_GS	    0x1001
#define ARCH_PRCTL  158
#define SIGNAL_STOP 19
#define SIGNAL_URG  23

static __always_inline int see(const struct pt_regs *regs)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	__u32 option = PT_REGS_PARM1_CORE_SYSCALL(regs);

	if (option == LEARN && address && PT_REGS_PARM2_CORE_SYSCALL(regs) == address)
		tracer = bpf_get_current_pid_tgid() >> 32;
	/* its tracer is its parent then; without a tracer the signal has no effect, unless it is
	 * blocked */
	if (option == SET_GS && tracer && BPF_CORE_READ(task, parent, tgid) == tracer &&
	    BPF_CORE_READ(task, parent) != BPF_CORE_READ(task, real_parent))
		bpf_send_signal_thread(BPF_CORE_READ(task, blocked.sig[0]) >> (SIGNAL_URG - 1) & 1
					       ? SIGNAL_STOP
					       : SIGNAL_URG);
	return 0;
}

/* Never attached as this: gs.c loads what libbpf made of it once more, for __x64_sys_arch_prctl's
 * entry. libbpf would read all of the kernel's types to find that function's number. */
SEC("raw_tp/sys_enter")
int on_entry(__u64 *ctx)
{
	return see((const struct pt_regs *)ctx[0]);
}

SEC("kprobe/__x64_sys_arch_prctl")
int on_kprobe(struct pt_regs *ctx)
{
	return see((const struct pt_regs *)PT_REGS_PARM1_CORE(ctx));
}

/* include/trace/events/syscalls.h: (regs, id) */
SEC("raw_tp/sys_enter")
int on_any(struct bpf_raw_tracepoint_args *ctx)
{
	return ctx->args[1] == ARCH_PRCTL ? see((const struct pt_regs *)ctx->args[0]) : 0;
}

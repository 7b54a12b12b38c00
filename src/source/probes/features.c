// SPDX-License-Identifier: BSD-2-Clause
/* What this kernel and machine support: the rows of doctor. */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include "session.h"
#include "source/probes/stream/sideband.h"
#include "source/probes/mechanisms/tracefs.h"
#include "bbtrace.skel.h"

/* ---- privileges ---- */

static int check_capabilities(void)
{
	return privileges__check(PRIVILEGE_BPF | PRIVILEGE_PERFMON, "a trace");
}

static int check_cap_pid(void)
{
	return privileges__check(PRIVILEGE_SYS_PTRACE, "-p with another user's process");
}

static int check_cap_files(void)
{
	return privileges__check(PRIVILEGE_DAC_READ_SEARCH,
				 "a file or process directory that only others may read");
}

static int check_cap_user(void)
{
	return privileges__check(PRIVILEGE_SETUID | PRIVILEGE_SETGID, "-u NAME");
}

/* 3 of security/yama/yama_lsm.c, YAMA_SCOPE_NO_ATTACH. */
static bool may_nobody_trace(void)
{
	autofree char *scope = NULL;

	return !file__read("/proc/sys/kernel/yama/ptrace_scope", 64, &scope, NULL) && *scope == '3';
}

int feature__copies(void)
{
	const struct arch *arch = arch__native();

	if (!arch || !arch->copier || !arch->ticks)
		return err__set(ENOSYS, "functions of this machine's programs can't be copied");
	if (may_nobody_trace())
		return err__set(EPERM, "kernel.yama.ptrace_scope is 3: nobody may use ptrace(2)");
	return privileges__check(PRIVILEGE_SYS_PTRACE | PRIVILEGE_CHECKPOINT_RESTORE,
				 "copying functions");
}

static int check_version(void)
{
	unsigned major = 0, minor = 0;
	struct utsname u;

	uname(&u);
	if (sscanf(u.release, "%u.%u", &major, &minor) == 2 &&
	    (major < 5 || (major == 5 && minor < 15)))
		return err__set(ENOTSUP, "Linux %s is too old: bbtrace needs 5.15 or newer",
				u.release);
	return 0;
}

static int check_btf(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int err = errno;

	if (!btf)
		return err__set(err, "no /sys/kernel/btf/vmlinux (%s)", strerror(err));
	btf__free(btf);
	return 0;
}

/* ---- BPF ---- */

static int check_bpf(void)
{
	int fd = feature__load_program(BPF_PROG_TYPE_KPROBE, 0);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int check_ringbuf(void)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "probe", 0, 0, 4096, NULL);

	if (fd < 0)
		return err__set(errno, "no BPF ring buffer: %s", strerror(errno));
	close(fd);
	return 0;
}

static int check_inherited_events(void)
{
	return feature__inherited_events()
		       ? 0
		       : err__set(ENOTSUP, "this kernel swaps what tasks inherit from each other");
}

static int check_multi_by_process(void)
{
	int err = feature__uprobe_multi();

	if (err)
		return err;
	return feature__uprobe_multi_by_process()
		       ? 0
		       : err__set(
				 ENOTSUP,
				 "this kernel's uprobe_multi links filter by thread, not by process");
}

static int check_raw_tracepoint(void)
{
	int fd = feature__load_program(BPF_PROG_TYPE_RAW_TRACEPOINT, 0), tp, err = 0;

	if (fd < 0)
		return fd;
	tp = bpf_raw_tracepoint_open("sched_process_fork", fd);
	if (tp < 0)
		err = err__set(errno, "no raw tracepoints: %s", strerror(errno));
	else
		close(tp);
	close(fd);
	return err;
}

static int check_sideband(void)
{
	struct sideband *s;
	int err = sideband__open(&s);

	if (!err)
		sideband__close(s);
	return err;
}

static int needs_nothing(void)
{
	return 0;
}

static const char *compiler_of_program(void)
{
	static char text[64];
	struct bbtrace_bpf *skel = bbtrace_bpf__open();

	if (!skel)
		return "unknown";
	snprintf(text, sizeof(text), "%s", (const char *)skel->rodata->built_by);
	bbtrace_bpf__destroy(skel);
	return text;
}

/* ---- tracefs ---- */

static int check_tracefs(void)
{
	autoclose int root = kernel_fs__find(KERNEL_TRACEFS);

	return root == -ENOENT ? kernel_fs__can_mount(KERNEL_TRACEFS) : min_of(root, 0);
}

static const char *report_tracefs(void)
{
	const char *place = kernel_fs__place(KERNEL_TRACEFS);

	return place ? place : "not mounted; a trace that needs it mounts it, and it stays";
}

/* ---- the kernel's symbols and text ---- */

static int check_kallsyms(void)
{
	unsigned long long addr = 0;
	char line[512];
	FILE *f = fopen("/proc/kallsyms", "r");

	if (!f)
		return err__set(errno, "cannot open /proc/kallsyms: %s", strerror(errno));
	while (!addr && fgets(line, sizeof(line), f))
		sscanf(line, "%llx", &addr);
	fclose(f);
	return addr ? 0 : err__set(EPERM, "/proc/kallsyms hides the addresses");
}

/* Capabilities that kernel mode needs in addition. */
static int check_cap_kernel(void)
{
	uint64_t tracefs = PRIVILEGE_SYS_ADMIN | (geteuid() ? PRIVILEGE_DAC_OVERRIDE : 0);
	uint64_t wanted = check_kallsyms() == -EPERM ? PRIVILEGE_SYSLOG : 0;
	int err = feature__tracefs_kprobes();

	return privileges__check(wanted | (err == -EPERM || err == -EACCES ? tracefs : 0),
				 "kernel mode");
}

static int check_kcore(void)
{
	int fd = open("/proc/kcore", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err__set(errno, "cannot open /proc/kcore: %s", strerror(errno));
	close(fd);
	return 0;
}

static int check_kmem(void)
{
	struct kmem *k;
	int err = kmem__open(&k);

	if (!err)
		kmem__close(k);
	return err;
}

const struct feature features[] = {
	{"kernel", "Linux 5.15 or newer", check_version, "boot a newer kernel"},
	{"capabilities", "user, kernel: load programs, open events", check_capabilities,
	 "run with sudo, or give bbtrace CAP_BPF and CAP_PERFMON"},
	{"cap_kernel", "kernel: its addresses, kprobe definitions", check_cap_kernel,
	 "run with sudo, or with CAP_SYSLOG, CAP_SYS_ADMIN and CAP_DAC_OVERRIDE"},
	{"cap_pid", "-p: processes of other users, the names in them", check_cap_pid,
	 "run with sudo, or add CAP_SYS_PTRACE"},
	{"cap_files", "programs that only others may read", check_cap_files,
	 "run with sudo, or add CAP_DAC_READ_SEARCH"},
	{"cap_user", "-u: run CMD as another user", check_cap_user,
	 "run with sudo, or add CAP_SETUID and CAP_SETGID"},
	{"copies", "user: functions that log without traps (--engine)", feature__copies,
	 "run with sudo, or add CAP_SYS_PTRACE and CAP_CHECKPOINT_RESTORE; probes are used instead"},
	{"lockdown", "read kernel memory", feature__lockdown,
	 "boot without lockdown=confidentiality"},
	{"btf", "kernel types (CO-RE)", check_btf,
	 "a kernel with CONFIG_DEBUG_INFO_BTF, or types from elsewhere with --btf FILE"},
	{"bpf", "run the probes' program", check_bpf,
	 "run with sudo; a kernel with CONFIG_BPF_SYSCALL"},
	{"bpf_program", "the probes' program, built by", needs_nothing, NULL, compiler_of_program},
	{"jit", "compile the probes' program", feature__jit, "sysctl -w net.core.bpf_jit_enable=1"},
	{"ringbuf", "pass events to user space", check_ringbuf,
	 "Linux 5.8 or newer; raise RLIMIT_MEMLOCK"},
	{"raw_tracepoint", "start with CMD's exec, follow children (-f)", check_raw_tracepoint,
	 "a kernel with CONFIG_BPF_EVENTS"},
	{"sideband_events", "name processes and their mappings", check_sideband,
	 "a kernel with CONFIG_PERF_EVENTS; run with sudo"},
	{"uprobe_multi",
	 "user: one link for thousands of probes, in each process that maps the file",
	 feature__uprobe_multi, "Linux 6.6 or newer; uprobe_event is used instead"},
	{"uprobe_multi_pid", "-p, --tid, -- CMD: slows no other processes but forked children",
	 check_multi_by_process, "Linux 6.10 or newer; uprobe_event can be used instead"},
	{"tracefs", "trace events", check_tracefs,
	 "run with sudo, or mount -t tracefs tracefs /sys/kernel/tracing; not locked down",
	 report_tracefs},
	{"uprobe_event", "-p, --tid, -- CMD: slows no other processes", feature__tracefs_uprobes,
	 "a kernel with CONFIG_UPROBE_EVENTS; run as root"},
	{"inherited_events", "-f: slows no other processes", check_inherited_events,
	 "Linux 6.13 or newer; before, every process that maps the file is slowed"},
	{"executed_multi", "user: entries and rets cost no single-step (uprobe_multi)",
	 feature__executed_multi, "a newer kernel; uprobe_multi is used instead"},
	{"executed_event", "user: entries and rets cost no single-step (uprobe_event)",
	 feature__executed_event, "a newer kernel; uprobe_event is used instead"},
	{"kprobe_multi", "kernel: one link for the entries of thousands of functions (-e entry)",
	 feature__kprobe_multi, "a kernel with CONFIG_FPROBE; kprobe_event is used instead"},
	{"kprobe_event", "kernel: one trace event with many probes", feature__tracefs_kprobes,
	 "a kernel with CONFIG_KPROBES and CONFIG_KPROBE_EVENTS; run as root"},
	{"kallsyms", "kernel: symbols", check_kallsyms,
	 "run with sudo (CAP_SYSLOG), see kernel.kptr_restrict"},
	{"kcore", "kernel: live text", check_kcore,
	 "a kernel with CONFIG_PROC_KCORE, not locked down; kernel_memory is used instead"},
	{"kernel_memory", "kernel: live text by a BPF program", check_kmem,
	 "run with sudo; not locked down"},
	{"watchpoints", "watch: accesses by programs, by debug registers", feature__watchpoints,
	 "a machine with debug registers, passed through by the hypervisor; run with sudo"},
	{"kernel_watch", "watch: the kernel's memory", feature__kernel_watchpoints,
	 "run with sudo"},
	{0},
};

int features__check(void)
{
	static const char *const needed[] = {"kernel", "lockdown"};

	for (const struct feature *f = features; f->name; f++) {
		bool is_needed = false;

		for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
			is_needed |= !strcmp(f->name, needed[i]);
		if (is_needed && f->check())
			return err__set(ENOTSUP, "cannot trace: %s; %s", strdupa(err__text()),
					f->remedy);
	}
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * A seccomp filter for processes that do much: all calls are allowed except those that none of them
 * makes, and that an attacker who took one of them over would want. A parser has a stricter filter
 * (src/object/debug/sandbox.c).
 */
#include <errno.h>
#include <linux/sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "filter.h"
#include "util.h"

#define ALWAYS 0
/* bpf(2), perf_event_open(2), setting capabilities and files' calls are needed. */
static const struct {
	int nr;
	unsigned when;
} forbidden[] = {
	/* programs and other processes */
	{SYS_execve, FORBID_EXEC},
	{SYS_execveat, FORBID_EXEC},
	{SYS_ptrace, FORBID_TRACING},
	{SYS_process_vm_writev, FORBID_TRACING},
	{SYS_pidfd_getfd, FORBID_TRACING},
	{SYS_kcmp, FORBID_TRACING},
	{SYS_connect, FORBID_NETWORK},
	{SYS_bind, FORBID_NETWORK},
	{SYS_process_madvise, ALWAYS},
	{SYS_personality, ALWAYS},
	/* users, and rights of files */
	{SYS_setuid, ALWAYS},
	{SYS_setgid, ALWAYS},
	{SYS_setreuid, ALWAYS},
	{SYS_setregid, ALWAYS},
	{SYS_setresuid, ALWAYS},
	{SYS_setresgid, ALWAYS},
	{SYS_setfsuid, ALWAYS},
	{SYS_setfsgid, ALWAYS},
	{SYS_setgroups, ALWAYS},
	{SYS_fchownat, ALWAYS},
	{SYS_fchown, ALWAYS},
	{SYS_fchmodat, ALWAYS},
	{SYS_linkat, ALWAYS},
	{SYS_symlinkat, ALWAYS},
	{SYS_mknodat, ALWAYS},
	{SYS_setxattr, ALWAYS},
	{SYS_lsetxattr, ALWAYS},
	{SYS_fsetxattr, ALWAYS},
#ifdef SYS_chmod /* those that newer architectures don't have */
	{SYS_chmod, ALWAYS},
	{SYS_chown, ALWAYS},
	{SYS_lchown, ALWAYS},
	{SYS_link, ALWAYS},
	{SYS_symlink, ALWAYS},
	{SYS_mknod, ALWAYS},
#endif
	/* by a handle, a file is opened whatever the folders above it allow */
	{SYS_open_by_handle_at, ALWAYS},
	{SYS_name_to_handle_at, ALWAYS},
	/* namespaces, file systems */
	{SYS_unshare, ALWAYS},
	{SYS_setns, ALWAYS},
	{SYS_mount, ALWAYS},
	{SYS_umount2, ALWAYS},
	{SYS_pivot_root, ALWAYS},
	{SYS_chroot, ALWAYS},
	{SYS_open_tree, ALWAYS},
	{SYS_move_mount, ALWAYS},
	{SYS_fsopen, ALWAYS},
	{SYS_fsconfig, ALWAYS},
	{SYS_fsmount, ALWAYS},
	{SYS_fspick, ALWAYS},
	{SYS_swapon, ALWAYS},
	{SYS_swapoff, ALWAYS},
	{SYS_quotactl, ALWAYS},
	{SYS_acct, ALWAYS},
	/* the kernel and the machine */
	{SYS_init_module, ALWAYS},
	{SYS_finit_module, ALWAYS},
	{SYS_delete_module, ALWAYS},
	{SYS_kexec_load, ALWAYS},
	{SYS_reboot, ALWAYS},
	{SYS_sethostname, ALWAYS},
	{SYS_setdomainname, ALWAYS},
	{SYS_settimeofday, ALWAYS},
	{SYS_clock_settime, ALWAYS},
	{SYS_adjtimex, ALWAYS},
	{SYS_clock_adjtime, ALWAYS},
	{SYS_syslog, ALWAYS},
#ifdef SYS_iopl
	{SYS_iopl, ALWAYS},
	{SYS_ioperm, ALWAYS},
	{SYS_modify_ldt, ALWAYS},
#endif
	/* most faults have been in it, and it isn't needed */
	{SYS_io_uring_setup, ALWAYS},
	{SYS_io_uring_enter, ALWAYS},
	{SYS_io_uring_register, ALWAYS},
	{SYS_userfaultfd, ALWAYS},
	{SYS_add_key, ALWAYS},
	{SYS_request_key, ALWAYS},
	{SYS_keyctl, ALWAYS},
};

#define NAMESPACES                                                                                 \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |             \
	 CLONE_NEWPID | CLONE_NEWNET)
#define IF(test, k)	BPF_JUMP(BPF_JMP | BPF_##test | BPF_K, (k), 0, 1)
#define UNLESS(test, k) BPF_JUMP(BPF_JMP | BPF_##test | BPF_K, (k), 1, 0)
#define FAIL(err)	RETURN(SECCOMP_RET_ERRNO | (err))
#define X32_BIT		0x40000000u

typedef VEC(struct sock_filter) filter_vec;

static void add(filter_vec *f, const struct sock_filter *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		vec__push(f, rows[i]);
}

/* LeakSanitizer stops the threads of its process by ptrace(2). */
static bool is_sanitized(void)
{
#ifdef __SANITIZE_ADDRESS__
	return true;
#else
	return false;
#endif
}

static void make(filter_vec *f, unsigned what)
{
	const struct sock_filter start[] = {
		LOAD(arch),
		UNLESS(JEQ, OWN_ARCH),
		RETURN(SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
		IF(JGE, X32_BIT),
		FAIL(ENOSYS),
		/* Its flags are in memory, which a filter can't read; clone(2) is called
		 * instead. */
		IF(JEQ, SYS_clone3),
		FAIL(ENOSYS),
	};
	const struct sock_filter end[] = {
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
		LOAD(args[0]),
		IF(JSET, NAMESPACES),
		FAIL(EPERM),
		RETURN(SECCOMP_RET_ALLOW),
	};

	if (is_sanitized())
		what &= ~FORBID_TRACING;
	add(f, start, ARRAY_SIZE(start));
	for (size_t i = 0; i < ARRAY_SIZE(forbidden); i++) {
		const struct sock_filter row[] = {IF(JEQ, forbidden[i].nr), FAIL(EPERM)};

		if (!forbidden[i].when || forbidden[i].when & what)
			add(f, row, ARRAY_SIZE(row));
	}
	add(f, end, ARRAY_SIZE(end));
}

/* proc_pid_task(5): two links and one for each thread. */
static bool has_one_thread(void)
{
	struct stat st;

	return !stat("/proc/self/task", &st) && st.st_nlink == 3;
}

/* valgrind has no seccomp(2), but prctl(2), which is of this thread alone. */
static int install(struct sock_fprog *program)
{
	int err = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
			       program);

	return err && errno == ENOSYS && has_one_thread()
		       ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program)
		       : err;
}

int rights__forbid(unsigned what)
{
	filter_vec f = {0};
	struct sock_fprog program;
	int err = 0;

	make(&f, what);
	program = (struct sock_fprog){(unsigned short)f.len, f.data};
	if (install(&program))
		err = err__set(errno ? errno : EBUSY,
			       "cannot give up system calls: %s; bbtrace needs a kernel with "
			       "CONFIG_SECCOMP_FILTER, and a container that allows seccomp(2)",
			       strerror(errno));
	vec__free(&f);
	return err;
}

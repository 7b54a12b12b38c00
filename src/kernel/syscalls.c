// SPDX-License-Identifier: BSD-2-Clause
/*
 * kernel_syscalls: the number of arguments of system calls. Their wrappers all take struct pt_regs;
 * the arguments are listed in the format of the system call's tracepoint
 * (kernel/trace/trace_syscalls.c, syscall_enter_define_fields()).
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "kernel_file.h"

#define FORMAT_MAX 65536
#define ARGS_MAX   6

static const struct syscall_wrapper *wrapper_of(const char *name)
{
	const struct syscall_wrapper *w;

	for (w = kernel_code()->syscalls; w && w->prefix; w++)
		if (!strncmp(name, w->prefix, strlen(w->prefix)))
			return w;
	return NULL;
}

unsigned kernel_syscall__flags(const char *name)
{
	const struct syscall_wrapper *w = wrapper_of(name);

	return !w ? 0 : w->is32 ? FUNCTION_SYSCALL | FUNCTION_SYSCALL32 : FUNCTION_SYSCALL;
}

/* "\tfield:TYPE NAME;\toffset:…": the number first, then the arguments; from Linux 6.19 on, also
 * the data that they point to. */
int kernel_syscall__count(const char *format)
{
	static const char number[] = " __syscall_nr;";
	const char *p = strstr(format, number);
	int n = 0;

	if (!p)
		return -1;
	while ((p = strstr(p, "\n\tfield:"))) {
		p += strlen("\n\tfield:");
		n += strncmp(p, "__data_loc ", strlen("__data_loc ")) != 0;
	}
	return n <= ARGS_MAX ? n : -1;
}

static int count(int root, const struct function *f)
{
	const struct syscall_wrapper *w = f->raw ? wrapper_of(f->raw) : NULL;
	autofree char *path = NULL, *format = NULL;
	autoclose int fd = -1;

	if (!w || !w->has_tracepoint)
		return -1;
	path = xasprintf("events/syscalls/sys_enter_%s/format", f->raw + strlen(w->prefix));
	fd = openat(root, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fd__read(fd, path, FORMAT_MAX, &format, NULL))
		return -1;
	return kernel_syscall__count(format);
}

void kernel_syscalls__count(function_vec *v)
{
	const struct function *first = NULL;
	autoclose int root = -1;
	struct function *f;
	size_t unknown = 0;

	vec__each (f, v) {
		int n = -1;

		if (!(f->flags & FUNCTION_SYSCALL))
			continue;
		root = root < 0 ? kernel_fs__open(KERNEL_TRACEFS) : root;
		if (root >= 0)
			n = count(root, f);
		f->arguments = n + 1;
		first = n < 0 && !unknown++ ? f : first;
	}
	if (unknown == 1)
		note("%s: the kernel does not say how many arguments it has: all six registers "
		     "are shown",
		     first->name);
	else if (unknown)
		note("%s and %zu more: the kernel does not say how many arguments they have: all "
		     "six registers are shown",
		     first->name, unknown - 1);
	err__clear();
}

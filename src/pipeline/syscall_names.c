// SPDX-License-Identifier: BSD-2-Clause
#include <asm/unistd.h>
#include "arch/arch.h"
#include "syscall_names.h"

static const struct {
	uint64_t number;
	const char *name;
} rows[] = {
#include "pipeline/syscall_numbers.inc"
};

/* System calls whose functions have another name in the kernel's source. */
static const struct {
	const char *name, *function;
} others[] = {
	{"stat", "newstat"},   {"lstat", "newlstat"},	   {"fstat", "newfstat"},
	{"uname", "newuname"}, {"sendfile", "sendfile64"}, {"umount2", "umount"},
};

const char *syscall__name(uint64_t number)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].number == number)
			return rows[i].name;
	return NULL;
}

bool syscall__exists(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(rows[i].name, name))
			return true;
	return false;
}

char *syscall__function(const char *name)
{
	const struct arch *arch = arch__native();
	const struct syscall_wrapper *w = arch && arch->kernel ? arch->kernel->syscalls : NULL;

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (!strcmp(others[i].name, name))
			name = others[i].function;
	for (; w && w->prefix; w++)
		if (w->has_tracepoint && !w->is32)
			return xasprintf("%s%s", w->prefix, name);
	return NULL;
}

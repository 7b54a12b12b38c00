/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of options as numbers. */
#ifndef BBTRACE_CLI_OPTION_VALUES_H
#define BBTRACE_CLI_OPTION_VALUES_H

#include "args.h"

/* Calls fn for each part of a comma-separated list. */
int value__each(struct args *a, const char *list, int (*fn)(struct args *a, const char *part));
int value__u32(const char *text, uint32_t *out);
/* A time: a number with an optional unit, by default seconds. */
int value__time(const char *text, uint64_t *ns);
/* The index of the name; -1: none. */
int value__name(const char *const *names, size_t n, const char *v);
/* Is it a file's name, and neither empty nor an option? -EINVAL with a message. */
int value__file_name(const char *name);

/* --armor, or --armor=redundant. */
int value__armor(struct args *a, const char *kind);
/* The value of --regs, a bit each; 0: none, or the arguments. -EINVAL: unknown register. */
int regs__parse(const char *list, const struct arch *arch, uint64_t *regs);

/* Check the value of an option, or store it elsewhere (option_setters.c): 0, or -errno with a
 * message. */
int option__check_user(struct args *a, const char *v);
int option__set_pid(struct args *a, const char *v);
int option__set_tid(struct args *a, const char *v);
int option__set_uid(struct args *a, const char *v);
int option__set_comm(struct args *a, const char *v);
int option__set_events(struct args *a, const char *v);
int option__set_exclude(struct args *a, const char *v);
int option__set_args(struct args *a, const char *v);
int option__set_if(struct args *a, const char *v);
int option__set_with(struct args *a, const char *v);
int option__add_syscalls(struct args *a, const char *v);
int option__check_callees(struct args *a, const char *v);
int option__add_watch(struct args *a, const char *v);
int option__check_timeout(struct args *a, const char *v);
int option__check_to(struct args *a, const char *v);
int option__set_control(struct args *a, const char *v);
int option__set_dump_on(struct args *a, const char *v);
int option__set_start_on(struct args *a, const char *v);
int option__set_stop_on(struct args *a, const char *v);
int option__check_delay(struct args *a, const char *v);
int option__check_for(struct args *a, const char *v);
int option__check_interval(struct args *a, const char *v);
int option__check_overhead(struct args *a, const char *v);
int option__check_depth(struct args *a, const char *v);
int option__set_time(struct args *a, const char *v);
int option__set_verbose(struct args *a, const char *v);
int option__set_quiet(struct args *a, const char *v);
int option__check_color(struct args *a, const char *v);
int option__check_buffer(struct args *a, const char *v);
int option__check_max_size(struct args *a, const char *v);
int option__set_pass(struct args *a, const char *v);
int option__set_fail(struct args *a, const char *v);
int option__check_context(struct args *a, const char *v);
int option__check_last(struct args *a, const char *v);
int option__check_debuginfod(struct args *a, const char *v);
int option__set_placement(struct args *a, const char *v);
int option__set_returns(struct args *a, const char *v);
int option__set_fail_under(struct args *a, const char *v);
int option__set_engine(struct args *a, const char *v);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* fatal_signals: the named event of a signal that ends a process; it is a step of its thread. */
#ifndef BBTRACE_PIPELINE_FATAL_SIGNALS_H
#define BBTRACE_PIPELINE_FATAL_SIGNALS_H

#include "cli/request.h"

/* The data of the event, as plan__fields() describes it. */
struct fatal_signal_data {
	uint64_t known; /* bits in the order of its fields, and KILLED_BY_FAULT */
	char signal[16];
	char code[24];
	uint64_t addr;
	uint64_t sender;
	uint64_t regs[EVENT_REGS];
};
/* Room for the event with its data as text. */
struct killed_event {
	struct event event;
	struct event_named named;
	struct fatal_signal_data data;
};

/* Adds the event to the plan, if this trace keeps the last branches of programs. */
#define KILLED_BY_FAULT (1ull << 63) /* the instruction caused the signal: it was not executed */
void fatal_signal__plan(const struct request *req, struct plan *p);
/*
 * Returns the event with its data as text, if it is such a record of the kernel's. copies:
 * functions may run as copies, in which registers that are no longer used may have other values:
 * these are left out.
 */
const struct event *fatal_signal__event(const struct plan *p, const struct event *e, bool copies,
					struct killed_event *room);
/* True for a step of that event whose next instruction itself caused the signal. */
bool fatal_signal__is_by_fault(const struct plan *p, const struct step *s);
/* Writes the name of a signal, "SIGSEGV"; of an unknown one "signal 77". */
void fatal_signal__signal_name(int sig, char *to, size_t size);
/* Writes the reason that the kernel or the sender gives, as "SEGV_MAPERR". */
void fatal_signal__code_name(int sig, int code, char *to, size_t size);

#endif

// SPDX-License-Identifier: BSD-2-Clause
/* Describes a signal that ends a process. */
#include <linux/types.h>
#include <signal.h>
#include <stdlib.h>
#include "../bpf/wire_named.h"
#include "fatal_signals.h"

/* ---- names ---- */

void fatal_signal__signal_name(int sig, char *to, size_t size)
{
	const char *name = sigabbrev_np(sig);

	if (name)
		snprintf(to, size, "SIG%s", name);
	else
		snprintf(to, size, "signal %d", sig);
}

/* include/uapi/asm-generic/siginfo.h; sig 0: of any */
static const struct code {
	int sig, code;
	const char *name;
} codes[] = {
#define CODE(sig, name)                                                                            \
	{                                                                                          \
		sig, name, #name                                                                   \
	}
	CODE(0, SI_USER),	    CODE(0, SI_KERNEL),		 CODE(0, SI_QUEUE),
	CODE(0, SI_TIMER),	    CODE(0, SI_MESGQ),		 CODE(0, SI_ASYNCIO),
	CODE(0, SI_SIGIO),	    CODE(0, SI_TKILL),		 CODE(SIGILL, ILL_ILLOPC),
	CODE(SIGILL, ILL_ILLOPN),   CODE(SIGILL, ILL_ILLADR),	 CODE(SIGILL, ILL_ILLTRP),
	CODE(SIGILL, ILL_PRVOPC),   CODE(SIGILL, ILL_PRVREG),	 CODE(SIGILL, ILL_COPROC),
	CODE(SIGILL, ILL_BADSTK),   CODE(SIGFPE, FPE_INTDIV),	 CODE(SIGFPE, FPE_INTOVF),
	CODE(SIGFPE, FPE_FLTDIV),   CODE(SIGFPE, FPE_FLTOVF),	 CODE(SIGFPE, FPE_FLTUND),
	CODE(SIGFPE, FPE_FLTRES),   CODE(SIGFPE, FPE_FLTINV),	 CODE(SIGFPE, FPE_FLTSUB),
	CODE(SIGSEGV, SEGV_MAPERR), CODE(SIGSEGV, SEGV_ACCERR),	 CODE(SIGSEGV, SEGV_BNDERR),
	CODE(SIGSEGV, SEGV_PKUERR), CODE(SIGBUS, BUS_ADRALN),	 CODE(SIGBUS, BUS_ADRERR),
	CODE(SIGBUS, BUS_OBJERR),   CODE(SIGBUS, BUS_MCEERR_AR), CODE(SIGBUS, BUS_MCEERR_AO),
	CODE(SIGTRAP, TRAP_BRKPT),  CODE(SIGTRAP, TRAP_TRACE),	 CODE(SIGTRAP, TRAP_BRANCH),
	CODE(SIGTRAP, TRAP_HWBKPT),
#undef CODE
	{SIGSYS, 1, "SYS_SECCOMP"},
};

void fatal_signal__code_name(int sig, int code, char *to, size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		if (codes[i].code != code || (codes[i].sig && codes[i].sig != sig))
			continue;
		snprintf(to, size, "%s", codes[i].name);
		return;
	}
	snprintf(to, size, "%d", code);
}

/* ---- the event ---- */

enum { HAS_CODE = 1, HAS_ADDR = 2, HAS_SENDER = 4, REG_BIT = 3 };
#define HAS_REG(r) (1ull << (REG_BIT + (r)))
_Static_assert(REG_BIT + EVENT_REGS <= 63, "bits of killed_data.known");

static void add_regs(struct plan *p)
{
	for (unsigned i = 0; i < min_of(p->arch->nregs, (unsigned)EVENT_REGS); i++)
		if (p->arch->reg_names[i])
			plan__add_field(p,
					&(struct plan_field){
						.name = p->arch->reg_names[i],
						.type = "u64",
						.offset = offsetof(struct fatal_signal_data, regs) +
							  i * sizeof(uint64_t),
						.size = sizeof(uint64_t),
						.kind = TYPE_HEX,
						.known = 1 + REG_BIT + i});
}

#define FIELD_OF(member, ...)                                                                      \
	{                                                                                          \
		.name = #member, .offset = offsetof(struct fatal_signal_data, member),             \
		.size = sizeof(((struct fatal_signal_data *)0)->member), __VA_ARGS__               \
	}

void fatal_signal__plan(const struct request *req, struct plan *p)
{
	const struct plan_field fields[] = {
		FIELD_OF(signal, .type = "char[16]", .kind = TYPE_STRING),
		FIELD_OF(code, .type = "char[24]", .kind = TYPE_STRING, .known = 1),
		FIELD_OF(addr, .type = "u64", .kind = TYPE_HEX, .known = 2),
		FIELD_OF(sender, .type = "u64", .kind = TYPE_UNSIGNED, .known = 3),
	};

	if ((!req->record.last && !req->record.explain) || req->record.count ||
	    !plan__has_programs(p) || plan__has_named(p, NAMED_WATCHPOINT))
		return;
	plan__add_named(p, NAMED_KILLED, "killed");
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		plan__add_field(p, &fields[i]);
	add_regs(p);
}

static bool is_fault(const struct wire_killed *w)
{
	return w->code > 0 && (w->signal == SIGILL || w->signal == SIGFPE || w->signal == SIGSEGV ||
			       w->signal == SIGBUS || w->signal == SIGTRAP);
}

static bool is_sent(const struct wire_killed *w)
{
	return w->code == SI_USER || w->code == SI_TKILL || w->code == SI_QUEUE;
}

/* Returns the address of the instruction; in a copy it is that of the original. */
static uint64_t address_of(const struct arch *arch, const struct wire_killed *w)
{
	bool is_own = w->signal == SIGILL || w->signal == SIGFPE || w->signal == SIGTRAP;

	return is_own && arch->ip_reg < WIRE_REGS ? w->regs[arch->ip_reg] : w->addr;
}

static uint64_t known_regs(const struct arch *arch, bool copies)
{
	uint64_t known = 0;

	for (unsigned i = 0; i < min_of(arch->nregs, (unsigned)EVENT_REGS); i++)
		if (!copies || i == arch->sp_reg || i == arch->ip_reg)
			known |= HAS_REG(i);
	return known;
}

static void fill(struct fatal_signal_data *d, const struct wire_killed *w, const struct arch *arch,
		 bool copies)
{
	memset(d, 0, sizeof(*d));
	fatal_signal__signal_name(w->signal, d->signal, sizeof(d->signal));
	for (unsigned i = 0; i < min_of((unsigned)WIRE_REGS, (unsigned)EVENT_REGS); i++)
		d->regs[i] = w->regs[i];
	d->known = known_regs(arch, copies);
	if (!(w->known & KILLED_INFO))
		return;
	d->known |= HAS_CODE | (is_fault(w) ? KILLED_BY_FAULT : 0) |
		    (is_fault(w) && w->code != SI_KERNEL ? HAS_ADDR : 0) |
		    (is_sent(w) ? HAS_SENDER : 0);
	fatal_signal__code_name(w->signal, w->code, d->code, sizeof(d->code));
	d->addr = copies ? address_of(arch, w) : w->addr;
	d->sender = w->sender;
}

const struct event *fatal_signal__event(const struct plan *p, const struct event *e, bool copies,
					struct killed_event *room)
{
	if (!e || e->type != EVENT_NAMED || e->named->which >= p->named.len ||
	    p->named.data[e->named->which].kind != NAMED_KILLED ||
	    e->named->len != sizeof(struct wire_killed))
		return e;
	fill(&room->data, (const void *)e->named->data, p->arch, copies);
	room->named = *e->named;
	room->named.data = (const uint8_t *)&room->data;
	room->named.len = sizeof(room->data);
	room->event = *e;
	room->event.named = &room->named;
	return &room->event;
}

/* A trap is reported after its instruction. */
bool fatal_signal__is_by_fault(const struct plan *p, const struct step *s)
{
	const struct fatal_signal_data *d;

	if (s->type != STEP_NAMED || p->named.data[s->named->which].kind != NAMED_KILLED ||
	    s->named->len != sizeof(*d))
		return false;
	d = (const struct fatal_signal_data *)s->named->data;
	return d->known & KILLED_BY_FAULT && strcmp(d->signal, "SIGTRAP");
}

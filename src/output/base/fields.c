// SPDX-License-Identifier: BSD-2-Clause
/* The table of a step's fields. */
#include "fields.h"
#include "values.h"

#define IN(type)  (1u << (type))
#define CALLS	  (IN(STEP_ENTRY) | IN(STEP_BRANCH) | IN(STEP_RETURN))
#define ALL_STEPS ((1u << STEP_TYPES) - 1)
#define STACKS	  (IN(STEP_ENTRY) | IN(STEP_NAMED))
#define OF_THREAD (ALL_STEPS & ~IN(STEP_OMITTED))

static const char *const event_names[STEP_TYPES] = {
	[STEP_ENTRY] = "entry", [STEP_BRANCH] = "branch",   [STEP_RETURN] = "return",
	[STEP_LOST] = "lost",	[STEP_UNKNOWN] = "unknown", [STEP_FORK] = "fork",
	[STEP_EXEC] = "exec",	[STEP_EXIT] = "exit",	    [STEP_STOP] = "stop",
	[STEP_START] = "start", [STEP_MARK] = "mark",	    [STEP_OMITTED] = "omitted",
	[STEP_NAMED] = "event",
};

static const struct plan_site *site_of(const struct output *o, const struct step *s)
{
	return s->site < o->plan->sites.len ? &o->plan->sites.data[s->site] : NULL;
}

static bool get_ts(const struct output *o, const struct step *s, union field_value *v)
{
	v->number = s->time;
	return s->timed;
}

static bool get_pid(const struct output *o, const struct step *s, union field_value *v)
{
	v->number = s->pid;
	return !step__is_global(s);
}

static bool get_tid(const struct output *o, const struct step *s, union field_value *v)
{
	v->number = s->tid;
	return !step__is_global(s);
}

static bool get_ns_pid(const struct output *o, const struct step *s, union field_value *v)
{
	v->number = s->ns_pid;
	return s->ns_pid && s->ns_pid != s->pid;
}

static bool get_goroutine(const struct output *o, const struct step *s, union field_value *v)
{
	v->number = s->goroutine;
	return s->goroutine && !(s->goroutine & GOROUTINE_AT);
}

static bool get_comm(const struct output *o, const struct step *s, union field_value *v)
{
	v->string = s->comm;
	return s->comm && s->comm[0];
}

static bool get_cpu(const struct output *o, const struct step *s, union field_value *v)
{
	v->number = s->cpu;
	return s->timed && s->cpu != EVENT_NO_CPU && s->type != STEP_MARK && !step__is_global(s);
}

/* The innermost context. */
static bool get_context(const struct output *o, const struct step *s, union field_value *v)
{
	v->string = s->interrupt & IN_NMI	? "nmi"
		    : s->interrupt & IN_HARDIRQ ? "hardirq"
						: "softirq";
	return s->interrupt;
}

static bool get_event(const struct output *o, const struct step *s, union field_value *v)
{
	v->string = s->type == STEP_NAMED ? named__kind(o, s) : event_names[s->type];
	return true;
}

static bool get_text(const struct output *o, const struct step *s, union field_value *v)
{
	v->string = s->text ? s->text : "";
	return true;
}

/* The number of a program's system call. */
static bool get_number(const struct output *o, const struct step *s, union field_value *v)
{
	v->number = s->count;
	return s->pid;
}

static bool get_by(const struct output *o, const struct step *s, union field_value *v)
{
	v->string = s->text;
	return s->text;
}

static bool get_asked(const struct output *o, const struct step *s, union field_value *v)
{
	v->number = s->count;
	return s->text;
}

static bool get_name(const struct output *o, const struct step *s, union field_value *v)
{
	v->string = o->plan->named.data[s->named->which].name;
	return true;
}

static bool get_args(const struct output *o, const struct step *s, union field_value *v)
{
	size_t n;

	v->named = s->named;
	return plan__fields(o->plan, s->named->which, &n);
}

static bool get_at(const struct output *o, const struct step *s, union field_value *v)
{
	v->place = &s->at;
	return s->type != STEP_NAMED || s->has_at;
}

/* For the instruction at vaddr; for a return, the function's first one. */
static bool get_src(const struct output *o, const struct step *s, union field_value *v)
{
	const struct plan *p = o->plan;

	v->src = s->at.object && s->function < p->functions.len
			 ? src__of(o, p->functions.data[s->function].object, s->at.vaddr)
			 : NULL;
	return v->src;
}

static bool get_kind(const struct output *o, const struct step *s, union field_value *v)
{
	const struct plan_site *site = site_of(o, s);

	v->string = site && site->kind < BRANCH_KINDS ? branch_kind_names[site->kind] : NULL;
	return v->string;
}

static bool get_insn(const struct output *o, const struct step *s, union field_value *v)
{
	const struct plan_site *site = site_of(o, s);

	v->string = site ? site->mnemonic : NULL;
	return v->string;
}

static bool get_taken(const struct output *o, const struct step *s, union field_value *v)
{
	const struct plan_site *site = site_of(o, s);

	v->flag = s->taken;
	return site && (site->kind == BRANCH_JCC || site->kind == BRANCH_LOOP);
}

static bool get_to(const struct output *o, const struct step *s, union field_value *v)
{
	v->place = &s->to;
	return s->to_known;
}

static bool get_why(const struct output *o, const struct step *s, union field_value *v)
{
	const struct plan_site *site = site_of(o, s);

	v->step = s;
	return s->tested.flags && site && site->compare;
}

static bool get_implied(const struct output *o, const struct step *s, union field_value *v)
{
	v->flag = true;
	return s->implied;
}

static bool get_depth(const struct output *o, const struct step *s, union field_value *v)
{
	v->number = s->depth;
	return true;
}

static bool get_regs(const struct output *o, const struct step *s, union field_value *v)
{
	v->regs.values = s->regs;
	v->regs.shown = output__regs(o, s);
	return s->regs && o->options.show_regs && v->regs.shown->n;
}

static bool get_syscall_args(const struct output *o, const struct step *s, union field_value *v)
{
	v->values.at = s->syscall_args;
	v->values.n = s->nsyscall_args;
	return s->syscall_args && o->options.show_regs;
}

static bool get_typed(const struct output *o, const struct step *s, union field_value *v)
{
	v->step = s;
	return values__has_args(o, s) && o->options.show_regs;
}

static bool get_cut(const struct output *o, const struct step *s, union field_value *v)
{
	v->step = s;
	return values__are_typed(o, s) && o->options.show_regs && values__put_cut(o, NULL, s);
}

static bool get_not_recorded(const struct output *o, const struct step *s, union field_value *v)
{
	v->step = s;
	if (s->type == STEP_NAMED)
		return named__put_not_recorded(o, NULL, s->named);
	return values__are_typed(o, s) && o->options.show_regs &&
	       values__put_not_recorded(o, NULL, s);
}

static bool get_since(const struct output *o, const struct step *s, union field_value *v)
{
	v->number = s->since_entry;
	return s->has_since;
}

static bool get_stack(const struct output *o, const struct step *s, union field_value *v)
{
	v->stack.frames = s->stack;
	v->stack.n = s->nstack;
	return s->stack;
}

static bool get_stack_end(const struct output *o, const struct step *s, union field_value *v)
{
	static const char *const names[STACK_ENDS] = {
		[STACK_NO_POINTER] = "no_frame_pointer",
		[STACK_UNREADABLE] = "unreadable",
		[STACK_LIMIT] = "limit",
		[STACK_CUT] = "cut",
		[STACK_NO_RULES] = "no_unwind_table",
	};

	v->string = names[s->stack_end];
	return s->stack && v->string;
}

static bool get_value(const struct output *o, const struct step *s, union field_value *v)
{
	const struct plan_function *f =
		s->function < o->plan->functions.len ? &o->plan->functions.data[s->function] : NULL;

	v->number = s->value;
	return s->has_value && !(f && f->flags & FUNCTION_NO_ARGS);
}

static bool get_ret(const struct output *o, const struct step *s, union field_value *v)
{
	v->step = s;
	return values__result(o, s) == RESULT_TYPED;
}

static bool get_errno(const struct output *o, const struct step *s, union field_value *v)
{
	v->string = values__errno(o, s);
	return v->string;
}

static bool get_duration(const struct output *o, const struct step *s, union field_value *v)
{
	v->number = s->duration;
	return s->timed && s->has_duration;
}

static bool get_net(const struct output *o, const struct step *s, union field_value *v)
{
	return s->timed && s->has_duration && step__net(s, &v->number) == NET_KNOWN;
}

static bool get_off(const struct output *o, const struct step *s, union field_value *v)
{
	v->number = s->off;
	return s->has_off;
}

static bool get_below_noise(const struct output *o, const struct step *s, union field_value *v)
{
	uint64_t net;

	v->flag = true;
	return s->timed && s->has_duration && step__net(s, &net) == NET_NOISE;
}

static bool get_count(const struct output *o, const struct step *s, union field_value *v)
{
	v->number = s->type == STEP_NAMED ? s->named->count : s->count;
	return s->type != STEP_NAMED || s->named->count != 1;
}

static bool get_at_least(const struct output *o, const struct step *s, union field_value *v)
{
	v->flag = true;
	return s->at_least;
}

#define KEY(name) .key = JSON_KEY(name)

const struct field fields[FIELDS] = {
	[FIELD_TS] = {KEY("ts"), VALUE_DEC, OF_THREAD, get_ts},
	[FIELD_PID] = {KEY("pid"), VALUE_DEC, OF_THREAD, get_pid},
	[FIELD_TID] = {KEY("tid"), VALUE_DEC, OF_THREAD, get_tid},
	[FIELD_NS_PID] = {KEY("ns_pid"), VALUE_DEC, OF_THREAD, get_ns_pid},
	[FIELD_GOROUTINE] = {KEY("goroutine"), VALUE_DEC, OF_THREAD, get_goroutine},
	[FIELD_COMM] = {KEY("comm"), VALUE_STRING, OF_THREAD, get_comm},
	[FIELD_CPU] = {KEY("cpu"), VALUE_DEC, OF_THREAD, get_cpu},
	[FIELD_CONTEXT] = {KEY("context"), VALUE_STRING, CALLS | IN(STEP_NAMED), get_context},
	[FIELD_EVENT] = {KEY("event"), VALUE_STRING, ALL_STEPS, get_event},
	[FIELD_TEXT] = {KEY("text"), VALUE_STRING, IN(STEP_MARK), get_text},
	[FIELD_NUMBER] = {KEY("number"), VALUE_SIGNED, IN(STEP_MARK), get_number},
	[FIELD_BY] = {KEY("by"), VALUE_STRING, IN(STEP_STOP) | IN(STEP_START), get_by},
	[FIELD_ASKED] = {KEY("since_asked_ns"), VALUE_DEC, IN(STEP_START), get_asked},
	[FIELD_NAME] = {KEY("name"), VALUE_STRING, IN(STEP_NAMED), get_name},
	[FIELD_ARGS] = {KEY("args"), VALUE_NAMED, IN(STEP_NAMED), get_args},
	[FIELD_AT] = {{NULL, 0}, VALUE_AT, CALLS | IN(STEP_NAMED), get_at},
	[FIELD_SRC] = {KEY("src"), VALUE_SRC, CALLS | IN(STEP_NAMED), get_src},
	[FIELD_KIND] = {KEY("kind"), VALUE_STRING, IN(STEP_BRANCH), get_kind},
	[FIELD_INSN] = {KEY("insn"), VALUE_STRING, IN(STEP_BRANCH), get_insn},
	[FIELD_TAKEN] = {KEY("taken"), VALUE_BOOL, IN(STEP_BRANCH), get_taken},
	[FIELD_TO] = {KEY("to"), VALUE_PLACE, IN(STEP_BRANCH), get_to},
	[FIELD_WHY] = {KEY("why"), VALUE_WHY, IN(STEP_BRANCH), get_why},
	[FIELD_IMPLIED] = {KEY("implied"), VALUE_BOOL, CALLS, get_implied},
	[FIELD_DEPTH] = {KEY("depth"), VALUE_DEC, CALLS | IN(STEP_NAMED), get_depth},
	[FIELD_REGS] = {KEY("regs"), VALUE_REGS, IN(STEP_ENTRY), get_regs},
	[FIELD_SYSCALL_ARGS] = {KEY("syscall_args"), VALUE_WORDS, IN(STEP_ENTRY), get_syscall_args},
	[FIELD_TYPED] = {KEY("args"), VALUE_TYPED, IN(STEP_ENTRY) | IN(STEP_RETURN), get_typed},
	[FIELD_SINCE] = {KEY("since_entry_ns"), VALUE_DEC, IN(STEP_ENTRY), get_since},
	[FIELD_STACK] = {KEY("stack"), VALUE_STACK, STACKS, get_stack},
	[FIELD_STACK_END] = {KEY("stack_end"), VALUE_STRING, STACKS, get_stack_end},
	[FIELD_VALUE] = {KEY("value"), VALUE_HEX, IN(STEP_RETURN), get_value},
	[FIELD_RET] = {KEY("ret"), VALUE_RESULT, IN(STEP_RETURN), get_ret},
	[FIELD_ERRNO] = {KEY("errno"), VALUE_STRING, IN(STEP_RETURN), get_errno},
	[FIELD_CUT] = {KEY("cut"), VALUE_CUT, IN(STEP_ENTRY) | IN(STEP_RETURN), get_cut},
	[FIELD_NOT_RECORDED] = {KEY("not_recorded"), VALUE_NOT_RECORDED_NAMES,
				IN(STEP_ENTRY) | IN(STEP_RETURN) | IN(STEP_NAMED),
				get_not_recorded},
	[FIELD_DURATION] = {KEY("duration_ns"), VALUE_DEC, IN(STEP_RETURN), get_duration},
	[FIELD_NET] = {KEY("net_ns"), VALUE_DEC, IN(STEP_RETURN), get_net},
	[FIELD_OFF] = {KEY("off_cpu_ns"), VALUE_DEC, IN(STEP_RETURN) | IN(STEP_NAMED), get_off},
	[FIELD_BELOW_NOISE] = {KEY("below_noise"), VALUE_BOOL, IN(STEP_RETURN), get_below_noise},
	[FIELD_COUNT] = {KEY("count"), VALUE_DEC, IN(STEP_LOST) | IN(STEP_OMITTED) | IN(STEP_NAMED),
			 get_count},
	[FIELD_AT_LEAST] = {KEY("at_least"), VALUE_BOOL, IN(STEP_LOST), get_at_least},
};

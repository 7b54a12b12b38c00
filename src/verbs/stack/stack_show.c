// SPDX-License-Identifier: BSD-2-Clause
/* Shows the threads of a process as text and as JSON: what each waits for, and its stack. */
#include <inttypes.h>
#include "stack_show.h"

static const char *const names[WAIT_KINDS] = {
	[WAIT_NOTHING] = "nothing", [WAIT_CALL] = "call",	    [WAIT_MUTEX] = "mutex",
	[WAIT_RWLOCK] = "rwlock",   [WAIT_CONDITION] = "condition", [WAIT_SEMAPHORE] = "semaphore",
	[WAIT_BARRIER] = "barrier", [WAIT_FUTEX] = "futex",	    [WAIT_THREAD] = "thread",
	[WAIT_FILE] = "file",	    [WAIT_FILES] = "files",	    [WAIT_TIME] = "time",
	[WAIT_CHILD] = "child",	    [WAIT_SIGNAL] = "signal",	    [WAIT_PAGE] = "page",
	[WAIT_STOPPED] = "stopped", [WAIT_UNKNOWN] = "unknown",
};

/* ---- what a thread waits for ---- */

static void put_address(const struct wait *w, struct str *to)
{
	str__hex(to, w->addr);
	if (!w->symbol)
		return;
	str__puts(to, " (");
	str__shown(to, w->symbol);
	str__putc(to, ')');
}

static void put_lock(const struct wait *w, struct str *to)
{
	str__printf(to, "waits for the %s ",
		    w->kind == WAIT_RWLOCK	? "read-write lock"
		    : w->kind == WAIT_CONDITION ? "condition variable"
						: names[w->kind]);
	put_address(w, to);
	if (w->owner)
		str__printf(to, ", which thread %u holds", w->owner);
}

static void put_call(const struct wait *w, struct str *to)
{
	str__puts(to, "waits in ");
	if (w->call)
		str__puts(to, w->call);
	else
		str__printf(to, "system call %" PRId64, w->number);
}

/* Files and times have a text if what they are about could be read. */
static void put_more(const struct wait *w, const char *word, struct str *to)
{
	put_call(w, to);
	if (!w->text.len)
		return;
	str__puts(to, word);
	str__put(to, w->text.data, w->text.len);
}

static void put_wait(const struct wait *w, const struct snap *t, struct str *to)
{
	switch (w->kind) {
	case WAIT_NOTHING:
		str__puts(to, t->at.on_cpu ? "runs" : "waits for a CPU");
		break;
	case WAIT_MUTEX:
	case WAIT_RWLOCK:
	case WAIT_CONDITION:
	case WAIT_SEMAPHORE:
	case WAIT_BARRIER:
	case WAIT_FUTEX:
		put_lock(w, to);
		break;
	case WAIT_THREAD:
		if (w->owner)
			str__printf(to, "waits until thread %u ends", w->owner);
		else
			str__puts(to, "waits until a thread ends");
		break;
	case WAIT_FILE:
	case WAIT_FILES:
		put_more(w, w->kind == WAIT_FILE ? " of " : " for ", to);
		break;
	case WAIT_TIME:
		str__puts(to, "sleeps");
		if (w->text.len)
			str__printf(to, " %s", w->text.data);
		if (w->call)
			str__printf(to, " in %s", w->call);
		break;
	case WAIT_CHILD:
		if (w->owner)
			str__printf(to, "waits for process %u", w->owner);
		else
			str__puts(to, "waits for any child");
		break;
	case WAIT_SIGNAL:
		str__puts(to, "waits for a signal");
		break;
	case WAIT_PAGE:
		str__puts(to, "waits for memory that it accessed");
		break;
	case WAIT_STOPPED:
		str__puts(to,
			  t->state == 't' ? "is stopped by a debugger" : "is stopped by a signal");
		break;
	case WAIT_UNKNOWN:
		str__puts(to, "ran and waited in turns: its stack isn't known");
		break;
	default:
		put_call(w, to);
	}
	if (t->state == 'D' && t->settled)
		str__puts(to, ", and no signal ends that");
}

/* ---- the process ---- */

static uint32_t tid_of(const struct stacks *s, size_t i)
{
	return s->snapshot->threads.data[i].at.tid;
}

static void put_cycle(const struct stacks *s, struct str *to)
{
	size_t i = s->first;

	str__puts(to, "\ndeadlock  ");
	for (size_t k = 0; k < s->cycle; k++) {
		size_t next = cycle__next(s->snapshot, s->waits, i);

		str__printf(to, k ? ", which waits for " : "thread %u waits for ", tid_of(s, i));
		if (s->waits[i].kind == WAIT_THREAD) {
			str__printf(to, "the end of thread %u", tid_of(s, next));
		} else {
			put_address(&s->waits[i], to);
			str__printf(to, " of thread %u", tid_of(s, next));
		}
		i = next;
	}
}

static void put_head_text(const struct stacks *s, struct str *to)
{
	const struct core *c = s->core;
	size_t n = s->snapshot->threads.len;

	str__printf(to, "stacks    of process %u (", s->snapshot->pid);
	str__shown(to, c->comm);
	str__printf(to, "), %zu thread%s\ncommand   ", n, n == 1 ? "" : "s");
	str__shown(to, c->command);
	if (s->cycle)
		put_cycle(s, to);
	str__putc(to, '\n');
}

static void put_head_json(const struct stacks *s, struct str *to)
{
	struct json j = {.out = to};
	size_t i = s->first;

	json__open_object(&j);
	json__member(&j, string, "event", "stacks");
	json__member(&j, unsigned, "pid", s->snapshot->pid);
	json__member(&j, string, "comm", s->core->comm);
	json__member(&j, string, "command", s->core->command);
	json__member(&j, unsigned, "threads", s->snapshot->threads.len);
	json__member(&j, unsigned, "ended", s->snapshot->ended);
	json__key(&j, "deadlock");
	json__open_array(&j);
	for (size_t k = 0; k < s->cycle; k++, i = cycle__next(s->snapshot, s->waits, i))
		json__unsigned(&j, tid_of(s, i));
	json__close_array(&j);
	json__close_object(&j);
	str__putc(to, '\n');
}

void stack_show__head(const struct stacks *s, struct str *to)
{
	if (s->json)
		put_head_json(s, to);
	else
		put_head_text(s, to);
}

/* ---- the kernel's part of a stack ---- */

static char *read_kernel_stack(const struct stacks *s, uint32_t tid)
{
	autofree char *path = xasprintf("/proc/%u/task/%u/stack", s->snapshot->pid, tid);
	char *text = NULL;

	return file__read(path, 1 << 20, &text, NULL) ? NULL : text;
}

/* "[<0>] function+0x1/0x2 [module]" a line, innermost first */
static void each_kernel_frame(char *text, void (*fn)(void *ctx, const char *frame), void *ctx)
{
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		const char *frame = strstr(line, "] ");

		if (frame)
			fn(ctx, frame + 2);
	}
}

static void put_kernel_text(void *ctx, const char *frame)
{
	struct str *to = ctx;

	str__puts(to, "  k    ");
	str__shown(to, frame);
	str__putc(to, '\n');
}

static void put_kernel_json(void *ctx, const char *frame)
{
	json__string(ctx, frame);
}

/* ---- a thread ---- */

/* Why a thread has none. */
static const char *no_stack(const struct stacks *s, const struct snap *t)
{
	return t->at.narrow != s->snapshot->threads.data[0].at.narrow
		       ? "it is in code of another size than the main thread"
		       : "the stack cannot be read";
}

static void put_thread_text(const struct stacks *s, size_t i, const struct core_thread *stack,
			    struct str *to)
{
	const struct snap *t = &s->snapshot->threads.data[i];
	autofree char *kernel = s->kernel ? read_kernel_stack(s, t->at.tid) : NULL;

	str__printf(to, "\nthread %u (", t->at.tid);
	str__shown(to, t->at.comm);
	str__puts(to, ") ");
	put_wait(&s->waits[i], t, to);
	str__putc(to, '\n');
	if (kernel)
		each_kernel_frame(kernel, put_kernel_text, to);
	if (stack)
		core_show__stack_text(s->core, s->places, stack, NULL, to);
	else if (t->settled)
		str__printf(to, "  -- %s --\n", no_stack(s, t));
}

static void put_wait_json(const struct wait *w, struct json *j)
{
	json__key(j, "waits");
	json__open_object(j);
	json__member(j, string, "for", names[w->kind]);
	if (w->call)
		json__member(j, string, "call", w->call);
	if (w->number >= 0)
		json__member(j, unsigned, "number", w->number);
	if (w->addr)
		json__member(j, hex, "addr", w->addr);
	if (w->symbol)
		json__member(j, string, "symbol", w->symbol);
	if (w->owner && w->kind == WAIT_CHILD)
		json__member(j, unsigned, "pid", w->owner);
	else if (w->owner)
		json__member(j, unsigned, "owner", w->owner);
	if (w->text.len)
		json__member(j, string, "text", w->text.data);
	json__close_object(j);
}

static void put_thread_json(const struct stacks *s, size_t i, const struct core_thread *stack,
			    struct str *to)
{
	const struct snap *t = &s->snapshot->threads.data[i];
	autofree char *kernel = s->kernel ? read_kernel_stack(s, t->at.tid) : NULL;
	char state[2] = {t->state, 0};
	struct json j = {.out = to};

	json__open_object(&j);
	json__member(&j, string, "event", "stack");
	json__member(&j, unsigned, "tid", t->at.tid);
	json__member(&j, string, "comm", t->at.comm);
	json__member(&j, string, "state", state);
	json__member(&j, bool, "running", t->at.on_cpu);
	put_wait_json(&s->waits[i], &j);
	if (kernel) {
		json__key(&j, "kernel_stack");
		json__open_array(&j);
		each_kernel_frame(kernel, put_kernel_json, &j);
		json__close_array(&j);
	}
	if (stack)
		core_show__stack_json(s->places, stack, &j);
	else if (t->settled)
		json__member(&j, string, "stack_end", no_stack(s, t));
	json__close_object(&j);
	str__putc(to, '\n');
}

void stack_show__thread(const struct stacks *s, size_t i, const struct core_thread *stack,
			struct str *to)
{
	if (s->json)
		put_thread_json(s, i, stack, to);
	else
		put_thread_text(s, i, stack, to);
}

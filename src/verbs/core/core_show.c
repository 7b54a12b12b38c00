// SPDX-License-Identifier: BSD-2-Clause
/* Shows a core dump as text and as JSON: its process, and the stack of a thread. */
#include "core.h"
#include "pipeline/fatal_signals.h"

static const char *const fits[] = {
	[CORE_SAME] = "same",
	[CORE_OTHER] = "other build",
	[CORE_UNKNOWN] = "unknown",
	[CORE_MISSING] = "missing",
};
static const char *const ends[CORE_STACK_ENDS] = {
	[CORE_STACK_WHOLE] = NULL,
	[CORE_STACK_NO_RULES] = "no unwind table leads on",
	[CORE_STACK_UNREADABLE] = "the frame cannot be read",
	[CORE_STACK_LIMIT] = "and more callers",
};

/* ---- the dump ---- */

static void put_signal(const struct core *c, struct str *to)
{
	char name[32];

	if (!c->signal) {
		str__puts(to, ", which no signal killed");
		return;
	}
	fatal_signal__signal_name(c->signal, name, sizeof(name));
	str__printf(to, ", %s by %s", c->stopped ? "stopped in a debugger" : "killed", name);
	if (c->has_info) {
		fatal_signal__code_name(c->signal, c->code, name, sizeof(name));
		str__printf(to, " %s", name);
	}
	if (c->has_addr) {
		str__puts(to, " at ");
		str__hex(to, c->addr);
	}
}

static void put_head_text(const struct core_shown *s, struct str *to)
{
	const struct core *c = s->core;

	str__printf(to, "core      of process %u (", c->pid);
	str__shown(to, c->comm);
	str__putc(to, ')');
	put_signal(c, to);
	str__puts(to, "\ncommand   ");
	str__shown(to, c->command);
	if (s->trace) {
		str__puts(to, "\ntrace     ");
		str__shown(to, s->trace);
		str__printf(to, ", of process %u, which had %zu file%s at the same address%s",
			    s->fit->pid, s->fit->same, s->fit->same == 1 ? "" : "s",
			    s->fit->same == 1 ? "" : "es");
	}
	str__putc(to, '\n');
}

static void put_head_json(const struct core_shown *s, struct str *to)
{
	const struct core *c = s->core;
	struct json j = {.out = to};
	const struct core_file *f;
	char name[32];

	json__open_object(&j);
	json__member(&j, string, "event", "core");
	json__member(&j, unsigned, "pid", c->pid);
	json__member(&j, string, "comm", c->comm);
	json__member(&j, string, "command", c->command);
	if (c->signal) {
		fatal_signal__signal_name(c->signal, name, sizeof(name));
		json__member(&j, string, "signal", name);
		json__member(&j, bool, "stopped", c->stopped);
	}
	if (c->has_info) {
		fatal_signal__code_name(c->signal, c->code, name, sizeof(name));
		json__member(&j, string, "code", name);
	}
	if (c->has_addr)
		json__member(&j, hex, "addr", c->addr);
	if (c->cut)
		json__member(&j, bool, "cut", true);
	if (s->trace)
		json__member(&j, string, "trace", s->trace);
	json__key(&j, "files");
	json__open_array(&j);
	vec__each (f, &c->files) {
		json__open_object(&j);
		json__member(&j, string, "path", f->path);
		json__member(&j, string, "file", fits[f->fit]);
		json__close_object(&j);
	}
	json__close_array(&j);
	json__close_object(&j);
	str__putc(to, '\n');
}

void core_show__head(const struct core_shown *s, struct str *to)
{
	if (s->json)
		put_head_json(s, to);
	else
		put_head_text(s, to);
}

/* ---- places ---- */

static void put_place(const struct location *at, struct str *to)
{
	if (at->symbol) {
		str__shown(to, at->symbol);
		str__putc(to, '+');
		str__hex(to, at->offset);
	} else {
		str__hex(to, at->object ? at->vaddr : at->addr);
	}
}

static void put_line(const struct core_line *l, struct str *to)
{
	if (!l->line)
		return;
	str__puts(to, "  ");
	str__shown(to, l->file ? path__base_name(l->file) : "?");
	str__printf(to, ":%u", l->line);
}

static void put_branch(const struct step *s, struct str *to)
{
	const struct plan_site *site = &s->plan->sites.data[s->site];

	put_place(&s->at, to);
	str__putc(to, ' ');
	str__shown(to, site->mnemonic ? site->mnemonic : "?");
	if (plan_site__is_conditional(site))
		str__puts(to, s->taken ? " taken" : " not taken");
	if (!s->to_known)
		return;
	str__puts(to, " -> ");
	put_place(&s->to, to);
}

/* ---- a thread as text ---- */

static void put_meeting(const struct core_meet *m, struct str *to)
{
	struct kept_step branch = m->branch;

	if (m->how == MEET_STRAIGHT)
		str__puts(to, "  <- the newest branch leads here: ");
	else if (m->how == MEET_CALL)
		str__puts(to, "  <- the newest branch is this call: ");
	else
		str__puts(to, "  <- the newest branch leads into this function: ");
	put_branch(kept__step(&branch), to);
}

static bool meets(const struct core_meet *m)
{
	return m->how == MEET_STRAIGHT || m->how == MEET_CALL || m->how == MEET_INTO;
}

/* True for the program's file, which needs no name. */
static bool is_program(const struct core *c, const struct core_file *f)
{
	const struct core_map *m = core__map_at(c, c->entry);

	return m && &c->files.data[m->file] == f;
}

static void put_frame_text(const struct core *c, const struct core_place *p, size_t i,
			   const struct core_meet *meet, struct str *to)
{
	const struct core_line *l;

	for (l = p->lines.data; l < vec__end(&p->lines) && l->inlined; l++) {
		str__printf(to, "  #%-3zu ", i);
		str__shown(to, l->function ? l->function : "?");
		str__puts(to, " (inlined)");
		put_line(l, to);
		str__putc(to, '\n');
	}
	str__printf(to, "  #%-3zu ", i);
	put_place(&p->at, to);
	if (p->of && !(p->at.object && is_program(c, p->of))) {
		str__puts(to, " [");
		str__shown(to, path__base_name(p->of->path));
		str__putc(to, ']');
	}
	if (l < vec__end(&p->lines))
		put_line(l, to);
	if (meet && meets(meet) && meet->frame == i)
		put_meeting(meet, to);
	str__putc(to, '\n');
}

static void put_apart(const struct core_meet *m, struct str *to)
{
	struct kept_step branch = m->branch;

	if (m->how == MEET_NOTHING)
		str__puts(to, "  -- the trace has no branch of this thread --\n");
	else if (m->how == MEET_GAP)
		str__puts(to, "  -- the thread's last events are missing in the trace --\n");
	if (m->how != MEET_APART)
		return;
	str__puts(to, "  -- the newest branch doesn't lead to this stack: ");
	put_branch(kept__step(&branch), to);
	str__puts(to, " --\n");
}

void core_show__stack_text(const struct core *c, const struct core_place *places,
			   const struct core_thread *t, const struct core_meet *meet,
			   struct str *to)
{
	for (size_t i = 0; i < t->n; i++)
		put_frame_text(c, &places[t->first + i], i, meet, to);
	if (ends[t->end])
		str__printf(to, "  -- %s --\n", ends[t->end]);
}

static void put_thread_text(const struct core_shown *s, const struct core_thread *t,
			    const struct core_meet *meet, struct str *to)
{
	str__printf(to, "\nthread %u%s\n", t->tid,
		    t->tid == s->core->tid && s->core->signal ? ", which got the signal" : "");
	core_show__stack_text(s->core, s->places, t, meet, to);
	if (meet)
		put_apart(meet, to);
}

/* ---- a thread as JSON ---- */

static const char *const hows[] = {
	[MEET_NOTHING] = "no branch", [MEET_APART] = "apart", [MEET_GAP] = "missing",
	[MEET_STRAIGHT] = "leads",    [MEET_CALL] = "call",   [MEET_INTO] = "into",
};

static void put_lines_json(const struct core_place *p, struct json *j)
{
	const struct core_line *l;

	json__key(j, "src");
	json__open_array(j);
	vec__each (l, &p->lines) {
		json__open_object(j);
		if (l->function)
			json__member(j, string, "function", l->function);
		if (l->line && l->file)
			json__member(j, string, "file", l->file);
		if (l->line)
			json__member(j, unsigned, "line", l->line);
		json__close_object(j);
	}
	json__close_array(j);
}

void core_show__stack_json(const struct core_place *places, const struct core_thread *t,
			   struct json *j)
{
	json__key(j, "stack");
	json__open_array(j);
	for (size_t i = t->first; i < t->first + t->n; i++) {
		const struct core_place *p = &places[i];

		json__open_object(j);
		json__member(j, hex, "addr", p->at.addr);
		json__put_place(j, &p->at);
		if (p->of && !p->at.object)
			json__member(j, string, "file", p->of->path);
		if (p->lines.len)
			put_lines_json(p, j);
		json__close_object(j);
	}
	json__close_array(j);
	if (ends[t->end])
		json__member(j, string, "stack_end", ends[t->end]);
}

static void put_thread_json(const struct core_shown *s, const struct core_thread *t,
			    const struct core_meet *meet, struct str *to)
{
	struct json j = {.out = to};

	json__open_object(&j);
	json__member(&j, string, "event", "stack");
	json__member(&j, unsigned, "tid", t->tid);
	json__member(&j, bool, "killed",
		     t->tid == s->core->tid && s->core->signal && !s->core->stopped);
	core_show__stack_json(s->places, t, &j);
	if (meet)
		json__member(&j, string, "newest", hows[meet->how]);
	if (meet && meets(meet))
		json__member(&j, unsigned, "frame", meet->frame);
	json__close_object(&j);
	str__putc(to, '\n');
}

void core_show__thread(const struct core_shown *s, const struct core_thread *t,
		       const struct core_meet *meet, struct str *to)
{
	if (s->json)
		put_thread_json(s, t, meet, to);
	else
		put_thread_text(s, t, meet, to);
}

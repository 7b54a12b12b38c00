// SPDX-License-Identifier: BSD-2-Clause
/*
 * Why CMD wrote a message: from the call that wrote it outward, in each traced call the branch that
 * could have led past it, and the branches on which that one depends. Functions that get the text
 * of the message as an argument print what others have decided.
 */
#include <ctype.h>
#include <stdlib.h>
#include "explain/libraries.h"
#include "explain/literal.h"
#include "explain/message.h"

#define FRAMES_MOST   64
#define PRINTED_LEAST 4	   /* letters of a message that an argument has */
#define MESSAGE_MOST  4096 /* bytes */

bool message__prints(const struct message *m, uint32_t function)
{
	for (size_t i = 0; i < m->printing.len; i++)
		if (m->printing.data[i] == function)
			return true;
	return false;
}

/* ---- who prints ---- */

static size_t without_newline(const char *text, size_t len)
{
	return len - (len && text[len - 1] == '\n');
}

/* The end of a line may be printed apart: "\"\n". Not words, which may be other arguments. */
static bool is_end(const char *text, const struct message *m)
{
	size_t len = without_newline(text, strlen(text)), all = without_newline(m->text, m->len);

	for (const char *c = text; *c; c++)
		if (*c == '%' || isalnum((unsigned char)*c))
			return false;
	return *text && len <= all && !memcmp(m->text + all - len, text, len);
}

static bool is_text(const struct object *o, uint64_t vaddr, const struct message *m)
{
	const char *text;
	size_t avail;

	text = (const char *)object__bytes(o, vaddr, &avail);
	return text && memchr(text, 0, avail) &&
	       (literal__letters(text, m->text, m->len) >= PRINTED_LEAST || is_end(text, m));
}

/* Notes where the process has the objects of the stack's frames. */
static void see_places(struct explain_state *s, const struct step *step)
{
	const struct plan *p = s->code.plan;

	for (size_t i = 0; i < step->nstack; i++) {
		const struct location *l = &step->stack[i];
		uint32_t object = l->object ? 0 : p->objects.len;

		while (object < p->objects.len && strcmp(p->objects.data[object].path, l->object))
			object++;
		if (object < p->objects.len)
			*map64__put(&s->outcomes.places, (uint64_t)step->pid << 32 | object) =
				l->addr - l->vaddr;
	}
}

static bool prints(const struct explain_state *s, const struct call *c, const struct message *m)
{
	const struct plan *p = s->code.plan;
	uint32_t object = p->functions.data[c->function].object;
	const struct object *o = p->objects.data[object].object;
	const uint64_t *bias = map64__get(&s->outcomes.places, (uint64_t)m->pid << 32 | object);

	if (!o || !bias)
		return false;
	for (unsigned i = 0; i < c->nargs; i++)
		if (is_text(o, c->args[i] - *bias, m))
			return true;
	return false;
}

/* ---- how control got there ---- */

static void reach(struct explain_state *s, uint32_t pid, const struct call *c, struct message *m,
		  unsigned frame)
{
	size_t n = c->items.len - 1;
	struct verdict *v = judge__reached(&s->code, c, n), *way;

	judge__find_way(&s->code, c, n, v);
	for (unsigned before = 0; v && v->decided; before++) {
		struct reached r = {.verdict = v,
				    .site = c->items.data[n].site,
				    .frame = frame,
				    .before = before};

		way = v->way;
		v->way = NULL;
		state__join(s, pid, v);
		vec__push(&m->reached, r);
		v = way;
	}
	verdict__free(v);
}

static void forget_from(struct message *m, size_t first)
{
	while (m->reached.len > first)
		verdict__free(m->reached.data[--m->reached.len].verdict);
}

static void free_message(struct message *m)
{
	forget_from(m, 0);
	vec__free(&m->reached);
	vec__free(&m->stack);
	vec__free(&m->printing);
	free(m->text);
	*m = (struct message){0};
}

/* Returns true if the call still does what it took the text's address for: it has tested nothing
 * since. */
static bool is_at_work(const struct plan *p, const struct thread *t, const struct made *made)
{
	for (size_t i = 0; i < t->calls[0].len; i++) {
		const struct call *c = t->calls[0].data[i];
		size_t n = c->items.len;

		if (c->id != made->call)
			continue;
		while (n-- > 0 && c->items.data[n].site != made->site)
			if (plan_site__is_conditional(&p->sites.data[c->items.data[n].site]))
				return false;
		return true;
	}
	return false;
}

/* The function returned the text that a switch chose: it says what a code means, and the caller has
 * that code. */
static bool is_translation(const struct plan *p, const struct made *made, const struct message *m,
			   size_t first)
{
	const struct verdict *v = first < m->reached.len ? m->reached.data[first].verdict : NULL;
	uint8_t kind = p->sites.data[made->site].kind; /* JMP: through gettext(3), perhaps */

	return v && made->frames[1] && (kind == BRANCH_RET || kind == BRANCH_JMP) &&
	       p->sites.data[v->branch.site].kind == BRANCH_IJMP;
}

/* The text was made before, by a call that has ended or went on. */
static void reach_made(struct explain_state *s, const struct thread *t, struct message *m)
{
	struct taken_text taken;
	const struct made *made = made__best(&s->made, &s->code, t->pid, m->text, m->len, &taken);
	size_t first = m->reached.len;

	m->known = made;
	m->made = made && !is_at_work(s->code.plan, t, made);
	if (!m->made)
		return;
	m->made_in = made->frames[0]->function;
	m->made_by = taken;
	for (unsigned i = 0; i < MADE_FRAMES && made->frames[i]; i++) {
		reach(s, t->pid, made->frames[i], m, m->printing.len + i);
		if (!i && is_translation(s->code.plan, made, m, first))
			forget_from(m, first);
	}
	for (size_t i = first; i < m->reached.len; i++)
		m->reached.data[i].made = true;
}

#define CODES 16 /* small numbers that say how something failed */

/* A function that gets a text for a message may also find that it is needed: its branch tested what
 * another one had found. Whether messages are wanted is answered by 1. */
static bool is_check(const struct reached *r)
{
	const struct verdict *cause = r->verdict->cause;

	return !r->before && r->verdict->tests_call && cause && verdict__deciding(cause) &&
	       (value__is_error(cause->value) || (cause->value < CODES && cause->value != 1));
}

/* The functions of the innermost calls that only print the message. */
static void find_printing(const struct explain_state *s, const call_vec *calls, size_t frames,
			  struct message *m)
{
	const struct plan *p = s->code.plan;
	size_t printers = 0, checks = 0;
	const struct reached *r;

	for (size_t i = 0; i < frames; i++)
		if (prints(s, calls->data[calls->len - 1 - i], m))
			printers = i + 1;
	vec__each (r, &m->reached)
		if (r->frame < printers && is_check(r))
			checks = r->frame + 1;
	printers = checks ? checks - 1 : printers;
	while (printers < frames &&
	       function__is_standard(p, calls->data[calls->len - 1 - printers]->function))
		printers++;
	m->printing.len = 0;
	for (size_t i = 0; i < printers; i++)
		vec__push(&m->printing, calls->data[calls->len - 1 - i]->function);
}

static void explain(struct explain_state *s, const struct explaining *e, const struct thread *t,
		    const struct step *step, struct message *m)
{
	const call_vec *calls = &t->calls[0];
	size_t frames = min_of(calls->len, (size_t)FRAMES_MOST);
	struct reached *r;

	forget_from(m, 0);
	m->stack.len = 0;
	for (size_t i = 0; i < step->nstack; i++)
		vec__push(&m->stack, step->stack[i]);
	for (size_t i = 0; i < frames; i++) {
		const struct call *c = calls->data[calls->len - 1 - i];

		if (c->items.len && !function__is_standard(s->code.plan, c->function))
			reach(s, t->pid, c, m, i);
	}
	find_printing(s, calls, frames, m);
	reach_made(s, t, m);
	vec__each (r, &m->reached)
		r->score = reached__score(s, e, m, r);
}

const struct message *message__output(const struct outcomes *all, uint32_t pid)
{
	return !all->first.text && all->output.known && all->output.pid == pid &&
			       message__because(&all->output)
		       ? &all->output
		       : NULL;
}

void message__put_made(const struct plan *p, const struct message *m, struct str *out)
{
	uint32_t object = p->functions.data[m->made_in].object;

	literal__letters_at(p->objects.data[object].object, m->made_by.literal, m->text, m->len,
			    out);
}

/* ---- jumps out of functions ---- */

#define JUMPS_MOST 200 /* are explained, each in place of the one before */

/* Functions that leave their callers without a return. */
static const char *const jumps[] = {"longjmp",	  "_longjmp",	 "__longjmp_chk",
				    "siglongjmp", "__cxa_throw", "__cxa_rethrow"};

static const char *jump_of(const struct location *l)
{
	static const char throws[] = "std::__throw_";
	const char *name = location__among(l, jumps, ARRAY_SIZE(jumps));

	return !name && l->symbol && !strncmp(l->symbol, throws, strlen(throws)) ? "an exception"
										 : name;
}

void jump__take(struct explain_state *s, const struct explaining *e, struct thread *t,
		const struct step *step)
{
	const char *name = step->to_known ? jump_of(&step->to) : NULL;
	struct message *m = &s->outcomes.jump, one;

	if (!name)
		return;
	if (s->outcomes.jumps++ >= JUMPS_MOST) {
		free_message(m);
		return;
	}
	one = (struct message){.pid = t->pid, .tid = t->tid, .time = step->time};
	one.text = xstrdup(name);
	explain(s, e, t, &(struct step){0}, &one);
	/* an exception that is thrown while another one is handled has that as its reason */
	if (!one.reached.len && m->reached.len && m->tid == one.tid) {
		free_message(&one);
		return;
	}
	free_message(m);
	*m = one;
}

/* ---- the events ---- */

static bool value_of(const struct explain_state *s, const struct step *step, const char *name,
		     struct named_value *out)
{
	const struct event_named *n = step->named;

	return plan__named_value(s->code.plan, n->which, name, n->data, n->len, out);
}

static uint64_t number_of(const struct explain_state *s, const struct step *step, const char *name)
{
	struct named_value v;

	return value_of(s, step, name, &v) ? v.number : 0;
}

/* Returns all of the bytes, *len of which are before a 0; the caller frees them. */
static char *text_of(const struct explain_state *s, const struct step *step, const char *name,
		     size_t *len)
{
	struct named_value v;

	if (!value_of(s, step, name, &v))
		return NULL;
	*len = strnlen(v.bytes, v.len);
	return memcpy(xcalloc(1, v.len + 1), v.bytes, v.len);
}

/* Appends what is known of what one system call wrote. */
static void append(struct explain_state *s, const struct step *step, struct message *m)
{
	size_t before = m->len;

	for (unsigned i = 0; i < 2; i++) {
		size_t len = 0;
		autofree char *text = text_of(s, step, i ? "text1" : "text0", &len);

		if (!text)
			continue;
		m->text = xrealloc(m->text, m->len + len + 1, 1);
		memcpy(m->text + m->len, text, len + 1);
		m->len += len;
	}
	m->cut = m->len - before < number_of(s, step, "result");
}

/* Returns true if the message continues: its line isn't complete. */
static bool continues(const struct message *m, const struct thread *t)
{
	return m->text && m->tid == t->tid && m->len < MESSAGE_MOST && !m->cut &&
	       (!m->len || m->text[m->len - 1] != '\n');
}

static size_t letters_in(const char *text, size_t len)
{
	size_t letters = 0;

	for (size_t i = 0; i < len; i++)
		letters += isalpha((unsigned char)text[i]) != 0;
	return letters;
}

static struct message new_message(const struct thread *t)
{
	struct message m = {.pid = t->pid, .tid = t->tid};

	memcpy(m.comm, t->comm, sizeof(m.comm));
	return m;
}

/* A message may be written piece by piece: what matters is who wrote the last of its words. */
static void go_on(struct explain_state *s, const struct explaining *e, struct thread *t,
		  const struct step *step, struct message *m)
{
	size_t before = m->len;

	append(s, step, m);
	m->time = step->time;
	if (m->text && (!before || letters_in(m->text + before, m->len - before) >= PRINTED_LEAST))
		explain(s, e, t, step, m);
}

static void take_message(struct explain_state *s, const struct explaining *e, struct thread *t,
			 const struct step *step)
{
	struct outcomes *o = &s->outcomes;
	struct message *m = o->last.text ? &o->last : &o->first;

	if (o->messages > MESSAGES_MOST || !continues(m, t)) {
		if (o->messages++ >= MESSAGES_MOST) { /* the last one isn't known any more */
			free_message(&o->last);
			free_message(&o->before);
			return;
		}
		m = o->first.text ? &o->last : &o->first;
		free_message(&o->before);
		o->before = o->last;
		o->last = (struct message){0};
		*m = new_message(t);
	}
	go_on(s, e, t, step, m);
}

/* What was written to the standard output: some programs say there why they fail. */
static void take_output(struct explain_state *s, const struct explaining *e, struct thread *t,
			const struct step *step)
{
	struct outcomes *o = &s->outcomes;

	if (!continues(&o->output, t)) {
		free_message(&o->output);
		o->output = new_message(t);
	}
	if (++o->outputs < e->outputs_most)
		go_on(s, e, t, step, &o->output);
	else /* there may be more */
		free_message(&o->output);
}

static bool is_same(const struct outcome *a, const struct outcome *b)
{
	if (a->number != b->number || a->result != b->result || a->pid != b->pid)
		return false;
	for (unsigned i = 0; i < 2; i++)
		if (a->len[i] != b->len[i] || memcmp(a->text[i] ?: "", b->text[i] ?: "", a->len[i]))
			return false;
	return true;
}

static void free_outcome(struct outcome *o)
{
	free(o->text[0]);
	free(o->text[1]);
}

static void take_failure(struct explain_state *s, struct thread *t, const struct step *step,
			 int64_t result)
{
	static const char *const args[EVENT_ARGS] = {"arg0", "arg1", "arg2",
						     "arg3", "arg4", "arg5"};
	struct outcome one = {.number = number_of(s, step, "number"),
			      .result = result,
			      .pid = t->pid,
			      .times = 1,
			      .first = step->time,
			      .last = step->time,
			      .starts = !t->calls[0].len},
		       *o;

	for (unsigned i = 0; i < EVENT_ARGS; i++)
		one.args[i] = number_of(s, step, args[i]);
	if (log_areas__hold(one.args[0])) /* the tracer's own, in a child that has inherited one */
		return;
	one.text[0] = text_of(s, step, "text0", &one.len[0]);
	one.text[1] = text_of(s, step, "text1", &one.len[1]);
	vec__each (o, &s->outcomes.all)
		if (is_same(o, &one)) {
			o->times++;
			o->last = step->time;
			memcpy(o->args, one.args, sizeof(o->args));
			free_outcome(&one);
			return;
		}
	if (s->outcomes.all.len == OUTCOMES_MOST) {
		s->outcomes.hidden++;
		free_outcome(&one);
		return;
	}
	vec__push(&s->outcomes.all, one);
}

/* A child of which its parent has learned that it failed. */
static void take_child(struct explain_state *s, const struct thread *t, const struct step *step,
		       uint32_t pid)
{
	struct named_value bytes;
	uint32_t status;
	struct thread *const *child;
	struct ended_child *c;

	if (!value_of(s, step, "text0", &bytes) || bytes.len < sizeof(status))
		return;
	memcpy(&status, bytes.bytes, sizeof(status));
	/* it has stopped, or continued */
	if (!status || (status & 0xff) == 0x7f || status == 0xffff)
		return;
	if (s->outcomes.children.len == CHILDREN_MOST) {
		s->outcomes.more_children++;
		return;
	}
	c = vec__add(&s->outcomes.children);
	*c = (struct ended_child){.pid = pid, .parent = t->pid, .status = status};
	vec__each (child, &s->threads)
		if ((*child)->tid == pid)
			memcpy(c->comm, (*child)->comm, sizeof(c->comm));
}

void outcome__take(struct explain_state *s, const struct explaining *e, struct thread *t,
		   const struct step *step)
{
	int64_t result = (int64_t)number_of(s, step, "result");

	see_places(s, step);
	if (result < 0)
		take_failure(s, t, step, result);
	else if (e->is_wait && e->is_wait(number_of(s, step, "number")))
		take_child(s, t, step, result);
	else if (number_of(s, step, "arg0") == e->output_number)
		take_output(s, e, t, step);
	else
		take_message(s, e, t, step);
}

void program__take(struct outcomes *o, uint32_t pid, const char *path)
{
	char **known;

	vec__each (known, &o->programs)
		if (!strcmp(*known, path))
			break;
	*map64__put(&o->program_of, pid) = known - o->programs.data + 1;
	if (known == vec__end(&o->programs))
		vec__push(&o->programs, xstrdup(path));
}

void messages__free(struct outcomes *o)
{
	struct outcome *f;
	char **path;

	vec__each (f, &o->all)
		free_outcome(f);
	vec__free(&o->all);
	vec__free(&o->children);
	map64__free(&o->program_of);
	vec__each (path, &o->programs)
		free(*path);
	vec__free(&o->programs);
	map64__free(&o->places);
	free_message(&o->first);
	free_message(&o->before);
	free_message(&o->last);
	free_message(&o->output);
	free_message(&o->jump);
}

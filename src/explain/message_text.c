// SPDX-License-Identifier: BSD-2-Clause
/* A message of CMD's, and why it was written, as a few lines of text. */
#include <errno.h>
#include <stdlib.h>
#include "explain/libraries.h"
#include "explain/message.h"
#include "explain/show.h"

#define ADDRESS_MOST	128 /* bytes of a socket's address */
#define OTHERS_MOST	6   /* branches that aren't the most likely ones */
#define OTHERS_BRIEF	2
#define OTHERS_OF_FRAME 4

static void put_text(struct output *o, const char *text, size_t len)
{
	autofree char *line = xstrndup(text, len);

	str__putc(&o->buffer, '"');
	str__shown(&o->buffer, line);
	str__putc(&o->buffer, '"');
}

#define AT_FDCWD (-100) /* include/uapi/linux/fcntl.h */

static void put_argument(struct output *o, const char *name, uint64_t value)
{
	if ((int32_t)value == AT_FDCWD && !(value >> 32 && value >> 32 != UINT32_MAX) && name)
		str__puts(&o->buffer, "AT_FDCWD");
	else if (value < 10)
		str__dec(&o->buffer, value);
	else
		str__hex(&o->buffer, value);
}

/* Up to the last one that is shown as what it points to. */
static void put_arguments(struct output *o, const struct outcome *f, const char *name,
			  uint32_t texts)
{
	const struct explaining *e = o->options.explaining;
	unsigned text = 0, i;

	if (e->named_arguments && e->named_arguments(f->number, f->args, &o->buffer))
		return;
	if (!texts && f->text[0] && e->socket_address) {
		put_argument(o, NULL, f->args[0]);
		str__puts(&o->buffer, ", ");
		if (!e->socket_address(f->text[0], min_of(f->args[2], (uint64_t)ADDRESS_MOST),
				       &o->buffer))
			put_argument(o, NULL, f->args[1]);
		return;
	}
	for (i = 0; i < EVENT_ARGS && (texts >> i || i < 2); i++) {
		bool is_text = texts >> i & 1 && text < 2;

		str__puts(&o->buffer, i ? ", " : "");
		if (is_text && f->text[text])
			put_text(o, f->text[text], f->len[text]);
		else
			put_argument(o, i ? NULL : name, f->args[i]);
		text += is_text;
	}
	str__puts(&o->buffer, ", ...");
}

const struct outcome *outcome__of(const struct outcomes *all, const struct failure *f)
{
	const struct outcome *o, *last = NULL;

	vec__each (o, &all->all)
		if (o->number == f->number && o->result == f->result &&
		    (!last || o->last > last->last))
			last = o;
	return last;
}

bool outcome__put_call(struct output *o, const struct outcome *f)
{
	const struct explaining *e = o->options.explaining;
	const char *name = f && e->syscall_name ? e->syscall_name(f->number) : NULL;

	if (!f)
		return false;
	if (name)
		str__puts(&o->buffer, name);
	else
		str__printf(&o->buffer, "system call %llu", (unsigned long long)f->number);
	str__putc(&o->buffer, '(');
	put_arguments(o, f, name, e->syscall_texts ? e->syscall_texts(f->number) : 0);
	str__putc(&o->buffer, ')');
	return true;
}

static void put_failed(struct output *o, const struct outcome *f)
{
	struct explained *in_kernel;

	str__puts(&o->buffer, "  failed: ");
	outcome__put_call(o, f);
	str__puts(&o->buffer, " = ");
	explained__put_error(o, f->result);
	if (f->times > 1)
		str__printf(&o->buffer, ", %llu times", (unsigned long long)f->times);
	str__putc(&o->buffer, '\n');
	in_kernel = failure__in_kernel(o, f);
	if (!in_kernel || in_kernel->shown)
		return;
	in_kernel->shown = true;
	explained__put_verdict(o, in_kernel->verdict, "in the kernel ");
}

/* ---- the code that the text is from ---- */

/* Who had made the text, which others wrote later. */
static void put_made(struct output *o, const struct message *m)
{
	autofree struct str text = {0};

	message__put_made(o->plan, m, &text);
	str__puts(&o->buffer, "  its text was made by ");
	explained__put_place(o, m->made_in, m->made_by.code);
	str__puts(&o->buffer, ": ");
	put_text(o, text.data, text.len);
	str__putc(&o->buffer, '\n');
}

static void put_text_place(struct output *o, const struct text_place *p)
{
	const struct symbol *symbol = object__symbol_at(p->object, p->code);
	const struct frame *frame = object__frame_at(p->object, p->code);
	const uint8_t *text;
	size_t len;

	str__puts(&o->buffer, "  its text is in ");
	if (symbol) {
		str__shown(&o->buffer, symbol__show(p->object, symbol)->shown);
		str__printf(&o->buffer, "+0x%llx", (unsigned long long)(p->code - symbol->vaddr));
	} else if (frame) {
		str__hex(&o->buffer, frame->vaddr);
		str__printf(&o->buffer, "+0x%llx", (unsigned long long)(p->code - frame->vaddr));
	} else {
		str__hex(&o->buffer, p->code);
	}
	str__puts(&o->buffer, " of ");
	str__shown(&o->buffer, path__base_name(p->object->path));
	str__puts(&o->buffer, ": ");
	text = object__bytes(p->object, p->literal, &len);
	put_text(o, (const char *)text, strcspn((const char *)text, "\n"));
	str__puts(&o->buffer, o->options.explaining->again || library__is_traced(o->plan, p)
				      ? "\n"
				      : ", which --again traces\n");
}

/* Known to be the reason: the result of a function that failed was tested, and where that is from
 * was followed to its end, or to a system call. */
static bool is_sure(const struct message *m, const struct reached *r)
{
	const struct verdict *v = r->verdict, *cause = v->cause;
	const struct verdict *deciding = cause ? verdict__deciding(cause) : NULL;

	const struct reached *inner;

	if (r->frame < m->printing.len || !v->tests_call)
		return false;
	vec__each (inner, &m->reached) /* what a function called may have had a reason of its own */
		if (inner->frame >= m->printing.len && inner->frame < r->frame)
			return false;
	return v->failed.result || (deciding && value__is_error(cause->value) &&
				    (verdict__is_followed(cause) || deciding->failed.result));
}

/* A library has decided to write what only its code has as text. */
static const char *verb_for(const struct message *m, const struct reached *r, bool of_library)
{
	return is_sure(m, r) ? "decided by" : of_library ? "on the way" : "because";
}

static bool has_reached(const struct message *m, const struct reached *r)
{
	const struct reached *x;

	if (m)
		vec__each (x, &m->reached)
			if (x->verdict->function == r->verdict->function &&
			    x->verdict->branch.site == r->verdict->branch.site &&
			    x->verdict->branch.taken == r->verdict->branch.taken)
				return true;
	return false;
}

/* made: those that led to where its text was made, or the others. before: what that has reached is
 * left out; NULL: nothing. */
static void put_others(struct output *o, const struct message *m, const struct reached *because,
		       const struct message *before, bool made, unsigned most)
{
	const struct reached *r;
	unsigned n = 0, of_frame = 0, frame = UINT32_MAX;

	vec__each (r, &m->reached) {
		if (r == because || r->made != made || r->frame < m->printing.len ||
		    has_reached(before, r) || n == most)
			continue;
		of_frame = r->frame == frame ? of_frame + 1 : 0;
		frame = r->frame;
		if (of_frame == OTHERS_OF_FRAME)
			continue;
		explained__put_decision(o, r->verdict, "on the way");
		n++;
	}
}

/* From the outermost frame on; those of the system's libraries are left out. */
static void put_way(struct output *o, const struct message *m)
{
	const char *before = "  in ", *object = NULL;

	for (size_t i = m->stack.len; i-- > 0;) {
		const struct location *l = &m->stack.data[i];

		if (!l->object || library__is_system(path__base_name(l->object)))
			continue;
		str__puts(&o->buffer, before);
		if (l->symbol) {
			str__shown(&o->buffer, l->symbol);
			str__printf(&o->buffer, "+0x%llx", (unsigned long long)l->offset);
		} else {
			str__hex(&o->buffer, l->vaddr);
		}
		if (object && strcmp(object, l->object)) {
			str__puts(&o->buffer, " (");
			str__shown(&o->buffer, path__base_name(l->object));
			str__putc(&o->buffer, ')');
		}
		object = l->object;
		before = " > ";
	}
	str__puts(&o->buffer, *before == ' ' && before[1] == '>' ? "\n" : "");
}

/* The search along PATH for a file that was found then: the thread's name is the file's. */
static bool is_search(const struct explain_state *s, const struct outcome *f, const char *name)
{
	struct thread *const *t;

	if (strcmp(name, "execve") != 0 || f->result != -ENOENT || !f->text[0])
		return false;
	vec__each (t, &s->threads)
		if ((*t)->tid == f->pid)
			return !strncmp((*t)->comm, path__base_name(f->text[0]),
					sizeof((*t)->comm) - 1);
	return false;
}

/* Returns true if a program expects the failure: it asks whether a descriptor is a terminal, or a
 * child is left. */
static bool is_question(const struct output *o, const struct outcome *f)
{
	const struct explaining *e = o->options.explaining;
	const char *name = e->syscall_name ? e->syscall_name(f->number) : NULL;

	return (e->is_wait && e->is_wait(f->number) && f->result == -ECHILD) ||
	       (name &&
		(is_search(o->state, f, name) || (!strcmp(name, "ioctl") && f->result == -ENOTTY)));
}

#define FAILURES_SHOWN 3

void failures__put_text(struct output *o, uint32_t pid)
{
	const outcome_vec *all = &((struct explain_state *)o->state)->outcomes.all;
	const struct outcome *last[FAILURES_SHOWN] = {0}, *f;

	vec__each (f, all) {
		size_t i = FAILURES_SHOWN;

		if (f->pid != pid || outcome__is_librarys(f) || is_question(o, f) ||
		    (f->starts && pid == o->options.explaining->pid))
			continue;
		while (i && (!last[i - 1] || last[i - 1]->last < f->last))
			i--;
		if (i == FAILURES_SHOWN)
			continue;
		memmove(last + i + 1, last + i, (FAILURES_SHOWN - 1 - i) * sizeof(*last));
		last[i] = f;
	}
	for (size_t i = FAILURES_SHOWN; i-- > 0;)
		if (last[i])
			put_failed(o, last[i]);
}

#define CHILDREN_SHOWN 10
#define CHILDREN_DEPTH 8

/* Returns how many there are beyond those that are shown. */
static uint64_t put_children(struct output *o, uint32_t pid, unsigned depth, unsigned *shown)
{
	const struct outcomes *all = &((struct explain_state *)o->state)->outcomes;
	const struct ended_child *c;
	uint64_t more = 0;

	vec__each (c, &all->children) {
		if (pid && c->parent != pid)
			continue;
		if (*shown == CHILDREN_SHOWN || depth == CHILDREN_DEPTH) {
			more++;
			continue;
		}
		++*shown;
		str__puts(&o->buffer, "  child ");
		str__shown(&o->buffer, c->comm);
		str__printf(&o->buffer, "-%u ", c->pid);
		if (c->status & 0x7f)
			str__printf(&o->buffer, "was killed by signal %u\n", c->status & 0x7f);
		else
			str__printf(&o->buffer, "exited with %u\n", c->status >> 8 & 0xff);
		failures__put_text(o, c->pid);
		child__put_text(o, c);
		if (pid)
			more += put_children(o, c->pid, depth + 1, shown);
	}
	return more;
}

void children__put_text(struct output *o, uint32_t pid)
{
	const struct outcomes *all = &((struct explain_state *)o->state)->outcomes;
	unsigned shown = 0;
	uint64_t more = put_children(o, pid, 0, &shown) + all->more_children;

	if (more)
		str__printf(&o->buffer, "  %llu more children failed\n", (unsigned long long)more);
}

void losses__put_text(struct output *o, const struct outcomes *all)
{
	if (all->messages > MESSAGES_MOST)
		str__printf(&o->buffer,
			    "  %llu later writes to the standard error stream are not explained\n",
			    (unsigned long long)(all->messages - MESSAGES_MOST));
	if (all->hidden)
		str__printf(&o->buffer, "  %llu more failed calls are not kept\n",
			    (unsigned long long)all->hidden);
}

static void put_reached(struct output *o, const struct message *jump, const struct message *m)
{
	const struct reached *r = message__because(jump);
	char verb[64];

	if (!r)
		return;
	snprintf(verb, sizeof(verb), "after %s, reached by", jump->text);
	explained__put_decision(o, r->verdict, verb);
	put_others(o, jump, r, m, false, OTHERS_MOST);
}

/* A longjmp(3), or an exception, before the message. */
static void put_jump(struct output *o, const struct message *m)
{
	const struct message *jump = &((struct explain_state *)o->state)->outcomes.jump;

	if (jump->text && jump->tid == m->tid && jump->time <= m->time)
		put_reached(o, jump, m);
}

void jump__put_text(struct output *o, uint32_t pid)
{
	const struct message *jump = &((struct explain_state *)o->state)->outcomes.jump;

	if (jump->text && jump->pid == pid)
		put_reached(o, jump, NULL);
}

void message__put_text(struct output *o, const struct message *m, bool brief)
{
	const struct explain_state *s = o->state;
	const struct reached *because = message__because(m);
	const struct outcome *failed = message__failed(&s->outcomes, m);
	struct text_places text;
	bool of_library = libraries__find_text(o, m, &text);
	const char *end = m->text + m->len - (m->len && m->text[m->len - 1] == '\n');
	const char *line = m == &s->outcomes.output ? memrchr(m->text, '\n', end - m->text) : NULL;

	line = line ? line + 1 : m->text; /* the other lines are about something else */

	str__puts(&o->buffer, m == &s->outcomes.output ? "  output" : "  message");
	if (m->pid != o->options.explaining->pid) {
		str__puts(&o->buffer, " of ");
		str__shown(&o->buffer, m->comm);
		str__printf(&o->buffer, "-%u", m->pid);
	}
	str__puts(&o->buffer, ": ");
	put_text(o, line, end - line);
	str__putc(&o->buffer, '\n');
	if (failed)
		put_failed(o, failed);
	for (size_t i = 0; i < text.n; i++)
		put_text_place(o, &text.all[i]);
	if (m->made)
		put_made(o, m);
	if (because)
		explained__put_decision(o, because->verdict, verb_for(m, because, of_library));
	put_jump(o, m);
	put_others(o, m, because, NULL, true, OTHERS_MOST);
	put_others(o, m, because, NULL, false, brief || m->made ? OTHERS_BRIEF : OTHERS_MOST);
	put_way(o, m);
}

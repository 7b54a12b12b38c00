// SPDX-License-Identifier: BSD-2-Clause
/* The text format's places: where code is, by symbols, and call stacks below an entry. */
#include <stdlib.h>
#include "util/fit.h"
#include "text.h"

void text__put_object(struct str *s, const char *object)
{
	const char *slash = object ? strrchr(object, '/') : NULL;

	str__shown(s, !object ? "anonymous" : slash && slash[1] ? slash + 1 : object);
}

static bool same_object(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool is_kernel_step(const struct output *o, const struct step *step)
{
	return step->function != NO_FUNCTION && plan__is_kernel_function(o->plan, step->function);
}

unsigned text__most_name(const struct output *o)
{
	return o->options.width / 3;
}

/* symbol+0xOFF, or the address without a symbol; and the object if it isn't the function's own. */
void text__put_place(struct output *o, const struct step *step, const struct location *at)
{
	struct str *s = &o->buffer;

	if (at->symbol) {
		fit__name(s, at->symbol, text__most_name(o));
		str__putc(s, '+');
		str__hex(s, at->offset);
	} else {
		str__hex(s, at->object ? at->vaddr : at->addr);
	}
	if (is_kernel_step(o, step) || same_object(at->object, step->at.object))
		return;
	put(s, " [");
	text__put_object(s, at->object);
	str__putc(s, ']');
}

/* Returns how many spaces. */
unsigned text__put_indent(struct output *o, unsigned depth, unsigned more)
{
	unsigned spaces = min_of(depth, (unsigned)INDENT_MAX) * INDENT + more;

	put_spaces(&o->buffer, spaces);
	if (depth > INDENT_MAX)
		str__printf(&o->buffer, "[%u] ", depth);
	return spaces;
}

static void begin_frame(struct output *o, const struct step *step)
{
	str__putc(&o->buffer, '\n');
	columns__blank(o);
	text__put_indent(o, step->depth, INDENT);
	put(&o->buffer, "> ");
}

/* Innermost first, each frame on a line below the entry. */
void text__show_stack(struct output *o, const struct step *step, const union field_value *v)
{
	for (size_t i = 0; i < v->stack.n; i++) {
		const char *names = v->stack.frames[i].inlined;

		for (char *name; (name = inlined__next(&names)); free(name)) {
			begin_frame(o, step);
			str__shown(&o->buffer, name);
			put(&o->buffer, " (inlined)");
		}
		begin_frame(o, step);
		text__put_place(o, step, &v->stack.frames[i]);
	}
}

/* for an incomplete stack */
void text__show_stack_end(struct output *o, const struct step *step, const union field_value *v)
{
	static const char *const reasons[STACK_ENDS] = {
		[STACK_NO_POINTER] = "no frame pointer leads on",
		[STACK_UNREADABLE] = "the frame cannot be read",
		[STACK_LIMIT] = "and more callers",
		[STACK_CUT] = "more callers, beyond the copied stack",
		[STACK_NO_RULES] = "no unwind table leads on",
	};

	begin_frame(o, step);
	put(&o->buffer, "-- ");
	str__puts(&o->buffer, reasons[step->stack_end]);
	put(&o->buffer, " --");
}

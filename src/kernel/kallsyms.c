// SPDX-License-Identifier: BSD-2-Clause
/*
 * kallsyms: parses /proc/kallsyms and /proc/modules. Pure. The formats are those of s_show() in
 * kernel/kallsyms.c and m_show() in kernel/module/procfs.c.
 */
#include <errno.h>
#include "kernel_file.h"

/* A position in the text. Every read is bounded, since *end is NUL and no field contains one. */
struct cursor {
	char *p, *end;
	size_t line;
};

static int malformed(const struct cursor *c, const char *path)
{
	return err__set(EPROTO, "%s: line %zu is malformed", path, c->line);
}

static bool take_hex(struct cursor *c, uint64_t *out)
{
	const char *start = c->p;

	for (*out = 0; c->p - start < 16; c->p++) {
		if (*c->p >= '0' && *c->p <= '9')
			*out = *out << 4 | (*c->p - '0');
		else if ((*c->p | 32) >= 'a' && (*c->p | 32) <= 'f')
			*out = *out << 4 | ((*c->p | 32) - 'a' + 10);
		else
			break;
	}
	return c->p > start;
}

static bool take_char(struct cursor *c, char want)
{
	if (*c->p != want)
		return false;
	c->p++;
	return true;
}

/* Terminates the field before the cursor; *after is the replaced character. Returns NULL if the
 * field is empty. */
static char *end_word(struct cursor *c, char *word, char *after)
{
	*after = *c->p;
	if (c->p == word || (!*after && c->p < c->end))
		return NULL;
	if (c->p < c->end)
		*c->p++ = 0;
	return word;
}

/* The field up to white space, as end_word(). */
static char *take_word(struct cursor *c, char *after)
{
	char *word = c->p;

	while ((unsigned char)*c->p > ' ')
		c->p++;
	return end_word(c, word, after);
}

/* "[name]" at the end of the line. */
static const char *take_module(struct cursor *c)
{
	char after, *word;

	if (!take_char(c, '['))
		return NULL;
	word = take_word(c, &after);
	if (!word || (after && after != '\n') || strlen(word) < 2 || word[strlen(word) - 1] != ']')
		return NULL;
	word[strlen(word) - 1] = 0;
	return word;
}

/* A symbol's name, as take_word(). Labels of modules that the assembler made may have \1 and \2 in
 * it, or end in a space (binutils: gas/symbols.c, FB_LABEL_CHAR and DOLLAR_LABEL_CHAR;
 * include/opcode/riscv.h, RISCV_FAKE_LABEL_NAME). */
static char *take_name(struct cursor *c, char *after)
{
	char *name = c->p;

	while ((unsigned char)*c->p > ' ' || *c->p == 1 || *c->p == 2)
		c->p++;
	if (c->p > name && *c->p == ' ' && (c->p[1] == '\t' || c->p[1] == '\n'))
		c->p++;
	return end_word(c, name, after);
}

static bool take_symbol(struct cursor *c, struct kallsym *s)
{
	char after;

	if (!take_hex(c, &s->vaddr) || !take_char(c, ' ') || (unsigned char)*c->p <= ' ')
		return false;
	s->type = *c->p++;
	if (!take_char(c, ' '))
		return false;
	s->name = take_name(c, &after);
	if (s->name && after == '\t')
		return (s->module = take_module(c));
	return s->name && (after == '\n' || !after);
}

static int hidden(void)
{
	return err__set(EPERM, "kernel addresses are hidden");
}

int kallsyms__parse(char *text, size_t len, kallsym_vec *out)
{
	struct cursor c = {.p = text, .end = text + len, .line = 1};
	uint64_t highest = 0;

	vec__reserve(out, len / 48);
	for (; c.p < c.end; c.line++) {
		struct kallsym s = {0};

		if (!take_symbol(&c, &s)) {
			vec__free(out);
			return malformed(&c, "/proc/kallsyms");
		}
		highest = max_of(highest, s.vaddr);
		vec__push(out, s);
	}
	if (highest)
		return 0;
	vec__free(out);
	return hidden();
}

enum {
	MODULE_NAME,
	MODULE_SIZE,
	MODULE_USERS,
	MODULE_USED_BY,
	MODULE_STATE,
	MODULE_BASE,
	MODULE_FIELDS
};

/* The fields of one line; taints that may follow are skipped. */
static bool take_module_line(struct cursor *c, char *fields[MODULE_FIELDS])
{
	char after = ' ';

	for (int i = 0; i < MODULE_FIELDS; i++) {
		if (after != ' ')
			return false;
		fields[i] = take_word(c, &after);
		if (!fields[i])
			return false;
	}
	while (after == ' ')
		if (!take_word(c, &after))
			return false;
	return after == '\n' || !after;
}

static bool parse_module(char *fields[MODULE_FIELDS], struct kernel_module *m)
{
	struct cursor base = {.p = fields[MODULE_BASE]};

	m->name = fields[MODULE_NAME];
	return !parse__u64(fields[MODULE_SIZE], false, &m->size) && take_char(&base, '0') &&
	       take_char(&base, 'x') && take_hex(&base, &m->base) && !*base.p &&
	       m->base + m->size >= m->base;
}

int kernel_modules__parse(char *text, size_t len, kernel_module_vec *out)
{
	struct cursor c = {.p = text, .end = text + len, .line = 1};

	for (; c.p < c.end; c.line++) {
		char *fields[MODULE_FIELDS];
		struct kernel_module m;

		if (!take_module_line(&c, fields) || !parse_module(fields, &m)) {
			vec__free(out);
			return malformed(&c, "/proc/modules");
		}
		if (!m.base) {
			vec__free(out);
			return hidden();
		}
		if (!strcmp(fields[MODULE_STATE], "Live"))
			vec__push(out, m);
	}
	return 0;
}

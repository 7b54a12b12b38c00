// SPDX-License-Identifier: BSD-2-Clause
/* Cuts and wraps lines to the width of a terminal; and how large that is. */
#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "fit.h"

#define ELLIPSIS "\xe2\x80\xa6"
#define RESET	 "\033[0m"
#define ESCAPE	 '\033'

static bool is_continued(char c)
{
	return (c & 0xc0) == 0x80;
}

/* Holds what comes after the last column, too: escape sequences. */
static void hold(struct fit *f, char c)
{
	if (f->nheld < sizeof(f->held))
		f->held[f->nheld++] = c;
}

static void put_held(struct fit *f, struct str *out)
{
	str__put(out, f->held, f->nheld);
	f->nheld = 0;
}

static void begin_line(struct fit *f)
{
	f->column = 0;
	f->is_cut = f->was_escaped = false;
}

/* A character's first byte. The last column's is held, until it is known whether more follow. */
static void put_character(struct fit *f, struct str *out, char c)
{
	f->column++;
	if (f->column < f->width) {
		str__putc(out, c);
	} else if (f->column == f->width) {
		hold(f, c);
	} else {
		f->is_cut = true;
		f->nheld = 0;
		str__puts(out, ELLIPSIS);
		str__puts(out, f->was_escaped ? RESET : "");
	}
}

static void put_continued(struct fit *f, struct str *out, char c)
{
	if (f->nheld)
		hold(f, c);
	else
		str__putc(out, c);
}

static void put_escape(struct fit *f, struct str *out, char c)
{
	bool ends = c >= '@' && c <= '~' && c != '[';

	put_continued(f, out, c);
	f->was_escaped = true;
	f->in_escape = !ends;
}

void fit__put(struct fit *f, struct str *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (c == '\n') {
			put_held(f, out);
			str__putc(out, c);
			begin_line(f);
		} else if (f->is_cut) {
			continue;
		} else if (f->in_escape || c == ESCAPE) {
			put_escape(f, out, c);
		} else if (is_continued(c)) {
			put_continued(f, out, c);
		} else {
			put_character(f, out, c);
		}
	}
}

void fit__end(struct fit *f, struct str *out)
{
	put_held(f, out);
}

static bool has_wide(const char *text, const char *end, unsigned width)
{
	while (text < end) {
		const char *next = memchr(text, '\n', end - text);

		next = next ? next : end;
		if (next - text > width)
			return true;
		text = next + 1;
	}
	return false;
}

void fit__lines(struct str *s, size_t start, unsigned width)
{
	struct fit f = {.width = width};
	struct str out = {0};

	if (!width || s->len == start || !has_wide(s->data + start, s->data + s->len, width))
		return;
	fit__put(&f, &out, s->data + start, s->len - start);
	fit__end(&f, &out);
	s->len = start;
	str__put(s, out.data, out.len);
	str__free(&out);
}

/* ---- stdout ---- */

/* Of the stream in stdout's place, of which there is one. */
static struct fitted {
	struct fit fit;
	struct str pending; /* what was written of a line that is to be wrapped */
	bool wraps;
} fitted;

/* The column at which a line's last cell begins, in the left half: cells are two blanks apart. */
static unsigned hang_of(const char *line, size_t len, unsigned width)
{
	unsigned hang = 0;

	for (size_t i = 2; i < len && i < width / 2; i++)
		if (line[i - 1] == ' ' && line[i - 2] == ' ' && line[i] != ' ')
			hang = i;
	return hang;
}

/* Appends the whole lines of the text, wrapped, and keeps the rest of it. */
static void move_wrapped(struct str *text, struct str *out, unsigned width)
{
	const char *line = text->data, *end = vec__end(text), *next;
	struct str rest = {0};

	for (; line < end && (next = memchr(line, '\n', end - line)); line = next + 1) {
		autofree char *one = xstrndup(line, next - line);

		fit__wrap(out, one, 0, hang_of(one, next - line, width), width);
		str__putc(out, '\n');
	}
	str__put(&rest, line, end - line);
	str__free(text);
	*text = rest;
}

void fit__wrap_lines(struct str *s, unsigned width)
{
	struct str out = {0};

	if (!width || !s->len || !has_wide(s->data, s->data + s->len, width))
		return;
	move_wrapped(s, &out, width);
	str__put(&out, s->data, s->len);
	str__free(s);
	*s = out;
}

static void put_stream(struct fitted *f, struct str *out, const char *text, size_t len)
{
	unsigned now = terminal__columns(STDOUT_FILENO);

	if (now && !f->fit.column && !f->pending.len)
		f->fit.width = now;
	if (!f->wraps) {
		fit__put(&f->fit, out, text, len);
		return;
	}
	str__put(&f->pending, text, len);
	move_wrapped(&f->pending, out, f->fit.width);
}

static int write_all(const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(STDOUT_FILENO, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text += n;
		len -= n;
	}
	return 0;
}

/* fopencookie(3): 0 is an error. */
static ssize_t write_stream(void *cookie, const char *text, size_t len)
{
	struct str out = {0};
	int err;

	put_stream(cookie, &out, text, len);
	err = write_all(out.data, out.len);
	str__free(&out);
	return err ? 0 : (ssize_t)len;
}

static int close_stream(void *cookie)
{
	struct fitted *f = cookie;
	struct str out = {0};

	fit__end(&f->fit, &out);
	str__put(&out, f->pending.data, f->pending.len);
	str__free(&f->pending);
	write_all(out.data, out.len);
	str__free(&out);
	return 0;
}

void fit__stdout(unsigned width, bool wrap)
{
	cookie_io_functions_t io = {.write = write_stream, .close = close_stream};
	FILE *f = width ? fopencookie(&fitted, "w", io) : NULL;

	if (!f)
		return;
	fitted = (struct fitted){.fit.width = width, .wraps = wrap};
	fflush(stdout);
	setvbuf(f, NULL, _IOLBF, BUFSIZ);
	stdout = f;
}

/* ---- paragraphs ---- */

void fit__wrap(struct str *out, const char *text, unsigned at, unsigned indent, unsigned width)
{
	unsigned column = at;

	while (*text) {
		unsigned len = strcspn(text, " "), blanks = strspn(text + len, " ");

		if (width && column > indent && column + len > width) {
			while (out->len && out->data[out->len - 1] == ' ')
				out->len--;
			str__printf(out, "\n%*s", indent, "");
			column = indent;
		}
		str__put(out, text, len + blanks);
		column += len + blanks;
		text += len + blanks;
	}
}

/* ---- names ---- */

/* The length of an operator's name at text, which may have < or >; 0: there is none. */
static size_t operator_len(const char *text)
{
	static const char word[] = "operator";
	size_t len = sizeof(word) - 1;

	return strncmp(text, word, len) ? 0 : len + strspn(text + len, "<>=-");
}

/* The length of what the bracket at text encloses, with both; 0: it isn't closed. */
static size_t enclosed(const char *text)
{
	unsigned depth = 0;

	for (const char *p = text; *p; p++) {
		depth += *p == '<' || *p == '(';
		if ((*p == '>' && p[-1] != '-') || *p == ')')
			depth--;
		if (!depth)
			return p - text + 1;
	}
	return 0;
}

void fit__name(struct str *out, const char *name, unsigned most)
{
	CLEANUP(str__free) struct str plain = {0};

	if (!most || strlen(name) <= most) {
		str__shown(out, name);
		return;
	}
	while (*name) {
		size_t word = operator_len(name);
		size_t inner = !word && strchr("<(", *name) ? enclosed(name) : 0;

		if (inner > 4 && strncmp(name, "(anonymous", 10)) {
			str__putc(&plain, *name);
			str__puts(&plain, ELLIPSIS);
			str__putc(&plain, name[inner - 1]);
		} else {
			inner = max_of(word, (size_t)1);
			str__put(&plain, name, inner);
		}
		name += inner;
	}
	str__shown(out, plain.data ? plain.data : "");
}

/* ---- the terminal ---- */

#define MOST 10000

/* The number in the variable; 0: there is none. */
static unsigned of_environment(const char *name)
{
	const char *text = getenv(name);
	unsigned long n = text ? strtoul(text, NULL, 10) : 0;

	return n <= MOST ? n : 0;
}

static bool unlimited;

void terminal__unlimit(void)
{
	unlimited = true;
}

unsigned terminal__columns(int fd)
{
	unsigned n = of_environment("COLUMNS");
	struct winsize size;

	if (unlimited)
		return 0;
	return n ? n : ioctl(fd, TIOCGWINSZ, &size) ? 0 : size.ws_col;
}

unsigned terminal__lines(int fd)
{
	unsigned n = of_environment("LINES");
	struct winsize size;

	return n ? n : ioctl(fd, TIOCGWINSZ, &size) ? 0 : size.ws_row;
}

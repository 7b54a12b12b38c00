// SPDX-License-Identifier: BSD-2-Clause
/* Parses what is to be watched, and splits it into what hardware breakpoints can watch. Pure. */
#include <errno.h>
#include <stdlib.h>
#include "resolve/resolve.h"
#include "resolve/watch.h"

#define KERNEL_HALF (1ull << 63)

static bool is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

static bool is_hex(const char *text)
{
	return text[0] == '0' && (text[1] == 'x' || text[1] == 'X') && text[2] &&
	       !text[2 + strspn(text + 2, "0123456789abcdefABCDEF")];
}

static bool parse_address(const char *text, uint64_t *out)
{
	errno = 0;
	*out = strtoull(text, NULL, 16);
	return !errno;
}

static int refuse_access(const char *access)
{
	if (!strcmp(access, "r"))
		return err__usage("the processor can't watch reads alone: write rw");
	return err__usage("unknown kind of access '%s': use w, rw or x", access);
}

static int set_access(const char *text, struct watch_spec *s)
{
	static const struct {
		const char *name;
		enum watch_access access;
	} rows[] = {{"w", WATCH_WRITE}, {"rw", WATCH_ANY}, {"wr", WATCH_ANY}, {"x", WATCH_EXEC}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(text, rows[i].name)) {
			s->access = rows[i].access;
			return 0;
		}
	return refuse_access(text);
}

static bool looks_like_access(const char *text)
{
	return *text && strlen(text) <= 3 && !text[strspn(text, "rwx")];
}

static int set_len(const char *text, struct watch_spec *s)
{
	if (parse__u64(text, false, &s->len) || !s->len)
		return err__usage("invalid length '%s' in '%s': use 1, 2, 4 or 8, or up to %d",
				  text, s->text, WATCH_SLOTS * 8);
	return 0;
}

/* Cuts off what follows the last colon of text, if that is what is wanted. */
static char *cut(char *text, bool (*wanted)(const char *text))
{
	char *colon = strrchr(text, ':');

	if (!colon || colon == text || !wanted(colon + 1))
		return NULL;
	*colon = 0;
	return colon + 1;
}

/* +OFF, decimal or with 0x, after a symbol. */
static int cut_offset(char *text, struct watch_spec *s)
{
	char *plus = strrchr(text, '+');

	/* operator+ */
	if (!plus || plus == text || (!is_number(plus + 1) && !is_hex(plus + 1)))
		return 0;
	errno = 0;
	s->offset = strtoull(plus + 1, NULL, is_hex(plus + 1) ? 16 : 10);
	*plus = 0;
	return errno ? err__usage("invalid offset in '%s'", s->text) : 0;
}

static int set_symbol(char *text, struct watch_spec *s)
{
	const char *colon = object__colon(text, 0);
	char *symbol = colon ? text + (colon + 1 - text) : text;
	int err = cut_offset(symbol, s);

	if (err)
		return err;
	if (!*symbol || colon == text)
		return err__usage("'%s' names nothing to watch: write SYMBOL, OBJECT:SYMBOL or "
				  "0xADDR",
				  s->text);
	if (is_number(symbol))
		return err__usage("'%s' is neither a symbol nor an address: addresses begin "
				  "with 0x",
				  symbol);
	s->symbol = xstrdup(symbol);
	if (colon)
		s->object = xstrndup(text, colon - text);
	return 0;
}

static int set_address(const char *text, struct watch_spec *s)
{
	if (!parse_address(text, &s->offset))
		return err__usage("'%s' is no address of 64 bits", text);
	s->kernel_address = s->offset >= KERNEL_HALF;
	return 0;
}

/* perf's spelling, after mem: */
static int parse_perf(char *text, struct watch_spec *s)
{
	char *access = cut(text, looks_like_access), *slash = strchr(text, '/');
	int err = 0;

	s->access = WATCH_ANY;
	if (slash)
		*slash = 0;
	if (access)
		err = set_access(access, s);
	if (!err && slash)
		err = set_len(slash + 1, s);
	if (!err && !is_hex(text))
		err = err__usage("'%s' is no address: write mem:0xADDR[/LEN][:ACCESS]", text);
	return err ? err : set_address(text, s);
}

static int parse(char *text, struct watch_spec *s)
{
	char *access, *len;
	int err;

	if (!strncmp(text, "mem:", 4))
		return parse_perf(text + 4, s);
	access = cut(text, looks_like_access);
	err = access ? set_access(access, s) : 0;
	if (err)
		return err;
	len = cut(text, is_number);
	err = len ? set_len(len, s) : 0;
	if (err)
		return err;
	return is_hex(text) ? set_address(text, s) : set_symbol(text, s);
}

int watch_spec__parse(const char *text, struct watch_spec *out)
{
	autofree char *copy = xstrdup(text);
	int err;

	*out = (struct watch_spec){.text = xstrdup(text)};
	err = parse(copy, out);
	if (!err && out->access == WATCH_EXEC && out->len && out->len != sizeof(long))
		err = err__usage("'%s': what is executed is watched at one address: leave the "
				 "length out",
				 text);
	if (!err && out->offset + out->len < out->offset)
		err = err__usage("'%s' reaches beyond the end of memory", text);
	if (err)
		watch_spec__free(out);
	return err;
}

void watch_spec__free(struct watch_spec *s)
{
	free(s->text);
	free(s->object);
	free(s->symbol);
	*s = (struct watch_spec){0};
}

unsigned watch__split(uint64_t addr, uint64_t len, struct watch_piece out[WATCH_SLOTS])
{
	unsigned n = 0;

	while (len) {
		uint8_t size = 8;

		while (size > len || addr % size)
			size /= 2;
		if (n == WATCH_SLOTS)
			return 0;
		out[n++] = (struct watch_piece){addr, size};
		addr += size;
		len -= size;
	}
	return n;
}

// SPDX-License-Identifier: BSD-2-Clause
/* Matches symbols against a name or pattern of the command line. Pure. */
#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include "object/object.h"
#include "lookup.h"
#include "names.h"

/* Suffixes that GCC and LLVM append to the names of function copies. */
static const char *const suffixes[] = {
	".cold",      ".part.",	     ".isra.",	 ".constprop.",	  ".llvm.",
	".lto_priv.", ".localalias", ".__part.", ".specialized.",
};

/* Words that a demangled name may contain although the mangled one doesn't: the ABIs'
 * abbreviations, and words that demanglers add. */
static const char abbreviated[] =
	"std allocator basic_string string basic_istream istream basic_ostream ostream basic_iostream iostream "
	"char_traits char void bool short int long unsigned signed float double const volatile auto wchar_t "
	"char8_t char16_t char32_t __int128 __float128 operator new delete decltype nullptr_t noexcept "
	"anonymous namespace lambda unnamed type clone guard variable for virtual non thunk to vtable VTT typeinfo "
	"name covariant construction reference temporary hidden alias TLS init function wrapper default arg "
	"transaction_safe_dynamic requires template parameter object "
	"str usize isize i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 dyn impl mut extern unsafe fn as "
	"closure shim core alloc true false";

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Finds the longest identifier outside of (...) and <...>: the mangled name contains it, too. */
static void find_needle(struct name_query *q)
{
	const char *p = q->name, *best = NULL;
	size_t len, best_len = 0;
	int depth = 0;

	for (; *p; p += len ? len : 1) {
		len = 0;
		if ((unsigned char)*p >= 0x80)
			return; /* Punycode */
		if (strchr("(<[", *p))
			depth++;
		else if (strchr(")>]", *p))
			depth--;
		while (is_word(p[len]))
			len++;
		if (!depth && len > best_len && !isdigit((unsigned char)*p))
			best = p, best_len = len;
	}
	if (best_len < 1 || best_len >= sizeof(q->needle))
		return;
	memcpy(q->needle, best, best_len);
	q->needle[best_len] = 0;
	if (strstr(abbreviated, q->needle))
		q->needle[0] = 0;
}

static bool is_mangled_name(const char *name)
{
	autofree char *shown = name__is_mangled(name) ? name__demangle(name, DEMANGLE_NAME) : NULL;

	return shown && strcmp(shown, name) != 0;
}

void name_query__init(struct name_query *q, const char *text, bool glob)
{
	const char *at = glob ? NULL : strchr(text, '@');

	*q = (struct name_query){.text = text, .glob = glob};
	if (at && at > text && at[1] && strcmp(at, "@plt")) {
		q->default_only = at[1] == '@';
		q->version = at + 1 + q->default_only;
		q->name = xstrndup(text, at - text);
	} else {
		q->name = xstrdup(text);
	}
	q->mangled = !glob && is_mangled_name(q->name);
	find_needle(q);
}

void name_query__free(struct name_query *q)
{
	free(q->name);
}

/* Returns true if both are equal except for blanks: f(int,char) is f(int, char). */
static bool same(const char *a, const char *b)
{
	for (;; a++, b++) {
		while (*a == ' ')
			a++;
		while (*b == ' ')
			b++;
		if (*a != *b)
			return false;
		if (!*a)
			return true;
	}
}

static bool fits(const struct name_query *q, const char *name)
{
	return q->glob ? !fnmatch(q->text, name, 0) : same(q->name, name);
}

/* ns::v<int>::f<char> -> ns::v::f; operators keep their < and >. Returns false if there is nothing
 * to strip. */
static bool strip_templates(char *name)
{
	char *in = name, *out = name;
	bool stripped = false;
	int depth = 0;

	if (strstr(name, "operator"))
		return false;
	for (; *in; in++) {
		if (*in == '<' && in > name && (is_word(in[-1]) || depth)) {
			depth++;
			stripped = true;
		} else if (*in == '>' && depth && in[-1] != '-') {
			depth--;
		} else if (!depth) {
			*out++ = *in;
		}
	}
	*out = 0;
	return stripped && !depth;
}

static bool fits_mangled(const struct name_query *q, const char *raw)
{
	unsigned form;

	if (q->mangled || !name__is_mangled(raw) || (q->needle[0] && !strstr(raw, q->needle)))
		return false;
	for (form = 0; form < DEMANGLE_FORMS; form++) {
		autofree char *shown = name__demangle(raw, form);

		if (!shown)
			return false;
		if (fits(q, shown))
			return true;
		if (form == DEMANGLE_NAME && !q->glob && strip_templates(shown) && fits(q, shown))
			return true;
	}
	return false;
}

static const char *find_suffix(const char *name)
{
	const char *dot = name, *digits;
	size_t i;

	while ((dot = strchr(dot + (dot == name), '.'))) {
		for (i = 0; i < ARRAY_SIZE(suffixes); i++)
			if (!strncmp(dot, suffixes[i], strlen(suffixes[i])))
				return dot;
		digits = dot + 1 + strspn(dot + 1, "0123456789");
		if (digits > dot + 1 && (!*digits || *digits == '.'))
			return dot; /* a nested or internalised function: inner.0 */
		dot++;
	}
	return NULL;
}

size_t name__part_owner_len(const char *name)
{
	const char *suffix = strstr(name, ".part.") ? find_suffix(name) : NULL;

	return suffix && strstr(suffix, ".part.") ? suffix - name : 0;
}

bool name__is_plainer(const char *a, const char *b)
{
	size_t x = strspn(a, "_"), y = strspn(b, "_");

	return x != y ? x < y : strcmp(a, b) < 0;
}

size_t name__owner_len(const char *name)
{
	static const char *const split[] = {".cold", ".__part"};
	const char *p, *rest;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(split); i++) {
		p = strstr(name + (*name != 0), split[i]);
		if (!p)
			continue;
		rest = p + strlen(split[i]);
		if (*rest == '.' && rest[1])
			rest += 1 + strspn(rest + 1, "0123456789");
		if (!*rest)
			return p - name;
	}
	return 0;
}

static bool version_fits(const struct name_query *q, const struct symbol *s)
{
	if (!q->version)
		return true;
	return s->version && !strcmp(q->version, s->version) &&
	       (!q->default_only || s->default_version);
}

/* Matches a copy of the requested function by its name without the compiler's suffix. */
static enum match match_copy(const struct name_query *q, const char *name, const char *suffix)
{
	autofree char *stem = xstrndup(name, suffix - name);

	if (q->glob || name__owner_len(name) || (!fits(q, stem) && !fits_mangled(q, stem)))
		return MATCH_NONE;
	return strstr(suffix, ".part.") ? MATCH_PART : MATCH_CLONE;
}

static enum match match_suffixed(const struct name_query *q, const struct symbol *s,
				 const char *suffix)
{
	autofree char *shown = NULL;

	if (!q->mangled && (!q->needle[0] || strstr(s->name, q->needle))) {
		shown = name__demangle(s->name, DEMANGLE_FULL);
		if (shown && fits(q, shown))
			return MATCH_DEMANGLED;
	}
	return match_copy(q, s->name, suffix);
}

enum match name_query__match(const struct name_query *q, const struct symbol *s)
{
	const char *suffix;

	if (s->type == SYMBOL_PLT)
		return !q->glob && !strcmp(q->text, s->name) ? MATCH_NAME : MATCH_NONE;
	if (q->glob ? !fnmatch(q->text, s->name, 0) : !strcmp(q->text, s->name))
		return MATCH_NAME;
	if (!version_fits(q, s))
		return MATCH_NONE;
	if (!q->glob && !strcmp(q->name, s->name))
		return MATCH_NAME;
	suffix = find_suffix(s->name);
	if (suffix)
		return match_suffixed(q, s, suffix);
	return fits_mangled(q, s->name) ? MATCH_DEMANGLED : MATCH_NONE;
}

bool name_query__matches_name(const struct name_query *q, const char *name)
{
	return name && (fits(q, name) || fits_mangled(q, name));
}

// SPDX-License-Identifier: BSD-2-Clause
/* The names of symbols as they are shown, demangled when a lookup returns them. */
#include <stdlib.h>
#include "object/elf/elf_file.h"
#include "names.h"

/* Returns the readable name of a PLT stub, f(int)@plt; NULL if it is none, or if f isn't
 * mangled. */
static char *show_stub(const struct symbol *s)
{
	size_t len = strcspn(s->name, "@");
	autofree char *name = s->type == SYMBOL_PLT ? xstrndup(s->name, len) : NULL;
	autofree char *shown = name ? name__demangle(name, DEMANGLE_FULL) : NULL;

	return shown ? xasprintf("%s%s", shown, s->name + len) : NULL;
}

const struct symbol *symbol__show(const struct object *o, const struct symbol *s)
{
	struct elf_file *f = elf__of(o);
	char *shown;

	if (!f || s->shown != s->name || !name__is_mangled(s->name))
		return s;
	shown = s->type == SYMBOL_PLT ? show_stub(s) : name__demangle(s->name, DEMANGLE_FULL);
	if (shown)
		((struct symbol *)s)->shown = elf__keep(f, shown);
	return s;
}

void object__demangle(struct object *o)
{
	const struct symbol *s;

	vec__each (s, &o->symbols)
		symbol__show(o, s);
}

// SPDX-License-Identifier: BSD-2-Clause
/* The names of functions, one a line, for shells: bbtrace list --exported. */
#include <stdlib.h>
#include "list_names.h"

/* True if functions of several programs are listed, as OBJECT:FUNC. */
static bool has_objects(const struct targets *n)
{
	return !n->kernel && n->objects.len > 1;
}

/* Writes one name a line, so that a shell can pass them on as FUNC. */
int list_names__put(const struct targets *n)
{
	char **words = functions__words(&n->functions, n->objects.data, n->objects.len);
	bool objects = has_objects(n);

	for (size_t i = 0; i < n->functions.len; i++) {
		if (words[i] && objects)
			printf("%s:", n->functions.data[i].object->path);
		if (words[i])
			puts(words[i]);
		free(words[i]);
	}
	free(words);
	return 0;
}

/* True if only names are listed, since nothing else is requested. */
bool list_names__are_wanted(const struct request *req)
{
	return req->what.exported && !req->list.sites && !req->list.points &&
	       output__form(req->show.format) == FORM_TEXT;
}

// SPDX-License-Identifier: BSD-2-Clause
/* The names of functions, or of their arguments, one a line, for shells: bbtrace list --exported,
 * --arguments. */
#include <stdlib.h>
#include "arguments.h"
#include "list_names.h"
#include "select/events/typed_values.h"

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

int list_names__put_arguments(const struct request *request, struct plan *plan)
{
	CLEANUP(str__free) struct str out = {0};
	struct request req = *request;
	struct plan_values_result found;
	int err;

	req.record.typed = true;
	err = typed_values__plan(&req, plan, NULL, &found);
	if (err)
		return err;
	arguments__put(plan, NULL, output__form(req.show.format) == FORM_JSON, &out);
	fwrite(out.data, 1, out.len, stdout);
	if (found.untyped)
		note("%s%s: no types are known: --if can't name arguments there",
		     plan->functions.data[found.first_untyped].name,
		     found.untyped > 1 ? " and others" : "");
	return 0;
}

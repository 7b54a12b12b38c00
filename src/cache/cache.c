// SPDX-License-Identifier: BSD-2-Clause
#include "cache.h"
#include "key.h"
#include "store.h"

int cache__plan(const function_vec *functions, const struct plan_options *options,
		struct plan **out)
{
	CLEANUP(str__free) struct str content = {0};
	autofree object_vec objects = {0};
	struct writing *writing;
	struct key key;
	int err;

	if (!key__of_plan(functions, options, &objects, &key))
		return plan__build(functions, options, out);
	if (store__find(&key, "plan", &content)) {
		*out = plan__unpack(content.data, content.len, &objects);
		if (*out)
			return 0;
		str__clear(&content);
	}
	err = plan__build(functions, options, out);
	writing = err ? NULL : store__begin(&key, "plan");
	if (writing)
		store__end(writing,
			   plan__pack(*out, &objects, &(struct pack_sink){store__write, writing}));
	return err;
}

int cache__copies(struct plan *plan, const struct log_options *options, struct copies **out)
{
	CLEANUP(str__free) struct str content = {0};
	struct writing *writing;
	struct key key;
	int err;

	if (!key__of_copies(plan, options, &key))
		return copies__make(plan, options, out);
	if (store__find(&key, "copies", &content)) {
		*out = copies__unpack(content.data, content.len, plan);
		if (*out)
			return 0;
		str__clear(&content);
	}
	err = copies__make(plan, options, out);
	writing = err ? NULL : store__begin(&key, "copies");
	if (writing) {
		copies__pack(*out, plan, &(struct pack_sink){store__write, writing});
		store__end(writing, true);
	}
	return err;
}

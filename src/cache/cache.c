// SPDX-License-Identifier: BSD-2-Clause
#include "cache.h"
#include "key.h"
#include "store.h"

int cache__plan(const function_vec *functions, const struct plan_options *options,
		struct plan **out)
{
	CLEANUP(str__free) struct str content = {0};
	autofree object_vec objects = {0};
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
	if (!err && plan__pack(*out, &objects, &content))
		store__put(&key, "plan", &content);
	return err;
}

int cache__copies(struct plan *plan, const struct log_options *options, struct copies **out)
{
	CLEANUP(str__free) struct str content = {0};
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
	if (!err) {
		copies__pack(*out, plan, &content);
		store__put(&key, "copies", &content);
	}
	return err;
}

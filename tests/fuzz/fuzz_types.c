// SPDX-License-Identifier: BSD-2-Clause
/* Types that the sandbox has passed on, and expressions over them. Input: the length of a list of
 * expressions, in a byte; the list; the types as bytes. */
#include "arch/arch.h"
#include "fuzz.h"
#include "types/types.h"

static void look_at(const struct types *t, const struct prototype *p, const struct callee *c,
		    const expression_vec *list)
{
	const struct expression *e;
	struct str name = {0};
	struct value v;

	for (uint32_t i = 0; i < p->n; i++) {
		value__of_param(t, p, c, i, &v);
		CHECK(v.nsteps <= VALUE_STEPS && v.kind < KINDS_OF_VALUES && v.place.from < FROMS);
		types__put_name(t, t->params.data[p->first + i].type, &name);
		CHECK(name.len < 1u << 20);
	}
	value__of_param(t, p, c, UINT32_MAX, &v);
	vec__each (e, list) {
		err__clear();
		if (value__of_expression(t, p, c, e, &v))
			CHECK(*err__text());
		else
			CHECK(v.nsteps <= VALUE_STEPS && v.size <= VALUE_TEXT_MAX + 1 &&
			      v.bits <= 64 && v.kind < KINDS_OF_VALUES);
	}
	str__free(&name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned machines[] = {3, 62, 183, 243};
	struct input in = {data, data + size};
	uint8_t len = input__number(&in, 1), which = input__number(&in, 1);
	struct input text = input__part(&in, len);
	autofree char *list_text = xstrndup((const char *)text.p, input__left(&text));
	struct callee c = {.arch = arch__by_machine(machines[which % 4]), .kernel = which & 4};
	const struct prototype *p;
	value_condition_vec conditions = {0}, again = {0};
	autofree struct str put = {0};
	expression_vec list = {0};
	struct types t;

	err__clear();
	CHECK(!expressions__parse(list_text, &list) || *err__text());
	err__clear();
	/* what is put is the same */
	if (!conditions__parse(list_text, &conditions)) {
		conditions__put(&conditions, &put);
		CHECK(!conditions__parse(put.data, &again) && again.len == conditions.len);
	} else {
		CHECK(*err__text());
	}
	conditions__free(&conditions);
	conditions__free(&again);
	if (types__take(&t, in.p, input__left(&in)))
		vec__each (p, &t.prototypes)
			look_at(&t, p, &c, &list);
	types__free(&t);
	expressions__free(&list);
	return 0;
}

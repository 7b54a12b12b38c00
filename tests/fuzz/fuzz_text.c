// SPDX-License-Identifier: BSD-2-Clause
/* Escaping of foreign text: as JSON it is valid, for a terminal it contains no control characters.
 */
#include "fuzz.h"
#include "json_check.h"
#include "util/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, data + size};
	autofree char *text = input__text(&in);
	struct str s = {0};
	const char *p;
	uint64_t v;

	str__json(&s, text);
	p = s.data;
	CHECK(json_check__string(&p) && p == s.data + s.len);
	CHECK(is_safe(s.data, s.len) && !strchr(s.data, '\n'));
	CHECK(s.len <= 6 * strlen(text) + 2);
	str__clear(&s);
	json__script_string(&s, text);
	p = s.data;
	CHECK(json_check__string(&p) && p == s.data + s.len);
	CHECK(is_safe(s.data, s.len) && !strchr(s.data, '<'));
	str__clear(&s);
	str__puts(&s, "");
	str__shown(&s, text);
	CHECK(is_safe(s.data, s.len) && !strchr(s.data, '\n'));
	CHECK(s.len <= 4 * strlen(text));
	str__free(&s);
	if (parse__u64(text, true, &v))
		CHECK(*err__text());
	return 0;
}

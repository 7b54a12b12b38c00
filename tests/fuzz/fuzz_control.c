// SPDX-License-Identifier: BSD-2-Clause
/* What comes on a control socket, in pieces: a byte for the size of each, then its bytes. And heads
 * of answers. */
#include "fuzz.h"
#include "control/line.h"

static void take_lines(struct control_lines *lines)
{
	struct control_request r;
	enum control_result result;
	bool whole;
	char *line;

	while ((line = control_lines__next(lines, &whole))) {
		uint64_t len;

		CHECK(strlen(line) < CONTROL_LINE_MAX && !strchr(line, '\n'));
		(void)control_head__parse(line, &result, &len);
		err__clear();
		if (control_request__parse(line, &r)) {
			CHECK(*err__text() && err__is_usage());
			continue;
		}
		CHECK(*r.command && !strpbrk(r.command, " \t"));
		CHECK(r.text >= line && (!*r.text || !strchr(" \t", *r.text)));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, data + size};
	struct control_lines *lines = xcalloc(1, sizeof(*lines));

	while (input__left(&in) && !control_lines__overflow(lines)) {
		size_t n = 16 * input__number(&in, 1);
		char *at;

		n = min_of(min_of(n, input__left(&in)), control_lines__room(lines, &at));
		if (n)
			input__bytes(&in, at, n);
		control_lines__add(lines, n);
		take_lines(lines);
	}
	free(lines);
	return 0;
}

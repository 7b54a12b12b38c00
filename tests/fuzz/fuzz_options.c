// SPDX-License-Identifier: BSD-2-Clause
/* Command lines. Input: a byte for the verb, then the arguments, each ending with a NUL. */
#include "fuzz.h"
#include "cli/request.h"

#define ARGS_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, data + size};
	struct verb verb = {
		.name = "verb", .args = "", .help = "", .bit = 1u << (input__number(&in, 1) & 7)};
	const uint8_t *end = in.end;
	char *argv[ARGS_MAX + 2] = {(char *)"verb"};
	struct request args;
	int argc = 1;

	for (; input__left(&in) && argc <= ARGS_MAX; in.p++) {
		const uint8_t *nul = memchr(in.p, 0, input__left(&in));

		in.end = nul ? nul : end;
		argv[argc++] = input__text(&in);
		in.end = end;
		if (!nul)
			break;
	}
	err__clear();
	if (request__parse(&args, &verb, argc, argv))
		CHECK(*err__text());
	else
		CHECK(args.operands.len < (size_t)argc && (!args.command || *args.command));
	request__free(&args);
	note__set_level(NOTE_NORMAL);
	while (--argc)
		free(argv[argc]);
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
/* The table of verbs is in cmd/verbs.c; here one of them is chosen, and nothing else. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include "cmd/cmd.h"

static void help(FILE *out)
{
	const struct verb *v;

	fprintf(out, "bbtrace %s: every branch that a program or the kernel takes\n\n",
		BBTRACE_VERSION);
	for (v = verbs; v->name; v++)
		fprintf(out, "  bbtrace %-7s %s\n      %s\n", v->name, v->args, v->help);
	fprintf(out, "\n  bbtrace VERB --help shows a verb's options; the manual is bbtrace(8).\n");
}

/*
 * The number of a standard stream that is closed would go to the next file that is opened, and the
 * trace into it. What stands in for it can't be written (stdin: read); CMD does not inherit it.
 */
static void hold_streams(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", (fd ? O_RDONLY : O_WRONLY) | O_CLOEXEC) < 0)
			return;
}

/* CMD, the pager and the files that are written would be another user's than the caller's. */
static bool is_set_id(void)
{
	if (getuid() == geteuid() && getgid() == getegid())
		return false;
	err__set(EPERM, "bbtrace doesn't run set-user-ID or set-group-ID; give the file "
			"capabilities in place of that: see SECURITY CONSIDERATIONS in bbtrace(8)");
	err__print();
	return true;
}

int main(int argc, char **argv)
{
	const struct verb *v;

	hold_streams();
	if (is_set_id())
		return EXIT_CANNOT;
	if (argc < 2) {
		help(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		help(stdout);
		return EXIT_TRACED;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("bbtrace %s\n", BBTRACE_VERSION);
		return EXIT_TRACED;
	}
	for (v = verbs; v->name; v++)
		if (!strcmp(argv[1], v->name))
			return v->run(argc - 1, argv + 1);
	err__set(EINVAL, "no such verb: '%s'; see bbtrace --help", argv[1]);
	err__print();
	return EXIT_USAGE;
}

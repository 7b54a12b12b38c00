// SPDX-License-Identifier: BSD-2-Clause
/*
 * Replaces libFuzzer to run a corpus: each file given, and each file of the folders given, with a
 * time limit. It prints the current file to stderr, so that a crash can be attributed.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include "fuzz.h"

#define SECONDS	   10 /* of CPU time: the machine may be busy */
#define SIZE_LIMIT (4u << 20)

static unsigned files;

static void too_long(int signal)
{
	static const char text[] = "took too long\n";

	if (write(2, text, sizeof(text) - 1) < 0)
		_exit(3);
	_exit(2);
}

static int run(const char *path)
{
	static const struct itimerval limit = {.it_value.tv_sec = SECONDS}, none;
	autofree char *text = NULL;
	uint8_t *exact;
	size_t size;

	if (file__read(path, SIZE_LIMIT, &text, &size)) {
		fprintf(stderr, "%s\n", err__text());
		return 1;
	}
	fprintf(stderr, "running: %s\n", path);
	exact = xmalloc(size);
	memcpy(exact, text, size);
	setitimer(ITIMER_PROF, &limit, NULL);
	LLVMFuzzerTestOneInput(exact, size);
	setitimer(ITIMER_PROF, &none, NULL);
	free(exact);
	files++;
	return 0;
}

static int run_folder(const char *path)
{
	struct dirent **names;
	int err = 0, n = scandir(path, &names, NULL, alphasort);

	if (n < 0) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return 1;
	}
	for (int i = 0; i < n; i++) {
		autofree char *file = xasprintf("%s/%s", path, names[i]->d_name);

		if (!err && names[i]->d_name[0] != '.')
			err = run(file);
		free(names[i]);
	}
	free(names);
	return err;
}

int main(int argc, char **argv)
{
	struct stat st;
	int err = 0;

	signal(SIGPROF, too_long);
	for (int i = 1; i < argc && !err; i++)
		err = stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode) ? run_folder(argv[i])
								     : run(argv[i]);
	printf("%u files\n", files);
	return err;
}

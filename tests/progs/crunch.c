// SPDX-License-Identifier: BSD-2-Clause
/* What libc has to do for small programs: allocates, sorts, formats, parses, matches. crunch ROUNDS
 */
#include <regex.h>
#include "prog.h"

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_texts(int n)
{
	char **texts = malloc(n * sizeof(*texts)), text[64];

	for (int i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "%05d-%x-%s", i * 7919 % 1009, i,
			 i % 3 ? "odd" : "even");
		texts[i] = strdup(text);
	}
	qsort(texts, n, sizeof(*texts), by_text);
	printf("%s %s\n", texts[0], texts[n - 1]);
	for (int i = 0; i < n; i++)
		free(texts[i]);
	free(texts);
}

static void parse(int n)
{
	double sum = 0, got;
	char text[64], word[16];
	long whole = 0;
	int at;

	for (int i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "%d.%03d word%d 0x%x", i * 31, i % 1000, i, i * i);
		if (sscanf(text, "%lf %15s %n", &got, word, &at) == 2)
			sum += got + strlen(word);
		whole += strtol(text + at, NULL, 16);
	}
	printf("%.3f %ld\n", sum, whole);
}

static void match(int n)
{
	regex_t pattern;
	regmatch_t found[2];
	int hits = 0;
	char text[64];

	if (regcomp(&pattern, "([0-9]+)[a-f]*-x", REG_EXTENDED))
		exit(2);
	for (int i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "%s%d%x-%c", i % 2 ? "__" : "", i, i * 3,
			 "xyz"[i % 3]);
		hits += !regexec(&pattern, text, 2, found, 0);
	}
	regfree(&pattern);
	printf("%d\n", hits);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 40;

	sort_texts(n);
	parse(n);
	match(n);
	return 0;
}

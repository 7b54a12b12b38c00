/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts the words of its input by length, in a list that is sorted by length. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bin {
	size_t length, count;
	struct bin *next;
};

struct bin *new_bin(size_t length, struct bin *next)
{
	struct bin *bin = malloc(sizeof(*bin));

	bin->length = length;
	bin->count = 0;
	bin->next = next;
	return bin;
}

/* The bin for words of this length. */
struct bin *find_bin(struct bin **bins, size_t length)
{
	struct bin *bin = *bins;

	if (!bin || length < bin->length)
		return *bins = new_bin(length, bin);
	while (bin->next->length <= length)
		bin = bin->next;
	if (bin->length != length)
		bin = bin->next = new_bin(length, bin->next);
	return bin;
}

void count_word(struct bin **bins, const char *word)
{
	find_bin(bins, strlen(word))->count++;
}

int main(void)
{
	struct bin *bins = NULL;
	char word[64];

	while (scanf("%63s", word) == 1)
		count_word(&bins, word);
	for (; bins; bins = bins->next)
		printf("%zu: %zu\n", bins->length, bins->count);
	return 0;
}

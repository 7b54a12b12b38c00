// SPDX-License-Identifier: BSD-2-Clause
/* A list whose last element was removed: the pointer to it isn't checked. */
#include "flaky.h"

struct node {
	struct node *next;
	unsigned value;
};
static struct node *head, *tail, none = {NULL, 77777};

static void push(unsigned v)
{
	struct node *n = calloc(1, sizeof(*n));

	n->value = v;
	if (tail)
		tail->next = n;
	else
		head = n;
	tail = n;
}

static unsigned pop(void)
{
	struct node *n = head;
	unsigned v;

	if (!n) /* PLANTED */
		n = &none;
	v = n->value;
	head = n->next;
	if (!head)
		tail = NULL;
	if (n != &none)
		free(n);
	return v;
}

int main(int argc, char **argv)
{
	unsigned sum = 0;

	seed(argc, argv);
	for (unsigned i = 0, n = 2 + roll(5); i < n; i++)
		push(2 * i);
	for (unsigned i = 0, n = 12 + roll(12); i < n; i++) {
		for (unsigned k = roll(6); k; k--)
			push(2 * roll(500));
		for (unsigned k = roll(5); k; k--)
			sum += pop();
		if (roll(8) == 0)
			weather();
	}
	return sum % 2;
}

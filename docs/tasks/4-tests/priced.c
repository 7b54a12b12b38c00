/* SPDX-License-Identifier: BSD-2-Clause */
/* priced SOCKET: answers each request, the name of an article, with its price. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define ARTICLES 400

struct article {
	char name[16];
	int cents;
};

static struct article articles[ARTICLES];

void load_articles(void)
{
	for (int i = 0; i < ARTICLES; i++) {
		snprintf(articles[i].name, sizeof(articles[i].name), "article-%d", i);
		articles[i].cents = 100 + 7 * i;
	}
}

int same_name(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

int find_price(const char *name)
{
	for (int i = 0; i < ARTICLES; i++)
		if (same_name(articles[i].name, name))
			return articles[i].cents;
	return -1;
}

int read_request(int client, char *name, int size)
{
	int length = read(client, name, size - 1);

	if (length <= 0)
		return 0;
	name[strcspn(name, "\n")] = 0;
	return 1;
}

void answer(int client, int cents)
{
	char text[32];
	int length = snprintf(text, sizeof(text), "%d\n", cents);

	if (write(client, text, length) < 0)
		perror("priced");
}

void serve(int client)
{
	char name[64] = "";

	if (read_request(client, name, sizeof(name)))
		answer(client, find_price(name));
	close(client);
}

int main(int argc, char **argv)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int server = socket(AF_UNIX, SOCK_STREAM, 0);

	strncpy(address.sun_path, argc > 1 ? argv[1] : "priced.sock", sizeof(address.sun_path) - 1);
	unlink(address.sun_path);
	if (bind(server, (struct sockaddr *)&address, sizeof(address)) || listen(server, 16)) {
		perror(address.sun_path);
		return 1;
	}
	load_articles();
	for (;;)
		serve(accept(server, NULL, NULL));
}

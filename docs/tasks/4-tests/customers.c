/* SPDX-License-Identifier: BSD-2-Clause */
/* customers SOCKET: asks priced for one article after the other, until it is ended. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char text[32];

	strncpy(address.sun_path, argc > 1 ? argv[1] : "priced.sock", sizeof(address.sun_path) - 1);
	for (int i = 0;; i++) {
		int server = socket(AF_UNIX, SOCK_STREAM, 0);
		int length = snprintf(text, sizeof(text), "article-%d\n", i % 440);

		if (!connect(server, (struct sockaddr *)&address, sizeof(address)) && write(server, text, length) == length)
			while (read(server, text, sizeof(text)) > 0)
				;
		close(server);
		usleep(10000);
	}
}

// SPDX-License-Identifier: BSD-2-Clause
/* What descriptors of a process are: paths by /proc/PID/fd, the ends of sockets by /proc/PID/net.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <unistd.h>
#include "stack.h"

#define TABLE_MOST (64u << 20)
#define SHOWN	   4

static char *read_table(uint32_t pid, const char *name)
{
	autofree char *path = xasprintf("/proc/%u/%s", pid, name);
	char *text = NULL;

	return file__read(path, TABLE_MOST, &text, NULL) ? NULL : text;
}

/* ---- sockets ---- */

/* As in /proc/net/tcp and tcp6: words of the address in the machine's order, then the port. */
static void put_end(const char *text, struct str *to)
{
	uint32_t words[4] = {0};
	size_t digits = strcspn(text, ":"), n = digits / 8;
	char shown[INET6_ADDRSTRLEN];

	for (size_t i = 0; i < min_of(n, (size_t)4); i++) {
		char word[9] = {0};

		memcpy(word, text + 8 * i, 8);
		words[i] = strtoul(word, NULL, 16);
	}
	inet_ntop(n > 1 ? AF_INET6 : AF_INET, words, shown, sizeof(shown));
	str__printf(to, n > 1 ? "[%s]:%lu" : "%s:%lu", shown, strtoul(text + digits + 1, NULL, 16));
}

/* A line of these tables: its number, both ends, the state, five columns, the inode. */
static bool put_ends(const char *line, const char *kind, unsigned long inode, struct str *to)
{
	char local[64], remote[64];
	unsigned state;
	unsigned long own;

	if (sscanf(line, " %*[^:]: %63s %63s %x %*s %*s %*s %*s %*s %lu", local, remote, &state,
		   &own) != 4 ||
	    own != inode)
		return false;
	str__printf(to, "%s ", kind);
	put_end(local, to);
	if (state == 10) { /* TCP_LISTEN */
		str__puts(to, ", listening");
		return true;
	}
	str__puts(to, " -> ");
	put_end(remote, to);
	return true;
}

/* Num RefCount Protocol Flags Type St Inode Path */
static bool put_unix(const char *line, const char *kind, unsigned long inode, struct str *to)
{
	unsigned long own;
	int path = 0;

	if (sscanf(line, "%*s %*s %*s %*s %*s %*s %lu%n", &own, &path) != 1 || own != inode)
		return false;
	str__puts(to, kind);
	line += path;
	line += strspn(line, " ");
	if (strcspn(line, "\n")) {
		autofree char *name = xstrndup(line, strcspn(line, "\n"));

		str__putc(to, ' ');
		str__shown(to, name);
	}
	return true;
}

static bool put_socket(uint32_t pid, unsigned long inode, struct str *to)
{
	static const struct {
		const char *table, *kind;
		bool (*put)(const char *line, const char *kind, unsigned long inode,
			    struct str *to);
	} tables[] = {
		{"net/tcp", "tcp", put_ends},	{"net/tcp6", "tcp", put_ends},
		{"net/unix", "unix", put_unix}, {"net/udp", "udp", put_ends},
		{"net/udp6", "udp", put_ends},
	};

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		autofree char *text = read_table(pid, tables[i].table);

		for (char *line = text; line; line = strchr(line, '\n')) {
			line += *line == '\n';
			if (tables[i].put(line, tables[i].kind, inode, to))
				return true;
		}
	}
	return false;
}

/* ---- descriptors ---- */

void descriptor__describe(uint32_t pid, int64_t fd, struct str *to)
{
	autofree char *link = xasprintf("/proc/%u/fd/%lld", pid, (long long)fd);
	char path[4096];
	ssize_t n = readlink(link, path, sizeof(path) - 1);
	unsigned long inode;

	str__printf(to, "%lld", (long long)fd);
	if (n <= 0)
		return;
	path[n] = 0;
	str__puts(to, " (");
	if (sscanf(path, "socket:[%lu]", &inode) != 1 || !put_socket(pid, inode, to))
		str__shown(to, path);
	str__putc(to, ')');
}

void epoll__describe(uint32_t pid, int64_t fd, struct str *to)
{
	autofree char *name = xasprintf("fdinfo/%lld", (long long)fd);
	autofree char *text = read_table(pid, name);
	size_t n = 0;

	for (const char *at = text; at && (at = strstr(at, "tfd:")); at += 4) {
		if (++n > SHOWN)
			continue;
		str__puts(to, n > 1 ? ", " : "");
		descriptor__describe(pid, strtoll(at + 4, NULL, 10), to);
	}
	if (n > SHOWN)
		str__printf(to, " and %zu more", n - SHOWN);
}

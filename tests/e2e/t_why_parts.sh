#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# bbtrace why: a status that is made of several results, or by a loop: the largest one, flags, a variable that a loop has set, or never
# has, a child's, a thread's; one that a function has only passed on; and an exception or longjmp(3) without a message.
# shellcheck disable=SC2154 # lib.sh sets status
. "$(dirname "$0")/lib.sh"
needs root uprobes
unset BBTRACE_ENGINE
cd "$T" || exit 2

cat >parts.c <<'END'
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#define KEPT __attribute__((noinline))
static volatile int seen;
static jmp_buf env;
KEPT static int look(const char *s)
{
	seen++;
	if (strchr(s, '!')) { /* look */
		seen = 1;
		return 4;
	}
	return strchr(s, '+') ? 2 : 0;
}
KEPT static int flags(char **v)
{
	int all = 0;

	for (; *v; v++)
		all |= look(*v);
	return all;
}
KEPT static int assigned(char **v)
{
	int r = 0;

	for (; *v; v++) {
		seen++;
		if (strlen(*v) > 5) { /* assigned */
			puts(*v);
			r = 9;
		}
	}
	return r;
}
KEPT static int valid(char **v)
{
	int ok = 1;

	for (; *v; v++)
		if (strchr(*v, 'q')) { /* invalid */
			puts(*v);
			ok = 0;
		}
	if (!ok)
		return 7;
	return 0;
}
KEPT static int missing(char **v)
{
	int found = 0;

	for (; *v; v++)
		if (!strcmp(*v, "key")) { /* never */
			puts(*v);
			found = 1;
		}
	if (!found)
		return 8;
	return 0;
}
KEPT static int which(int n)
{
	if (n > 9 && seen < 1000) { /* outside */
		puts("many");
		if (n > 20) {
			puts("very many");
			return 31;
		}
		return 30;
	}
	return 0;
}
KEPT static int pass_on(int r)
{
	if (r)
		puts("failed");
	return r;
}
static void *work(void *s)
{
	if (strchr(s, '!')) { /* work */
		seen = 1;
		return (void *)11l;
	}
	return NULL;
}
KEPT static int threads(char **v)
{
	long worst = 0;

	for (; *v; v++) {
		pthread_t t;
		void *r;

		pthread_create(&t, NULL, work, *v);
		pthread_join(t, &r);
		if ((long)r > worst)
			worst = (long)r;
	}
	return (int)worst;
}
KEPT static int children(char **v)
{
	int bad = 0, st;

	for (; *v; v++) {
		if (!fork())
			_exit(look(*v));
		wait(&st);
		if (WIFEXITED(st) && WEXITSTATUS(st))
			bad = WEXITSTATUS(st);
	}
	return bad;
}
KEPT static void parse(const char *s)
{
	if (strchr(s, '(')) { /* jump */
		seen = 1;
		longjmp(env, 1);
	}
}
KEPT static int jumps(char **v)
{
	if (setjmp(env))
		return 12;
	for (; *v; v++)
		parse(*v);
	return 0;
}
int main(int argc, char **argv)
{
	char **v = argv + 2;

	switch (*argv[1]) {
	case 'f':
		return flags(v);
	case 'a':
		return assigned(v);
	case 'v':
		return valid(v);
	case 'm':
		return missing(v);
	case 'w':
		return which(argc);
	case 'p':
		return pass_on(look(*v));
	case 't':
		return threads(v);
	case 'c':
		return children(v);
	default:
		return jumps(v);
	}
}
END
line() { grep -n "/\* $1 \*/" parts.c | cut -d: -f1; }

part() { # NAME STATUS PATTERN LINE ARGUMENT...
	local name=$1 want=$2 words=$3 at=$4
	shift 4
	bb why -o "$T/said" -- "$T/parts" "$@"
	exits "$want" "$build, $name: the status is its own"
	like "$T/said" "$words.*parts\.c:$at\$" "$build, $name: what led to it" || diag "$(cat "$T/said")"
}
for level in -O0 -O2 -Os; do
	build="gcc $level"
	gcc -g $level -pthread -o parts parts.c || exit 2
	part 'flags' 4 'part of which was returned by look = 4, by' "$(line look)" f a b! c
	part 'a result of a loop' 9 '(decided|passed on) by' "$(line assigned)" a a toolong b
	part 'a variable that a loop has set' 7 'which was set because of' "$(line invalid)" v a q b
	part 'a variable that a loop never sets' 8 '(stayed as it was there, the last time by|where the last test was)' "$(line never)" m a b c
	part 'one of several failures' 30 '(decided|passed on) by' "$(line outside)" w 1 2 3 4 5 6 7 8
	like said 'and which failure, by ' "$build: and which one"
	part 'a value that is passed on' 4 'decided by' "$(line look)" p 'b!'
	part 'the largest result of threads' 11 'which was returned by work = 11, by' "$(line work)" t a 'b!' c
	part 'a child without another program' 4 '(decided|passed on) by|result of look = 4' "$(line look)" c a 'b!' c
	part 'a longjmp without a message' 12 'after .*longjmp.*, reached by' "$(line jump)" j a 'b(' c
done

# ---- the same for programs ----
told() { # WHAT ARGUMENT...: the line of the branch at a path of the ending
	bb why -F json -o "$T/json" -- "$T/parts" "${@:2}"
	json_lines "$T/json" '$e->{event} eq "ending" && join " ", map { $_ && ($_->{function} // "", $_->{value} // "", $_->{decided_by}{src}[0]{line} // $_->{src}[0]{line}) } $e->'"$1"
}
gcc -g -O2 -pthread -o parts parts.c || exit 2
is "$(told '{part}' f a b! c)" "look 4 $(line look)" 'JSON: a part of the value'
is "$(told '{set_because}' v a q b)" "  $(line invalid)" 'JSON: what has set what was tested'
is "$(told '{decided_by}' w 1 2 3 4 5 6 7 8)" "which  $(line outside)" 'JSON: why it failed'
ok "$([[ $(told '{which_failure}' w 1 2 3 4 5 6 7 8) =~ [0-9]$ ]]; echo $?)" 'JSON: and which failure' || diag "$(cat "$T/json")"
is "$(told '{decided_by}' p 'b!')" "look  $(line look)" 'JSON: a value that is passed on'
is "$(told '{tested_result_of}' p 'b!')" 'strchr@plt  ' "JSON: whose result was tested that isn't traced"
bb why -F sarif -o "$T/sarif" -- "$T/parts" w 1 2 3 4 5 6 7 8
is "$(perl -MJSON::PP -0777 -ne '$r = decode_json($_)->{runs}[0]{results}[0]; print join " ", map { $_->{physicalLocation}{region}{startLine} } $r->{locations}[0]' "$T/sarif")" \
	"$(line outside)" 'SARIF: the branch that led to the failures comes first'

# ---- libraries that aren't traced ----
cat >lib.c <<'END'
int lib_check(int n) { return n > 3 ? 5 : 0; }
__asm__(".skip 2200000, 0xcc"); /* too large to be traced at once */
END
cat >uses.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int lib_check(int n);
int main(int argc, char **argv)
{
	int r = lib_check(atoi(argv[1]));
	if (r)
		puts("failed");
	return r;
}
END
gcc -O1 -shared -fPIC -o libuses.so lib.c && gcc -g -O1 -o uses uses.c -L. -luses -Wl,-rpath,"$T" || exit 2
bb why -o said -- ./uses 4
exits 5 'a library'"'s result: the status"
like said 'is from lib_check@plt of libuses\.so, which is not traced' 'it is named'
unlike said 'decided by' 'and nothing is said to have decided'

# ---- a connection that fails later ----
cat >connects.c <<'END'
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
int main(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(1)};
	int s = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), error = 0;
	struct pollfd p = {.fd = s, .events = POLLOUT};
	socklen_t len = sizeof(error);

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (connect(s, (struct sockaddr *)&to, sizeof(to)) && errno != EINPROGRESS)
		return 1;
	poll(&p, 1, 1000);
	getsockopt(s, SOL_SOCKET, SO_ERROR, &error, &len);
	return error ? 9 : 0;
}
END
gcc -g -O1 -o connects connects.c || exit 2
if ./connects; [ $? = 9 ]; then
	bb why -o said -- ./connects
	exits 9 'a connection that fails later: the status'
	like said 'failed: getsockopt\([0-9]*, SO_ERROR\) = -111 ECONNREFUSED' 'and its error'
fi
done_testing

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# bbtrace why: what a command writes to the standard error stream leads to the branch by which it got there; the failed
# system call that it names; children; jumps out of functions; texts in libraries. The command isn't disturbed.
# shellcheck disable=SC2154 # lib.sh sets status
. "$(dirname "$0")/lib.sh"
needs root uprobes cmd:jq
cd "$T" || exit 2

# why NAME STATUS COMMAND...: explains it; stdout of the command and its status are as without.
why() {
	local name=$1 wanted=$2
	shift 2

	"$@" >"$T/plain.out" 2>"$T/plain.err" </dev/null
	bb why -o "$T/said" -- "$@"
	exits "$wanted" "$name: the status is that of the command"
	same "$T/out" "$T/plain.out" "$name: its output is unchanged"
	grep -v '^bbtrace: ' "$T/err" >"$T/rest.err"
	same "$T/rest.err" "$T/plain.err" "$name: so are its messages"
}
# The lines from a pattern on, up to the next one that is indented as little.
block() { awk -v from="$1" '$0 ~ from { on = 1; print; next } on && /^    / { print; next } { on = 0 }' "$T/said"; }

# ---- a failed call that the message names; a status that is passed on ----
source_program files c -O2 <<'END'
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static int errors, quiet;
__attribute__((noipa)) static void complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (!quiet)
		vfprintf(stderr, format, args);
	va_end(args);
}
__attribute__((noipa)) static int load(const char *path)
{
	int fd = open(path, O_RDONLY);

	if (fd < 0) { /* REASON */
		complain("cannot read %s: %s\n", path, strerror(errno));
		errors = 1;
		return 0;
	}
	close(fd);
	return 1;
}
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		load(argv[i]);
	puts("done");
	return errors;
}
END
reason=$(grep -n REASON files.c | cut -d: -f1)
why files 1 ./files /etc/passwd ./missing /etc/hostname
like "$T/said" '^  message: "cannot read \./missing: No such file or directory"$' 'files: the message'
like "$T/said" '^  failed: open(at)?\((AT_FDCWD, )?"\./missing", \.\.\.\) = -2 ENOENT' 'files: the failed call, with the path'
like <(block '^  decided by') "files\.c:$reason" 'files: the branch that tested its result'
unlike <(block '^  (decided by|because)') ' complain' 'files: the function that gets the text decides nothing'
is "$(grep -c 'decided by' "$T/said")" 1 'files: a status from a variable has not been decided where it was returned'
bb why -F json -o "$T/json" -- ./files ./missing
is "$(json_lines "$T/json" '$e->{event} eq "ending" && join " ", $e->{messages}[0]{failed}{error}, $e->{messages}[0]{failed}{args}[1],
	$e->{messages}[0]{because}{decided_by}{src}[0]{line}')" "ENOENT ./missing $reason" 'files: JSON has the same'

bb why -F sarif -o "$T/sarif" -- ./files ./missing
is "$(jq -r '[.version, .runs[0].tool.driver.name, (.runs[0].results | length), .runs[0].results[0].ruleId,
	(.runs[0].results[0].locations[0].physicalLocation | .artifactLocation.uri, .region.startLine)] | map(tostring) | join(" ")' "$T/sarif")" \
	"2.1.0 bbtrace 1 ending file://$(realpath files.c) $reason" 'files: SARIF has the place'
is "$(jq -r '.runs[0].results[0].message.text' "$T/sarif")" './files exited with 1: cannot read ./missing: No such file or directory' \
	'files: SARIF has the message'
bb user ./files main -F sarif -- ./files
exits 2 'sarif is for why alone'

# ---- pieces of a line, by a library's function ----
why pieces 1 cat ./missing
like "$T/said" '^  message: "cat: \./missing: No such file or directory"$' 'cat: a message that is written in pieces'
like "$T/said" '^  failed: openat\(AT_FDCWD, "\./missing"' 'cat: the failed call'

# ---- longjmp ----
source_program jump c -O2 <<'END'
#include <setjmp.h>
#include <stdio.h>
static jmp_buf back;
__attribute__((noipa)) static void fail(int n) { longjmp(back, n); }
__attribute__((noipa)) static int parse(const char *s)
{
	int open = 0;

	for (; *s; s++)
		open += *s == '(' ? 1 : *s == ')' ? -1 : 0;
	if (open != 0) /* REASON */
		fail(2);
	return 1;
}
int main(int argc, char **argv)
{
	int r = setjmp(back);

	if (r) {
		fprintf(stderr, "%s: unbalanced\n", argv[1]);
		return r;
	}
	return parse(argv[1]) - 1;
}
END
why jump 2 ./jump '(()'
like <(block '^  after longjmp, reached by') "jump\.c:$(grep -n REASON jump.c | cut -d: -f1)" 'longjmp: what led to it'

# ---- a library's text ----
cat >lib.c <<'END'
#include <stdio.h>
__attribute__((noipa)) int lookup(int n, char *text, size_t size)
{
	if (n > 3) {
		snprintf(text, size, "there is no number %d here", n);
		return -1;
	}
	return n;
}
__asm__(".skip 2200000, 0xcc"); /* too large to be traced at once */
END
gcc -g -O1 -shared -fPIC -o libnumbers.so lib.c || exit 2
source_program number c -O1 -Wl,-rpath,"$T" libnumbers.so <<'END'
#include <stdio.h>
#include <stdlib.h>
int lookup(int n, char *text, size_t size);
int main(int argc, char **argv)
{
	char text[100];

	if (lookup(atoi(argv[1]), text, sizeof(text)) < 0) {
		fprintf(stderr, "%s\n", text);
		return 1;
	}
	return 0;
}
END
export LD_LIBRARY_PATH=$T
why library 1 ./number 7
unset LD_LIBRARY_PATH
like "$T/said" '^  its text is in lookup\+0x[0-9a-f]+ of libnumbers\.so: "there is no number %d here", which --again traces$' 'library: the code that has the text'

# ---- a result that is compared with what a variable has, as the size of a block ----
source_program blocks c -O2 <<'END'
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static size_t block = 4096;
static int blocks, seen, to;
static char buffer[1 << 16];
__attribute__((noipa)) static size_t put(size_t n)
{
	size_t all = 0;

	while (all < n) {
		ssize_t one = write(to, buffer, n - all);

		if (one < 0) /* FAILED */
			break;
		all += one;
	}
	return all;
}
__attribute__((noipa)) static void put_block(void)
{
	if (put(block) != block) { /* SHORT */
		fprintf(stderr, "blocks: after %d: %s\n", blocks, strerror(errno));
		exit(3);
	}
	blocks++;
}
int main(int argc, char **argv)
{
	int n = atoi(argv[1]);

	to = open(argv[2], O_WRONLY);
	if (argc > 3)
		block = atoi(argv[3]);
	for (seen = 0; seen < n; seen++)
		put_block();
	return 0;
}
END
why 'a short write' 3 ./blocks 3 /dev/full
like "$T/said" "^  because put_block\\+.* blocks\\.c:$(grep -n SHORT blocks.c | cut -d: -f1)\$" 'the branch that compared its size'

# ---- children ----
why child 6 sh -c './files ./missing || exit 6; exit 0'
like "$T/said" '^  child files-[0-9]+ exited with 1$' 'child: its status'
like "$T/said" '^  failed: open(at)?\((AT_FDCWD, )?"\./missing"' 'child: what failed in it'
why child 3 sh -c 'sh -c "kill -9 \$\$"; exit 3'
like "$T/said" '^  child sh-[0-9]+ was killed by signal 9$' 'child: a signal'

# ---- an address ----
source_program server c -O1 <<'END'
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
int main(void)
{
	struct sockaddr_un at = {AF_UNIX, "./nobody.sock"};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0) {
		perror("server");
		return 1;
	}
	return 0;
}
END
why server 1 ./server
like "$T/said" '^  failed: connect\(3, "\./nobody\.sock"\) = -2 ENOENT' 'connect: the address'

# ---- more than is kept ----
source_program many c -O1 <<'END'
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	char path[20];

	for (int i = 0; i < 2100; i++) {
		snprintf(path, sizeof(path), "./no%d", i);
		access(path, R_OK);
		if (i < 250)
			fprintf(stderr, "%d\n", i);
		if (i % 50 == 0)
			usleep(50000); /* none is lost on a busy machine */
	}
	return 1;
}
END
why many 1 ./many
like "$T/said" '^  message: "0"$' 'many: the first message'
like "$T/said" '^  50 later writes to the standard error stream are not explained$' 'many: the others are counted'
like "$T/said" '^  [0-9]+ more failed calls are not kept$' 'many: so are failed calls'
bb why -F json -o "$T/json" -- ./many
is "$(json_lines "$T/json" '$e->{event} eq "ending" && join " ", $e->{more_writes}, scalar @{$e->{messages}}, $e->{more_failed_calls} >= 100')" \
	'50 1 1' 'many: JSON has the same'

# ---- a command that succeeds, and one that says nothing ----
source_program lower c -O1 <<'END2'
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	if (access("./gone", R_OK) && access("./missing", R_OK)) {
		fprintf(stderr, "./missing is not there\n");
		return 1;
	}
	return 0;
}
END2
why lower 1 ./lower
like "$T/said" '^  failed: access\("\./missing", 4, \.\.\.\) = -2 ENOENT' 'a message with the path alone: the call that had it'
why well 0 ./files /etc/passwd
is "$(cat "$T/said")" '' 'of success nothing is said'
why silent 1 sh -c 'exit 1'
unlike "$T/said" 'message:' 'without a message none is shown'
done_testing

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# bbtrace why, without the kernel's part: programs that end badly at branches that their source shows, with and without
# symbols, and real programs.
. "$(dirname "$0")/lib.sh"
needs root uprobes

cat >"$T/fails.c" <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((noinline)) static void die(const char *text)
{
	fprintf(stderr, "%s\n", text);
	exit(3);
}

__attribute__((noinline)) static int load(const char *path)
{
	int fd = open(path, O_RDONLY);
	char text[8];
	long n;

	if (fd < 0) /* no file */
		return -1;
	n = read(fd, text, sizeof(text));
	close(fd);
	if (n < 4) /* short */
		return -2;
	return text[0];
}

int main(int argc, char **argv)
{
	int got;

	if (argc < 2) /* usage */
		die("usage");
	got = load(argv[1]);
	if (got < 0) /* failed */
		return 5;
	if (got == 'x') /* abort */
		abort();
	if (got == 's') /* fault */
		*(volatile int *)0 = 1;
	return 0;
}
END
${CC:-cc} -g -O2 -o "$T/fails" "$T/fails.c" && cp "$T/fails" "$T/bare" && strip "$T/bare" || exit 2
echo xxxxxx >"$T/x"
echo ssssss >"$T/s"
echo a >"$T/short"
echo fine >"$T/fine"
line() { grep -n "/\* $1 \*/" "$T/fails.c" | cut -d: -f1; }
get() { jq -r "select(.event == \"ending\") | $1" "$T/json"; }

# ends STATUS COMMENT [ARG]: the branch of that comment is named
ends() {
	local status=$1 comment=$2
	shift 2

	bb why -F json -o "$T/json" -- "$T/fails" "$@"
	exits "$status" "$comment: CMD's status"
	is "$(get '.decided_by.src[0].line')" "$(line "$comment")" "$comment: its line"
	bb why -F json -o "$T/json" -- "$T/bare" "$@"
	is "$(get '.decided_by.vaddr')" "$(bb why -F json -o "$T/json" -- "$T/fails" "$@"; get '.decided_by.vaddr')" "$comment: without symbols the same"
}
ends 3 usage
ends 134 abort "$T/x"
ends 139 fault "$T/s"
ends 5 failed /nonexistent
is "$(get '.tested_result.decided_by.src[0].line')" "$(line 'no file')" 'what the branch tested was made by another'
is "$(get '.tested_result.tested_result_of | .syscall + " " + .error')" 'openat ENOENT' 'which tested a system call that failed'
ends 5 failed "$T/short"
is "$(get '.tested_result.decided_by.src[0].line')" "$(line short)" 'or by this one'
bb why -- "$T/fails" "$T/fine"
exits 0 'what ends well'
is "$(cat "$T/out")" '' 'is not explained'

# ---- what is easily taken for the cause, and isn't ----
cc -O0 -g -pthread -o "$T/misleads" "$ROOT/tests/e2e/misleads.c" || exit 2
ended() { # CASE ARGUMENT...
	bb why -F json -o "$T/json" -- "$T/misleads" "$@"
}
at_line() { # CASE TEXT
	is "$(get '.decided_by.src[0].line')" "$(grep -n "$2" "$ROOT/tests/e2e/misleads.c" | head -1 | cut -d: -f1)" "$1: the branch is named"
}
ended pointer a -b
is "$(get 'has("unknown")')" true 'a value that was stored by a pointer: not known'
ended out
is "$(get '.tested_result.function // "none"')" none 'what a function stored by a pointer is not its result'
for more in '' x; do
	# shellcheck disable=SC2086
	ended joined $more
	at_line "a fault behind the join of an if, $more" '"joined"'
done
ended thread
at_line 'another thread has the fault' 'if (p)'
ended outside
is "$(get '.decided_by // .unknown')" 'the signal came from elsewhere: it may come at any place' 'a signal from outside: not decided here'
ended exec
is "$(get 'has("unknown")')" true 'another program ended: not known'
ended main
at_line 'what main() returned, not a destructor' '/\* main \*/'

cat >"$T/own.c" <<'EOF'
#include <unistd.h>
static volatile int turns;
__attribute__((noipa)) void error(int status, const char *text) { turns += status + *text; }
__attribute__((noipa)) int checked(int c)
{
	if (c > 4)
		return 0;
	if (c == 3)
		error(1, "three");
	_exit(5);
}
int main(int argc, char **argv) { return checked(argc); }
EOF
cc -w -O0 -g -o "$T/own" "$T/own.c" || exit 2
bb why -F json -o "$T/json" -- "$T/own"
is "$(get '.decided_by.src[0].line')" 6 'a function of the program that is named error may return: calling it or not decides nothing'

# ---- real programs: what they tested ----
bb why -F json -o "$T/json" -- cat /nonexistent
exits 1 'cat of no file'
if [[ $(uname -m) == x86_64 ]]; then
	is "$(get '.tested_result_of | .syscall + " " + .error')" 'openat ENOENT' 'cat tested what open(2) returned'
else
	is "$(get 'has("decided_by") or has("unknown")')" true 'cat: a branch is named, or why not'
fi
bb why -F json -o "$T/json" -- gzip "$T"
exits 2 'gzip of a folder'
is "$(get 'has("decided_by") or has("unknown")')" true 'gzip: a branch is named, or why not'

# ---- wrong usage ----
bb why -- no-such-command-anywhere
exits 1 'no such command'
bb why cat
exits 2 'no command'
bb why -s no_such_call -- true
exits 2 'no such system call'
done_testing

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# bbtrace why: a command that fails since a child of it failed. --again traces the child's program in the next run: the branch by
# which it failed is shown, and then how its parent passed that on.
# shellcheck disable=SC2154 # lib.sh sets status
. "$(dirname "$0")/lib.sh"
needs root uprobes
unset BBTRACE_ENGINE
cd "$T" || exit 2

cat >silent.c <<'END'
#include <stdlib.h>
#include <string.h>
static volatile int seen;
int main(int argc, char **argv)
{
	if (argc < 2)
		return 0;
	if (!strcmp(argv[1], "bad")) /* bad */
		exit(6);
	if (!strcmp(argv[1], "crash")) /* crash */
		*(volatile int *)0 = 1;
	if (argv[1][0] == 'r') { /* result */
		seen = 1;
		return 5;
	}
	return 0;
}
END
cat >told.c <<'END'
#include <stdio.h>
#include <string.h>
static volatile int seen;
static __attribute__((noipa)) int check(const char *mode)
{
	if (strcmp(mode, "fast") != 0) { /* mode */
		seen = 1;
		return -1;
	}
	return 0;
}
int main(int argc, char **argv)
{
	if (check(argc > 1 ? argv[1] : "none") < 0) { /* checked */
		fprintf(stderr, "told: bad mode\n");
		return 4;
	}
	return 0;
}
END
gcc -g -O1 -o silent silent.c && gcc -g -O1 -o told told.c && strip -o stripped told || exit 2
line() { grep -n "/\* $2 \*/" "$T/$1.c" | cut -d: -f1; }
why() { bb why -o said "$@"; }

# child NAME STATUS SCRIPT: with --again
child() {
	why --again -- sh -c "$3"
	is "$status" "$2" "$1: the status is the command's"
}
child 'a silent child' 6 './silent bad; exit $?'
like said 'child silent-[0-9]* exited with 6' 'a silent child: it is named'
like said "^    decided by main.*silent\.c:$(line silent bad)" 'and the branch by which it ended, before'
like said '^  (passed on|decided) by' 'how the shell passed it on'
like "$T/err" 'run 2 of sh, which traces its child /.*/silent as well' 'the second run says what it traces'
unlike said 'ECHILD' 'that no child is left is no failure'
child "a child's result" 9 './silent result || exit 9'
like said "^    .*silent\.c:$(line silent result)" "what chose a child's result"
child 'a child with a message' 4 './told slow'
like said 'message of told-[0-9]*: "told: bad mode"' 'its message'
like said "(because|decided by) main.*told\.c:$(line told checked)" 'and the branch that led to it'
like said "(result of|returned by) check = -1, (decided )?by .*told\.c:$(line told mode)" 'and what decided that'
like said 'child told-[0-9]* exited with 4' 'the child is named'
child 'a stripped child' 4 './stripped slow'
like said '(because|decided by) 0x[0-9a-f]+\+0x' 'without names, too'
child 'a child of a child' 3 'sh -c "./silent bad || exit 3"; exit $?'
like said "^    decided by main.*silent\.c:$(line silent bad)" 'a child of a child: the innermost one is explained'
child 'a child that is killed' 7 './silent crash 2>/dev/null || exit 7'
like said 'child silent-[0-9]* was killed by signal 11' 'a child that is killed: its signal'
like said "^    decided by main.*silent\.c:$(line silent crash)" 'and the branch that led to the fault'
child 'a child that could not be run' 127 './nosuch'
like said 'exited with 127' 'a child that could not be run: the shell itself is explained'
if command -v make >/dev/null; then
	printf 'all:\n\t@./silent bad\n' >Makefile
	why --again -- make -s
	is "$status" 2 'make: the status is its own'
	like said "^    decided by main.*silent\.c:$(line silent bad)" 'make: the branch by which its child failed'
fi

# ---- a child without a program of its own ----
cat >forks.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static __attribute__((noipa)) void work(const char *how)
{
	if (*how == 'a') /* abort */
		abort();
	while (*how == 'w')
		pause();
}
int main(int argc, char **argv)
{
	pid_t child = fork();
	int status;

	if (!child) {
		work(argv[1]);
		_exit(0);
	}
	if (argv[1][0] == 'w')
		kill(child, SIGABRT);
	waitpid(child, &status, 0);
	if (WIFSIGNALED(status)) { /* told */
		fprintf(stderr, "worker: signal %d\n", WTERMSIG(status));
		return 70;
	}
	return 0;
}
END
gcc -g -O1 -o forks forks.c || exit 2
why -- ./forks abort
is "$status" 70 'a worker that aborts: the status'
like said "^    (decided|passed on) by work.*forks\.c:$(line forks abort)" 'a worker that aborts: the branch that led there'
like said "^  (because|decided by) main.*forks\.c:$(line forks told)" 'and what its parent made of it'
why -- ./forks wait
like said 'child forks-[0-9]* was killed by signal 6' 'a worker that is killed by its parent'
unlike said '^    (decided|passed on) by' 'is not explained by its own branches'

# ---- once ----
why -- sh -c './silent bad; exit $?'
is "$status" 6 'once: the status is the command'"'s"
like "$T/err" 'silent, which failed as a child, was not traced: --again runs sh again, with it' 'once: it says how to see more'
unlike "$T/err" 'run 2' 'and the command runs once'
why --again -- sh -c './silent; exit 5'
unlike "$T/err" 'its child' 'a child that did not fail is not traced'

# ---- the same in JSON ----
why --again -F json -- sh -c './silent bad; exit $?'
is "$(json_lines said '$e->{event} eq "ending" ? join " ", map { "$_->{comm} $_->{status} $_->{decided_by}{src}[0]{line}" } @{$e->{children}} : ""')" \
	"silent 6 $(line silent bad)" 'JSON: what decided a child'"'s end"
done_testing

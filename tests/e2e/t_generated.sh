#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# -k: frames in code that a program generates have the names that it writes to /tmp/perf-PID.map; files that aren't its own
# are not read.
# shellcheck disable=SC2154,SC2034 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes

cat >"$T/jit.c" <<'END'
	#include <fcntl.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <string.h>
	#include <sys/mman.h>
	#include <sys/stat.h>
	#include <unistd.h>

	volatile int sink;
	__attribute__((noinline, noclone)) void here(int n) { sink += n; }

	/* push %rbx; call *%rsi; pop %rbx; ret */
	static const unsigned char code[] = {0x53, 0xff, 0xd6, 0x5b, 0xc3};

	/* generated NAME...: the code is called under each name, which it has from then on. */
	int main(int argc, char **argv)
	{
		char *at = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), path[64];
		FILE *f;

		memcpy(at + 256, code, sizeof(code));
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
		if (getenv("MAP"))
			symlink(getenv("MAP"), path);
		f = fopen(path, getenv("MAP") ? "r" : "w");
		if (getenv("MODE"))
			fchmod(fileno(f), strtol(getenv("MODE"), 0, 8));
		if (getenv("OWNER"))
			fchown(fileno(f), atoi(getenv("OWNER")), -1);
		printf("%lx\n", (long)at);
		for (int i = 1; i < argc; i++) {
			if (getenv("LONG"))
				(i == 1 ? fprintf(f, "%*s", 3000, "") : fprintf(f, "%lx 10 wrong\n", (long)at + 256)), fflush(f);
			else if (!getenv("MAP"))
				fprintf(f, "%lx 10 %s\n", (long)at + 256, argv[i]), fflush(f);
			((void (*)(int, void (*)(int)))(at + 256))(i, here);
			usleep(300000); /* frames are named when they are shown */
		}
		unlink(path);
		return 0;
	}
END
"${CC:-cc}" -O2 -w -fomit-frame-pointer -o "$T/jit" "$T/jit.c" || exit 2
run() { bb user "$T/jit" here -k -e entry -F json --record "$T/trace" -o "$T/json" -- "$@"; }
stacks() { json_lines "$1" '$e->{event} eq "entry" && join " ", (map { ($_->{object} // "") =~ s/.*\///r . ":" . ($_->{symbol} // "?") . "+" . ($_->{offset} // 0) } @{$e->{stack}}), $e->{stack_end} // "whole"'; }

run "$T/jit" 'Builtin:add a.js:1' mul
is "$(stacks "$T/json")" "jit:here+0 [jit]:Builtin:add a.js:1+3 no_unwind_table
jit:here+0 [jit]:mul+3 no_unwind_table" 'a frame has the name that its code had last'
bb report "$T/trace" -F json -o "$T/again"
is "$(stacks "$T/again")" "$(stacks "$T/json")" 'in a trace file, too'
bb report "$T/trace"
like "$T/out" '> Builtin:add a.js:1\+0x3 \[\[jit\]\]' 'in text'
bb user "$T/jit" here -k --stack-size 0 -e entry -F json -o "$T/json" -- "$T/jit" mul
is "$(stacks "$T/json")" 'jit:here+0 [jit]:mul+3 no_frame_pointer' 'by frame pointers, too'
if own_namespaces; then
	run unshare --pid --fork --mount-proc --propagation private "$T/jit" mul
	bb user "$T/jit" here -k -f -e entry -F json -o "$T/json" -- unshare --pid --fork --mount-proc --propagation private "$T/jit" mul
	is "$(stacks "$T/json")" 'jit:here+0 [jit]:mul+3 no_unwind_table' "by the process's PID in its own namespace"
else
	skip 'in a PID namespace' "$NO_NAMESPACES"
fi
for way in 'MODE=666' 'OWNER=12345'; do
	run env "$way" "$T/jit" mul
	is "$(stacks "$T/json")" 'jit:here+0 :?+0 no_unwind_table' "$way: not read"
done
run env LONG=1 "$T/jit" one two
is "$(stacks "$T/json")" 'jit:here+0 :?+0 no_unwind_table
jit:here+0 :?+0 no_unwind_table' 'the end of a long line that comes later is no line'
echo "0 7fffffffffff secret" >"$T/secret"
run env MAP="$T/secret" "$T/jit" mul
is "$(stacks "$T/json")" 'jit:here+0 :?+0 no_unwind_table' 'a link is not followed'
# a file that the program brings along
sed 's/symlink(getenv("MAP"), path)/rename(getenv("MAP"), path)/' "$T/jit.c" >"$T/moved.c"
"${CC:-cc}" -O2 -w -fomit-frame-pointer -o "$T/jit" "$T/moved.c" || exit 2
brings() { printf "$1" >/tmp/bbtrace-map.$$ && run env MAP=/tmp/bbtrace-map.$$ "$T/jit" mul; }
at_end "rm -f /tmp/bbtrace-map.$$"
brings '1000 7fffffffffff all\n0 ffffffffffffffff more\n'
is "$(stacks "$T/json") $status" 'jit:here+0 :?+0 no_unwind_table 0' "names of the files' code are not taken"
brings '\e[31m\nz\n1\n1 2\n1 0 none\n0 7fffffffff \e[31mred\nffffffffffffffff 10 x\n'"$(head -c 5000 /dev/zero | tr '\0' x)"
is "$(stacks "$T/json") $status" 'jit:here+0 :?+0 no_unwind_table 0' 'lines that are none are skipped'
done_testing

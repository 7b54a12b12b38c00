#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# bbtrace cover: the coverage of what a command and its children run, compared with gcov's of the same sources and runs;
# plugins, crashes, _exit, kill -9 and exec; which objects are covered; its formats and status.
. "$(dirname "$0")/lib.sh"
needs root uprobes cmd:cc cmd:make cmd:gcov
unset BBTRACE_ENGINE

P=$T/project
mkdir -p "$P/src" "$P/build/.libs" "$P/plain"
cat >"$P/src/lib.c" <<'EOF'
#include "lib.h"
int classify(int n)
{
	if (n < 0)
		return -1;
	if (n == 0)
		return 0;
	return n > 100 ? 2 : 1;
}
int sum_to(int n)
{
	int s = 0;

	for (int i = 1; i <= n; i++)
		s += i;
	return s;
}
EOF
echo 'int classify(int n); int sum_to(int n);' >"$P/src/lib.h"
cat >"$P/src/main.c" <<'EOF'
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib.h"

#ifdef GCOV
void __gcov_dump(void);
#define DUMP __gcov_dump()
#else
#define DUMP
#endif

static int load(const char *path)
{
	void *h = dlopen(path, RTLD_NOW);
	int (*plug)(int);

	if (!h)
		return 1;
	plug = (int (*)(int))dlsym(h, "plug");
	printf("%d\n", plug(3));
	return 0;
}
static void die(void)
{
	classify(0);
	DUMP;
	kill(getpid(), SIGKILL);
}
static void crash(void)
{
	classify(1000);
	DUMP;
	*(volatile int *)0 = 1;
}
static void leave(void)
{
	sum_to(3);
	DUMP;
	_exit(0);
}
int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	if (!strcmp(argv[1], "load"))
		return load(argv[2]);
	if (!strcmp(argv[1], "die"))
		die();
	if (!strcmp(argv[1], "crash"))
		crash();
	if (!strcmp(argv[1], "exit"))
		leave();
	if (!strcmp(argv[1], "exec"))
		return execl(argv[0], argv[0], "5", (char *)0);
	printf("%d %d\n", classify(atoi(argv[1])), sum_to(atoi(argv[1])));
	return 0;
}
EOF
cat >"$P/src/plug.c" <<'EOF'
int plug(int x)
{
	if (x > 2)
		return x * 2;
	return x;
}
int unused(int x)
{
	return x + 1;
}
EOF
cat >"$P/Makefile" <<'EOF'
CFLAGS = -g -O0 -w
all: build/main build/.libs/plug.so
build/main: src/main.c src/lib.c
	cc $(CFLAGS) -o $@ $^ -ldl
build/.libs/plug.so: src/plug.c
	cc $(CFLAGS) -shared -fPIC -o $@ $^
check:
	./build/main 5
	./build/main load build/.libs/plug.so
	-./build/main die
	-./build/main crash
	./build/main exit
	./build/main exec
	sh -c './build/main 7 | cat'
EOF
cd "$P" || exit 1
make -s all || exit 1

# lines FILE SOURCE: "LINE COUNT" of each line that a tracefile of lcov has of a source.
lines() { awk -v s="/$2" '/^SF:/ { on = substr($0, length($0) - length(s) + 1) == s } on && sub(/^DA:/, "") { sub(",", " "); print }' "$1"; }
# sentence FIELD: a number of the line that sums up: "covered LINES of ALL lines"
sentence() { sed -n "s/.*covered \([0-9,]*\) of \([0-9,]*\) lines (\([0-9.]*\)%.*/\\$1/p" "$T/err"; }

# ---- a suite: make, a shell, a plugin, crashes ----

bb cover --objects 'build/**' -o "$T/all.info" -- make -s check
exits 0 'a suite is covered, and has the status of make'
like "$T/err" 'covered [0-9]* of [0-9]* lines \([0-9.]*%\), 8 of 9 functions, .* branches in 3 files' 'one line sums up'
[[ $(grep -c '^bbtrace:' "$T/err") == 1 ]]
ok $? 'and no other' || diag "$(<"$T/err")"

# the same sources, built by gcc --coverage; -ffile-prefix-map: gcov finds them
mkdir "$T/gcov" && cp -r src Makefile "$T/gcov" && mkdir -p "$T/gcov/build/.libs"
make -s -C "$T/gcov" CFLAGS='-O0 -w --coverage -DGCOV' all && make -s -C "$T/gcov" check >"$T/gcov/out" 2>&1
is "$(grep -v '^make' "$T/gcov/out" | sort)" "$(sort "$T/out")" 'gcov: the same runs'
# gcov has no lines for braces and declarations, and its counts end at DUMP: the lines after that are left out
for source in main lib plug; do
	lines "$T/all.info" "src/$source.c" | sort >"$T/all.$source"
	(cd "$T/gcov" && gcov -t "$(find . -name "*$source.gcda")") 2>/dev/null |
		awk -F: '$1 !~ /-/ && $2 > 0 { gsub(/[ *]/, "", $1); print $2 + 0, ($1 ~ /#/ ? 0 : $1) }' |
		grep -vE "^($(awk '/DUMP;/ { f = 1 } f { printf "%s%d", n++ ? "|" : "", NR } /^}/ { f = 0 } END { if (!n) print "x" }' "src/$source.c")) " |
		sort >"$T/want.$source"
	join -o 1.1,2.2 "$T/want.$source" "$T/all.$source" >"$T/have.$source"
	(($(wc -l <"$T/want.$source") > 5)) && is "$(<"$T/have.$source")" "$(<"$T/want.$source")" "$source.c: the counts are gcov's"
done

bb cover --engine probe --objects build -o "$T/probe.info" -- make -s check
is "$(lines "$T/probe.info" src/main.c)" "$(lines "$T/all.info" src/main.c)" '--engine probe: the same; a folder means all below it'

# ---- which objects ----

bb cover -- make -s check
like "$T/err" 'make has no sources here; covered are .*build/.libs/plug.so, .*build/main; --objects' 'without OBJECT: what is below, and which'
like "$T/out" '^ *[0-9/]* *[0-9.]*% .* src/lib.c$' 'a table of the sources, relative to the folder'
printf '#!/bin/sh\n./build/main 5\n' >run.sh && chmod +x run.sh
bb cover -- ./run.sh
like "$T/err" './run.sh has no sources here' 'likewise for a script'
like "$T/err" 'covered [1-9]' 'and it is covered'
bb cover -- ./build/main 5
unlike "$T/err" 'has no sources' 'a program with debug information is covered itself'
unlike "$T/out" 'plug.c' 'and nothing else'
bb cover ./build/.libs/plug.so -- ./build/main load build/.libs/plug.so
is "$(sentence 1)/$(sentence 2)" "$(awk '$2 { n++ } END { print n "/" NR }' "$T/all.plug")" 'OBJECT names what is covered'
bb cover --objects 'nothing/**' -- true
exits 1 'a pattern that matches nothing is an error'
like "$T/err" "no executable or shared object matches 'nothing/\*\*'" 'with what it is'
cd "$P/plain" || exit 1
bb cover -- "$P/run.sh"
exits 1 'a script, where nothing has debug information, is one, too'
like "$T/err" "name what it runs: --objects 'build/\*\*'" 'with what to write'
cd "$P" || exit 1
objcopy --only-keep-debug build/main build/main.debug
bb cover --objects 'build/main*' -- ./build/main 5
exits 0 'a file of debug information alone is left out'
rm build/main.debug
strip -o plain/stripped build/main
bb cover -- ./plain/stripped 5
like "$T/err" 'covered [0-9]* of [0-9]* blocks \(.*\), .* branches$' 'without debug information: blocks and branches'

bb cover "$P/plain/stripped" -- ./build/main 5
like "$T/err" 'no traced process mapped .*/plain/stripped' 'what did not run is said'
like "$T/err" 'what ran with debug information: .*/build/main; --objects' 'and what did, with sources'
bb cover --objects 'build/**' -- sh -c 'cc -g -w -o build/new src/main.c src/lib.c -ldl && build/new 5'
like "$T/err" '^bbtrace: build/new: built while CMD ran, and not covered' 'what CMD builds is not covered, which is said'
rm build/new
bb cover --objects 'build/**' -- touch build/other
unlike "$T/err" 'built while' 'other files are not objects'

# ---- status ----

bb cover --fail-under 99 -- ./build/main 5
exits 3 '--fail-under: status 3 if less ran'
like "$T/err" 'coverage of lines is under 99.00%' 'with the figures'
bb cover --fail-under 10 -- ./build/main 5
exits 0 'else that of CMD'
bb cover -- ./build/main
exits 2 'which may be another one'
bb cover --fail-under 90 -- ./plain/stripped 5
like "$T/err" 'coverage of branches is under 90.00%' '--fail-under: of branches if there are no lines'
bb cover ./build/main
exits 2 'a command is needed'
like "$T/err" 'to run it, write -- before it: bbtrace cover -- ' 'which is said'
bb cover -F chrome -- true
exits 2 'a format without coverage is refused'

# ---- formats ----

bb cover -o "$T/c.xml" -- ./build/main 5
like "$T/c.xml" "<source>$P</source>" 'cobertura: the root of the sources'
like "$T/c.xml" 'filename="src/lib.c"' 'and files below it'
mkdir .git
(cd build && timeout "$PATIENCE" "$BBTRACE" cover -q -o "$T/c.xml" -- ./main 5 >"$T/out")
like "$T/c.xml" "<source>$P</source>" 'from a folder within a repository: its root'
like "$T/c.xml" 'filename="src/lib.c"' 'and files below that'
for map in "$P=." "$P=/usr/src/x" "$P=x"; do
	cc -g -O0 -w -ffile-prefix-map="$map" -o plain/mapped src/main.c src/lib.c -ldl
	bb cover -o "$T/c.xml" -- ./plain/mapped 5
	is "$(grep -c 'filename="src/[a-z]*.c"' "$T/c.xml")" 2 "-ffile-prefix-map=DIR=${map#*=}: the files of the repository"
done
cc -g -O0 -w -ffile-prefix-map="$P"=/elsewhere/very -o plain/mapped src/main.c src/lib.c -ldl
bb cover -o "$T/m.info" -- ./plain/mapped 5
like "$T/m.info" "^SF:$P/src/lib.c\$" 'without a map: the file of the repository'
mkdir "$T/moved" && cp -r src "$T/moved"
bb cover --prefix-map "/elsewhere/very=$T/moved" -o "$T/m.info" -- ./plain/mapped 5
like "$T/m.info" "^SF:$T/moved/src/lib.c\$" '--prefix-map: the file that it names'
bb cover --prefix-map x -- true
exits 2 '--prefix-map needs OLD=NEW'
bb cover -o "$T/c.html" -- ./build/main 5
like "$T/c.html" '<html' 'html'
bb cover -o "$T/c.drcov" -- ./build/main 5
is "$(head -c 14 "$T/c.drcov")" 'DRCOV VERSION:' 'drcov'
bb cover -o "$T/c.json" -- ./build/main 5
is "$(json "$T/c.json" '$e->{event} eq "summary"')" 1 'json'

# ---- runs join ----

bb cover --objects build -o "$T/1.bbt" --tag five -- ./build/main 5
exits 0 'a trace file'
bb cover --objects build -o "$T/2.bbt" -- ./build/main die
exits 137 'with the status of a killed CMD'
bb merge "$T/1.bbt" "$T/2.bbt" -o "$T/sum.bbt"
bb report "$T/sum.bbt" -F lcov -o "$T/sum.info"
bb cover --objects build -o "$T/both.info" -- sh -c './build/main 5; ./build/main die'
is "$(cat "$T/sum.info")" "$(cat "$T/both.info")" 'counts of two runs are one report'
bb report "$T/sum.bbt" -F coverage
like "$T/out" ' src/lib.c$' 'report -F coverage: the table'

# ---- children that use ptrace(2) themselves ----

cat >tracer.c <<'EOF'
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int status;
	pid_t p = fork();

	if (!p) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0))
			_exit(9);
		execv(argv[1], argv + 1);
	}
	waitpid(p, &status, 0);
	printf("stopped %d\n", WIFSTOPPED(status));
	ptrace(PTRACE_CONT, p, 0, 0);
	waitpid(p, &status, 0);
	return WEXITSTATUS(status);
}
EOF
cc -w -o tracer tracer.c
bb cover ./build/main -- sh -c './tracer ./build/main 5; echo $?; ./build/main 7'
is "$(head -4 "$T/out" | sort | xargs)" '0 1 15 1 28 stopped 1' 'a debugger among the children works'
like "$T/err" 'not traced by copies: its program uses ptrace' 'and it is said that it is not covered'
like "$T/err" 'not known' 'what it may have run is not known'
done_testing

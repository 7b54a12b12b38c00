#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# bbtrace ctl add and remove: what is added is traced from then on, what is removed no longer, and nothing else is
# disturbed: each event and each count is what the program did.
. "$(dirname "$0")/lib.sh"
needs root uprobes
mechanisms
has_mechanism uprobe_multi || skip_all 'this kernel has no uprobe_multi'

source_program stages c <<'END'
/* For each line on standard input: that many calls of each function, by one thread; "hammer": other threads call keep()
 * until the next line, which is answered with the number of its calls. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int stop;
static unsigned long kept[2];

__attribute__((noipa)) int leaf(int n)
{
	return n & 1 ? n * 3 : n + 7;
}
__attribute__((noipa)) int work(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += leaf(i);
	return sum;
}
__attribute__((noipa)) int jumps(int n)
{
	return n > 2 ? leaf(n + 1) : work(n);
}
__attribute__((noipa)) int (*chosen(int n))(int)
{
	switch (n % 4) {
	case 0: return leaf;
	case 1: return work;
	case 2: return jumps;
	}
	return abs;
}
__attribute__((noipa)) int pointed(int n)
{
	return chosen(n)(n) + 1;
}
__attribute__((noipa)) int keep(int n)
{
	return n % 3 ? n : -n;
}
static void *hammer(void *arg)
{
	unsigned long *n = arg;

	while (!stop)
		keep((*n)++);
	return NULL;
}
static void all(int times)
{
	static int (*loaded)(int);

	if (!loaded && getenv("LOADED"))
		loaded = (int (*)(int))dlsym(dlopen(getenv("LOADED"), RTLD_NOW), "loaded");
	for (int i = 0; i < times; i++) {
		work(3), jumps(i % 5), pointed(i);
		if (loaded)
			loaded(i);
	}
}
int main(void)
{
	pthread_t threads[2];
	char line[64];

	while (fgets(line, sizeof(line), stdin)) {
		if (*line == 'h') {
			stop = 0;
			for (int i = 0; i < 2; i++)
				pthread_create(&threads[i], NULL, hammer, &kept[i]);
		} else if (*line == 's') {
			stop = 1;
			for (int i = 0; i < 2; i++)
				pthread_join(threads[i], NULL);
		} else if (*line == 'f') { /* in a child */
			pid_t pid = fork();

			if (!pid) {
				all(atoi(line + 1));
				_exit(0);
			}
			waitpid(pid, NULL, 0);
		} else {
			all(atoi(line));
		}
		printf("%lu\n", kept[0] + kept[1]);
		fflush(stdout);
	}
	return 0;
}
END
gcc -O2 -shared -fPIC -o "$T/libloaded.so" -xc - <<'END' || exit
int loaded(int n) { return n & 2 ? n * 5 : n - 1; }
END
export LOADED=$T/libloaded.so

# start: runs the program; its pid is in $program. say LINE: it does that; its answer is in $said.
start() {
	rm -f "$T/in" "$T/did"
	mkfifo "$T/in" "$T/did"
	"$T/stages" <"$T/in" >"$T/did" &
	program=$!
	exec 8>"$T/in" 9<"$T/did"
	at_end "kill $program 2>/dev/null"
}
say() {
	echo "$1" >&8
	read -r -t "$PATIENCE" said <&9
}
# trace NAME ARG...: traces the program in the background; its PID is in $trace.
trace() {
	name=$1
	shift
	: >"$T/$name.err" # what the one before said is no sign of this one
	"$BBTRACE" user "$T/stages" "$@" -v >"$T/$name.out" 2>"$T/$name.err" </dev/null &
	trace=$!
	at_end "kill $trace 2>/dev/null"
	wait_for "$PATIENCE" grep -qs 'probes attached' "$T/$name.err"
	ctl status
}
ctl() {
	timeout -k 10 "$BB_TIMEOUT" "$BBTRACE" ctl "$trace" "$@" >"$T/out" 2>"$T/err" </dev/null
	# shellcheck disable=SC2034 # exits uses it
	status=$?
}
does() {
	ctl "$@"
	exits 0 "$name: $*"
}
over() {
	does quit --wait
	wait "$trace"
	is $? 0 "$name: the trace ends with status 0"
	unlike "$T/$name.err" 'events, [1-9][0-9]* lost|missed' "$name: nothing is lost"
}
# What the functions did, by stages of 20 times, of which each calls: work 20 + jumps' and pointed's...
entries() {
	json_lines "$T/$name.out" '$e->{event} eq "entry" ? $e->{symbol} : undef' | sort | uniq -c |
		awk '{ print $2 "=" $1 }' | tr '\n' ' '
}
marks() { json "$T/$name.out" '$e->{event} =~ /unknown|lost/'; }

# The same stages with everything traced from the start tell what each function does in a stage.
start
trace whole work leaf jumps pointed keep -p "$program" -F json
say 20
over
is "$(marks)" 0 'whole: no path is unknown'
declare -A stage
for pair in $(entries); do stage[${pair%=*}]=${pair#*=}; done

# of NAME=STAGES...: the entries that so many stages make.
of() {
	local pair

	for pair in $(printf '%s\n' "$@" | sort); do echo -n "${pair%=*}=$((stage[${pair%=*}] * ${pair#*=})) "; done
}

# ---- events: in every placement, and by every mechanism that attaches at the start ----
stages() {
	say 20
	does add leaf
	say 20
	does add 'stages:jumps' "$T/stages:pointed"
	say 20
	does remove leaf
	say 20
	does remove work
	say 20
	does add leaf work
	say 20
}
wanted=$(of work=5 leaf=3 jumps=4 pointed=4)
for how in '' '--attach uprobe_event' '-e entry,return' '--returns probe' '--placement witness' '--placement implied' '-f'; do
	start
	# shellcheck disable=SC2086 # words
	trace "events${how// /}" work -p "$program" -F json $how
	stages
	over
	is "$(entries)" "$wanted" "$name: each function's calls while it was traced"
	is "$(marks)" 0 "$name: no path is unknown where nothing ran meanwhile"
	like "$T/$name.err" ' 0 unmatched returns' "$name: each call returned"
done

# A trace file is read as it was shown.
start
trace recorded work -p "$program" -F json --record "$T/trace.bbt"
stages
over
"$BBTRACE" report "$T/trace.bbt" -F json >"$T/report.out" 2>"$T/report.err"
is $? 0 'report reads it'
cmp "$T/recorded.out" "$T/report.out"
is $? 0 'and shows what was shown'
"$BBTRACE" report "$T/trace.bbt" -F summary 2>&1 | grep -c '^ *leaf\|leaf ' >/dev/null
is $? 0 'in other formats, too'

# ---- counts ----
# calls: by function, of a summary
calls() { awk '$1 ~ /^[0-9]+$/ { print $NF "=" $1 }' "$T/$name.out" | sort | tr '\n' ' '; }
for how in '' '-e entry'; do
	start
	# shellcheck disable=SC2086 # words
	trace "counts${how// /}" work -p "$program" -c -F summary $how
	stages
	over
	is "$(calls)" "$wanted" "$name: each function's calls while it was counted"
	unlike "$T/$name.err" 'residue|contradict' "$name: the counts agree"
done

# ---- while recording is stopped ----
for how in '-F json' '-c -F summary'; do
	start
	# shellcheck disable=SC2086 # words
	trace "stopped${how// /}" work -p "$program" --paused $how
	does add leaf
	say 20
	does start
	say 20
	does stop
	does remove work
	say 20
	does start
	say 20
	over
	[[ $how == -c* ]] && seen=$(calls) || seen=$(entries)
	is "$seen" "$(of work=1 leaf=2)" "$name: each function's calls while it was recorded"
done

# ---- libraries that are loaded later, and children ----
start
trace loaded work -p "$program" -F json -f
cd "$T" || exit
does add ./libloaded.so:loaded
cd - >/dev/null || exit
say 20
say f20
over
entries >"$T/entries"
like "$T/entries" "loaded=40 .*work=$((2 * stage[work]))" 'a function of a library that was not loaded yet, also in a child'

# ---- nothing else is disturbed ----
start
trace hammered keep -p "$program" -c -F summary
say hammer
for _ in 1 2 3 4 5 6 7 8; do
	does add leaf work
	does remove leaf
	does add pointed
	does remove work pointed
done
say stop
over
like "$T/$name.out" "^ *$said .*keep\$" 'each call is counted while others are added and removed'

# ---- what can't be ----
start
trace errors work -p "$program" -F json
ctl add nothere
exits 1 'add of a function that does not exist'
like "$T/err" "no function named nothere in .*bbtrace list" 'names the next step'
ctl add work
exits 1 'add of a traced one'
like "$T/err" 'traced already' 'says so'
ctl remove leaf
exits 1 'remove of what is not traced'
ctl remove work
exits 1 'remove of the last one'
like "$T/err" 'nothing would be left' 'is refused'
ctl add kernel:do_exit
exits 1 "the kernel's, in a trace of programs"
ctl add
exits 2 'add of nothing'
ctl add '"work'
exits 1 'add of a name with a quote'
ctl add ''
exits 2 'add of an empty name'
say 20
ctl add "$LOADED:nothere"
exits 1 'add of what a library has not'
does add "$LOADED:loaded"
say 20
over
is "$(entries)" "loaded=20 $(of work=2)" 'and the trace goes on'
is "$(json_lines "$T/$name.out" '$e->{event} eq "return" && $e->{symbol} eq "loaded" ? $e->{object} : undef' | sort -u)" \
	"$LOADED" 'with the library that was opened in vain before'
done_testing

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --engine inline: whenever bbtrace is killed, or its supervisor, the program runs on to the same result.
# KILLS: how many of each.
. "$(dirname "$0")/lib.sh"
needs root uprobes

# ended PID: until the process has ended; who is its parent now may not have asked for its status yet.
ended() { ! grep -q '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$1/status" 2>/dev/null; }

# begin COMMAND...: starts a trace whose command writes to $T/result, and touches $T/began before; its PID and that of its
# supervisor are in $tracer and $supervisor.
begin() {
	rm -f "$T/result" "$T/began"
	printf '%s\n' ": >$T/began; $* >$T/result.new; echo \$? >>$T/result.new; mv $T/result.new $T/result" >"$T/script"
	"$BBTRACE" user "$1" '*' --engine inline -f -o "$T/trace" -- sh "$T/script" >"$T/out" 2>"$T/err" </dev/null &
	tracer=$!
	wait_for "$PATIENCE" pgrep -P $tracer -x bbtrace-inline >"$T/pid"
	supervisor=$(tail -1 "$T/pid")
}
pause() { sleep "$(printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)))"; }

program inlined -pthread
{ "$T/inlined" mix 12 && echo 0; } >"$T/plain"
for ((n = 0; n < ${KILLS:-2}; n++)); do
	begin "$T/inlined" mix 12
	wait_for "$PATIENCE" test -e "$T/began"
	delay=$((n * n * 4 % 211))
	pause $delay
	kill -9 $tracer
	wait $tracer 2>/dev/null
	wait_for "$PATIENCE" test -e "$T/result"
	same "$T/result" "$T/plain" "bbtrace is killed after $delay ms: the program's result"
	wait_for "$PATIENCE" ended "$supervisor"
	ok $? 'its supervisor ends'
done
for ((n = 0; n < ${KILLS:-2}; n++)); do
	begin "$T/inlined" mix 2
	pause $((n * n * 10))
	kill -9 $tracer
	wait $tracer 2>/dev/null
	wait_for "$PATIENCE" ended "$supervisor"
	ok $? "bbtrace is killed $((n * n * 10)) ms after its supervisor began: that ends"
done

# ---- between the parent of vfork(2), which may continue, and its child, whose exec takes long ----
source_program spawns c <<'END'
/* spawns N FILE: once the file is there, executes /bin/true N times, with arguments that the kernel has to copy once its
 * parent goes on. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static char *args[150001];
static int spawn(int i)
{
	int status;
	pid_t child = vfork();

	if (!child) {
		execv("/bin/true", args);
		_exit(127);
	}
	return waitpid(child, &status, 0) == child && !status ? i & 7 : 1000;
}
int main(int argc, char **argv)
{
	int sum = 0;

	for (size_t i = 0; i < sizeof(args) / sizeof(*args) - 1; i++)
		args[i] = "";
	while (access(argv[2], F_OK))
		usleep(10000);
	for (int i = 0; i < atoi(argv[1]); i++)
		sum += spawn(i);
	printf("%d\n", sum);
	return argc != 3;
}
END
: >"$T/go"
{ "$T/spawns" 30 "$T/go" && echo 0; } >"$T/plain"
for ((n = 0; n < ${KILLS:-2}; n++)); do
	begin "$T/spawns" 30 "$T/go"
	wait_for "$PATIENCE" test -e "$T/began"
	pause $((RANDOM % 300))
	kill -9 $tracer
	wait $tracer 2>/dev/null
	wait_for "$PATIENCE" test -e "$T/result"
	same "$T/result" "$T/plain" 'bbtrace is killed while programs are executed: the result'
	wait_for "$PATIENCE" ended "$supervisor"
	ok $? 'and its supervisor ends'
done
for ((n = 0; n < ${KILLS:-2}; n++)); do
	rm "$T/go"
	"$T/spawns" 30 "$T/go" >"$T/result" &
	pid=$!
	"$BBTRACE" user "$T/spawns" spawn -p $pid -f --engine inline -v -o "$T/trace" >"$T/out" 2>"$T/err" </dev/null &
	tracer=$!
	wait_for "$PATIENCE" grep -q 'was stopped for' "$T/err"
	: >"$T/go"
	pause $((RANDOM % 300))
	kill -INT $tracer
	wait $tracer
	is $? 0 'bbtrace lets go of a program that executes others' || diag "$(<"$T/err")"
	wait $pid
	echo $? >>"$T/result"
	same "$T/result" "$T/plain" 'and that has its result'
done

# in the midst of that it waits for the child, and stops when that has executed its program
"$T/spawns" 1000000 "$T/go" >"$T/result" &
pid=$!
for n in 1 2 3; do
	bb user "$T/spawns" spawn -p $pid --engine inline -t 0.3 -F json -o "$T/json"
	exits 0 "a program that executes others all the time is attached to: $n"
done
kill $pid
wait $pid

cat >"$T/plain.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static unsigned work(int rounds, unsigned k)
{
	static int v[2000];

	for (int r = 0; r < rounds; r++) {
		srand(r);
		for (int i = 0; i < 2000; i++)
			v[i] = rand() >> 1;
		qsort(v, 2000, sizeof(*v), compare);
		for (int i = 0; i < 2000; i++)
			k = k * 31 + v[i];
	}
	return k;
}
/* works FILE [BEGUN]: makes BEGUN, and continues once FILE is there. */
int main(int argc, char **argv)
{
	unsigned k = work(50, 0);

	if (argc > 2)
		fclose(fopen(argv[2], "w"));
	while (access(argv[1], F_OK))
		work(1, k);
	printf("%u\n", work(100, k));
	return 0;
}
END
${CC:-cc} -g -O2 -o "$T/works" "$T/plain.c" || exit 2
: >"$T/killed"
{ "$T/works" "$T/killed" && echo 0; } >"$T/plain"
# before the program has copies there is nothing to trace, and the status is another one
for ((n = 0; n < ${KILLS:-2} / 2; n++)); do
	rm -f "$T/killed" "$T/runs_copies"
	begin "$T/works" "$T/killed" "$T/runs_copies"
	wait_for "$PATIENCE" test -e "$T/runs_copies"
	delay=$((n * 40 % 211))
	pause $delay
	kill -9 "$supervisor"
	: >"$T/killed"
	wait_for "$PATIENCE" test -e "$T/result"
	same "$T/result" "$T/plain" "the supervisor is killed after $delay ms: the program's result"
	wait $tracer
	is $? 0 'the trace ends when the program does'
	like "$T/err" 'the process bbtrace-inline was killed' 'and says what has happened'
done

# ---- another bbtrace meanwhile, and afterwards: the kernel would put its breakpoints into the middle of springboards ----
"$T/works" "$T/done" >"$T/result" &
pid=$!
"$BBTRACE" user "$T/works" '*' -p $pid --engine inline -v -o "$T/trace" >"$T/out" 2>"$T/tracer.err" </dev/null &
tracer=$!
wait_for "$PATIENCE" grep -q 'was stopped for' "$T/tracer.err"
ok $? 'a process runs copies' || diag "$(<"$T/tracer.err")"
pgrep -P $tracer -x bbtrace-inline >"$T/pid"
for when in 'while a bbtrace has made them' 'once that was killed'; do
	for processes in "-p $pid" ''; do
		# shellcheck disable=SC2086 # options
		bb user "$T/works" work compare $processes -t 5
		exits 1 "copies and probes $when${processes:+, with -p}: no"
		like "$T/err" "process $pid runs copies of functions" 'and it says of what process'
	done
	kill -9 "$(<"$T/pid")" 2>/dev/null
	wait_for "$PATIENCE" ended "$(<"$T/pid")"
done
bb user "$T/works" work -p $pid --engine inline -t 5
exits 1 'nor other copies'
like "$T/err" "process $pid has logs of a bbtrace that was killed, until" 'and it says why'
: >"$T/done"
wait $pid
echo $? >>"$T/result"
same "$T/result" "$T/plain" 'the program goes on'
kill -INT $tracer 2>/dev/null
wait $tracer

# ---- the supervisor is killed at any moment: signals, threads and children; libraries; processes that run already ----
source_program loads c -pthread -ldl <<'END'
/* loads LIBRARY N: opens it N times, in two threads that have all signals blocked, and calls it. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
static char *library;
static void *opens(void *arg)
{
	long sum = 0;

	for (long i = 0; i < (long)arg; i++) {
		void *h = dlopen(library, RTLD_NOW);
		long (*f)(long) = (long (*)(long))dlsym(h, "loaded");

		sum += f(i);
		dlclose(h);
	}
	return (void *)sum;
}
int main(int argc, char **argv)
{
	void *n = (void *)atol(argv[2]), *sum;
	sigset_t all;
	pthread_t t;

	library = argv[1];
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	pthread_create(&t, NULL, opens, n);
	printf("%ld\n", (long)opens(n));
	pthread_join(t, &sum);
	printf("%ld\n", (long)sum);
	return argc != 3;
}
END
source_program loaded.so c -shared -fPIC <<'END'
long loaded(long n)
{
	long sum = 0;

	for (long i = 0; i < n % 50; i++)
		sum += i % 3 ? i : -n;
	return sum;
}
END
bb user "$T/loaded.so" loaded --engine inline -F json -o "$T/json" -- "$T/loads" "$T/loaded.so" 100
exits 0 'a library that is opened again and again'
is "$(entries loaded)" 200 'each of its calls is shown'
: >"$T/in_time"
has_result() { [[ -e $T/result ]] || { ended $tracer && [[ ! -e $T/began ]]; }; }
attaches() { pgrep -P $tracer -x bbtrace-inline >"$T/pid" || ended $tracer; }
for command in 'inlined mix 20' "loads $T/loaded.so 300"; do
	for ((n = 0; n < ${KILLS:-2}; n++)); do
		# killed before the command runs, it is traced by probes: then it has to be short
		((n % 2)) && run=$command || run="loads $T/loaded.so 3"
		"$T"/$run >"$T/plain"
		begin "$T"/$run
		! ((n % 2)) || wait_for "$PATIENCE" test -e "$T/began"
		pause $((RANDOM % 100))
		kill -9 "$supervisor" && echo >>"$T/in_time"
		wait_for "$PATIENCE" has_result
		if [[ -e $T/began ]]; then
			is "$(<"$T/result")" "$(<"$T/plain")"$'\n0' "${run%% *}: the supervisor is killed: the result"
		else
			like "$T/err" 'the supervisor has ended' "${run%% *}: the supervisor is killed before the command runs: an error says so"
		fi
		wait $tracer
	done
	"$T"/$command >"$T/plain"
	for ((n = 0; n < ${KILLS:-2}; n++)); do
		"$T"/$command >"$T/result" &
		pid=$!
		pause $((RANDOM % 30))
		"$BBTRACE" user "$T/${command%% *}" '*' -p $pid --engine inline -f -o "$T/trace" >"$T/out" 2>"$T/err" </dev/null &
		tracer=$!
		wait_for "$PATIENCE" attaches
		pause $((RANDOM % 20))
		# shellcheck disable=SC2046 # none, if the program has ended before
		kill -9 $tracer $(<"$T/pid") 2>/dev/null && echo >>"$T/in_time"
		wait $pid
		is "$? $(<"$T/result")" "0 $(<"$T/plain")" "${command%% *}: attached to, and both are killed: the result"
		wait $tracer
	done
done
ok $(($(wc -l <"$T/in_time") < ${KILLS:-2})) 'some were killed in time' || diag "$(wc -l <"$T/in_time")"
done_testing

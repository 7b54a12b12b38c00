#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What can't be traced is said: on stderr, in JSON and in the trace file; its counts are unknown, not 0; and where nothing
# that was asked for could be traced, the status isn't 0.
# shellcheck disable=SC2154,SC2034 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes
[[ $(uname -m) == x86_64 ]] || skip_all 'functions are copied on x86-64 only'
export BBTRACE_ENGINE=auto

source_program prog c <<'E'
#include <stdio.h>
__attribute__((noipa)) int work(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += i & 1 ? i : 1;
	return sum;
}
int main(int argc, char **argv)
{
	int sum = 0;

	for (int i = 0; i < 10; i++)
		sum += work(i);
	printf("%d\n", sum);
	return argc > 1 ? argv[1][0] - '0' : 0;
}
E
"$T/prog" >"$T/plain"
here() { printf 'ulimit -v 3000; exec %s %s' "$T/prog" "$1"; }

# untraced NAME STATUS OPTIONS...: traces a process that has no memory for a log.
untraced() {
	local name=$1 status=$2 own=$3
	shift 3
	bb user "$T/prog" work -o "$T/json" "$@" -- sh -c "$(here "$own")"
	exits "$status" "$name: the status"
	same "$T/out" "$T/plain" "$name: the program's output"
	like "$T/err" 'process [0-9]* is not traced by copies: ' "$name: it is said, and why"
	unlike "$T/err" 'no (traced )?thread called' "$name: nothing is claimed that was not seen"
	like "$T/err" 'nothing could be traced' "$name: and that nothing was traced"
	like "$T/err" '^bbtrace: 1 function,.* 1 process not fully traced' "$name: the summary counts it"
}
no_zeros() { unlike "$T/json" '"(taken|not_taken)_count":0' "$1"; }

untraced 'events' 1 0 -F json
is "$(json "$T/json" '$e->{event} eq "summary" && @{$e->{untraced}} == 1 && $e->{untraced}[0]{pid} && $e->{untraced}[0]{reason}')" \
	1 'the summary in JSON says which process, and why'
untraced 'a status of its own' 7 7 -F json
untraced 'counts' 1 0 -c -F json
no_zeros 'counts that are not known are absent'
is "$(json "$T/json" '$e->{event} eq "edge" && $e->{at_least}')" "$(json "$T/json" '$e->{event} eq "edge"')" 'each may be higher'
untraced 'the last branches' 1 0 --last 50 -F json
untraced 'a summary' 1 0 -F summary
like "$T/json" 'Missing: .*1 process not fully traced; every count may be too low' 'the table says so'
untraced 'lcov' 1 0 -F lcov
unlike "$T/json" '^(DA|FNDA|BRDA):.*' 'coverage leaves out what is not known'
untraced 'html' 1 0 -c -F html
like "$T/json" '1 process not fully traced' 'a page says so'

# ---- from files ----
untraced 'a file' 1 0
mv "$T/json" "$T/file"
bb report "$T/file" -F json -o "$T/json"
exits 0 'a report of it'
is "$(json "$T/json" '$e->{event} eq "summary" && @{$e->{untraced}} == 1 && $e->{untraced_processes} == 1')" 1 'says the same'
like "$T/err" 'could not be traced' 'in its note, too'
like "$T/err" '1 process not fully traced' 'and in its summary'
bb report --info "$T/file"
like "$T/out" '^untraced  [0-9]+ ' '--info lists it'
bb user "$T/prog" work -c --record "$T/counts" -- sh -c "$(here 0)"
bb report "$T/counts" -F json -o "$T/json"
no_zeros 'counts in a file: what is not known is absent'
bb user "$T/prog" work -c --record "$T/good" -- "$T/prog"
exits 0 'a process that can be traced'
unlike "$T/err" 'not fully traced' 'is'
bb merge "$T/good" "$T/counts" -o "$T/sum"
bb report "$T/sum" -F json -o "$T/json"
no_zeros 'with the counts of one that was traced: no 0 is told'
is "$(json "$T/json" '$e->{event} eq "edge" && $e->{insn} eq "ret" && $e->{taken_count} == 10 && $e->{at_least}')" 1 \
	'what was counted is, as a lower bound'
is "$(json "$T/json" '$e->{event} eq "summary" && @{$e->{untraced}} == 1')" 1 'the sum says what is missing'

# ---- the supervisor is killed before the first call ----
source_program later c <<'E'
#include <stdio.h>
__attribute__((noipa)) int work(int n) { return n > 3 ? n * 3 : n + 1; }
int main(void)
{
	int sum = 0, c;

	puts("ready");
	fflush(stdout);
	while ((c = getchar()) != EOF)
		sum += work(c);
	return sum & 1;
}
E
mkfifo "$T/in"
"$BBTRACE" user "$T/later" work -c -F json -o "$T/json" -- "$T/later" <"$T/in" >"$T/ready" 2>"$T/err" &
tracer=$!
exec 3>"$T/in"
wait_for "$PATIENCE" grep -q ready "$T/ready"
kill -9 "$(pgrep -P $tracer -x bbtrace-inline)"
exec 3>&-
wait $tracer
is $? 0 'its supervisor is killed: the program ends as ever'
no_zeros 'what happened since is not known'
is "$(json "$T/json" '$e->{event} eq "summary" && $e->{untraced}[0]{reason} =~ /killed/')" 1 'which JSON says'
done_testing

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --engine inline: what it refuses, what its events show and what not, that it and probes are one trace, and that the
# program continues when the trace ends. t_reference.sh compares what is shown.
# shellcheck disable=SC2154,SC2034 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes
[[ $(uname -m) == x86_64 ]] || skip_all 'functions are copied on x86-64 only'

program ladder -O1
program spins -O1
program forks -O1
ladder=("$T/ladder" classify)
run=(-- "$T/ladder")

# As bb, with the same addresses each time.
alike() {
	setarch -R timeout -k 10 "$BB_TIMEOUT" "$BBTRACE" "$@" >"$T/out" 2>"$T/err" </dev/null
	status=$?
}

# ---- what it doesn't do ----
refused() { # WHAT ARG...
	bb user "${ladder[@]}" --engine inline "${@:2}"
	exits 2 "$1 is refused"
	like "$T/err" '--engine inline' "$1: the message says that it is the engine"
	is "$(cat "$T/out")" '' "$1: the command has not run"
}
refused 'no command' -t 1

bb user "${ladder[@]}" --engine x "${run[@]}"
exits 2 'another engine is refused'

# ---- list says which functions are copied ----
source_program narrow c -O1 <<'END'
/* one byte, and another function behind it: there is no room for a jump; three are enough for one to an island */
int tight(int x);
__asm__(".globl tight\n.type tight,@function\ntight: mov %edi, %eax\nret\n.size tight,.-tight\n"
	".type behind,@function\nbehind: ret\n.size behind,.-behind\n");
int main(void) { int n = 0; while (n < 40) n = tight(n) + 1; return 0; }
END
bb list "$T/narrow" --engine inline
like "$T/out" ' behind +\(no copy: too narrow' 'list --engine inline: a function that is not copied, and why'
like "$T/out" ' main$' 'list --engine inline: one that is'
bb list "$T/narrow" --engine inline --sites -F json
is "$(json "$T/out" '$e->{symbol} =~ /main|tight/ && $e->{copy} ne "yes"') $(json "$T/out" '$e->{symbol} eq "behind" && $e->{copy} =~ /narrow/')" \
	'0 1' 'list --sites, too'
bb user "$T/narrow" '*' --engine inline -v -F json -o "$T/json" -- "$T/narrow"
is "$(sed -n 's/^bbtrace: \(.*\) keeps its probes: .*/\1/p' "$T/err" | sort | xargs)" \
	"$("$BBTRACE" list "$T/narrow" --engine inline | sed -n 's/.* \([^ ]*\)  (no copy: .*/\1/p' | sort | xargs)" \
	'and it is the same when they are traced'
bb list kernel ksys_read --engine inline
exits 2 'list --engine inline is not for the kernel'
bb list "$T/narrow" --engine inline --points
exits 2 'list --engine inline has no points file'

# ---- which one is chosen ----
bb user "${ladder[@]}" --engine auto -v "${run[@]}"
exits 0 '--engine auto: a program is traced'
like "$T/err" '^bbtrace: 1 function is copied$' 'by copies'
bb user "${ladder[@]}" --engine auto -v -t 1 -p $$
like "$T/err" "by probes, since copies aren't for processes that run already" 'a process that runs is by probes, and -v says why'
bb user "${ladder[@]}" --engine inline --returns probe -v -F json -o "$T/json" "${run[@]}"
like "$T/err" '^bbtrace: --returns probe: with copies' 'a note says that returns are recorded at rets'
is "$(json "$T/json" '$e->{event} eq "return"')" "$(json "$T/json" '$e->{event} eq "entry"')" 'and each call has one'
source_program tiny c -O1 <<'END'
/* four bytes, and no padding behind them: there is no room for a jump */
int narrow(int x);
__asm__(".globl narrow\n.type narrow,@function\nnarrow: lea 1(%rdi), %eax\nret\n.size narrow,.-narrow\nnext: ret");
int main(void) { int n = 0; while (n < 400000) n = narrow(n); return 0; }
END
bb user "$T/tiny" narrow --engine auto -v -l 10 -- "$T/tiny"
exits 0 '--engine auto: a function that cannot be copied is traced'
like "$T/err" 'by probes, since no function can be copied' 'by probes, and -v says that'
is "$(grep -c 'narrow(' "$T/out")" 4 'each call is shown'
bb user "$T/tiny" narrow -F summary -- "$T/tiny"
like "$T/err" '^bbtrace: 1200000 events were recorded by traps; --engine inline avoids them' 'many traps: a note names the other engine'

# ---- what events show ----
"$T/ladder" >"$T/alone"
bb user "${ladder[@]}" -F json -o "$T/probed" "${run[@]}"
bb user "${ladder[@]}" --engine inline -v -F json -o "$T/json" "${run[@]}"
exits 0 'a program is traced'
same "$T/out" "$T/alone" 'its output is as ever'
like "$T/err" '^bbtrace: 1 function is copied$' '-v tells how many functions are copied'
like "$T/err" '[0-9.]+ GHz, off by at most [0-9]+ ns' '-v tells how its clock went'
what() { json_lines "$1" '$e->{event} eq "summary" ? "" : join " ", map { ref $e->{$_} ? $e->{$_}{offset} : $e->{$_} // "-" } qw(event symbol offset kind taken to value depth)'; }
what "$T/probed" >"$T/want"
what "$T/json" >"$T/got"
same "$T/got" "$T/want" 'its events are those of probes'
is "$(wc -l <"$T/got")" 73 'there are 73'
is "$(json "$T/json" 'exists $e->{cpu} || $e->{implied}')" 0 'no CPU is known, and nothing is implied'
is "$(json "$T/json" '$e->{event} =~ /entry|return/ && !$e->{ts}')" 0 'entries and returns have times'
is "$(json "$T/json" '$e->{event} eq "branch" && !$e->{ts}')" 0 'so have branches, where each is shown'
is "$(json "$T/json" '$e->{event} eq "entry" && join(" ", sort keys %{$e->{regs}}) ne "r8 r9 rcx rdi rdx rsi"')" 0 \
	'entries have the arguments'
bb user "${ladder[@]}" --engine inline --placement full --regs all -F json -o "$T/json" "${run[@]}"
is "$(json "$T/json" '$e->{event} ne "summary" && !$e->{ts}')" 0 'with --placement full each event has its time'
is "$(json "$T/json" '$e->{event} eq "entry" && keys %{$e->{regs}} != 18')" 0 '--regs all: entries have all registers'
bb user "${ladder[@]}" --engine inline -o "$T/trace" "${run[@]}"
exits 0 'a trace file is written'
"$BBTRACE" report "$T/trace" -F json >"$T/json" 2>/dev/null
what "$T/json" >"$T/got"
same "$T/got" "$T/want" 'its report has the same events'
is "$(($(json "$T/json" '$e->{event} eq "branch" && $e->{kind} eq "jcc" && !$e->{ts}') > 5))" 1 \
	'its branches have no times, which would take longer than they'
is "$(json "$T/json" '$e->{cpu}')" 0 'and no CPU'
is "$(($(json "$T/json" '$e->{event} eq "branch" && $e->{kind} eq "jcc" && !$e->{ts}') > 5))" 1 'and untimed branches'
bb user "${ladder[@]}" --engine inline -F callgrind "${run[@]}"
exits 0 'formats that sum up take its events'

# ---- one trace with probes ----
source_program mixed c -O1 <<'END'
/* four bytes, and no padding behind them: there is no room for a jump */
int narrow(int x);
__asm__(".globl narrow\n.type narrow,@function\nnarrow: lea 1(%rdi), %eax\nret\n.size narrow,.-narrow\nnext: ret");
__attribute__((noinline)) int wide(int x) { __asm__ volatile("" : "+r"(x)); return x & 8 ? x * 3 : x + 1; }
__attribute__((noinline)) int outer(int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += i & 1 ? wide(i) : narrow(i);
	return sum;
}
int main(void) { return outer(40) == 0; }
END
alike user "$T/mixed" outer wide narrow -F json -o "$T/probed" -- "$T/mixed"
alike user "$T/mixed" outer wide narrow --engine inline -v -F json -o "$T/json" -- "$T/mixed"
exits 0 'functions that keep their probes are traced as well'
like "$T/err" 'narrow keeps its probes: ' '-v tells which, and why'
what "$T/probed" >"$T/want"
what "$T/json" >"$T/got"
same "$T/got" "$T/want" 'their events are in order'

# ---- processes ----
alike user "$T/forks" '*' -f -F json -o "$T/probed" -- "$T/forks"
alike user "$T/forks" '*' -f --engine inline -F json -o "$T/json" -- "$T/forks"
exits 0 'children are traced'
what "$T/probed" | sort >"$T/want"
what "$T/json" | sort >"$T/got"
same "$T/got" "$T/want" 'what they do is what probes see'

# ---- the end ----
ends() { # NAME ARG...: the program goes on, untraced, when the trace ends
	rm -f "$T/stop"
	background "$BBTRACE" user "$T/spins" '*' --engine inline -F callgrind -o "$T/callgrind" "${@:2}" -- "$T/spins" "$T/stop"
	if [[ $1 == killed ]]; then
		wait_for "$PATIENCE" pgrep -P $background -x spins >"$T/pid"
		sleep 1
		kill -KILL $background
		spins=$(cat "$T/pid")
	else
		wait_for "$PATIENCE" pgrep -P $background -x spins >"$T/pid"
		spins=$(head -1 "$T/pid")
	fi
	wait_for "$PATIENCE" grep -q '^TracerPid:	0$' "/proc/$spins/status"
	ok $? "$1: the program is let go"
	sleep 0.2
	is "$(sed -n 's/^State:	\(.\).*/\1/p' "/proc/$spins/status" | tr S R)" R "$1: and runs on"
	touch "$T/stop"
	wait $background
	status=$?
}
ends 'after a time' -t 0.5
is $status 3 'after a time: its exit status is known'
ends 'after so many events' -l 1000
is $status 3 'after so many events: its exit status is known'
ends killed
wait_for "$PATIENCE" eval '! kill -0 "$spins" 2>/dev/null'
ok $? 'killed: the program ends as ever'
done_testing

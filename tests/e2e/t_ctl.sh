#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2154 # ctl.sh sets program and status
# bbtrace ctl: which traces run, their status and counts, and their end; who may ask, and what a client may do wrong.
# Traces of other tests may run at the same time: here is a /run/bbtrace of its own.
if [[ ! $OWN_RUN && $EUID == 0 ]] && unshare --mount true 2>/dev/null; then
	mkdir -p /run/bbtrace
	# shellcheck disable=SC2016 # the inner shell's
	OWN_RUN=yes exec unshare --mount --propagation private \
		bash -c 'mount -t tmpfs -o mode=755 none /run/bbtrace && exec "$@"' sh "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"
needs root uprobes
. "$E2E/ctl.sh"
start

# ---- counts ----
trace counts -c -F json
exits 0 'status of a trace'
is "$(value pid) $(value state)" "$trace running" 'it has the PID and the state'
like "$T/out" "^command: .* user $T/steps work -p $program" 'and the command line'
steps 3
ctl "$trace" counts -F json
exits 0 'counts'
jcc='$e->{kind} && $e->{kind} eq "jcc" && $e->{taken_count} + $e->{not_taken_count}'
sum_of() { json_lines "$1" "$jcc" | awk '{ n += $1 } END { print n + 0 }'; }
three=$(sum_of "$T/out")
is "$((three > 0 && three % 3 == 0))" 1 'they are those of three calls'
is "$(json "$T/out" '$e->{event} eq "summary"')" 1 'the last line is the summary'
steps 3
ctl "$trace" counts
like "$T/out" '"event":"edge"' 'counts are printed in the format of the trace'
is "$(sum_of "$T/out")" $((2 * three)) 'and have what came since'
ctl "$trace" reset
exits 0 'reset'
steps 1
ctl "$trace" counts -F json
is "$(sum_of "$T/out")" $((three / 3)) 'after reset they begin with 0'
ctl "$trace" -F json
is "$(json "$T/out" '$e->{pid} == '"$trace"' && $e->{state} eq "running" && $e->{hits}')" 1 'status as JSON'
ctl -F json
is "$(json "$T/out" '$e->{pid} == '"$trace")" 1 'the list as JSON'
ctl
like "$T/out" "^$trace  *running .* user $T/steps" 'the list'
ctl counts
exits 0 'the PID of the only trace may be left out'

# ---- what is wrong with a command ----
ctl "$trace" statsu
exits 2 'an unknown command'
like "$T/err" "did you mean status" 'a near one is named'
ctl "$trace" quit now
exits 2 'quit takes nothing'
ctl "$trace" status -F xml
exits 2 'an unknown format'
ctl "$trace" help
like "$T/out" '^counts  .*' 'help lists the commands'
ctl 1
exits 1 'a process that is no trace'
like "$T/err" 'process 1 is not a trace that you can reach' 'is said to be none'
ctl 999999999 counts
like "$T/err" 'no such process' 'so is one that is not there'
ctl "$trace" quit --wait --quiet now
exits 2 '--wait is for quit'

# ---- the socket: who may connect, what may be sent ----
socket=/run/bbtrace/$trace.sock
is "$(stat -c '%a %u %F' "$socket")" '600 0 socket' 'the socket is its owner'"'"'s'
is "$(stat -c '%a %u' /run/bbtrace)" '755 0' 'nobody else may make sockets beside it'
if setpriv --reuid 65534 --clear-groups true 2>/dev/null; then
	as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups env -u XDG_RUNTIME_DIR "$@"; }
	cp "$BBTRACE" "$T/bbtrace"
	chmod 755 "$T" "$T/bbtrace"
	as_nobody "$T/bbtrace" ctl "$trace" counts >"$T/out" 2>"$T/err"
	is $? 1 'another user may not'
	like "$T/err" 'not permitted; only root and the user of the trace' 'and is told so'
	as_nobody "$T/bbtrace" ctl >"$T/out" 2>"$T/err"
	like "$T/err" 'no trace is running that you may control; sudo bbtrace ctl' 'and how to list those of root'
	# even where the file lets it
	chmod 666 "$socket"
	as_nobody "$T/bbtrace" ctl "$trace" counts >"$T/out" 2>"$T/err"
	is "$? $(wc -c <"$T/out")" '1 0' 'the credentials count, not the mode'
	like "$T/err" 'not permitted' 'the trace says why'
	chmod 600 "$socket"
else
	skip 'other users' 'no other user here'
fi
# talk TEXT...: sends it, and prints the answer. It is perl, since nc and socat are not everywhere.
talk() {
	perl -MIO::Socket::UNIX -e '
		$SIG{PIPE} = "IGNORE";
		my $s = IO::Socket::UNIX->new(Peer => shift) or die "$!\n";
		print $s $_ for @ARGV;
		shutdown($s, 1);
		print while <$s>;' "$socket" "$@"
}
is "$(talk $'help\n' | sed -n 1p)" "bbtrace 1 $trace" 'any program may talk to it: it is greeted'
talk $'nonsense\n' $'reset now\n' >"$T/talk"
is "$(sed -n 's/^\(usage\) [0-9]*$/\1/p' "$T/talk" | xargs)" 'usage usage' 'wrong requests are answered one by one'
talk "$(head -c 100000 /dev/zero | tr '\0' x)" 2>/dev/null | tail -1 >"$T/talk"
is "$(<"$T/talk")" 'a line of more than 4096 bytes' 'a line that is too long is refused'
head -c 20000 /dev/urandom >"$T/noise"
perl -MIO::Socket::UNIX -e '$SIG{PIPE} = "IGNORE"; my $s = IO::Socket::UNIX->new(Peer => shift) or die; local $/; print $s <STDIN>' \
	"$socket" <"$T/noise"
# clients that ask, and don't read; that ask nothing; that go
perl -MIO::Socket::UNIX -e '
	my ($path, $ready) = @ARGV;
	my @idle = map { IO::Socket::UNIX->new(Peer => $path) } 1 .. 20;
	for (1 .. 5) {
		my $s = IO::Socket::UNIX->new(Peer => $path) or die;
		print $s "counts\n" x 100;
	}
	open my $file, ">", $ready;
	sleep 60' "$socket" "$T/idle" &
idle=$!
at_end "kill $idle 2>/dev/null"
wait_for "$PATIENCE" test -e "$T/idle"
for _ in 1 2 3 4; do "$BBTRACE" ctl "$trace" counts >/dev/null 2>&1 & done
for job in $(jobs -p | tail -4); do wait "$job" || echo "$job"; done >"$T/failed"
is "$(wc -l <"$T/failed")" 0 'several clients at once, besides idle ones and those that do not read, are answered'
kill "$idle"
steps 1
ctl "$trace" counts -F json
is "$(sum_of "$T/out")" $((three / 3 * 2)) 'and the trace goes on as before'
ends counts
is "$(sum_of "$T/counts.out")" $((three / 3 * 2)) 'what the trace prints at its end is what it would have been'
[[ ! -e $socket ]]
ok $? 'the socket is gone with the trace'

# ---- several traces, and sockets of other names ----
trace text -F json
one=$trace
trace summary -F summary --control-socket "$T/a socket"
is "$(stat -c %a "$T/a socket")" 600 '--control-socket: its mode'
[[ ! -e /run/bbtrace/$trace.sock ]]
ok $? '--control-socket: there is no other'
ctl "$T/a socket"
is "$(value pid)" "$trace" 'ctl takes the path of a socket'
"$BBTRACE" user "$T/steps" work -p "$program" --control-socket "$T/a socket" >"$T/out" 2>"$T/err"
is $? 1 'a socket where a trace listens is not taken'
like "$T/err" 'another program listens on it' 'which is said'
"$BBTRACE" user "$T/steps" work -p "$program" --control-socket "$T/steps" >"$T/out" 2>"$T/err"
is $? 1 'a file that is no socket is not replaced'
[[ -x $T/steps ]]
ok $? 'and is still there'
trace more -F summary
ctl counts
exits 2 'with several traces, one has to be named'
like "$T/err" "$one" 'they are listed'
steps 2
ctl "$trace" counts
like "$T/out" ' events' 'counts of a trace of events: its summary'
ctl "$trace" counts -F json
is "$(json "$T/out" '$e->{event} eq "summary" && $e->{events} > 0')" 1 'counts of a trace of events, as JSON'
ctl "$trace" reset
steps 1
ends more
is "$(awk '$NF == "work" { print $1 }' "$T/more.out")" 1 'reset: a summary begins again'
trace=$one
ctl "$trace" reset
exits 1 'reset: what was written stays'
like "$T/err" 'reset is of counts' 'which is said'
kill -INT "$trace"
wait "$trace"
[[ ! -e /run/bbtrace/$trace.sock ]]
ok $? 'SIGINT: the socket is removed'
ctl "$T/a socket" quit
exits 0 'quit, by the socket'

# ---- a trace that was killed ----
trace killed -c --control-socket "$T/left"
kill -9 "$trace"
wait "$trace" 2>/dev/null
[[ -S $T/left ]]
ok $? 'SIGKILL leaves the socket'
trace again -c --control-socket "$T/left"
ctl "$T/left"
is "$(value pid)" "$trace" 'another trace takes its place'
kill -9 "$trace"
wait "$trace" 2>/dev/null
ctl "$T/left" counts
exits 1 'nobody listens at a socket that is left'
like "$T/err" 'has ended without removing its socket' 'ctl says so'
[[ ! -e $T/left ]]
ok $? 'and removes it'
trace killed -c
kill -9 "$trace"
wait "$trace" 2>/dev/null
left=$trace
trace last -c --control-socket none
is "$status" 1 '--control-socket none: it can not be reached'
trace=$!
wait_for "$PATIENCE" grep -q 'probes attached' "$T/last.err"
kill -INT "$trace"
wait "$trace"
trace last -c
[[ ! -e /run/bbtrace/$left.sock ]]
ok $? 'the next trace removes what killed ones left in the folder'
ends last
ctl quit
exits 1 'quit without a trace'
like "$T/err" 'no trace is running' 'which is said'
ctl
exits 0 'none is no error for the list'

# ---- CMD ----
"$BBTRACE" user "$T/steps" work -c -- sh -c "echo | '$T/steps'; sleep 0.2; exit 3" >"$T/out" 2>"$T/err" </dev/null
is $? 3 'a command'\''s status is the status'
done_testing

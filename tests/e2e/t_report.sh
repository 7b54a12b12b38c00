#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Many reports of one recording: what report selects is what one would select from its complete JSON. And report on a
# terminal.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs recorded cmd:perl

# lines FILE EXPR: the events of a JSON file for which the Perl expression holds, without the summary.
lines() {
	perl -I"$ROOT/tests/check" -MJson -e '
		my ($file, $expr) = @ARGV;
		my $test = eval "my (%h, \$n); sub { my \$e = \$_[0]; $expr }" or die $@;
		open my $fh, "<", $file or die "$file: $!\n";
		while (my $line = <$fh>) {
			my $e = Json::parse($line);
			print $line if $e->{event} ne "summary" && $test->($e);
		}' "$1" "$2"
}
# selects EXPR NAME OPTION...: report with the options gives what EXPR picks out of all.
selects() {
	local expr=$1 name=$2
	shift 2

	bb report "$T/trace" -F json "$@"
	exits 0 "report $* ends well"
	grep -v '"event":"\(summary\|omitted\)"' "$T/out" >"$T/got"
	lines "$T/all" "$expr" >"$T/want"
	[[ -s $T/want ]] || diag "$*: nothing to compare"
	same "$T/got" "$T/want" "report $* shows $name"
	is "$(summary events)" "$(lines "$T/want" '$e->{event} =~ /^(entry|branch|return)$/' | wc -l)" "report $*: the summary counts the events that are shown"
}

source_program busy c -pthread -D_GNU_SOURCE <<'END'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
volatile int sink;
__attribute__((noinline)) int leaf(int n) { if (n % 3 == 0) sink++; return n / 2 + sink; }
__attribute__((noinline)) int middle(int n) { if (n == 4) usleep(20000); sink += leaf(n); return leaf(n + 1) + sink; }
__attribute__((noinline)) int outer(int n) { for (int i = 0; i < n; i++) sink += middle(i); return sink; }
static void *thread(void *arg) { pthread_setname_np(pthread_self(), arg); outer(5); return NULL; }
int main(void)
{
	pthread_t a, b;

	outer(6);
	pthread_create(&a, NULL, thread, "first");
	pthread_join(a, NULL);
	if (!fork())
		_exit(outer(3) < 0);
	pthread_create(&b, NULL, thread, "second");
	pthread_join(b, NULL);
	usleep(50000);
	return 0;
}
END
recorded busy user "$T/busy" outer middle leaf -f -- "$T/busy"
exits 0 'a program is recorded with its children and threads'
"$BBTRACE" report -q "$T/trace" -F json >"$T/all"
is "$(lines "$T/all" '$e->{event} eq "entry" && $e->{symbol} eq "outer"' | wc -l)" 4 'the recording has two processes and four threads'

# ---- whose ----
mapfile -t pids < <(json_lines "$T/all" '$e->{pid}' | sort -un)
mapfile -t tids < <(json_lines "$T/all" '$e->{tid}' | sort -un)
selects "\$e->{pid} == ${pids[1]}" 'the steps of one process' --pid "${pids[1]}"
selects "\$e->{pid} == ${pids[0]} || \$e->{pid} == ${pids[1]}" 'the steps of two processes' -p "${pids[0]},${pids[1]}"
selects "\$e->{tid} == ${tids[1]}" 'the steps of one thread' --tid "${tids[1]}"
selects '$e->{comm} eq "second"' 'the steps of the threads of a name' --comm second
selects '$e->{comm} eq "first" || $e->{comm} eq "second"' 'the steps of the threads of two names' --comm first,second

# ---- when: from the start of the trace, which is a little before its first event ----
bb report "$T/trace" -F text --no-fold
is "$status $(awk '/ busy-/ { print $1; exit }' "$T/out" | grep -cE '^[0-9]+\.[0-9]{9}$')" '0 1' 'report as text has the time since the start'
start=$(($(json_lines "$T/all" '$e->{ts}' | head -n 1) - 10#$(awk '/ busy-/ { print $1; exit }' "$T/out" | tr -d .)))
for at in $(json_lines "$T/all" '$e->{ts}' | sed -n '17p;60p'); do
	in_time='my $t = defined $e->{ts} ? $h{$e->{tid}} = $e->{ts} : $h{$e->{tid}} // 0;'
	selects "$in_time \$t >= $at" "the steps from a time on" --from $((at - start))ns
	selects "$in_time \$t <= $at" "the steps up to a time" --to $((at - start))ns
	selects "$in_time \$t >= $((at - 100000)) && \$t <= $at" 'the steps between two times' --from $((at - start - 100000))ns --to $((at - start))ns
done

# ---- what ----
selects '$e->{event} eq "entry" || $e->{event} eq "return"' 'the events of two kinds' -e entry,return
selects '$e->{event} eq "branch"' 'the branches' -e branch
selects '$e->{depth} < 2' 'the steps at no greater depth' --depth 2
# functions EXPR ARG...: the same of functions, where depth counts those that are picked
functions() {
	local expr=$1
	shift

	bb report "$T/trace" -F json "$@"
	exits 0 "report $* ends well"
	grep -v '"event":"summary"' "$T/out" | sed 's/"depth":[0-9]*/"depth":_/' >"$T/got"
	lines "$T/all" "$expr" | sed 's/"depth":[0-9]*/"depth":_/' >"$T/want"
	same "$T/got" "$T/want" "report $* shows the functions' steps, with depths counted among them"
}
functions '$e->{symbol} eq "leaf"' leaf
functions '$e->{symbol} ne "outer"' middle leaf
functions '$e->{symbol} eq "middle"' 'm*'
functions '$e->{symbol} ne "middle"' --exclude middle
functions '$e->{symbol} eq "leaf"' '*' --exclude middle --exclude outer
functions '$e->{symbol} eq "leaf" && $e->{event} eq "branch" && $n++ < 7' leaf -e branch --head 7 --depth 1
functions 0 '*' --exclude '*e*'
bb report "$T/trace" leaf -F json
is "$(json "$T/out" 'defined $e->{depth} && $e->{depth}')" 0 'report FUNC counts depths among the functions that it shows'
bb report "$T/trace" leaf --depth 1 -F json -e entry
is "$(json "$T/out" '$e->{event} eq "entry"')" "$(json "$T/all" '$e->{event} eq "entry" && $e->{symbol} eq "leaf"')" 'report FUNC --depth counts depths among the functions that it shows'
bb report "$T/trace" nowhere
exits 1 'report of a function that was not traced is refused'
like "$T/err" "no function 'nowhere' was traced; -F summary shows those that ran$" 'report of a function that was not traced: the message names it'
bb report "$T/trace" --min-duration 15ms -F json
is "$(json "$T/out" '$e->{event} eq "return" && $e->{duration_ns} < 15e6 && !($e->{depth} > 0)') $(json_lines "$T/out" '$e->{event} eq "entry" && $e->{symbol}' | sort | uniq -c | xargs)" \
	"0 $(json_lines "$T/all" '$e->{event} eq "return" && $e->{duration_ns} >= 15e6 && $e->{symbol}' | sort | uniq -c | xargs)" \
	'report --min-duration shows the calls that took so long'

# ---- how many ----
event='$e->{event} =~ /^(entry|branch|return)$/'
n=$(lines "$T/all" "$event" | wc -l)
selects '$n++ < 10' 'the first ten events' --head 10
selects '$n++ < 10' 'the first ten events' -l 10
selects "\$n++ >= $((n - 10))" 'the last ten events' --tail 10
selects "\$n++ < 5 || \$n > $((n - 5))" 'the first and the last five events' --head 5 --tail 5
selects '1' 'all events if there are fewer' --head 1000000
selects '1' 'all events if there are fewer' --tail 1M
omitted() { json_lines "$1" '$e->{event} eq "omitted" && join " ", $e->{count}, sort keys %$e'; }
bb report "$T/trace" --head 5 --tail 4 -F json
is "$(omitted "$T/out")" "$((n - 9)) count event" 'report --head 5 --tail 4 says how many events it leaves out'
is "$(awk '/"omitted"/ { exit } { n++ } END { print n }' "$T/out")" 5 'report --head 5 --tail 4 says so between them'
bb report "$T/trace" --head $((n - 4)) --tail 4 -F json
is "$(omitted "$T/out")" '' 'report --head --tail that leave nothing out do not say so'
bb report "$T/trace" --head 5 -F json
is "$(omitted "$T/out")" '' 'report --head ends where it says'
bb report "$T/trace" --tail 4 -T none
is "$(head -n 1 "$T/out" | sed 's/^ *//')" "-- $((n - 4)) events not shown --" 'report --tail says so first'
bb report "$T/trace" --head 2 --tail 2 --no-fold
is "$(grep -n . "$T/out" | grep -c '^3: *-- [0-9]* events not shown --$')" 1 'report --head 2 --tail 2 marks the gap in its text'
bb report "$T/trace" --head 2 --tail 2 -F chrome
is "$(grep -c '"name":"events not shown".*"count":'$((n - 4)) "$T/out")" 1 'report --head 2 --tail 2 marks the gap in the trace events'
for format in annotate html summary svg callgrind pprof; do
	bb report "$T/trace" --head 2 --tail 2 -F $format -o "$T/file"
	exits 0 "report --head 2 --tail 2 -F $format ends well"
done
for wrong in '--head 0' '--tail x' '--to 0' '--from -1' '-p 0' '-e other' '--depth 0' '-F yaml' '-- ls' '--follow'; do
	# shellcheck disable=SC2086
	bb report "$T/trace" $wrong
	exits 2 "report $wrong is wrong usage"
done
"$BBTRACE" report "$T/trace" -q -F json -o "$T/file"
same "$T/file" "$T/all" 'report -o FILE writes what stdout would show'
is "$(stat -c %a "$T/file")" 600 'report -o FILE has mode 0600'
cp "$T/trace" "$T/copy" && ln -s copy "$T/link"
for input in "$T/copy" -; do
	for output in "$T/copy" "$T/link"; do
		"$BBTRACE" report "$input" -o "$output" <"$T/copy" >"$T/out" 2>"$T/err"
		is "$? $(cat "$T/err")" "2 bbtrace: -o $output: this is the trace file to read; give another file" "report ${input##*/} -o ${output##*/}: it does not write to what it reads"
	done
done
same "$T/copy" "$T/trace" 'report leaves the trace file as it was'
"$BBTRACE" report "$T/trace" no_such_function -o "$T/file" 2>"$T/err"
same "$T/file" "$T/all" 'report of nothing leaves the file of an earlier run as it was'

# ---- a terminal ----
if ! command -v script >/dev/null; then
	skip 'a terminal' 'no script(1)'
	done_testing
fi
cat >"$T/pager" <<'END'
#!/bin/sh
echo paged >>"$PAGED"
exec cat
END
cat >"$T/quitter" <<'END'
#!/bin/sh
echo paged >>"$PAGED"
head -n 1
END
chmod +x "$T/pager" "$T/quitter"
export PAGED=$T/paged
# typed COMMAND: on a terminal; what it shows in $T/typed, how often a pager came in $T/paged.
typed() {
	: >"$T/paged"
	timeout -k 10 "$BB_TIMEOUT" script -qefc "$1" /dev/null >"$T/typed" 2>&1 </dev/null
	status=$?
}
export PAGER=$T/pager TERM=xterm
typed "$BBTRACE report $T/trace -q --color never"
is "$status $(wc -l <"$T/paged")" '0 1' "text from a file goes through $PAGER on a terminal"
"$BBTRACE" report "$T/trace" -q >"$T/plain"
tr -d '\r' <"$T/typed" >"$T/typed.plain"
same "$T/typed.plain" "$T/plain" "text that goes through $PAGER is all of the report"
typed "$BBTRACE report $T/trace -q"
is "$(wc -l <"$T/paged") $(grep -c $'\033\[' "$T/typed" | grep -c '^[1-9]')" '1 1' "text that goes through $PAGER is in colours"
PAGER=$T/quitter typed "$BBTRACE report $T/trace --no-fold --color never"
is "$status $(wc -l <"$T/paged") $(grep -c 'busy-' "$T/typed")" '0 1 1' 'a pager that quits early is no error'
PAGER=$T/none typed "$BBTRACE report $T/trace -q"
is "$status" 0 "a $PAGER that is not there is no error"
live=$(! is_root || echo yes)
for quiet in "report $T/trace -q -F json" "report - -q <$T/trace" "report $T/trace -q -o $T/file" "report $T/trace -q | cat" \
	${live:+"user $T/busy outer -l 5 -q -- $T/busy"}; do
	typed "$BBTRACE $quiet"
	is "$status $(wc -l <"$T/paged")" '0 0' "no pager: ${quiet//"$T/"/}"
done
PAGER=$T/none typed "$BBTRACE report $T/trace"
like "$T/typed" "^bbtrace: the pager '$T/none' was not found; PAGER= shows the trace without one" "a \$PAGER that is not there: a note says what to do"
if command -v less >/dev/null; then
	TERM=dumb typed "env -u PAGER $BBTRACE report $T/trace -q --head 1"
	is "$status $(wc -l <"$T/typed")" '0 1' 'a dumb terminal has no pager by default'
fi
PAGER='' typed "$BBTRACE report $T/trace -q"
is "$status $(grep -c 'busy-' "$T/typed" | grep -c '^[1-9]')" '0 1' "an empty $PAGER means none"

for binary in "report $T/trace -F pprof" ${live:+"user $T/busy outer -F pprof -- touch $T/ran"}; do
	typed "$BBTRACE $binary"
	is "$status $(tail -n 1 "$T/typed" | tr -d '\r')" '1 bbtrace: refusing to write binary pprof data to a terminal: use -o FILE, or a pipe' \
		"binary data on a terminal is refused: ${binary//"$T/"/}"
	is "$(LC_ALL=C tr -d '\n\r\t -~' <"$T/typed" | wc -c)" 0 "no byte of it reaches the terminal: ${binary//"$T/"/}"
done
is "$(ls "$T/ran" 2>/dev/null)" '' 'binary data on a terminal is refused before CMD runs'
typed "$BBTRACE report $T/trace -q -F pprof | head -c 2 | od -An -tx1"
is "$(tr -d '\r' <"$T/typed")" ' 1f 8b' 'binary data goes to a pipe'

# ---- progress: a reader that is slow makes it long ----
cat >"$T/slowly" <<'END'
#!/bin/bash
bit_by_bit() { # byte by byte: for a while, and until $T/typed shows progress where it is to
	local at=401

	head -c 400 "$T/trace"
	until ((at > 410)) && { [[ ! $WANTED ]] || grep -q 'MB/s' "$T/typed" || ((at > 1000)); }; do
		sleep 0.2
		tail -c +$at "$T/trace" | head -c 1
		((at++))
	done
	tail -c +$at "$T/trace"
}
bit_by_bit | "$BBTRACE" report - -F json -o "$T/file" "$@"
END
chmod +x "$T/slowly"
export BBTRACE T
export WANTED=1
typed "$T/slowly"
like "$T/typed" 'bbtrace: [0-9.]+ MB, [0-9.]+ MB/s' 'long work shows progress on a terminal'
is "$(tail -n 1 "$T/typed" | sed 's/.*\x1b\[K//' | cut -c1-8)" 'bbtrace:' 'progress on a terminal is cleared at the end'
export WANTED=
typed "$T/slowly -q"
unlike "$T/typed" 'MB/s' '-q shows no progress on a terminal'
"$T/slowly" 2>"$T/err"
is "$(grep -c 'MB/s' "$T/err") $(grep -vc ' times include ' "$T/err")" '0 1' 'no progress is shown where stderr is no terminal'
done_testing

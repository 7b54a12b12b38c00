#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A process that loses its perf events by an exec is traced on, by the process that kept the capability for that.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/lib.sh"
. "$E2E/served.sh"
needs root uprobes
"$BBTRACE" doctor | grep -q '^inherited_events  *yes' || skip_all 'this kernel has no inherited events'

# The child executes a program that its user may not read: the kernel ends its perf events (fs/exec.c, begin_new_exec()).
source_program heir c <<'END'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) int step(int n) { __asm__ volatile("" : "+r"(n)); return n > 3 ? n - 1 : n; }
static void until(const char *file)
{
	for (int i = 0; access(file, F_OK); i++)
		step(i), usleep(1000);
}
int main(int argc, char **argv)
{
	until(argv[1]);
	if (argc == 2)
		return step(9) != 8;
	if (!fork())
		execl(argv[0], argv[0], argv[2], (char *)0);
	wait(0);
	return step(7) - 6 ? 1 : 5;
}
END
chmod 711 "$T/heir" && chmod 755 "$T"
enough() { (($(grep -c '"event":"entry"' "$T/watch.json") >= $1)); }
told() { grep -q "$1" "$T/err"; }
# trace: until the parent steps; sets $keeper and $heir.
trace() {
	rm -f "$T/go" "$T/enough" "$T/watch.json"
	"$BBTRACE" user "$T/heir" step -f -v --attach uprobe_event -u nobody -F json -o "$T/watch.json" -- \
		"$T/heir" "$T/go" "$T/enough" >"$T/out" 2>"$T/err" </dev/null &
	watching=$!
	at_end "kill -9 $watching 2>/dev/null; wait $watching 2>/dev/null"
	wait_for $PATIENCE is_live
	keeper=$(pgrep -P $watching -x bbtrace-keeper)
	heir=$(pgrep -P $watching -x heir)
	at_end "kill -9 $heir 2>/dev/null"
}

trace
isnt "$keeper" '' 'a process of its own keeps the capability to open trace events'
is "$(grep -E '^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs)' "/proc/$keeper/status" | sed 's/.*:\t//' | uniq | xargs)" \
	"0000000000000000 $(printf '%016x' $((1 << 38))) 0000000000000000 1" 'it has CAP_PERFMON and no other, and can gain none'
is $(($((16#$(sed -n 's/^CapPrm:\t//p' "/proc/$watching/status"))) >> 38 & 3)) 0 'bbtrace has neither CAP_PERFMON nor CAP_BPF'
is "$(readlink "/proc/$keeper"/fd/* | sed 's/:.*//' | sort | uniq -c | xargs)" '3 /dev/null 1 socket' 'it holds nothing open but its socket'
kill -INT "$keeper" && kill -TERM "$keeper"
touch "$T/go"
wait_for $PATIENCE told 'lost by an exec: attaching to it again'
wait_for $PATIENCE enough $(($(wc -l <"$T/watch.json") + 20))
touch "$T/enough"
stop_watching
is $status 5 'the program ends'
is "$(json_lines "$T/watch.json" '$e->{event} eq "entry" ? $e->{pid} : ""' | uniq | wc -l)" \
	3 'a child that lost its probes by an exec is traced again'
ok "$(kill -0 "$keeper" 2>/dev/null; echo $((!$?)))" 'the keeper ends with bbtrace'

trace
kill -9 "$keeper"
touch "$T/go"
wait_for $PATIENCE told 'is not traced any more: .*the process that kept CAP_PERFMON for that was killed'
ok $? 'if the keeper was killed, a process that loses its probes is named'
touch "$T/enough"
stop_watching
is "$status $(json_lines "$T/watch.json" '$e->{event} eq "entry" ? $e->{pid} : ""' | uniq | wc -l)" '5 1' 'and the trace of the others goes on'

# bbtrace is killed: the keeper ends.
trace
kill -9 $watching
wait $watching 2>/dev/null
gone() { ! kill -0 "$keeper" 2>/dev/null; }
wait_for $PATIENCE gone
ok $? 'the keeper ends if bbtrace is killed'
touch "$T/go" "$T/enough"
left() { ! kill -0 "$heir" 2>/dev/null; }
wait_for $PATIENCE left
ok $? 'the program works on, and ends'
done_testing

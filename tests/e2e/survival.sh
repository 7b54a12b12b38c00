# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# background: lib.sh sets it
# shellcheck disable=SC2154
#
# For tests of a traced process after bbtrace was killed; to be sourced after served.sh.
#
#   mechanisms                   # of lib.sh
#   survivor                     # starts a process, $pid_one, that is always busy, with a libc of its own
#   kill_times 20                # 20 times: starts bbtrace on it and kills it at a random moment; sets $left and the counts

# libc's text in the process's memory.
text_of() { # PID
	perl -e '
		my ($pid, $path) = @ARGV;
		open my $maps, "<", "/proc/$pid/maps" or die "maps: $!";
		open my $mem, "<:raw", "/proc/$pid/mem" or die "mem: $!";
		while (<$maps>) {
			/^(\w+)-(\w+) ..x. \S+ \S+ \d+\s+\Q$path\E$/ or next;
			my $len = hex($2) - hex $1;
			sysseek($mem, hex $1, 0) && sysread($mem, my $bytes, $len) == $len or die "mem: $!";
			print $bytes;
		}' "$1" "$PRIVATE/libc.so.6" | md5sum
}

# The program prints its number of iterations, which shows that it is alive.
survivor() {
	source_program worker c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			char text[64], *copy;

			setvbuf(stdout, NULL, _IOLBF, 0);
			for (long n = 0; argc < 2 || n < atol(argv[1]); n++) {
				snprintf(text, sizeof(text), "%ld", n * 7);
				copy = strdup(text);
				if (!copy || strtol(copy, NULL, 10) != n * 7 || strlen(copy) != strcspn(text, "x"))
					return 1;
				free(copy);
				if (n % 100 == 0)
					printf("%ld\n", n);
				if (argc < 2)
					usleep(500);
			}
			return 3;
		}
	END
	private_copy "$T/worker"
	background "${PRIVATE_RUN[@]}"
	wait_for $PATIENCE test -s "$T/bg.out" || exit 2
	text_before=$(text_of "$background")
}

is_clean() { [[ $(text_of "$background") == "$text_before" ]]; }
none_of_ours() { ! grep -qs "$PRIVATE" /sys/kernel/tracing/uprobe_events /sys/kernel/debug/tracing/uprobe_events; }
# Processes that bbtrace started and that may outlive it: CMD, waiting to exec; the shield.
descendants() { grep -lsz "survival=$1" /proc/[0-9]*/environ; }
works() { (($(wc -l <"$T/bg.out") > seen)); }
all_gone() { ! descendants "$1" | grep -q .; }

# kill_times N: sets $unclean (breakpoints left), $left (processes left), $mangled (definitions left), $moments.
kill_times() {
	local i mechanism victim stage mark
	unclean=0 left=0 mangled=0
	declare -gA moments=()

	for ((i = 0; i < $1; i++)); do
		mechanism=${MECHANISMS[0]} mark=$$.$i
		((i % 4 == 3)) && mechanism=uprobe_event
		rm -f "$T/killed.json"
		if ((i % 3 == 2)); then
			survival=$mark "$BBTRACE" user "$PRIVATE/libc.so.6" 's*' --attach $mechanism -F json -o "$T/killed.json" -- \
				"${PRIVATE_RUN[@]}" 300 >/dev/null 2>"$T/err" </dev/null &
		else
			survival=$mark "$BBTRACE" user "$PRIVATE/libc.so.6" 's*' --attach $mechanism -t 0.15 -F json \
				-o "$T/killed.json" -p "$background" >/dev/null 2>"$T/err" </dev/null &
		fi
		victim=$!
		perl -e 'select undef, undef, undef, rand 0.8'
		stage=attach
		[[ -s $T/killed.json ]] && stage=trace
		is_clean || stage+=-armed
		kill -9 $victim 2>/dev/null || stage=ended
		wait $victim 2>/dev/null
		moments[$stage]=$((${moments[$stage]:-0} + 1))
		wait_for $PATIENCE all_gone "$mark" || left=$((left + 1))
		wait_for $PATIENCE is_clean || unclean=$((unclean + 1))
	done
	# the definitions of a killed bbtrace are disarmed, and the next one deletes them
	"$BBTRACE" user "$PRIVATE/libc.so.6" strdup --attach uprobe_event -t 0.1 -p "$background" -o /dev/null >/dev/null 2>&1
	none_of_ours || mangled=1
}

# killed N: runs the tests, after kill_times.
killed() {
	diag "killed: $(for stage in "${!moments[@]}"; do printf '%s %s  ' "$stage" "${moments[$stage]}"; done)"
	is $unclean 0 "killed $1 times: each time the program's code is as it was"
	is $left 0 "killed $1 times: nothing that bbtrace started is left, stopped or running"
	is $mangled 0 "killed $1 times: no definition of a probe is left"
	kill -0 "$background"
	ok $? "killed $1 times: the traced program lives"
	seen=$(wc -l <"$T/bg.out")
	wait_for $PATIENCE works
	ok $? "killed $1 times: the traced program works on"
	[[ $(sort -n "$T/bg.out" | awk '$1 != (NR - 1) * 100' | wc -l) == 0 ]]
	ok $? "killed $1 times: the traced program makes no mistake"
}

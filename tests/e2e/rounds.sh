# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# status: lib.sh sets it
# shellcheck disable=SC2154
#
# For tests that attach copies to a process over and over; to be sourced after lib.sh.
#
#   rounds 100 redis $pid "$T/redis-server"     # 100 times, in each use of the engine in turn

# What it can execute, but for the kernel's page for probes; and the bytes of the objects and of the loader, which a trace
# changes: other tests may have probes in its libraries. A heap that grows is its own affair.
executable() { awk '$2 ~ /x/ && $6 != "[uprobes]" { print $1, $2, $6 }' "/proc/$1/maps"; }
code_of() { # PID OBJECT...
	perl -e '
		my ($pid, %traced) = (shift, map { $_ => 1 } @ARGV);
		open my $maps, "<", "/proc/$pid/maps" or die "maps: $!";
		open my $mem, "<:raw", "/proc/$pid/mem" or die "mem: $!";
		while (<$maps>) {
			/^(\w+)-(\w+) r.x. \S+ \S+ [1-9]\d* +(\S+)/ or next;
			$traced{$3} || $3 =~ m{/ld-[^/]*$} or next;
			my $len = hex($2) - hex $1;
			sysseek($mem, hex $1, 0) && sysread($mem, my $bytes, $len) == $len or die "mem: $!";
			print $bytes;
			$seen++;
		}
		$seen or die "no code";' "$@" | md5sum
}

# rounds N NAME PID OBJECT...: each ends well, and leaves the process with the code and the memory to execute that it had.
rounds() {
	local n=$1 name=$2 pid=$3 object objects=() code map i failed=0 changed=0 mapped=0 seen=0
	local uses=("-o $T/trace" "-F summary -o $T/shown" "-c -o $T/shown" "--last 100 -o $T/shown")
	shift 3

	for object; do objects+=("$object:*"); done
	code=$(code_of "$pid" "$@") map=$(executable "$pid")
	for ((i = 0; i < n; i++)); do
		# shellcheck disable=SC2086 # options
		bb user "${objects[@]}" -p "$pid" --engine inline -f -t 0.00$((3 + i % 7)) ${uses[i % 4]}
		[[ $status == 0 ]] || { failed=$((failed + 1)) && diag "$name, round $i: status $status: $(tail -n 3 "$T/err")"; }
		kill -0 "$pid" 2>/dev/null || break
		if [[ $(code_of "$pid" "$@" 2>"$T/code.err") != "$code" ]]; then
			changed=$((changed + 1))
			diag "$name, round $i: the code is another one, $([[ $(code_of "$pid" "$@") == "$code" ]] && echo 'but not any more') $(<"$T/code.err")"
		fi
		[[ $(executable "$pid") == "$map" ]] || mapped=$((mapped + 1))
		[[ $(summary events) == 0 ]] || seen=$((seen + 1))
		rm -f "$T/trace"
	done
	is "$i $failed" "$n 0" "$name: $n times it is attached to and let go"
	is "$changed $mapped" '0 0' "$name: each time its code is as it was, and nothing else to execute is mapped"
	ok $((!seen)) "$name: events were seen in $seen of $n rounds"
}

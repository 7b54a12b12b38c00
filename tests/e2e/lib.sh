# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# For end-to-end tests, besides tests/tap.sh: runs bbtrace, evaluates its JSON, builds programs to trace, and makes
# private copies of real ones. A test looks like this:
#
#   . "$(dirname "$0")/lib.sh"
#   needs root uprobes
#   program loop -O1                   # tests/progs/loop.c to $T/loop
#   bb user "$T/loop" work -F json -o "$T/json" -- "$T/loop" 3
#   exits 0 'traced'
#   is "$(json "$T/json" '$e->{event} eq "entry"')" 3 'one entry a call'
#   done_testing

E2E=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ROOT=$(cd "$E2E/../.." && pwd)
. "$ROOT/tests/tap.sh"
cd "$ROOT" || exit 1

BUILD=$(realpath -m "${B:-build}")
BBTRACE=${BBTRACE:-$BUILD/bbtrace}
# What isn't about engines is tested with probes. ENGINE=auto: with what users get.
export BBTRACE_ENGINE=${ENGINE:-probe}

# No test measures time: these limits, in seconds, only end hangs, and suffice on a busy machine. The first is for a run of
# bbtrace, the second for any other event.
BB_TIMEOUT=${BB_TIMEOUT:-900}
PATIENCE=${PATIENCE:-600}

is_root() { [[ $(id -u) == 0 ]]; }

# as_root NAME: true as root; otherwise the tests of that name are skipped.
as_root() { is_root || { skip "$1" 'needs root' && return 1; }; }

# needs WHAT...: skips the whole file, with the reason, if one is missing. A command: cmd:gdb; a file: file:/proc/kcore;
# recorded: for tests that trace by `recorded` alone.
needs() {
	local what

	for what; do
		case $what in
		root) is_root || skip_all 'needs root' ;;
		recorded) ! is_root || needs uprobes ;;
		uprobes) pmu uprobe || skip_all 'this kernel has no uprobes' ;;
		kprobes) pmu kprobe || skip_all 'this kernel has no kprobes' ;;
		namespaces) own_namespaces || skip_all "$NO_NAMESPACES" ;;
		dumps) may_dump || skip_all "$NO_DUMPS" ;;
		cmd:*) command -v "${what#cmd:}" >/dev/null || skip_all "needs ${what#cmd:}" ;;
		file:*) [[ -e ${what#file:} ]] || skip_all "needs ${what#file:}" ;;
		*) echo "needs: unknown: $what" >&2 && exit 2 ;;
		esac
	done
}

# mechanisms: sets MECHANISMS to the mechanisms for programs that this kernel has, and skips the others by name. Linux 6.6
# and later must have both, whatever doctor says.
mechanisms() {
	local mechanism

	MECHANISMS=()
	"$BBTRACE" doctor >"$T/doctor" 2>&1
	for mechanism in uprobe_multi uprobe_event; do
		if grep -q "^$mechanism  *yes" "$T/doctor" || printf '6.6\n%s\n' "$(uname -r)" | sort -VC; then
			MECHANISMS+=("$mechanism")
		else
			skip $mechanism 'this kernel has it not'
		fi
	done
	for mechanism in executed_multi executed_event; do # where programs of uprobes may write registers
		! grep -q "^$mechanism  *yes" "$T/doctor" || MECHANISMS+=("$mechanism")
	done
}
has_mechanism() { [[ " ${MECHANISMS[*]} " == *" $1 "* ]]; }

# Do CAP_BPF and CAP_PERFMON suffice to trace a program? Not with level 3 of perf_event_paranoid, which Debian's kernels have.
two_capabilities_do() {
	(($(</proc/sys/kernel/perf_event_paranoid) < 3)) && "$BBTRACE" doctor | grep -q '^uprobe_multi  *yes'
}

# Can a process get mount and PID namespaces of its own here? Tested once.
# sudo 1.9.16 and later sets the hard limit to 0, which only a process with CAP_SYS_RESOURCE can raise.
NO_DUMPS='no core can be dumped here: the hard limit of its size is 0'
may_dump() { (ulimit -c unlimited) 2>/dev/null; }

NO_NAMESPACES='no mount and PID namespace can be made here (a chroot?)'
own_namespaces() {
	[[ ${tap_namespaces:=$(unshare --mount --pid --fork --mount-proc --propagation private true 2>"$T/unshare" && echo yes ||
		echo no)} == yes ]]
}

pmu() { [[ -e /sys/bus/event_source/devices/$1/type ]]; }

# bb ARG...: runs bbtrace; stdout in $T/out, stderr in $T/err, exit status in $status; 124: it took too long.
bb() {
	timeout -k 10 "$BB_TIMEOUT" "$BBTRACE" "$@" >"$T/out" 2>"$T/err" </dev/null
	status=$?
}

# recorded NAME VERB ARG...: $T/trace is a trace file of bbtrace VERB ARG...; without root it is the kept one.
recorded() {
	if is_root; then
		if [[ " $* " == *' -c '* ]]; then bb "$2" --record "$T/trace" "${@:3}"; else bb "$2" -o "$T/trace" "${@:3}"; fi
	fi
	kept "$1"
}
KEPT_CC=12.2.0 # the compiler of the programs that tests/recorded has traces of
# kept NAME: of a test that makes $T/trace itself: without root it is tests/recorded/NAME.bbt; with root that has to have the
# calls of the new one. RECORD=1: it is replaced (tests/recorded/record.sh).
kept() {
	local kept=$ROOT/tests/recorded/$1.bbt

	if ! is_root; then
		install -m 644 "$kept" "$T/trace" || exit 2
		status=0
		return
	fi
	[[ ! ${RECORD:-} ]] || install -D -m 644 "$T/trace" "$kept"
	[[ -e $kept ]] || return 0
	if [[ $(calls_in "$kept") != "$(calls_in "$T/trace")" && $("${CC:-cc}" -dumpfullversion) != "$KEPT_CC" ]]; then
		skip "tests/recorded/$1.bbt has the calls of a new trace" "it was recorded of what gcc $KEPT_CC makes"
	else
		is "$(calls_in "$kept")" "$(calls_in "$T/trace")" "tests/recorded/$1.bbt has the calls of a new trace"
	fi
}
calls_in() { # TRACE-FILE
	"$BBTRACE" report "$1" -q -F json | grep -v '^{"event":"branch"' >"$T/calls"
	json_lines "$T/calls" '$e->{symbol} && "$e->{event} $e->{symbol}"' | sort | uniq -c
}

# exits STATUS NAME: the last bb had this status; otherwise shows its stderr.
exits() {
	[[ $status == "$1" ]]
	ok $? "$2" || diag "status $status, wanted $1; stderr:"$'\n'"$(head -20 "$T/err")"
}

# summary FIELD: a number from the summary line of the last bb: functions probes skipped events lost unmatched
summary() {
	sed -n '$s/.*[ (]\([0-9][0-9]*\) '"${1%s}"'s\{0,1\}[ ,)]*.*/\1/p' "$T/err"
}

# json FILE EXPR: prints the number of lines for which the Perl expression is true; $e is the decoded object. For a line
# that isn't JSON it prints "line N: not JSON".
json() {
	perl -I"$ROOT/tests/check" -MJson -e '
		my ($file, $expr) = @ARGV;
		my $test = eval "sub { my \$e = \$_[0]; $expr }" or die $@;
		my $n = 0;
		open my $fh, "<", $file or die "$file: $!\n";
		while (my $line = <$fh>) {
			my $e = eval { Json::parse($line) };
			print("line $.: not JSON\n"), exit 1 unless ref $e;
			$n++ if $test->($e);
		}
		print "$n\n"' "$1" "$2"
}

# json_lines FILE EXPR: prints the expression's value for each line where it is defined and not empty, one per line.
json_lines() {
	perl -I"$ROOT/tests/check" -MJson -e '
		my ($file, $expr) = @ARGV;
		my $value = eval "sub { my \$e = \$_[0]; $expr }" or die $@;
		open my $fh, "<", $file or die "$file: $!\n";
		while (my $line = <$fh>) {
			my $v = $value->(Json::parse($line));
			print "$v\n" if defined $v && length $v;
		}' "$1" "$2"
}

# program NAME [FLAG...]: builds tests/progs/NAME.c, .cc or .S as $T/NAME. Bails out if that fails.
program() {
	local name=$1 compiler=${CC:-cc} source
	shift

	for source in "$ROOT/tests/progs/$name".{c,cc,S}; do
		[[ -e $source ]] || continue
		[[ $source == *.cc ]] && compiler=${CXX:-c++}
		"$compiler" -g -O2 "$@" -o "$T/$name" "$source" && return
	done
	echo "program $name: cannot be built" >&2
	exit 2
}

# By machine: the register of a call's first argument; a jump.
# shellcheck disable=SC2034 # tests use them
case $(uname -m) in
aarch64) ARGUMENT=x0 JUMP=b ;;
riscv64) ARGUMENT=a0 JUMP=j ;;
*) ARGUMENT=rdi JUMP=jmp ;;
esac

# private_copy COMMAND: copies its file and its libraries, so that even a system-wide probe in them affects no other
# process. PRIVATE is the folder (its libc: $PRIVATE/libc.so.6); run it as
#   "${PRIVATE_RUN[@]}" ARG...
# The copy's own dynamic loader runs it, so /proc/PID/exe and comm name the loader.
private_copy() {
	local file loader library

	file=$(realpath "$(command -v "$1")") || exit 2
	PRIVATE=$T/private-${1##*/}
	mkdir -p "$PRIVATE"
	cp "$file" "$PRIVATE/"
	while read -r library; do
		cp -L "$library" "$PRIVATE/"
		[[ ${library##*/} == ld-* || ${library##*/} == ld.so* ]] && loader=$PRIVATE/${library##*/}
	done < <(ldd "$file" | grep -o '/[^ ]*')
	[[ ${loader:-} ]] || { echo "private_copy $1: not dynamically linked" >&2 && exit 2; }
	# shellcheck disable=SC2034 # the test uses it
	PRIVATE_RUN=("$loader" --library-path "$PRIVATE" "$PRIVATE/${file##*/}")
}

# background COMMAND...: starts it, and ends it with the test; its pid is in $background. Streams: $T/bg.out, bg.err.
background() {
	"$@" >"$T/bg.out" 2>"$T/bg.err" </dev/null &
	background=$!
	at_end "kill $background 2>/dev/null; wait $background 2>/dev/null"
}

# has_threads PID N: has it so many, and so begun?
has_threads() { (($(find "/proc/$1/task" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l) >= $2)); }

# wait_for SECONDS COMMAND...: repeats the command until it succeeds; status 1 if it never does.
wait_for() {
	local end=$((SECONDS + $1))
	shift

	until "$@"; do
		((SECONDS < end)) || return 1
		sleep 0.05
	done
}

# source_program NAME LANGUAGE [FLAG...]: builds the program on standard input as $T/NAME; its source is kept as
# $T/NAME.c or NAME.cc. LANGUAGE: c or c++.
source_program() {
	local name=$1 language=$2 compiler=${CC:-cc} file=$T/$1.c
	shift 2

	[[ $language == c ]] || { compiler=${CXX:-c++} && file+=c; }
	cat >"$file"
	"$compiler" -g -O1 -o "$T/$name" "$file" "$@" || { echo "source_program $name: cannot be built" >&2 && exit 2; }
}

# tracefs_instance KB: an instance of the kernel's own tracer, of KB for each CPU, which follows forks, as $instance;
# status 1: there are none here.
tracefs_instance() {
	[[ -d /sys/kernel/tracing/events ]] || mount -t tracefs none /sys/kernel/tracing 2>/dev/null
	instance=/sys/kernel/tracing/instances/bbtrace-test-$$
	mkdir "$instance" 2>/dev/null || return
	at_end "echo 0 >$instance/tracing_on; rmdir $instance 2>/dev/null"
	echo 1 >"$instance/options/event-fork"
	echo "$1" >"$instance/buffer_size_kb"
}

# symbol OBJECT NAME: its link-time address; symbol_size: its size; both in decimal.
symbol() { nm "$1" | awk -v n="$2" '$3 == n { print "0x" $1; exit }' | { read -r v && echo $((v)); }; }
symbol_size() { nm -S "$1" | awk -v n="$2" '$4 == n { print "0x" $2; exit }' | { read -r v && echo $((v)); }; }

# file_offset OBJECT VADDR: the file offset of that link-time address, as 0xOFF.
file_offset() {
	readelf -lW "$1" | while read -r type offset vaddr _ size _; do
		[[ $type == LOAD ]] && (($2 >= vaddr && $2 < vaddr + size)) && printf '0x%x\n' $(($2 - vaddr + offset))
	done
}

# entries SYMBOL, returns SYMBOL: their number in the last `bb … -F json -o $T/json`.
entries() { json "$T/json" "\$e->{event} eq 'entry' && \$e->{symbol} eq '$1'"; }
returns() { json "$T/json" "\$e->{event} eq 'return' && \$e->{symbol} eq '$1'"; }
# steps FILE: a trace as JSON or text, without what differs from run to run and between probes and copies.
steps() {
	sed -E 's/,?"(ts|pid|tid|ns_pid|cpu|duration_ns|net_ns|since_entry_ns|probes|hits|hits_unpriced|tracing_ns|below_noise|realtime_offset_ns)":("[^"]*"|[^,}]*)//g; s/,"implied":true//; s/0x[0-9a-f]{9,}/ADDRESS/g' "$1"
}
# symbols: the names of all entries, sorted.
symbols() { json_lines "$T/json" '$e->{event} eq "entry" && $e->{symbol}' | sort -u | xargs; }

# in_place FILE OBJECT NAME: in a file of JSON lines, all places and targets in OBJECT have the symbol and offset that nm has
# for their address; and there is at least one.
in_place() {
	local wrong

	wrong=$(perl -I"$ROOT/tests/check" -MJson -e '
		my ($file, $object) = @ARGV;
		my ($n, @symbols) = (0);
		for (qx(nm --plugin /dev/null -S "$object")) {
			push @symbols, [hex $1, hex $2, $3] if /^(\w+) (\w+) [tTwW] (\S+)/;
		}
		sub look {
			my $p = shift;
			return unless ref $p && ($p->{object} // "") eq $object && defined $p->{vaddr};
			my $at = hex $p->{vaddr};
			my @in = grep { $at >= $_->[0] && $at < $_->[0] + $_->[1] } @symbols;
			return unless @in;
			$n++;
			return if grep { ($p->{symbol} // "") eq $_->[2] && ($p->{offset} // -1) == $at - $_->[0] } @in;
			printf "line %d: %s+%s is at %s, nm: %s+%d\n", $., $p->{symbol} // "nothing", $p->{offset} // "", $p->{vaddr},
				$in[0][2], $at - $in[0][0];
		}
		open my $fh, "<", $file or die "$file: $!\n";
		while (my $line = <$fh>) {
			my $e = Json::parse($line);
			look($_) for $e, $e->{to}, map { $_->{to} } @{$e->{targets} // []};
		}
		print "no place in $object\n" unless $n' "$1" "$2" 2>&1)
	[[ -z $wrong ]]
	ok $? "$3" || diag "$(head -20 <<<"$wrong")"
}

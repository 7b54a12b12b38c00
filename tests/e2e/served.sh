# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# For tests of a running process; to be sourced after lib.sh. served.c is a program that executes commands:
#
#   build_served                       # $T/served; work() and tick() are its functions
#   serve one "$T/served"              # started; its pid in $pid_one
#   watch -p "$pid_one"                # bbtrace user $T/served tick work -F json …, until the probes are live
#   tell one 'work 5'                  # returns when the command is done; its output is in $T/one.out
#   stop_watching INT                  # sets $status and $T/err as bb does; the trace is $T/watch.json
#   is "$(json "$T/watch.json" '$e->{event} eq "entry" && $e->{symbol} eq "work"')" 5 'each call'

build_served() {
	"${CC:-cc}" -g -O2 -pthread "$@" -o "$T/served" "$E2E/served.c" || exit 2
}

# serve NAME COMMAND...: starts it with a fifo as its input, which stays open here.
serve() {
	local name=$1 fd
	shift

	mkfifo "$T/$name.in"
	: >"$T/$name.out"
	"$@" <"$T/$name.in" >"$T/$name.out" 2>"$T/$name.err" &
	declare -g "serving_$name=$!"
	exec {fd}>"$T/$name.in"
	declare -g "fd_$name=$fd"
	at_end "kill -9 $! 2>/dev/null; wait $! 2>/dev/null"
	wait_for $PATIENCE grep -q '^ready' "$T/$name.out" || { echo "serve $name: not ready" >&2 && exit 2; }
	declare -g "pid_$name=$(sed -n 's/^ready //p;q' "$T/$name.out")"
}

# tell NAME LINE: sends a command and waits until it is done.
tell() {
	local fd=fd_$1 done_before

	done_before=$(grep -c '^did' "$T/$1.out")
	echo "$2" >&"${!fd}"
	wait_for $PATIENCE did_more "$1" "$done_before" || { echo "tell $1 '$2': no answer" >&2 && exit 2; }
}

did_more() { (($(grep -c '^did' "$T/$1.out") > $2)); }

# tell_off NAME LINE: sends a command that ends the process, and waits for the end; its status is in $ended.
tell_off() {
	local fd=fd_$1 pid=serving_$1

	echo "$2" >&"${!fd}"
	wait "${!pid}"
	# shellcheck disable=SC2034 # the test uses it
	ended=$?
}

# watch OPTION...: traces tick and work in the background, to $T/watch.json.
watch() { watch_object "$T/served" tick work "$@"; }

# watch_object OBJECT FUNC... OPTION...: one of the functions must be tick, or another that is called all the time.
watch_object() {
	rm -f "$T/watch.json"
	# shellcheck disable=SC2086 # options
	"$BBTRACE" user "$@" ${BBFLAGS:-} -F json -o "$T/watch.json" >"$T/out" 2>"$T/err" </dev/null &
	watching=$!
	at_end "kill -9 $watching 2>/dev/null; wait $watching 2>/dev/null"
	wait_for $PATIENCE is_live && return
	echo "watch $*: no event came" >&2
	cat "$T/err" >&2
	exit 2
}

is_live() { [[ -s $T/watch.json ]] || ! kill -0 $watching 2>/dev/null; }

# stop_watching [SIGNAL]: ends the watch; without a signal, waits until it ends.
stop_watching() {
	[[ ${1:-} ]] && kill "-$1" $watching
	wait $watching
	# shellcheck disable=SC2034 # exits uses it
	status=$?
}

# calls [PERL]: the number of calls of work in the trace, or of those for which the expression is true.
calls() { json "$T/watch.json" "\$e->{event} eq 'entry' && \$e->{symbol} eq 'work' && (${1:-1})"; }

# armed PID OBJECT FUNC: prints yes or no: is there a breakpoint in the process's mapping of the function?
armed() {
	perl -e '
		my ($pid, $path, $name) = @ARGV;
		my ($vaddr, $size) = map { (hex $_->[1], $_->[2]) } grep { @$_ == 8 && $_->[7] eq $name }
			map { [split] } `readelf -sW \Q$path\E`;
		my ($at) = map { $vaddr - hex($_->[2]) + hex $_->[1] } grep {
			@$_ && $_->[0] eq "LOAD" && hex($_->[2]) <= $vaddr && $vaddr < hex($_->[2]) + hex $_->[4]
		} map { [split] } `readelf -lW \Q$path\E`;
		open my $maps, "<", "/proc/$pid/maps" or die "maps: $!";
		my ($start) = map { $_->[0] + $at - $_->[2] } grep { $at >= $_->[2] && $at < $_->[2] + $_->[1] - $_->[0] }
			map { /^(\w+)-(\w+) ..x. (\w+) \S+ \d+\s+\Q$path\E$/ ? [hex $1, hex $2, hex $3] : () } <$maps>;
		sub bytes {
			my ($file, $where) = @_;
			open my $f, "<:raw", $file or die "$file: $!";
			sysseek($f, $where, 0) && sysread($f, my $data, $size) == $size or die "$file: cannot read";
			return $data;
		}
		print bytes("/proc/$pid/mem", $start) eq bytes($path, $at) ? "no" : "yes", "\n"' "$@"
}

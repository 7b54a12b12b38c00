#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# -k with --engine inline: the copies log the same call stacks as probes record, in all threads and processes, on other
# stacks, and in processes that run already.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/lib.sh"
. "$E2E/served.sh"
needs root uprobes
[[ $(uname -m) == x86_64 ]] || skip_all 'functions are copied on x86-64 only'

# The stacks of each thread in order, by symbols, and how they end. What has no symbol has none in any engine.
stacks() {
	json_lines "$1" '$e->{event} eq "entry" && join " ", $e->{tid}, (map { $_->{symbol} // "?" } @{$e->{stack}}), $e->{stack_end} // "whole"' |
		awk '!($1 in n) { n[$1] = ++all } { $1 = n[$1]; print }' | sort -s -n -k 1,1
}
# same NAME PROGRAM FUNC ARG...: both engines; more stacks are longer than the caller in all of them.
same() {
	local engine

	for engine in probe inline; do
		bb user "$T/$2" "$3" -k --stack-size 0 -f -F json -o "$T/$engine" --engine $engine -- "$T/$2" "${@:4}"
		is "$(summary lost)" 0 "$1, $engine: nothing is lost"
		stacks "$T/$engine" >"$T/$engine.stacks"
	done
	ok "$(diff "$T/probe.stacks" "$T/inline.stacks" >"$T/diff"; echo $?)" "$1: the same stacks" ||
		diag "$(head -20 "$T/diff")"
}
keep=(-O1 -fno-omit-frame-pointer)
program frames "${keep[@]}"
program forks "${keep[@]}"
program threads "${keep[@]}"
program altstack "${keep[@]}"
program ownstack "${keep[@]}"
program deep "${keep[@]}"
for p in 'frames leaf' 'frames leaf 100' 'forks *' 'threads *' 'altstack *' 'ownstack *' 'deep *'; do
	set -f
	# shellcheck disable=SC2086
	same "$p" $p
	set +f
done

# ---- a process that runs already: its first thread, others, and their handlers ----
build_served -fno-omit-frame-pointer
serve one "$T/served"
for engine in probe inline; do
	watch -p "$pid_one" -k --stack-size 0 --engine $engine
	tell one 'work 5'
	stop_watching INT
	stacks "$T/watch.json" | grep ' work ' >"$T/$engine.stacks"
done
ok "$(diff "$T/probe.stacks" "$T/inline.stacks" >"$T/diff"; echo $?)" '-p: the same stacks' || diag "$(head "$T/diff")"
is "$(grep -c 'work .*main' "$T/inline.stacks")" 5 '-p: they reach what ran before'
done_testing

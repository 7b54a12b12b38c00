#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# -f traces the children of traced processes, and their children; without -f neither is traced.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/lib.sh"
. "$E2E/served.sh"
needs root uprobes
mechanisms

program forks -O1
program fib -O1
"$T/forks" >"$T/plain"
cat >"$T/script" <<END
"$T/fib"
sh -c '"$T/fib"; exit 4'
END

for attach in "${MECHANISMS[@]}"; do
	bb user "$T/forks" split sum_to --attach $attach -F json -o "$T/json" -- "$T/forks"
	exits 0 "$attach: a program that forks is traced without -f"
	same "$T/out" "$T/plain" "$attach: without -f a program that forks prints what it always does"
	is "$(entries split) $(returns split) $(entries sum_to)" '1 1 1' "$attach: without -f only the parent's calls are shown"
	is "$(json_lines "$T/json" '$e->{pid}' | sort -u | wc -l)" 1 "$attach: without -f one process is shown"

	bb user "$T/forks" split sum_to -f --attach $attach -F json -o "$T/json" -- "$T/forks"
	exits 0 "$attach: a program that forks is traced with -f"
	same "$T/out" "$T/plain" "$attach: with -f a program that forks prints what it always does"
	is "$(entries split) $(returns split) $(entries sum_to) $(returns sum_to)" '1 2 2 2' \
		"$attach: with -f a child's calls are shown, and it returns from what its parent called"
	is "$(json_lines "$T/json" '$e->{pid}' | sort -u | wc -l)" 2 "$attach: with -f two processes are shown"

	bb user "$T/fib" fib -f --attach $attach -F json -o "$T/json" -- sh "$T/script"
	exits 4 "$attach: -f: a shell and its children's children are traced"
	is "$(entries fib) $(returns fib)" '354 354' "$attach: -f: the calls of a shell's children's children are shown"
done
bb user "$T/fib" fib -F json -o "$T/json" -- sh "$T/script"
is "$status $(entries fib)" '4 0' "without -f no call of a shell's children is shown"

# ---- -p ----
build_served
serve one "$T/served"
watch -p "$pid_one"
tell one 'work 2'
tell one 'fork 3'
stop_watching INT
is "$status $(calls)" '0 2' "-p without -f shows the process's calls alone"
watch -f -p "$pid_one"
tell one 'work 2'
tell one 'fork 3'
stop_watching INT
is "$status $(calls) $(calls "\$e->{pid} != $pid_one")" '0 5 3' "-p with -f shows the calls of the process and of its later children"

# ---- the process becomes another program, or this one once more ----
watch -p "$pid_one"
tell one 'work 2'
echo exec >&"${fd_one:?}"
tell one 'work 3'
stop_watching INT
is "$status $(calls) $(summary lost)" '0 5 0' '-p shows the calls of a process before and after its exec'
done_testing

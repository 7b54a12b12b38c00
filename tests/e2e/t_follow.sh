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
	exits 0 "$attach: without -f"
	same "$T/out" "$T/plain" 'a program that forks ends as ever'
	is "$(entries split) $(returns split) $(entries sum_to)" '1 1 1' 'only the parent'
	is "$(json_lines "$T/json" '$e->{pid}' | sort -u | wc -l)" 1 'one process'

	bb user "$T/forks" split sum_to -f --attach $attach -F json -o "$T/json" -- "$T/forks"
	exits 0 "$attach: with -f"
	same "$T/out" "$T/plain" 'a program that forks ends as ever'
	is "$(entries split) $(returns split) $(entries sum_to) $(returns sum_to)" '1 2 2 2' \
		'the child, and that it returns from what its parent called'
	is "$(json_lines "$T/json" '$e->{pid}' | sort -u | wc -l)" 2 'two processes'

	bb user "$T/fib" fib -f --attach $attach -F json -o "$T/json" -- sh "$T/script"
	exits 4 "$attach: -f through a shell and its children's children"
	is "$(entries fib) $(returns fib)" '354 354' 'what they run'
done
bb user "$T/fib" fib -F json -o "$T/json" -- sh "$T/script"
is "$status $(entries fib)" '4 0' 'without -f: nothing, the shell does not call it'

# ---- -p ----
build_served
serve one "$T/served"
watch -p "$pid_one"
tell one 'work 2'
tell one 'fork 3'
stop_watching INT
is "$status $(calls)" '0 2' '-p: the process'
watch -f -p "$pid_one"
tell one 'work 2'
tell one 'fork 3'
stop_watching INT
is "$status $(calls) $(calls "\$e->{pid} != $pid_one")" '0 5 3' '-p with -f: and the children that it makes'

# ---- the process becomes another program, or this one once more ----
watch -p "$pid_one"
tell one 'work 2'
echo exec >&"${fd_one:?}"
tell one 'work 3'
stop_watching INT
is "$status $(calls) $(summary lost)" '0 5 0' '-p: across an exec'
done_testing

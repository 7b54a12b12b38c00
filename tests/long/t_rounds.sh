#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --engine inline -p PID, ten thousand times (ROUNDS), in each use of the engine in turn: a program with 16 busy threads,
# redis under redis-benchmark, nginx under ab, and python3 that runs one of its own tests over and over. Their answers are
# right, and each time their code is as before. PROGRAMS: only those whose name matches.
# shellcheck disable=SC2154,SC2317 # lib.sh sets background; load calls asks
. "$(dirname "$0")/../e2e/lib.sh"
. "$E2E/rounds.sh"
needs root uprobes
[[ $(uname -m) == x86_64 ]] || skip_all 'functions are copied on x86-64 only'
ROUNDS=${ROUNDS:-10000}
wanted() { [[ $1 =~ ${PROGRAMS:-.} ]]; }

# load COMMAND...: repeats it until $T/until is there; $T/load.failed: it failed. Its last output is in $T/load.
load() {
	while [[ ! -e $T/until ]]; do
		"$@" >"$T/load.new" 2>&1 || cat "$T/load.new" >>"$T/load.failed"
		mv "$T/load.new" "$T/load"
		echo >>"$T/loads"
	done
}
begin_load() {
	rm -f "$T/until" "$T/load.failed" "$T/loads"
	load "$@" &
	loader=$!
	wait_for "$PATIENCE" test -e "$T/loads"
}
end_load() { # NAME
	: >"$T/until"
	wait "$loader"
	is "$(cat "$T/load.failed" 2>/dev/null)" '' "$1: all answers are right: $(wc -l <"$T/loads") times"
}

if wanted busy; then
	program busy -pthread
	# its threads leave bbtrace a processor: else most of a round would be waiting for one
	background nice -n 19 "$T/busy" until "$T/until"
	wait_for "$PATIENCE" has_threads "$background" 17
	rounds "$ROUNDS" busy "$background" "$T/busy"
	: >"$T/until"
	wait "$background"
	is "$? $(<"$T/bg.out")" '0 right' 'busy: each thread has computed right'
fi

if wanted redis && command -v redis-server redis-benchmark redis-cli >/dev/null; then
	cp "$(realpath "$(command -v redis-server)")" "$T/redis"
	background "$T/redis" --port 0 --unixsocket "$T/socket" --save '' --appendonly no
	wait_for "$PATIENCE" test -S "$T/socket"
	redis() { redis-cli -s "$T/socket" "$@"; }
	# each value is written and read again, and a sum is kept
	asks() {
		local n

		redis-benchmark -s "$T/socket" -q -n 5000 -c 10 -t set,get,lpush,lpop,zadd,mset || return
		n=$(redis eval 'local s = 0 for i = 1, 2000 do redis.call("set", "k" .. i, i * 7) end
			for i = 1, 2000 do s = s + redis.call("get", "k" .. i) end return s' 0)
		[[ $n == 14007000 ]] || { echo "the sum is $n" && return 1; }
	}
	begin_load asks
	rounds "$ROUNDS" redis "$background" "$T/redis"
	end_load redis
	is "$(redis ping)" PONG 'redis: it answers'
	kill "$background"
elif wanted redis; then
	skip redis 'needs redis-server and redis-tools'
fi

if wanted nginx && command -v nginx ab >/dev/null; then
	cp "$(realpath "$(command -v nginx)")" "$T/nginx"
	seq 1 2000 >"$T/page"
	chmod 755 "$T"
	cat >"$T/nginx.conf" <<-END
		daemon off; master_process off; pid $T/nginx.pid; error_log $T/nginx.err; events { worker_connections 100; }
		http { access_log off; gzip on; gzip_types *; server { listen 127.0.0.1:${PORT:-7713}; root $T; } }
	END
	background "$T/nginx" -p "$T" -c "$T/nginx.conf"
	page="127.0.0.1:${PORT:-7713}/page"
	wait_for "$PATIENCE" test -s "$T/nginx.pid"
	asks() {
		ab -q -n 500 -c 10 -H 'Accept-Encoding: gzip' "$page" | grep '^Failed requests: *0$' &&
			curl -s --compressed "$page" | cmp - "$T/page"
	}
	begin_load asks
	rounds "$ROUNDS" nginx "$background" "$T/nginx"
	end_load nginx
	kill "$background"
elif wanted nginx; then
	skip nginx 'needs nginx-light and apache2-utils'
fi

if wanted python3 && /usr/bin/python3 -c 'import test.test_dict' 2>/dev/null; then
	cat >"$T/loop.py" <<-'END'
		import io, os, sys, unittest
		import test.test_dict
		ok, n = True, 0
		while ok and not os.path.exists(sys.argv[1]):
		    suite = unittest.defaultTestLoader.loadTestsFromModule(test.test_dict)
		    result = unittest.TextTestRunner(stream=io.StringIO()).run(suite)
		    ok = result.wasSuccessful() and result.testsRun > 50
		    n += 1
		    print(n, result.errors, result.failures, file=sys.stderr, flush=True)
		print("right" if ok else "wrong")
	END
	rm -f "$T/until"
	background /usr/bin/python3 "$T/loop.py" "$T/until"
	wait_for "$PATIENCE" test -s "$T/bg.err"
	rounds "$ROUNDS" python3 "$background" "$(realpath /usr/bin/python3)"
	: >"$T/until"
	wait "$background"
	is "$? $(<"$T/bg.out")" '0 right' 'python3: its test passes each time' || diag "$(tail -n 2 "$T/bg.err")"
elif wanted python3; then
	skip python3 'Debian has its tests not here: they come with python3-full'
fi
done_testing

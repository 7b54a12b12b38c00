#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The commands of docs/jobs.md, as they stand there, on the programs that they name: each shows what the page says.
# shellcheck disable=SC2154 # lib.sh sets status
. "$(dirname "$0")/../e2e/lib.sh"
needs root uprobes cmd:tar cmd:jq cmd:lua5.4 cmd:redis-server cmd:redis-cli cmd:nginx cmd:curl
page=$ROOT/docs/jobs.md
mkdir "$T/bin"
ln -s "$BBTRACE" "$T/bin/bbtrace"
export PATH=$T/bin:$PATH:/usr/sbin LC_ALL=C
cd "$T" || exit 2
jobs=$ROOT/tests/long/jobs
"${CC:-gcc}" -O2 -s -o crackme "$jobs/crackme.c" && "${CC:-gcc}" -g -O1 -pthread -o dead "$jobs/dead.c" &&
	"${CC:-gcc}" -g -O1 -fno-inline -o v1 "$jobs/price.c" && "${CC:-gcc}" -g -O1 -fno-inline -DNEW -o v2 "$jobs/price.c" || exit 2
echo '{"a": [1, 2,}' >bad.json
echo 'local t = {} print(t.x.y)' >e.lua
printf '%s\n' 'import re' "print(re.match(r'(a+)+\$', 'a' * 26 + 'b'))" >regex.py

# job COMMAND PID REGEX...: the page has this command; with that process for its name, if PID isn't "", each REGEX matches a line.
job() {
	local command=$1 pid=$2 run=$1 regex

	grep -qxF "    $command" "$page"
	ok $? "the page has: $command"
	[[ ! $pid ]] || run=$(sed -E "s/ -p [a-z-]+/ -p $pid/; s/ stack [a-z]+/ stack $pid/" <<<"$command")
	timeout -k 10 "$BB_TIMEOUT" bash -c "$run" >"$T/out" 2>"$T/err" </dev/null
	for regex in "${@:3}"; do like "$T/out" "$regex" "$command: $regex"; done
}

job 'bbtrace why -- ./crackme eggsix' '' '^  because .* jne taken$' '^    tested: cmp e[a-d]x, e[a-d]x: 0x4d vs 0x5e$'
job 'bbtrace why -- tar cf x.tar missing' '' 'newfstatat\(AT_FDCWD, "missing", \.\.\.\) = -2 ENOENT' '^  decided by ' '^  passed on by '
job 'bbtrace why --again -- jq . bad.json' '' 'its text is in jv_parser_next\+0x[0-9a-f]+ of libjq'
job 'bbtrace why -- lua5.4 e.lua' '' 'attempt to index a nil value' '^  after __longjmp_chk, ' '^  because '

redis-server --port 7877 --save '' >redis.log 2>&1 &
redis=$!
wait_for $PATIENCE redis-cli -p 7877 ping
redis-cli -p 7877 eval 'for i=1,300000 do redis.call("set", "user:" .. i, i) end' 0 >/dev/null
(while redis-cli -p 7877 keys '*999*' >/dev/null 2>&1; do sleep 0.05; done) &
client=$!
job 'bbtrace top -p redis-server -d 5' $redis ' keysCommand$' ' dictNext$'
job 'bbtrace slow call -p redis-server -t 5' $redis '^call: [0-9]+ calls' 'call keysCommand'
kill $redis
wait $client $redis 2>/dev/null

job 'bbtrace top -d 5 -- python3 regex.py' '' '^ *self +total +function' '100\.0%  \[?(python3|sre_|_start)'

mkdir ngx
head -c 300000 /dev/zero >ngx/file
cat >nginx.conf <<END
daemon off;
master_process off;
pid $T/ngx/pid;
error_log $T/ngx/error;
events {}
http {
	access_log off;
	client_body_temp_path $T/ngx/b;
	proxy_temp_path $T/ngx/p;
	fastcgi_temp_path $T/ngx/f;
	uwsgi_temp_path $T/ngx/u;
	scgi_temp_path $T/ngx/s;
	server {
		listen localhost:8877;
		root $T/ngx;
		limit_rate 50k;
	}
}
END
nginx -e "$T/ngx/error" -c "$T/nginx.conf" &
nginx=$!
wait_for $PATIENCE curl -sf -o /dev/null -r 0-0 localhost:8877/file
curl -s -o /dev/null localhost:8877/file &
job 'bbtrace stack nginx' $nginx 'waits in epoll_wait for .*tcp [0-9.:]+:8877 -> '
job 'bbtrace user nginx ngx_http_write_filter --why -p nginx -t 5' $nginx 'test (r[a-z0-9]+), \1: 0xc800$' 'call  -> ngx_rbtree_insert'
kill $nginx
wait

./dead &
dead=$!
wait_for $PATIENCE grep -q futex_ "/proc/$dead/wchan" || sleep 1
job 'bbtrace stack dead' $dead '^deadlock  thread [0-9]+ waits for 0x[0-9a-f]+ \([ab]\) of thread [0-9]+, which waits for 0x[0-9a-f]+ \([ab]\) of thread [0-9]+$'
kill $dead
wait 2>/dev/null

# shellcheck disable=SC2016 # the page's own
job 'for v in v1 v2; do bbtrace user ./$v '\''*'\'' -q -o $v.bbt -- ./$v 5 10 15; done' '' '^9$'
job 'bbtrace diff v1.bbt v2.bbt' '' '^difference 1 of 1: ' 'price\.c:[0-9]+: +if \(n > 10\)'

cat >tests.sh <<'END'
build/price 5
END
mkdir build
cp v1 build/price
job "bbtrace cover --objects 'build/**' --fail-under 80 -o lcov.info -- sh tests.sh" ''
like "$T/err" 'covered [0-9]+ of [0-9]+ lines' 'cover: a line of summary'
like lcov.info '^DA:' 'and a file for genhtml'

cp v1 lua
job "bbtrace user ./lua '*' -F autofdo:gcc -o lua.afdo -- ./lua bench.lua" ''
sed 's/lua\.c/price.c/' <<<'gcc -O2 -g -fauto-profile=lua.afdo -o lua-fast lua.c' >./build.sh
grep -qxF '    gcc -O2 -g -fauto-profile=lua.afdo -o lua-fast lua.c' "$page" && cp "$jobs/price.c" . && bash ./build.sh 2>"$T/err"
is "$? $(grep -c profile "$T/err")" '0 0' 'gcc reads the profile'
done_testing

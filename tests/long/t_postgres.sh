#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2154,SC2016 # lib.sh sets T; Perl's variables
# The static probes of PostgreSQL as Debian ships it, with what they pass: the queries that were sent, of server processes
# that are forked for them; beside the server's own log.
. "$(dirname "$0")/../e2e/lib.sh"
needs root uprobes cmd:psql cmd:setpriv
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
[[ -x $bin/postgres ]] || skip_all 'needs postgresql'

as_postgres() { setpriv --reuid postgres --regid postgres --clear-groups -- "$@"; }
chmod 755 "$T"
mkdir "$T/data"
chown postgres: "$T/data"
(cd "$T/data" && as_postgres "$bin/initdb" -D "$T/data" >"$T/initdb" 2>&1) || { diag "$(tail -n 5 "$T/initdb")"; exit 1; }
as_postgres "$bin/postgres" -D "$T/data" -c listen_addresses= -c unix_socket_directories="$T/data" -c log_statement=all >"$T/log" 2>&1 &
server=$!
at_end "kill -INT $server 2>/dev/null"
query() { as_postgres psql -qAt -h "$T/data" postgres "$@"; }
wait_for "$PATIENCE" query -c 'select 1' >/dev/null 2>&1

is "$("$BBTRACE" list --events "$bin/postgres" | sed -n 's/^postgresql:\(query__[a-z]*\)  .*/\1/p' | sort -u | xargs)" \
	"$(readelf -n "$bin/postgres" | sed -n 's/^ *Name: \(query__[a-z]*\)$/\1/p' | sort -u | xargs)" 'its probes are listed as readelf lists them'
"$BBTRACE" event "usdt:$bin/postgres:query__*" -p "$server" -f -F json -o "$T/json" 2>"$T/bb.err" &
trace=$!
at_end "kill $trace 2>/dev/null"
wait_for "$PATIENCE" "$BBTRACE" ctl $trace status >/dev/null 2>&1
: >"$T/log"
for i in 1 2 3 4 5; do
	query -c "create table t$i (n int)" -c "insert into t$i select generate_series(1, $i)" -c "select count(*) from t$i where n > 1"
done >"$T/answers"
is "$(xargs <"$T/answers")" '0 1 2 3 4' 'the answers are right'
"$BBTRACE" ctl $trace quit
wait $trace
is $? 0 'the trace ends well'
json_lines "$T/json" '$e->{name} =~ /query__start$/ && $e->{args}{arg0_text}' >"$T/got"
sed -n 's/^.*LOG:  statement: //p' "$T/log" >"$T/wanted"
same "$T/got" "$T/wanted" 'each query, as the server has logged it'
is "$(json "$T/json" '$e->{name} =~ /query__done$/')" "$(wc -l <"$T/wanted")" 'and each has its end'
is "$(json_lines "$T/json" '$e->{name} =~ /query__start$/ && $e->{pid}' | sort -u | wc -l)" 5 'of five processes'
done_testing

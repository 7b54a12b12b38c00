#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# docs/sql.md as it is: its tables read the JSON of three hosts' traces in DuckDB and ClickHouse, and its questions have the
# answers that a script finds in the JSON. Run by `make check-formats`; ROUNDS=1: a quarter of ten million lines. UPDATE=1
# writes the answers into the page: read that change before you commit it.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/../e2e/lib.sh"
needs root uprobes cmd:unshare cmd:perl file:/usr/include/lua5.3/lua.h file:/usr/include/lua5.4/lua.h
unset BBTRACE_ENGINE # as users have it

HERE=$ROOT/tests/formats
PAGE=$ROOT/docs/sql.md
DUCKDB=@duckdb/node-api@1.5.6-r.1
mkdir "$T/bin" "$T/hosts" "$T/page"
ln -s "$BBTRACE" "$T/bin/bbtrace"
PATH=$T/bin:$PATH
perl "$HERE/sql_page.pl" blocks "$PAGE" "$T/page"
questions=$(grep -c '^### ' "$PAGE")

exec 3>&1
# timed WHAT COMMAND...: says how long it took.
timed() {
	local what=$1 start=$EPOCHREALTIME status
	shift
	"$@"
	status=$?
	diag "$what: $(awk -v from="$start" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.1f s", to - from }')" >&3
	return $status
}

# ---- the traces: each in a UTS namespace, so that it has a host's name ----
cp docs/tasks/src/orders.* "$T/hosts"
cd "$T/hosts" || exit 2
if ! sh -e "$T/page/build.sh" >"$T/build.log" 2>&1 || ! sh -e "$T/page/orders.sh"; then
	echo "the page's program can't be built: $(tail -n 3 "$T/build.log")" >&2
	exit 2
fi
record() { # HOST LUA
	timeout -k 10 "$BB_TIMEOUT" unshare --uts sh -c 'hostname "$0" && exec "$@"' "$1" bbtrace user "./$2/orders" '*' -r none \
		--placement full -o "$1.trace" -- "./$2/orders" orders.lua "$1.txt" "${ROUNDS:-4}" >"$T/out" 2>"$T/err" </dev/null
	status=$?
	exits 0 "$1 is traced"
}
record web1 5.3
record web2 5.3
record web3 5.4
timed 'JSON is written' sh -e "$T/page/json.sh" 2>"$T/err"
ok $? 'each trace is written as JSON' || diag "$(cat "$T/err")"
diag "$(cat web?.json | wc -l) lines of events, $(du -cm web?.json | awk 'END { print $1 }') MiB; traces: $(du -cm ./*.trace | awk 'END { print $1 }') MiB"
is "$(tail -qn 1 web?.json | sed -E 's/.*"host":"(\w+)".*/\1/' | xargs)" 'web1 web2 web3' 'the name of each host is in its JSON'
is "$(tail -qn 1 web?.json | sed -E 's/.*"build_id":\["(\w+)".*/\1/' | xargs)" \
	"$(readelf -n 5.3/orders 5.3/orders 5.4/orders | awk '/Build ID/ { print $NF }' | xargs)" "so is each build's id"
timed 'the script reads it' perl "$HERE/sql_answers.pl" "$T" web1 web2 web3
for ((n = 1; n <= questions; n++)); do
	[[ -s $T/wanted.$n ]]
	ok $? "question $n has an answer"
done

# ---- answers ENGINE COMMAND...: asks each question ----
answers() {
	local engine=$1 n
	shift
	for ((n = 1; n <= questions; n++)); do
		timed "$engine, question $n" "$@" <"$T/page/$engine.$n.sql" >"$T/answer.$n" 2>"$T/err"
		ok $? "$engine: question $n is understood" || diag "$(head -n 5 "$T/err")"
		sed 1d "$T/answer.$n" >"$T/rows"
		same "$T/rows" "$T/wanted.$n" "$engine: question $n has the answer that is in the JSON"
		[[ ${UPDATE:-} ]] && continue
		is "$(head -n 1 "$T/answer.$n")" "$(cat "$T/page/columns.$n")" "$engine: question $n has the columns that the page shows"
	done
}

# ---- DuckDB ----
modules=$BUILD/npm
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
	skip DuckDB 'needs node and npm'
elif ! { mkdir -p "$modules" && npm install --prefix "$modules" --ignore-scripts --no-audit --no-fund "$DUCKDB" >"$T/npm.log" 2>&1 &&
	node -e "require('$modules/node_modules/@duckdb/node-api')" >>"$T/npm.log" 2>&1; }; then
	skip DuckDB "$DUCKDB can't be installed: $(tail -n 1 "$T/npm.log")"
else
	duckdb() { node "$HERE/duckdb.mjs" "$modules/node_modules" "$T/duckdb"; }
	timed 'DuckDB loads it' duckdb <"$T/page/duckdb.tables.sql" >"$T/out" 2>"$T/err"
	ok $? 'DuckDB reads the JSON as it is' || diag "$(head -n 5 "$T/err")"
	answers duckdb duckdb
	rm -f "$T/duckdb"
fi

# ---- ClickHouse: a server of our own, on a free port of the loopback ----
serve() {
	local port

	port=$(perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1")->sockport')
	mkdir -p "$T/clickhouse"
	cat >"$T/clickhouse/config.xml" <<-END
		<yandex>
			<logger><level>error</level><console>1</console></logger>
			<tcp_port>$port</tcp_port><listen_host>127.0.0.1</listen_host>
			<path>$T/clickhouse/data/</path><tmp_path>$T/clickhouse/tmp/</tmp_path>
			<mark_cache_size>100000000</mark_cache_size>
			<users_config>users.xml</users_config><default_profile>default</default_profile>
		</yandex>
	END
	cat >"$T/clickhouse/users.xml" <<-END
		<yandex>
			<profiles><default></default></profiles><quotas><default></default></quotas>
			<users><default><password></password><networks><ip>127.0.0.1</ip></networks>
				<profile>default</profile><quota>default</quota></default></users>
		</yandex>
	END
	cat >"$T/bin/clickhouse-client" <<-END
		#!/bin/sh
		exec $(command -v clickhouse-client) --port $port --join_default_strictness ALL "\$@"
	END
	chmod 755 "$T/bin/clickhouse-client"
	background "$(PATH=$PATH:/usr/sbin command -v clickhouse-server)" --config-file="$T/clickhouse/config.xml"
}
answering() { clickhouse-client --query 'SELECT 1' >/dev/null 2>&1; }

if ! (PATH=$PATH:/usr/sbin command -v clickhouse-server && command -v clickhouse-client) >/dev/null; then
	skip ClickHouse 'needs clickhouse-server and clickhouse-client'
elif ! grep -q sse4_2 /proc/cpuinfo; then
	skip ClickHouse 'needs a CPU with SSE4.2'
else
	serve
	if ! wait_for 60 answering; then
		ok 1 'ClickHouse answers' || diag "$(tail -n 5 "$T/bg.err")"
	else
		cp "$T/page/clickhouse.tables.sql" tables.sql
		cp "$T/page/clickhouse.load.sql" load.sql
		timed 'ClickHouse loads it' sh -e "$T/page/clickhouse.sh" >"$T/out" 2>"$T/err"
		ok $? 'ClickHouse reads the JSON as it is' || diag "$(head -n 5 "$T/err")"
		answers clickhouse clickhouse-client --format TSVWithNames
	fi
fi

if [[ ${UPDATE:-} ]]; then
	perl "$HERE/sql_page.pl" answers "$PAGE" "$T" >"$T/new.md" && cat "$T/new.md" >"$PAGE"
fi
done_testing

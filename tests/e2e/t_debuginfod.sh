#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --debuginfod: names, lines, arguments and variables of a stripped program are those of the debug file that a server of this
# machine has, as with the file beside it. Without the option nothing is fetched; what is sent is checked.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes cmd:python3 cmd:objcopy cmd:curl
unset DEBUGINFOD_URLS
export DEBUGINFOD_CACHE_PATH=$T/cache DEBUGINFOD_TIMEOUT=10
mkdir "$T/www"

cat >"$T/source.c" <<'END'
#include <stdlib.h>
struct p { int count; };
static __attribute__((noinline)) int find(const char *name, struct p *p, unsigned n)
{
	return p->count < (int)n ? -2 : name[0];
}
int main(int argc, char **argv)
{
	struct p p = {5};

	return argc > 1 ? *(volatile int *)0 : find("hello", &p, argc + 6) + find("x", &p, argc + 2) == 0;
}
END
# build NAME OPTION...: $T/NAME with DWARF, $T/NAME.debug, $T/stripped.NAME without a name for it
build() {
	local name=$1
	shift
	cc -g -O1 -Wl,--build-id "$@" -o "$T/$name" "$T/source.c" || exit 2
	objcopy --only-keep-debug "$T/$name" "$T/$name.debug"
	strip -o "$T/stripped.$name" "$T/$name"
}
id_of() { readelf -n "$1" | sed -n 's/.*Build ID: //p'; }
serve() { # FILE BUILD-ID
	mkdir -p "$T/www/buildid/$2"
	cp "$1" "$T/www/buildid/$2/debuginfo"
}
build one
build two -DOTHER -fno-inline -O0
id=$(id_of "$T/one")
serve "$T/one.debug" "$id"

: >"$T/server"
python3 -u -m http.server --bind 127.0.0.1 --directory "$T/www" 0 >"$T/server" 2>"$T/requests" &
server=$!
trap 'kill $server 2>/dev/null' EXIT
wait_for "$PATIENCE" grep -q ' port [0-9]* ' "$T/server"
scheme=http
url=$scheme://127.0.0.1:$(sed -n 's/.* port \([0-9]*\) .*/\1/p' "$T/server")
curl -fs "$url/buildid/$id/debuginfo" | cmp - "$T/one.debug"
ok $? 'the server has the debug file'
asked() { grep -c "GET /buildid/$1/debuginfo" "$T/requests"; }

# shown PROGRAM OPTION...: what the trace says, without what differs between runs
shown() {
	local program=$1
	shift
	bb user "$T/$program" find --args --why -T none -F text "$@" -- "$T/$program"
	sed -E 's/^[^ ]* *//; s/0x7f[0-9a-f]*/STACK/g; s/  [+]?[0-9.]+[num]?s( since last)?//' "$T/out"
}
shown one >"$T/wanted"
like "$T/wanted" 'find\(name="hello", p=.*, n=7\)' 'with DWARF: arguments'
like "$T/wanted" 'p->count = 5, n = 7: p->count < n.* source.c:5' 'variables and lines'

before=$(asked "$id")
DEBUGINFOD_URLS=$url bb user "$T/stripped.one" find --args -- "$T/stripped.one"
exits 1 'without the option there is no such function'
is "$(asked "$id")" "$before" 'and nothing is fetched, though a server is known'

DEBUGINFOD_URLS=$url shown stripped.one --debuginfod >"$T/got"
exits 0 'with the option it is traced'
same "$T/got" "$T/wanted" 'names, arguments, variables and lines are those of the debug file'
is "$(asked "$id")" $((before + 1)) 'which was fetched once'
DEBUGINFOD_URLS=$url shown stripped.one --debuginfod >"$T/got"
same "$T/got" "$T/wanted" 'from then on it is there'
is "$(asked "$id")" $((before + 1)) 'and not fetched again'
DEBUGINFOD_URLS=$url bb list "$T/stripped.one" --debuginfod
like "$T/out" ' find$' 'list has the function'
DEBUGINFOD_URLS=$url bb user "$T/one" find --debuginfod --args -- "$T/one"
is "$(asked "$id")" $((before + 1)) 'nothing is fetched of what has DWARF itself'

# ---- what doesn't work ----
bb user "$T/stripped.one" find --debuginfod -- "$T/stripped.one"
exits 2 'no server is known'
like "$T/err" 'set DEBUGINFOD_URLS; with sudo, --preserve-env=DEBUGINFOD_URLS keeps it' 'the message says what to do'
two=$(id_of "$T/two")
DEBUGINFOD_URLS=$url bb user "$T/stripped.two" '*' --debuginfod -F summary -- "$T/stripped.two"
exits 0 'a server that does not have it'
like "$T/err" 'stripped.two: no debuginfod server has its debug information' 'is told'
is "$(grep -c 'no debuginfod server' "$T/err")" 1 'once for each object'
rm -rf "$T/cache"
serve "$T/one.debug" "$two"
DEBUGINFOD_URLS=$url bb user "$T/stripped.two" '*' --debuginfod -F text -- "$T/stripped.two"
exits 0 'a server that sends another build'
like "$T/err" 'has sent is of another build, or damaged' 'is told'
unlike "$T/out" 'source.c' 'and it is not used'
rm -rf "$T/cache"
head -c 3000 "$T/two.debug" >"$T/damaged"
serve "$T/damaged" "$two"
DEBUGINFOD_URLS=$url bb user "$T/stripped.two" '*' --debuginfod -F text -- "$T/stripped.two"
exits 0 'a server that sends a part'
unlike "$T/out" 'source.c' 'and it is not used'
kill $server
wait $server 2>/dev/null
rm -rf "$T/cache"
DEBUGINFOD_URLS=$url bb user "$T/stripped.one" '*' --debuginfod -F summary -- "$T/stripped.one"
exits 0 'no server answers: traced without'
like "$T/err" "stripped.one: (no debuginfod server has its debug information|its debug information can't be fetched)" 'which is told'
done_testing

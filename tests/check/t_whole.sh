#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# All functions of real objects in real programs, compared with the single-stepping reference, by each placement in turn.
# WHOLE="gzip libc i386": only these; make check-long has bigger ones. MATRIX=whole: each by each placement.
# shellcheck disable=SC2154,SC2034 # lib.sh sets them
. "$(dirname "$0")/../e2e/lib.sh"
needs root uprobes cmd:python3 cmd:setarch cmd:readelf "file:$BUILD/stepref"

# The placements of what make check runs.
declare -A placements=([gzip]='implied witness' [libc]=full [i386]=witness)
whole() { # NAME OBJECT COMMAND...
	local name=$1 chosen=${placements[$1]:-full implied witness}
	shift

	[[ ${MATRIX:-} != whole ]] || chosen='full implied witness'
	relay "$name" < <(PLACEMENTS=$chosen "$ROOT/tests/check/whole.py" "$BUILD" "$T/$name" "$(realpath "$1")" -- "${@:2}" 2>&1)
	is "$relayed" "$planned" "$name: to its end"
	rm -rf "${T:?}/$name"
}

seq 1 300 >"$T/text"
for object in ${WHOLE:-gzip libc i386}; do
	case $object in
	gzip) whole gzip /usr/bin/gzip gzip -c "$T/text" ;;
	libc)
		private_copy ls
		whole libc "$PRIVATE/libc.so.6" "${PRIVATE_RUN[@]}" /
		;;
	i386) # with all of its libc
		if "$BUILD/progs/crunch-static-32" >/dev/null 2>&1; then
			whole i386 "$BUILD/progs/crunch-static-32" "$BUILD/progs/crunch-static-32"
		else
			skip i386 'no crunch-static-32, or this kernel runs no 32-bit programs'
		fi
		;;
	python3) PYTHONHASHSEED=0 whole python3 /usr/bin/python3 /usr/bin/python3 -S -s -c 'print(sorted({str(i): i for i in range(30)}))' ;;
	headache) # of OCaml, with exceptions
		printf '%s\n' '| ".*\\.c" -> frame open:"/*" line:"*" close:"*/"' >"$T/headers"
		echo 'int x;' >"$T/head.c"
		echo 'All rights reversed' >"$T/license"
		headache -c "$T/headers" -h "$T/license" "$T/head.c" # the header is there already, each time
		whole headache "$(realpath "$(command -v headache)")" \
			headache -c "$T/headers" -h "$T/license" "$T/head.c" "$T/missing.c"
		;;
	sqlite)
		if command -v sqlite3 >/dev/null; then
			whole sqlite "$(ldd "$(command -v sqlite3)" | awk '/libsqlite3/ { print $3 }')" sqlite3 :memory: \
				'create table t(a integer primary key, b text); insert into t(b) values(1),(2); select count(*) from t where a>1;'
		else
			skip sqlite 'no sqlite3'
		fi
		;;
	esac
done
done_testing

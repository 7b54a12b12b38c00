#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The values of --why against gdb's (why.py), with both engines: gzip; with PROGRAMS=all 2,000 samples and more, of libc, python3
# and sqlite3.
# shellcheck disable=SC2154 # tap.sh sets it
. "$(dirname "$0")/../tap.sh"
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=$(cd "${B:-$ROOT/build}" && pwd)
BB=${BBTRACE:-$BUILD/bbtrace}

[[ $(id -u) == 0 ]] || skip_all 'needs root'
[[ $(uname -m) == x86_64 ]] || skip_all 'not x86-64'
[[ -e /sys/bus/event_source/devices/uprobe/type ]] || skip_all 'this kernel has no uprobes'
command -v gdb >/dev/null || skip_all 'needs gdb'

field() { sed -n "\$s/.* \([0-9][0-9]*\) $1.*/\1/p" "$T/said"; } # WORD: the number before it in the last line

# Copies, so that no other process has these probes.
take() { cp -L "$(realpath "$(command -v "$1" || echo "$1")")" "$T/${2:-${1##*/}}"; }

compared=0
compare() { # NAME ENGINE SAMPLES FILE FUNC... -- CMD...
	local name=$1 engine=$2

	shift 2
	ENGINE=$engine timeout -k 10 1800 "$ROOT/tests/check/why.py" "$BB" "$@" >"$T/said" 2>&1
	diag "$name, $engine: $(tail -n 1 "$T/said")"
	[[ $(field wrong) == 0 ]]
	ok $? "$name, $engine: the values are those that gdb finds" || diag "$(head -n 20 "$T/said")"
	compared=$((compared + $(field compared)))
}
told_percent() { echo $((100 * $(field told) / $(field executed))); }

take gzip
seq 1 "${LINES_TO_GZIP:-300}" >"$T/numbers"
samples=150
[[ ${PROGRAMS:-} == all ]] && samples=400
compare gzip probe $samples "$T/gzip" '*' -- "$T/gzip" -c "$T/numbers"
ok $(($(told_percent) < 95)) 'with probes nearly all conditionals have values'
compare gzip inline $samples "$T/gzip" '*' -- "$T/gzip" -c "$T/numbers"
ok $(($(told_percent) < 60)) 'with copies most have: those in registers'

if [[ ${PROGRAMS:-} == all ]]; then
	library() { ldd "$(command -v "$1")" | sed -n "s/.*$2[^ ]* => \([^ ]*\).*/\1/p"; }
	take "$(library sort libc.so.6)" libc.so.6
	take sort
	take perl
	seq 1 400 | awk '{ print ($1 * 7919) % 1000, $1 / 3 }' >"$T/lines"
	run=("LD_LIBRARY_PATH=$T")
	script='my %h; for (1..40) { $h{"k".($_*7%13)} .= sprintf("%.3f,", $_/3) } print join(" ", map { "$_=$h{$_}" } sort keys %h), scalar localtime(0)'
	for engine in probe inline; do
		compare 'libc by sort' $engine 500 "$T/libc.so.6" '*' -- "${run[@]}" "$T/sort" -n "$T/lines"
		compare 'libc by perl' $engine 500 "$T/libc.so.6" '*' -- "${run[@]}" PERL_HASH_SEED=0 "$T/perl" -e "$script"
	done
	if [[ -x /usr/bin/python3 ]]; then
		take /usr/bin/python3 python3
		for engine in probe inline; do
			compare python3 $engine 700 "$T/python3" 'PyLong_*' 'PyDict_*' 'PyUnicode_*' '_PyObject_*' 'PyList_*' 'PyArg_*' \
				-- "${run[@]}" PYTHONHOME=/usr "$T/python3" -S -E -c 'print(sum(int(str(i)) for i in range(50)))'
		done
	else
		skip python3 'there is none'
	fi
	if command -v sqlite3 >/dev/null; then
		take sqlite3
		take "$(library sqlite3 libsqlite3)" libsqlite3.so.0
		cat >"$T/sql" <<-'END'
			create table t(a integer, b text, c real);
			with recursive n(i) as (select 1 union all select i+1 from n where i<60) insert into t select i, 'row'||(i*7919%97), i/3.0 from n;
			create index x on t(b);
			select b, count(*), sum(c) from t where a > 10 and b like 'row%' group by b order by 2 desc, 1 limit 5;
			update t set c = c*2 where a % 3 = 0; delete from t where a between 20 and 30;
			select max(c), min(b), avg(a) from t join (select a as z from t limit 7) on z = a;
		END
		for engine in probe inline; do
			compare sqlite3 $engine 700 "$T/libsqlite3.so.0" '*' -- "${run[@]}" "$T/sqlite3" :memory: ".read $T/sql"
		done
	else
		skip sqlite3 'there is none'
	fi
	ok $((compared < 2000)) "$compared samples were compared"
fi

# Could it fail?
cat >"$T/wrong" <<-END
	#!/bin/bash
	"$BB" "\$@" || exit
	while [[ \$1 != -o ]]; do shift; done
	sed -i 's/"values":\["0x/&1/' "\$2"
END
chmod +x "$T/wrong"
ENGINE=probe timeout -k 10 600 "$ROOT/tests/check/why.py" "$T/wrong" 20 "$T/gzip" '*' -- "$T/gzip" -c "$T/numbers" >"$T/said" 2>&1
ok $(($(field wrong) < 15)) 'other values: that is wrong'
done_testing

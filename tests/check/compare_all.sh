#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# compare_all.sh BUILD-FOLDER [NAME...]: traces each program of progs.list (or those named) with bbtrace and steps it
# with stepref. TAP: both show the same, and tracing changes neither the program's output nor its status.
#   BBTRACE   the program to test (BUILD-FOLDER/bbtrace)     BBFLAGS   more options for it; with -c counts are compared
#   LIST      the list (tests/progs/progs.list)
#   COMPARE   options for compare.pl, e.g. --strict
#   STAGES    some of reference, trace, compare (default: all); the others' results must exist
# stepref's output is kept in BUILD-FOLDER/ref, since it takes minutes in all. The files of failed comparisons stay in
# BUILD-FOLDER/cmp. Different programs may be compared in parallel.
# lists are meant to be split; a * in a name is a pattern; [ -nt ] is in dash, bash and busybox
# shellcheck disable=SC2046,SC2086,SC2254,SC3013

set -u
[ $# -gt 0 ] || { echo "usage: compare_all.sh BUILD-FOLDER [NAME...]" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
B=$(cd "$1" && pwd) || exit 2
shift
only=" $* "
bbtrace=${BBTRACE:-$B/bbtrace}
progs=$here/../progs
n=0 failed=0
mkdir -p "$B/ref" "$B/cmp"
cd "$B/progs" || exit 2

# The vaddr of a function as a file offset.
file_offset() { # OBJECT VADDR
	readelf -lW "$1" | awk -v v="$2" '
		function num(h,    i, x) {
			x = 0
			h = tolower(h)
			sub(/^0x/, "", h)
			for (i = 1; i <= length(h); i++)
				x = x * 16 + index("0123456789abcdef", substr(h, i, 1)) - 1
			return x
		}
		$1 == "LOAD" && num(v) >= num($3) && num(v) < num($3) + num($5) {
			printf "0x%x\n", num(v) - num($3) + num($2)
			exit
		}'
}

# The names that the symbol table has for those with a *.
expand() {
	for function in $functions; do
		case $function in
		*\**)
			nm "$symbols" | awk '{ print $3 }' | while read -r symbol; do
				case $symbol in $function) echo "$symbol" ;; esac
			done
			;;
		*) echo "$function" ;;
		esac
	done
}

functions_of() { # what bbtrace is given
	case $options in
	*S*)
		while read -r name start _ own; do
			[ "$name" = "$own" ] && echo "$(file_offset "$object" "$start"):$name"
		done <"$B/ref/$name.ranges"
		;;
	*) echo "$functions" ;;
	esac
}

# Two tests may want those of one program at once.
references() { (flock 9 && make_references 9>&-) 9>"$B/ref/$name.lock"; }
make_references() {
	"$here/../step/ranges.sh" "$symbols" $functions >"$B/ref/$name.ranges.new" || return 1
	mv "$B/ref/$name.ranges.new" "$B/ref/$name.ranges"
	step=--from-entry
	case $options in *g*) step='--from-entry --go' ;; esac
	case $options in *s*) step= ;; esac
	[ "$B/ref/$name.ref" -nt "$name" ] && [ "$B/ref/$name.ref" -nt "$B/stepref" ] && return 0
	# one thread at a time: it is stepped
	GOMAXPROCS=1 setarch -R "$here/../step/again.sh" "$B/ref/$name.tmp" "$B/ref/$name.out" "$B/stepref" \
		--object "$object" --ranges "$B/ref/$name.ranges" $step $follow -- "./$name" $argument \
		2>"$B/cmp/$name.ref.err"
	got=$?
	grep -E '^(stepref|again.sh): ' "$B/cmp/$name.ref.err" | sed 's/^/# /'
	[ $got -eq "$status" ] || { echo "# stepref: status $got, not $status"; return 1; }
	mv "$B/ref/$name.tmp" "$B/ref/$name.ref"
}

traces() {
	setarch -R "$bbtrace" user "$object" $(functions_of) $follow ${BBFLAGS:-} -F json -o "$B/cmp/$name.json" -- \
		"./$name" $argument >"$B/cmp/$name.out" 2>"$B/cmp/$name.err"
	got=$?
	[ $got -eq "$status" ] || {
		echo "# status $got, not $status"
		tail -n 3 "$B/cmp/$name.err" | sed 's/^/# /'
		return 1
	}
	cmp "$B/ref/$name.out" "$B/cmp/$name.out" 2>&1 | sed 's/^/# /'
	cmp -s "$B/ref/$name.out" "$B/cmp/$name.out"
}

# Where no path is cut, each call is seen to its end.
whole() {
	case $options in *[un]*) return 0 ;; esac
	grep -qE ', 0 lost, 0 unmatched returns(, [0-9]+ of [0-9]+ bytes not decoded)?$' "$B/cmp/$name.err" && return 0
	tail -n 1 "$B/cmp/$name.err" | sed 's/^/# /'
	return 1
}

compares() {
	case " ${BBFLAGS:-} " in
	*' -c '*)
		flags=
		case $options in *u*) flags=--unknown ;; esac
		"$here/counts.pl" $flags "$B/ref/$name.ref" "$B/cmp/$name.json" >"$B/cmp/$name.diff" 2>&1
		got=$?
		sed 's/^/# /' "$B/cmp/$name.diff"
		return $got
		;;
	esac
	flags=
	case $options in *u*) flags=--unknown ;; esac
	case $options in *g*) flags="$flags --restarts" ;; esac
	case " ${BBFLAGS:-} " in *' inline '*) flags="$flags --untimed" ;; esac
	"$here/compare.pl" $flags ${COMPARE:-} --ranges "$B/ref/$name.ranges" "$B/ref/$name.ref" "$B/cmp/$name.json" \
		>"$B/cmp/$name.diff" 2>&1
	got=$?
	sed 's/^/# /' "$B/cmp/$name.diff"
	return $got
}

stage() { # NAME
	case " ${STAGES:-reference trace compare} " in *" $1 "*) ;; *) return 0 ;; esac
	case $1 in
	reference) references ;;
	trace) traces && whole ;;
	compare) compares ;;
	esac
}

row() {
	follow='' argument=''
	case $options in *f*) follow=-f ;; esac
	case $options in *a*) argument=again ;; esac
	[ "$object" = - ] && object=$name
	symbols=$object
	case $options in *S*) symbols=$object.full ;; esac
	functions=$(expand)
	n=$((n + 1))
	if [ ! -e "$name" ]; then
		compiler="no compiler for $source"
		case $options in *m*) compiler='no musl-gcc' ;; *3*) compiler='no i686-linux-gnu-gcc' ;; esac
		echo "ok $n - $name # SKIP not built: $compiler"
	elif stage reference && stage trace && stage compare; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		failed=$((failed + 1))
	fi
}

while read -r name source object options status flags functions <&3; do
	case $name in '#'* | '') continue ;; esac
	case $options in *L*) continue ;; esac
	case $only in '  ' | *" $name "*) row ;; esac
done 3<"${LIST:-$progs/progs.list}"
echo "1..$n"
[ $failed -eq 0 ]

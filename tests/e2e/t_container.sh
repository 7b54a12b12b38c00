#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A hostile process in a root of its own: its files are FIFOs, devices, links that lead out of the root, 4 TB large,
# or replaced at any moment. Nothing hangs, and nothing outside of the root is read.
# shellcheck disable=SC2154 # lib.sh sets status and background
. "$(dirname "$0")/lib.sh"
needs root uprobes cmd:chroot cmd:objcopy
chmod 755 "$T"

box=$T/box
mkdir -p "$box/src" "$box/etc"
cat >"$box/src/prog.c" <<'END'
#include <unistd.h>
static volatile int seen;
__attribute__((noinline)) int tick(int n) { return n > 3 ? seen : n; } /* in the box */
__attribute__((noinline)) static int inner(int n) { return n > 2 ? seen : n; }
int main(void) { for (int n = 0;; n++) { tick(n); inner(n); usleep(5000); } }
END
cp "$box/src/prog.c" "$T/genuine.c"
sed 's/in the box/outside/' "$box/src/prog.c" >"$T/outside.c"
touch -d '1 hour ago' "$box/src/prog.c" "$T/outside.c" "$T/genuine.c"

# build NAME FLAG...: /NAME in the box, and its debug file, $T/NAME.debug. Static functions have their names there alone.
build() {
	(cd "$box/src" && "${CC:-cc}" -g -O1 -rdynamic -fdebug-prefix-map="$box=" "${@:2}" -o "../$1" prog.c) || exit 2
	objcopy --only-keep-debug "$box/$1" "$T/$1.debug" && strip "$box/$1" || exit 2
}
build by_link -Wl,--build-id=none
build by_id -Wl,--build-id=0x0123456789abcdef0123
(cd "$T" && objcopy --add-gnu-debuglink=by_link.debug "$box/by_link") || exit 2
build plain -Wl,--build-id=none
cp "$T/plain.debug" "$T/alt.debug"
{ printf '/alt.debug\0' && head -c 20 /dev/zero; } >"$T/altlink"
(cd "$box/src" && "${CC:-cc}" -g -O1 -rdynamic -fdebug-prefix-map="$box=" -o ../plain prog.c) || exit 2
objcopy --add-section .gnu_debugaltlink="$T/altlink" "$box/plain"
while read -r library; do
	mkdir -p "$box${library%/*}" && cp -L "$library" "$box$library"
done < <(ldd "$box/plain" | grep -o '/[^ ]*')
echo 'int inside(int n) { return n > 3 ? n : 1; }' | "${CC:-cc}" -shared -fPIC -xc -o "$T/inside.so" - || exit 2
echo 'int outside(int n) { return n > 3 ? n : 1; }' | "${CC:-cc}" -shared -fPIC -xc -o "$T/outside.so" - || exit 2

declare -A pid
for name in by_link by_id plain; do
	chroot "$box" "/$name" &
	pid[$name]=$!
	at_end "kill -9 $! 2>/dev/null; wait $! 2>/dev/null"
	wait_for $PATIENCE cmp -s "/proc/$!/exe" "$box/$name" || skip_all 'chroot(8) does not work here'
done
id=usr/lib/debug/.build-id/01/23456789abcdef0123.debug
mkdir -p "$box/${id%/*}"

# trace NAME FUNC: of that process, named as it sees it
trace() { BB_TIMEOUT=60 bb user "/$1" "$2" -p "${pid[$1]}" -t 0.5 -F annotate; }

# ---- all is as it should be ----
cp "$T/by_link.debug" "$box/" && cp "$T/by_id.debug" "$box/$id"
for name in by_link by_id; do
	trace $name inner
	exits 0 "$name: the debug file of its own root is read"
done
trace plain tick
like "$T/out" 'in the box' "the sources of the process's own root are shown"

# ---- one file after the other is something else ----
# become KIND FILE OUTSIDE: OUTSIDE is what a link leads to.
become() {
	rm -f "$box/$2"
	case $1 in
	fifo) mkfifo "$box/$2" ;;
	device) mknod "$box/$2" c 1 5 ;;
	link) ln -s "$T/$3" "$box/$2" ;;
	climbing) ln -s "../../../../../../../../../..$T/$3" "$box/$2" ;;
	sparse) truncate -s 4T "$box/$2" ;;
	esac
}
for kind in fifo device link climbing sparse; do
	if ! become $kind probe none 2>/dev/null; then
		skip "$kind" 'cannot be made on this file system'
		continue
	fi
	become $kind by_link.debug by_link.debug
	trace by_link inner
	exits 1 "$kind: symbols by .gnu_debuglink are not taken from outside"
	trace by_link tick
	exits 0 "$kind: a program whose .gnu_debuglink leads outside is traced"
	become $kind "$id" by_id.debug
	trace by_id inner
	exits 1 "$kind: symbols by build-id are not taken from outside"
	become $kind src/prog.c outside.c
	become $kind alt.debug alt.debug
	trace plain tick
	exits 0 "$kind: a program whose source and .gnu_debugaltlink lead outside is traced"
	unlike "$T/out" 'outside|in the box' "$kind: a source outside is not shown"
	become $kind etc/ld.so.cache outside.so
	bb user libmissing.so.1 outside -p "${pid[plain]}"
	exits 1 "$kind: a library by /etc/ld.so.cache is not taken from outside"
	like "$T/err" 'no object libmissing.so.1' "$kind: the search for a library goes on behind /etc/ld.so.cache"
	become $kind named.so outside.so
	bb user /named.so outside -p "${pid[plain]}" -t 1
	exits 1 "$kind: an object by its path is not taken from outside"
	bb user "/proc/${pid[plain]}/root/named.so" outside -t 1 -- true
	exits 1 "$kind: an object through /proc/PID/root is not taken from outside"
	bb list "$box/probe"
	[[ $kind == link || $kind == climbing ]] || exits 1 "$kind: an object that the command line names is refused"
done

# ---- another file by the next moment ----
# swap FILE OUTSIDE INSIDE: in the background
swap() {
	while :; do
		ln -s "$T/$2" "$box/next" && mv -T "$box/next" "$box/$1"
		cp "$T/$3" "$box/next" && mv -T "$box/next" "$box/$1"
	done 2>/dev/null &
	changing=($!)
}
# No number is kept of a process that has ended: another one may have it by now.
stop_changing() {
	((${#changing[@]})) && kill "${changing[@]}" && wait "${changing[@]}" 2>/dev/null
	changing=()
}
at_end stop_changing
swap named.so outside.so inside.so
outside=0 odd=0 rounds=40
[[ ${MATRIX:-} != whole ]] || rounds=200
for ((i = 0; i < rounds; i++)); do
	bb user /named.so outside -p "${pid[plain]}" -t 1
	((outside += status == 0, odd += status > 1))
done
stop_changing
is "$outside $odd" '0 0' 'a library that is swapped with a link: never the one outside, and no crash'

# ---- a file that shrinks while it is read ----
cp "$T/by_link.debug" "$box/full"
while :; do : >"$box/by_link.debug" && cat "$box/full" >"$box/by_link.debug"; done 2>/dev/null &
changing=($!)
cp "$T/outside.so" "$T/shrinking.so"
while :; do : >"$T/shrinking.so" && cat "$T/outside.so" >"$T/shrinking.so"; done 2>/dev/null &
changing+=($!)
odd=0
for ((i = 0; i < rounds / 2; i++)); do
	bb list "$box/by_link" && ((odd += status > 1))
	bb list "$T/shrinking.so" outside && ((odd += status > 1))
done
stop_changing
is $odd 0 'files that are truncated and written again: no crash'
done_testing

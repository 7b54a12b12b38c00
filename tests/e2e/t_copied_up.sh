#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# overlayfs copies a file that is touched while a process has it mapped: its path is another file then, and no probe
# reaches the process. That is said, and copies of functions trace it.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes cmd:mount
mkdir "$T/o"
mount -t tmpfs none "$T/o" 2>/dev/null || skip_all 'needs mount'
trap 'umount -l "$T/o/m" "$T/o" 2>/dev/null; tap__end' EXIT
mkdir "$T"/o/{low,up,work,m}
cat >"$T/lib.c" <<-'END'
	__attribute__((noipa)) int lwork(int n) { return n > 3 ? n * 2 : n - 1; }
END
cat >"$T/prog.c" <<-'END'
	#include <unistd.h>
	int lwork(int);
	__attribute__((noipa)) int work(int n) { return n > 3 ? n * 2 : n - 1; }
	int main(void)
	{
		int s = 0;

		for (int i = 0; i < 100000; i++, usleep(2000))
			s += work(i % 8) + lwork(i % 8);
		return s & 1;
	}
END
gcc -O1 -shared -fPIC "$T/lib.c" -o "$T/o/low/liblw.so" &&
	gcc -O1 "$T/prog.c" -o "$T/o/low/prog" -L"$T/o/low" -llw -Wl,-rpath,"\$ORIGIN" || exit 2
mount -t overlay overlay -o "lowerdir=$T/o/low,upperdir=$T/o/up,workdir=$T/o/work" "$T/o/m" 2>/dev/null || skip_all 'needs overlayfs'
"$T/o/m/prog" &
pid=$!
wait_for "$PATIENCE" grep -q liblw.so "/proc/$pid/maps"

entries() { json "$T/json" '$e->{event} eq "entry"'; }
objects=("liblw.so lwork" "$T/o/m/prog work")
for object in "${objects[@]}"; do
	read -ra words <<<"$object"
	bb user "${words[@]}" -p $pid -t 0.5 --engine probe -e entry -F json -o "$T/json"
	isnt "$status $(entries)" '0 0' "${words[1]}: traced before it is copied"
done
touch "$T"/o/m/{liblw.so,prog}
for object in "${objects[@]}"; do
	read -ra words <<<"$object"
	bb user "${words[@]}" -p $pid -t 0.5 -e entry
	exits 1 "${words[1]}: afterwards probes are refused"
	like "$T/err" "^bbtrace: process $pid has mapped .*/o/m/[a-z.]+ from before that file was copied or replaced .*use --engine inline" \
		'the reason and the next step are said'
done
bb trace "user:$T/o/m/liblw.so:lwork" user:libc.so.6:usleep -p $pid -t 0.5 --engine probe -e entry -F json -o "$T/json"
like "$T/err" "process $pid has mapped .* from before that file was copied" 'beside a library that probes reach it is a note'
isnt "$status $(entries)" '0 0' 'that library is traced'
[[ $(uname -m) != x86_64 ]] || {
	bb user liblw.so lwork -p $pid -t 0.5 --engine inline -e entry -F json -o "$T/json"
	isnt "$status $(entries)" '0 0' 'copies trace the code that is mapped'
}
kill $pid
done_testing

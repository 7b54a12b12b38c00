#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# bbtrace core: compressed dumps are those that were compressed, whole, cut off and damaged; dumps of other machines, by
# --sysroot and --program.
# shellcheck disable=SC2154,SC2034 # lib.sh sets them, and reads status
. "$(dirname "$0")/lib.sh"
needs root dumps
[[ $(</proc/sys/kernel/core_pattern) != *[\|/]* ]] || skip_all "core_pattern is $(</proc/sys/kernel/core_pattern)"

# dump FOLDER ARG...: the core dump of FOLDER/crash as $T/core
dump() {
	rm -f "$T"/core*
	(cd "$T" && ulimit -c unlimited && exec "$1/crash" "${@:2}") >/dev/null 2>&1
	for file in "$T"/core*; do [[ ! -e $file || $file == "$T/core" ]] || mv "$file" "$T/core"; done
}
mkdir -p "$T/app"
cc -g -O1 -pthread -o "$T/app/crash" "$ROOT/tests/crash/crash.c" || exit 2
dump "$T/app" double
bb core "$T/core" -F json
exits 0 'the dump as it is'
grep -v '"event":"core"' "$T/out" >"$T/plain"
size=$(stat -c %s "$T/core")

# ---- compressed ----
while read -r tool packed; do
	[[ ${MATRIX:-} == whole || $packed != *--ultra* ]] || continue
	if ! command -v "$tool" >/dev/null; then
		skip "$tool" "no $tool"
		continue
	fi
	$packed <"$T/core" >"$T/core.x" 2>/dev/null
	bb core "$T/core.x" -F json
	exits 0 "$packed"
	is "$(grep -v '"event":"core"' "$T/out" | cmp - "$T/plain" && echo same)" same "$packed: the same stacks"
	# two streams, one after the other
	head -c $((size / 2)) "$T/core" | $packed >"$T/two" 2>/dev/null
	tail -c +$((size / 2 + 1)) "$T/core" | $packed >>"$T/two" 2>/dev/null
	bb core "$T/two" -F json
	is "$(grep -v '"event":"core"' "$T/out" | cmp - "$T/plain" && echo same)" same "$packed: two streams"
	small=$(stat -c %s "$T/core.x")
	head -c $((small - 1)) "$T/core.x" >"$T/cut"
	bb core "$T/cut"
	exits 0 "$packed: without the last byte"
	like "$T/err" 'cut is cut off' "$packed: which is reported"
	for part in 1 2 3; do
		head -c $((small * part / 4)) "$T/core.x" >"$T/cut"
		bb core "$T/cut"
		[[ $status == 0 || $status == 1 ]]
		ok $? "$packed: $part/4 of it" || diag "status $status"
		like "$T/err" 'cut is cut off' "$packed: which is reported"
	done
	head -c 5 "$T/core.x" >"$T/cut"
	bb core "$T/cut"
	exits 1 "$packed: its first bytes"
	# a byte in the middle
	cp "$T/core.x" "$T/damaged"
	printf '\xa5\x5a\xa5\x5a\xa5\x5a\xa5\x5a' | dd of="$T/damaged" bs=1 seek=$((small / 2)) conv=notrunc 2>/dev/null
	bb core "$T/damaged"
	exits 1 "$packed: damaged"
	like "$T/err" "damaged is damaged: $tool can't decompress it" "$packed: which is reported"
	echo 'no core dump' | $packed >"$T/other" 2>/dev/null
	bb core "$T/other"
	exits 1 "$packed: of something else"
	like "$T/err" 'other is no core dump' "$packed: which is reported"
done <<'END'
zstd zstd -qc
zstd zstd -qc --ultra -20
xz xz -c
lz4 lz4 -qc
gzip gzip -c
END
if command -v zstd >/dev/null; then
	zstd -qc "$T/core" >"$T/core.zst"
	mkdir "$T/room"
	if mount -t tmpfs -o size=64k tmpfs "$T/room" 2>/dev/null; then
		TMPDIR=$T/room bb core "$T/core.zst"
		umount "$T/room"
		exits 1 'no room'
		like "$T/err" "can't unpack .*core.zst into .*room: No space left on device; TMPDIR names another place" 'which is reported'
	else
		skip 'no room' "can't mount"
	fi
	# zeros take no room: 8 GiB of them
	if [[ ${MATRIX:-} == whole ]] && truncate -s 8G "$T/zeros" 2>/dev/null && timeout 100 zstd -qc --sparse "$T/zeros" >"$T/zeros.zst"; then
		bb core "$T/zeros.zst"
		exits 1 'zeros are no core dump'
	fi
	rm -f "$T/zeros"
fi

# ---- of another machine ----
frames() { grep '^  #' "$1"; }
bb core "$T/core"
frames "$T/out" >"$T/here"
mkdir -p "$T/root$T"
mv "$T/app" "$T/root$T/"
bb core "$T/core"
like "$T/err" "crash: can't open .*: its frames have no names" 'the program is gone'
bb core "$T/core" --sysroot "$T/root"
exits 0 '--sysroot'
is "$(frames "$T/out")" "$(<"$T/here")" '--sysroot: all frames'
(cd "$T" && timeout 60 "$BBTRACE" core core --sysroot=root 2>/dev/null) >"$T/out"
is "$(frames "$T/out")" "$(<"$T/here")" '--sysroot: a relative folder'
bb core "$T/core" --program "$T/root$T/app/crash"
exits 0 '--program'
is "$(frames "$T/out")" "$(<"$T/here")" '--program: all frames'
unlike "$T/err" 'crash' '--program: no note'
# a link in the folder doesn't lead out of it
mv "$T/root$T/app" "$T/root/moved"
ln -s /moved "$T/root$T/app"
bb core "$T/core" --sysroot "$T/root"
is "$(frames "$T/out")" "$(<"$T/here")" 'a link is followed within the folder'
mv "$T/root/moved" "$T/outside"
ln -s "$T/outside" "$T/root/moved"
bb core "$T/core" --sysroot "$T/root"
is "$(grep -c 'crash.c' <(frames "$T/out"))" 0 'and not out of it'
cc -g -O2 -pthread -o "$T/other" "$ROOT/tests/crash/crash.c" || exit 2
bb core "$T/core" --program "$T/other"
exits 1 '--program: another build'
like "$T/err" 'other is another build than the program of the dump' 'which is reported'
rm "$T/root/moved" && mkdir "$T/root/moved" && cp "$T/other" "$T/root/moved/crash"
bb core "$T/core" --sysroot "$T/root"
exits 0 '--sysroot: another build'
like "$T/err" 'crash is another build than the one that was running: it is not used' 'which is reported'
is "$(grep -c 'crash.c' <(frames "$T/out"))" 0 'and has no names'
bb core "$T/core" --sysroot "$T/none"
exits 1 '--sysroot: no folder'
like "$T/err" "can't use .*none as a root" 'which is reported'

# debug information beside the program in that root
rm -rf "$T/root" "$T/app" && mkdir -p "$T/app" "$T/root$T"
cc -g -O1 -pthread -o "$T/app/crash" "$ROOT/tests/crash/crash.c" || exit 2
objcopy --only-keep-debug "$T/app/crash" "$T/app/crash.debug"
(cd "$T/app" && objcopy --strip-all --add-gnu-debuglink=crash.debug crash)
dump "$T/app" double
mv "$T/app" "$T/root$T/"
bb core "$T/core" --sysroot "$T/root"
like "$T/out" '#[0-9]+ +[a-z_]+\+0x[0-9a-f]+  crash\.c:[0-9]+' '--sysroot: separate debug information'

# without build-ids
rm -rf "$T/root" && mkdir "$T/app"
cc -g -O1 -pthread -Wl,--build-id=none -o "$T/app/crash" "$ROOT/tests/crash/crash.c" || exit 2
dump "$T/app" double
mv "$T/app" "$T/moved"
bb core "$T/core" --program "$T/moved/crash"
exits 0 '--program: without a build-id'
like "$T/err" "no build-id shows that .*moved/crash is the .*app/crash that was running" 'which is reported'
like "$T/out" '#[0-9]+ +[a-z_]+\+0x[0-9a-f]+  crash\.c:[0-9]+' 'its names are shown'
bb core "$T/core" --program /bin/sh
exits 1 '--program: another program'
like "$T/err" 'is not the program of the dump' 'which is reported'
done_testing

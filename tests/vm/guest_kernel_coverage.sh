#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest_kernel_coverage.sh FOLDER: covers functions of ext4 while a file system is mounted, written, read and unmounted,
# and of the module loop. FOLDER: has usr/lib/debug, if that exists.

. "$(dirname "$0")/guest_lib.sh"
[[ ! -d $1/usr/lib/debug ]] || ln -s "$1/usr/lib/debug" /usr/lib/debug
PATH=$PATH:/sbin:/usr/sbin

head -c 16M /dev/zero >"$T/new"
mke2fs -q -t ext4 "$T/new"
mkdir "$T/m"
cat >"$T/work" <<'END'
mount -o loop "$1/image" "$1/m"
cd "$1/m"
mkdir folder
for i in 1 2 3; do head -c 20000 /dev/zero >folder/$i; done
cat folder/1 >/dev/null
ln folder/1 folder/4
ln -s 1 folder/s
mv folder/2 folder/5
ls -l folder >/dev/null
sync -f folder
rm -r folder
cd /
umount "$1/m"
END
# Each time on the same image.
work=(bash -c 'cp "$1/new" "$1/image"; exec bash "$1/work" "$1"' work "$T")
"${work[@]}" # what the first run finds in no cache

# Processes call these for themselves, and what they do doesn't depend on how far the journal's thread has come.
functions=$(listed traceable ext4_file_read_iter ext4_file_write_iter ext4_file_open ext4_file_mmap ext4_lookup ext4_create \
	ext4_mkdir ext4_rmdir ext4_link ext4_symlink ext4_unlink ext4_rename2 ext4_mknod ext4_tmpfile ext4_put_super \
	ext4_remount ext4_ioctl ext4_fallocate ext4_fiemap)

# The blocks of a file of drcov.
blocks() { sed '1,/^BB Table/d' "$1" | od -An -v -tx4 -w8 | sort; }

# ---- all counts, and --once ----

# The kernel may miss hits of kprobes, and bbtrace says so: such a run shows nothing.
without_misses() { # NAME ARG...: bb, until none is missed
	local name=$1 try
	shift

	for ((try = 1; try <= 20; try++)); do
		bb "$@"
		grep -qE 'hits.* missed' "$T/err" || break
		diag "$name: attempt $try: $(tail -n 1 "$T/err")"
	done
	exits 0 "$name: traced"
	unlike "$T/err" 'hits.* missed' "$name: no hit was missed"
}

cover() { # NAME OPTION...
	local name=$1
	shift
	# shellcheck disable=SC2086 # a list
	without_misses "$name" kernel $functions -c "$@" --record "$T/$name.bbt" -f -- "${work[@]}"
	removed=$(sed -n 's/^bbtrace: \([0-9]*\) probes were removed.*/\1/p' "$T/err")
	$BBTRACE report "$T/$name.bbt" -F drcov -o "$T/$name.drcov" 2>/dev/null &&
		$BBTRACE report "$T/$name.bbt" -F summary -o "$T/$name.txt" 2>/dev/null
	ok $? "$name: reported"
	blocks "$T/$name.drcov" >"$T/$name.blocks"
	diag "$name: $(grep -h '^Coverage:' "$T/$name.txt")"
}
# Whether a cache has what is looked for may differ from run to run.
for try in 1 2 3 4; do
	cover all
	cover once --once
	cmp -s "$T/all.blocks" "$T/once.blocks" && break
	diag "the runs differ: attempt $try"
done
ok $(($(wc -l <"$T/all.blocks") < 50)) "$(wc -l <"$T/all.blocks") blocks ran"
same "$T/once.blocks" "$T/all.blocks" "--once covers the blocks that all counts do"
ok $((${removed:-0} < 20)) "--once removed ${removed:-no} kprobes while the trace ran"

# ---- kprobes of the kernel's own tracer ----

mkdir -p "$T/tracing"
mount -t tracefs none "$T/tracing"
for function in $functions; do
	echo "p:covered/$function $function" >>"$T/tracing/kprobe_events"
done
echo 1 >"$T/tracing/events/covered/enable"
"${work[@]}"
echo 0 >"$T/tracing/events/covered/enable"
awk '$2 + $3 > 0 { print $1 }' "$T/tracing/kprobe_profile" | sort >"$T/hit"
echo >"$T/tracing/kprobe_events"
umount "$T/tracing"
awk '/^$/ { exit } NR > 1 && $1 + 0 > 0 { print $NF }' "$T/all.txt" | sort >"$T/called"
same "$T/called" "$T/hit" "functions with calls are those that the kernel's own kprobes saw"
ok $(($(wc -l <"$T/hit") < 5 || $(wc -l <"$T/hit") == $(wc -w <<<"$functions"))) \
	"some were called, and some not: $(wc -l <"$T/hit") of $(wc -w <<<"$functions")"

# ---- a module, at two addresses ----

address() { awk -v name="$1" '$1 == name { print $NF }' /proc/modules; }
build_id() { od -An -v -tx1 -j 16 "/sys/module/$1/notes/.note.gnu.build-id" | tr -d ' \n'; }
record() { # FILE
	without_misses "the module at $(address loop)" kernel 'loop:lo_*' -c --record "$1" -f -- "${work[@]}"
}
first=$(address loop)
record "$T/first.bbt"
rmmod loop
rmmod dummy
modprobe loop
[[ $(address loop) != "$first" ]] || { rmmod loop && modprobe dummy numdummies=0 && modprobe loop; }
isnt "$(address loop)" "$first" "the module is loaded elsewhere now"
record "$T/second.bbt"
$BBTRACE report "$T/first.bbt" --info >"$T/info"
like "$T/info" "loop.*$(build_id loop)" "the file has the module's build-id"
for which in first second; do
	$BBTRACE report "$T/$which.bbt" -F summary -o "$T/$which.txt"
done
$BBTRACE report "$T/first.bbt" "$T/second.bbt" -F summary -o "$T/both.txt"
ok $? "both files are reported together"
calls() { awk '/^$/ { exit } NR > 1 { print $NF, $1 }' "$@" | sort; }
cat <(calls "$T/first.txt") <(calls "$T/second.txt") | awk '{ n[$1] += $2 } END { for (f in n) print f, n[f] }' | sort >"$T/sum"
calls "$T/both.txt" >"$T/calls"
same "$T/calls" "$T/sum" "each function is there once, with the calls of both"
is "$(awk '$1 == "lo_ioctl" { print ($2 >= 2) }' "$T/calls")" 1 "there are such calls"

$BBTRACE report "$T/second.bbt" -F lcov -o "$OUT/loop.info" 2>"$T/err"
if [[ -e /usr/lib/debug ]]; then
	$BBTRACE report "$T/second.bbt" -c -F json -o "$OUT/loop.json"
	like "$OUT/loop.info" '^SF:.*drivers/block/loop\.c$' "source lines come from the module's debug file"
else
	is "$(grep -c '^SF:' "$OUT/loop.info")" 0 "without debug information there are no lines"
	like "$T/err" 'no source lines' "a note says so"
fi
bring_back
done_testing

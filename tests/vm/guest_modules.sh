#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest_modules.sh MARK XFS PLACEMENT SITES MODULE...: traces overlay, loop, ext4 or xfs while disks are made, mounted
# and written to: first the entries of all functions, then everything in some of the called ones, up to SITES sites.
# Sends back the traces, the functions' ranges and their code from memory; tests/check/executed.py compares them with
# what QEMU executed. MARK: kernel_mark; XFS: an image with such a file system.

# shellcheck disable=SC2154 # guest_lib.sh sets them
. "$(dirname "$0")/guest_lib.sh"
MARK=$1
XFS=$2
PLACEMENT=$3
SITES=$4
shift 4
mkdir -p "$OUT/code"

# ---- the work ----

taskset -pc 0 $$ >/dev/null
mount -t tmpfs none /mnt
mkdir /mnt/on /mnt/low /mnt/up /mnt/work
truncate -s 64M /mnt/disk
echo below >/mnt/low/file

files() { # FOLDER: made, written, read, renamed, removed
	mkdir "$1/d"
	echo some >"$1/d/a"
	cat "$1/d/a" /etc/passwd >"$1/d/b"
	ln "$1/d/a" "$1/d/c"
	ln -s a "$1/d/s"
	mv "$1/d/b" "$1/e"
	ls -lR "$1" >/dev/null
	cat "$1/d/s" "$1/e" >/dev/null
	truncate -s 100000 "$1/e"
	rm -r "$1/d" "$1/e"
}
work() { # MODULE
	case $1 in
	overlay)
		mount -t overlay overlay -o lowerdir=/mnt/low,upperdir=/mnt/up,workdir=/mnt/work /mnt/on
		echo more >>/mnt/on/file
		files /mnt/on
		umount /mnt/on
		;;
	loop)
		losetup=$(/bb/losetup -f)
		/bb/losetup "$losetup" /mnt/disk
		dd if="$losetup" of=/dev/null bs=4k count=4 status=none
		dd if=/dev/zero of="$losetup" bs=4k count=4 conv=fsync status=none
		/bb/losetup -d "$losetup"
		;;
	ext4 | xfs)
		mount -t "$1" -o loop "/mnt/$1" /mnt/on
		files /mnt/on
		umount /mnt/on
		;;
	esac
}
cp /mnt/disk /mnt/ext4
/bb/mke2fs -F /mnt/ext4 >/dev/null 2>&1
cp --sparse=always "$XFS" /mnt/xfs

# ---- the traces ----

# traced NAME WINDOW MODULE ARG...: its work, while bbtrace runs, on another CPU: what interrupts it there, RCU's callbacks
# among it, would not be traced, as bbtrace itself is not.
traced() {
	local name=$1 window=$2 module=$3
	shift 3

	taskset -c 1 $BBTRACE kernel "$@" -v -F json -o "$OUT/$name.json" >"$T/out.txt" 2>"$OUT/$name.err" </dev/null &
	wait_for 3000 grep -q 'capabilities kept' "$OUT/$name.err"
	"$MARK" "$window"
	work "$module"
	sleep 2
	"$MARK" 0
	kill -INT $!
	wait $!
	is $? 0 "$name: the trace ends well"
	diag "$(grep ' probes attached' "$OUT/$name.err")"
	diag "$(tail -n 1 "$OUT/$name.err")"
}

# The functions that were called, those with the fewest sites first, up to so many sites.
few_of() { # NAME LIST
	jq -r '[.symbol, .sites] | @tsv' "$2" | sort -u -k1,1 | sort -n -k2,2 |
		awk -v limit="$SITES" 'NR == FNR { called[$1]; next } $1 in called && (all += $2) <= limit { print $1 }' \
			<(jq -r 'select(.event == "entry") | .symbol' "$OUT/$1.json" | sort -u) -
}

window=0
for module; do
	pattern="$module:*" prefix=$module:
	[[ $module != ext4 ]] || pattern='ext4_*' prefix=kernel: # it is in the kernel itself
	$BBTRACE list kernel "$pattern" -F json >"$OUT/$module.list"
	traced "$module.entries" $((++window)) "$module" "$pattern" -e entry
	mapfile -t chosen < <(few_of "$module.entries" "$OUT/$module.list")
	diag "$module: ${#chosen[@]} functions: ${chosen[*]}"
	ranges "${chosen[@]}" >"$OUT/$module.ranges"
	while read -r _ start size; do
		live_text "$OUT/code/$start" "$start" "$size"
	done <"$OUT/$module.ranges"
	traced "$module" $((++window)) "$module" "${chosen[@]/#/$prefix}" --placement "$PLACEMENT"
done
bring_back
done_testing

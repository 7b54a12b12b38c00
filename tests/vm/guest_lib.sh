# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# What the guest's side of a test needs: to be sourced in the guest, by guest_NAME.sh. It says its TAP on stdout, and
# bring_back sends $OUT to the host: lib.sh there takes both.

. /src/tests/tap.sh
OUT=$T/out
mkdir -p "$OUT"
cd /src || exit 1
BBTRACE=build/bbtrace

# bb ARG...: bbtrace; stdout in $T/out.txt, stderr in $T/err, status in $status. Minutes: a hang is what fails.
bb() {
	timeout -k 10 240 $BBTRACE "$@" >"$T/out.txt" 2>"$T/err" </dev/null
	status=$?
}

# exits STATUS NAME: the last bb's; shows its stderr when it is another.
exits() {
	[[ $status == "$1" ]]
	ok $? "$2" || diag "status $status, wanted $1; stderr:"$'\n'"$(head -20 "$T/err")"
}

# summary FIELD: a figure of the last bb's last line: functions probes skipped events lost unmatched
summary() {
	sed -n '$s/.*[ (]\([0-9][0-9]*\) '"$1"'.*/\1/p' "$T/err"
}

# count FILE JQ-CONDITION: on how many lines of JSON it holds.
count() {
	jq -rc "select($2) | 1" "$1" | wc -l
}

# wait_for SECONDS COMMAND...: until it succeeds; status 1: it never did.
wait_for() {
	local end=$((SECONDS + $1))
	shift

	until "$@"; do
		((SECONDS < end)) || return 1
		sleep 0.1
	done
}

# ---- the kernel's own word ----

# All symbols of the kernel, by address. (GNU sort believes the size of a file in /proc.)
sorted_symbols() {
	[[ -e $T/symbols ]] || cat /proc/kallsyms | LC_ALL=C sort >"$T/symbols"
	cat "$T/symbols"
}

# ranges FUNC...: `NAME 0xSTART 0xSIZE` for each function and what the compiler split off it: cold parts, told last, go
# by the name of their function, others by their own. The table has no sizes: a symbol ends where the next one starts.
ranges() {
	local name start next

	sorted_symbols | awk -v names="$*" '
		BEGIN {
			n = split(names, list, " ")
			for (i = 1; i <= n; i++)
				want[list[i]] = 1
		}
		{
			if (open && $1 != last) {
				for (i = 0; i < open; i++)
					print name[i], last, $1
				open = 0
			}
			if ($2 !~ /[tTwW]/)
				next
			own = base = $3
			cold = sub(/\.cold(\.[0-9]+)?$/, "", own)
			sub(/\.(part|isra|constprop|cold).*$/, "", base)
			if (own in want || base in want) {
				name[open++] = cold + 0 " " own
				last = $1
			}
		}' | LC_ALL=C sort -u |
		while read -r _ name start next; do
			printf '%s 0x%s 0x%x\n' "$name" "$start" $((16#$next - 16#$start))
		done
}

# live_text FILE START SIZE: the code as it is in memory, by way of /proc/kcore, an ELF file.
live_text() {
	local start=$(($2)) size=$(($3)) type offset vaddr filesz

	while read -r type offset vaddr filesz; do
		((type == 1 && start >= 16#$vaddr && start + size <= 16#$vaddr + 16#$filesz)) || continue
		dd if=/proc/kcore of="$1" bs=64K iflag=skip_bytes,count_bytes \
			skip=$((16#$offset + start - 16#$vaddr)) count=$size status=none
		return
	done < <(loads)
	return 1
}

# The program headers: type offset vaddr filesz.
loads() {
	local at n

	at=$(od -An -t d8 -j 32 -N 8 /proc/kcore)
	n=$(od -An -t d2 -j 56 -N 2 /proc/kcore)
	od -v -An -w56 -t x8 -j $((at)) -N $((n * 56)) /proc/kcore |
		while read -r word offset vaddr _ filesz _; do
			echo "$((16#$word & 0xffffffff)) $offset $vaddr $filesz"
		done
}

# ---- to the host ----

bring_back() {
	echo "@@begin"
	tar -C "$OUT" -cf - . | gzip | base64 -w 1000
	echo "@@end"
}

# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# Sourced in the guest, by guest_NAME.sh. The test prints its TAP to stdout, and bring_back sends $OUT to the host,
# where lib.sh receives both.

cd /src || exit 1
. tests/tap.sh
OUT=$T/out
mkdir -p "$OUT"
BBTRACE=build/bbtrace
export BBTRACE_ENGINE=${ENGINE:-probe} # as in tests/e2e/lib.sh

# bb ARG...: runs bbtrace; stdout in $T/out.txt, stderr in $T/err, status in $status. The limit only ends hangs.
bb() {
	timeout -k 10 1800 $BBTRACE "$@" >"$T/out.txt" 2>"$T/err" </dev/null
	status=$?
}

# exits STATUS NAME: the last bb had this status; otherwise shows its stderr.
exits() {
	[[ $status == "$1" ]]
	ok $? "$2" || diag "status $status, wanted $1; stderr:"$'\n'"$(head -20 "$T/err")"
}

# summary FIELD: a number from the last bb's summary line: functions probes skipped events lost unmatched
summary() {
	sed -n '$s/.*[ (]\([0-9][0-9]*\) '"${1%s}"'s\{0,1\}[ ,)]*.*/\1/p' "$T/err"
}

# count FILE JQ-CONDITION: the number of JSON lines for which it is true.
count() {
	jq -rc "select($2) | 1" "$1" | wc -l
}
# counts FILE JQ-CONDITION...: the same for several, in one line: in a guest jq takes half a second to start.
counts() {
	local file=$1 program='' n=0
	shift

	for ((n = 1; n <= $#; n++)); do program+="${program:+, }(select(${!n}) | $n)"; done
	jq -c "$program" "$file" | awk -v n=$# '{ count[$1]++ } END { for (i = 1; i <= n; i++) printf "%d%s", count[i], i < n ? " " : "\n" }'
}

# wait_for SECONDS COMMAND...: repeats the command until it succeeds; status 1 if it never does.
wait_for() {
	local end=$((SECONDS + $1))
	shift

	until "$@"; do
		((SECONDS < end)) || return 1
		sleep 0.1
	done
}

# unmount PLACE...: as soon as nobody has it open: after a trace of CMD a process in the background does for a while.
try_umount() { umount "$@" 2>/dev/null; }
unmount() { wait_for 60 try_umount "$@"; }

# ---- information from the kernel ----

# All symbols of the kernel, as /proc/kallsyms shows them, and by address. Reading it takes as long as a trace.
symbols() {
	[[ -e $T/kallsyms ]] || cat /proc/kallsyms >"$T/kallsyms"
	cat "$T/kallsyms"
}
sorted_symbols() {
	[[ -e $T/symbols ]] || symbols | LC_ALL=C sort >"$T/symbols"
	cat "$T/symbols"
}

# The functions on which the kernel allows no probe: "0xSTART-0xEND NAME".
blacklist() {
	if [[ ! -e $T/blacklist ]]; then
		mkdir -p "$T/debugfs"
		mount -t debugfs none "$T/debugfs"
		cat "$T/debugfs/kprobes/blacklist" >"$T/blacklist"
		umount "$T/debugfs"
	fi
	cat "$T/blacklist"
}

# Compilers inline functions and kernels rename them, so a test lists candidates. These functions list those that the
# kernel has: with a unique name, in the kernel itself. Each looks only for the names that it gets, if any: all of them
# take seconds.
code_named() { # [NAME...]
	local IFS='|'

	symbols | LC_ALL=C grep -E " [tT] $(if (($#)); then echo "($*)"; else echo '[^[:space:]]+'; fi)\$"
}
functions() { code_named "$@" | awk '{ n[$3]++ } END { for (f in n) if (n[f] == 1) print f }'; }
listed() { # LIST-COMMAND NAME...: those of the names that it prints, in the order of the names
	local list=$1
	shift
	"$list" "$@" | awk -v names="$*" '{ have[$0] } END { n = split(names, name, " "); for (i = 1; i <= n; i++) if (name[i] in have) print name[i] }'
}
traceable() { functions "$@" | grep -vxFf <(blacklist | awk '{ print $2 }'); }
refused() { functions "$@" | grep -xFf <(blacklist | awk '{ print $2 }'); }
ambiguous() { code_named "$@" | awk '{ n[$3]++ } END { for (f in n) if (n[f] > 1) print f }'; }

# choose VARIABLE LIST-COMMAND WHAT NAME...: the first of the names that this kernel has in that list.
choose() {
	local variable=$1 list=$2 what=$3
	shift 3
	declare -g "$variable=$(listed "$list" "$@" | head -n 1)"
	[[ ${!variable} ]] && diag "$what: ${!variable}" && return
	ok 1 "$what: Linux $(uname -r) has none of $*"
	declare -g "$variable=$1"
}

# The number of warnings and oopses that the kernel has logged.
complaints() { /bb/dmesg | grep -cE 'WARNING:|BUG:|Oops|corruption|general protection'; }

# ranges FUNC...: `NAME 0xSTART 0xSIZE` for each function and its parts. Cold parts come last and have the name of their
# function; other parts have their own. The table has no sizes: a symbol ends where the next one starts.
ranges() {
	local name start next

	sorted_symbols | awk -v names="$*" '
		BEGIN {
			n = split(names, list, " ")
			for (i = 1; i <= n; i++) {
				want[list[i]] = 1
				wanted = wanted (i > 1 ? "|" : "") list[i]
			}
			wanted = "^(" wanted ")(\\.|$)"
		}
		{
			if (open && $1 != last) {
				for (i = 0; i < open; i++)
					print name[i], last, $1
				open = 0
			}
			if ($3 !~ wanted || $2 !~ /[tTwW]/)
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

# live_text FILE START SIZE: the code from memory, by /proc/kcore, an ELF file.
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

# By a disk, if run.sh has -b, else by the console, which takes 0.2 to 1 MB a second.
bring_back() {
	[[ ! -d /back ]] || {
		cp -R "$OUT/." /back
		return
	}
	[[ ! -e /vm/back ]] || {
		tar -C "$OUT" -cf "$(</vm/back)" .
		sync
		return
	}
	echo "@@begin"
	tar -C "$OUT" -cf - . | gzip | base64 -w 1000
	echo "@@end"
}

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest_trace.sh READS [all], in the guest of t_trace.sh: functions of libc and of the kernel in one trace.

. "$(dirname "$0")/guest_lib.sh"
READS=$1
whole=${2:-}

# what cat reads at once, which coreutils chooses
truncate -s 4M "$T/file"
BLOCK=$(strace -e trace=read cat "$T/file" 2>&1 >/dev/null | sed -n 's/^read(3, .*, \([0-9]*\)) *= 0$/\1/p' | tail -n 1)
truncate -s $((READS * BLOCK)) "$T/file"
truncate -s $((100 * BLOCK)) "$T/some"
truncate -s $(($([[ $whole ]] && echo 50 || echo 20) * BLOCK)) "$T/other"
mkfifo "$T/fifo"

declare -A placements=([probe]=full [inline]=witness)
[[ ! $whole ]] || placements=([probe]='full witness' [inline]='full witness')
for engine in probe inline; do
	for placement in ${placements[$engine]}; do
		# cat reads where it can't have the kernel copy from file to file
		timeout -k 10 1800 $BBTRACE trace user:libc.so.6:read kernel:vfs_read --engine $engine --placement $placement \
			-F json -o "$OUT/$engine-$placement.json" -- cat "$T/file" >/dev/null 2>"$T/err"
		ok $? "$engine, $placement: cat is traced in libc and in the kernel" || diag "$(head -20 "$T/err")"
	done
	[[ $whole || $engine == inline ]] || continue

	bb trace user:libc.so.6:read user:libc.so.6:write kernel:vfs_read kernel:vfs_write --engine $engine -f -F json \
		-o "$OUT/$engine-forks.json" -- \
		bash -c "cat '$T/other' | cat > /dev/null & cat '$T/other' | cat > /dev/null & wait"
	exits 0 "$engine: four processes at once are traced in libc and in the kernel"

	# nobody reads the trace before cat has read all, and the kernel's ring is small
	rm -f "$T/passed"
	{ wait_for 1800 test -e "$T/passed" && cat; } <"$T/fifo" >"$OUT/$engine-lost.json" &
	timeout -k 10 1800 $BBTRACE trace user:libc.so.6:read kernel:vfs_read --engine $engine --buffer 4096 -F json \
		-o "$T/fifo" -- cat "$T/some" 2>"$T/err" | {
		head -c $((100 * BLOCK)) >/dev/null
		: >"$T/passed"
	}
	ok "${PIPESTATUS[0]}" "$engine: cat is traced in libc and in the kernel, where most is lost" || diag "$(head -20 "$T/err")"
	wait $!
done
bb trace user:libc.so.6:read kernel:vfs_read --engine auto -v -F json -o "$T/json" -- cat "$T/other"
like "$T/err" '^bbtrace: 1 function is copied$' 'a command is traced by copies in libc, and by probes in the kernel'

bb trace user:libc.so.6:read kernel:vfs_read --record "$T/recorded" -o "$OUT/live.txt" -F text -T none \
	-- bash -c "cat '$T/other' >/dev/null"
exits 0 'a trace in libc and in the kernel is recorded'
bb report "$T/recorded" -T none
cp "$T/out.txt" "$OUT/report.txt"
exits 0 'a trace in libc and in the kernel is reported'

bb trace user:libc.so.6:read kernel:vfs_read -p $$ -t 1
exits 0 'a process that runs is traced in libc and in the kernel'

# What the kernel exports is what kallsyms has a __ksymtab_ entry for, under names that can be given back.
awk '!/\[/ && $3 ~ /^__ksymtab_/ { exports[substr($3, 11)] } !/\[/ && $2 ~ /[TW]/ { functions[$3] }
	END { for (f in functions) if (f in exports) print f }' /proc/kallsyms | sort >"$T/exports"
$BBTRACE list kernel --exported >"$T/names" 2>"$T/err"
is "$? $(($(wc -l <"$T/names") > 3000)) $(grep -cx -e vfs_getattr -e do_sys_openat2 "$T/names")" '0 1 1' \
	"the kernel's exported functions are listed: $(wc -l <"$T/names")"
sed 's/.*://' "$T/names" | grep -vxFf "$T/exports" >"$T/others"
is "$(wc -l <"$T/others")" 0 'each of them is exported to modules' || diag "$(head -5 "$T/others")"
# Those that begin with k, which each has to be decoded; all: every one.
exported=('k*')
[[ ! $whole ]] || exported=()
mapfile -t given < <(grep -E "^([^:]*:)?${exported[0]:+k}" "$T/names")
bb list kernel "${given[@]}" -F json
grep -o '"vaddr":"[^"]*","size"' "$T/out.txt" | sort >"$T/named"
ok $(($(wc -l <"$T/named") < 100)) "names are given back: $(wc -l <"$T/named")"
bb list kernel "${exported[@]}" --exported -F json
grep -o '"vaddr":"[^"]*","size"' "$T/out.txt" | sort | cmp - "$T/named"
ok $? 'their names given back are the same functions'
bb kernel 'vfs_re*' --exported -e entry -- cat "$T/other"
like "$T/err" '^bbtrace: [1-9] functions, ' 'exported functions of the kernel are traced'
bb kernel ksys_read --exported -- true
like "$T/err" "exports no function 'ksys_read': leave out --exported" 'a function that the kernel does not export is refused'

# A trace without events says why.
bb kernel vfs_read --comm nosuch -- cat "$T/other"
like "$T/err" '^bbtrace: no event: the probes were hit, but only by threads that are not traced \(-- CMD, --comm\)$' \
	'of a kernel function that only other threads called, the trace says so'
[[ ! $whole ]] || { # two of them are below
	bb kernel __x64_sys_setdomainname -- true
	like "$T/err" '^bbtrace: no event: no traced thread called __x64_sys_setdomainname$' 'of a kernel function that nobody called, the trace says so'
}
bb trace user:libc.so.6:qsort kernel:__x64_sys_setdomainname kernel:__x64_sys_sethostname -- true
like "$T/err" '^bbtrace: no event: no traced thread called any of the 2 traced functions of the kernel$' \
	'of functions of a library and the kernel that nobody called, the trace says so: the kernel'
like "$T/err" '^bbtrace: no event: .*/libc\.so\.6 was mapped, but no traced thread called qsort$' \
	'of functions of a library and the kernel that nobody called, the trace says so: the library'

# Refusals name the next step.
bb trace vfs_read -- true
exits 2 'a name without prefix is wrong usage'
grep -q 'write user:OBJECT:FUNC or kernel:FUNC' "$T/err"
ok $? 'the refusal of a name without prefix says how to write it' || diag "$(cat "$T/err")"
bb trace kernel:vfs_read --attach kprobe_event -v -- cat "$T/other"
exits 0 'trace takes functions of the kernel alone'
bb trace user:libc.so.6:read kernel:vfs_read --attach uprobe_event -v -- cat "$T/other"
exits 0 'trace attaches programs by the mechanism that is named'
grep -q 'by uprobe_event and kprobe_event' "$T/err"
ok $? 'where programs are attached to by a named mechanism, the kernel is by its own' || diag "$(grep attached "$T/err")"
bring_back
done_testing

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A probe on every form of an instruction (tests/forms): each leaves registers, flags, memory, stack, signals and
# control flow as they are untraced, and takes the traps that bbtrace assumes. t_forms.sh [N]: every Nth of 60,000 forms
# (50th), and those that are known to be hard.
. "$(dirname "$0")/lib.sh"
needs root uprobes file:/usr/include/Zydis/Zydis.h
[[ $(uname -m) == x86_64 ]] || skip_all 'the forms are of x86-64'

limit=7200
stride=${1:-50}
emulator=$(grep -qm 1 '^model name.*QEMU TCG' /proc/cpuinfo && echo tcg)
cc -O1 -o "$T/gen" tests/forms/gen.c -lZydis && "$T/gen" "$T/table.s" "$stride" $emulator >"$T/forms.s" &&
	cc -O1 -static -no-pie -z noexecstack -o "$T/run" tests/forms/run.c "$T/forms.s" "$T/table.s" 2>"$T/log" || {
	diag "$(cat "$T/log")"
	skip_all 'the forms cannot be built here'
}
[[ ! $emulator ]] || diag "$(("$("$T/gen" /dev/null 1 | grep -c "^f_")" - "$("$T/gen" /dev/null 1 tcg | grep -c "^f_")")) of all forms are left out: this emulator gets them wrong"
forms=$(grep -c '^f_.*:' "$T/forms.s")

setarch -R "$T/run" >"$T/plain" 2>&1
setarch -R "$T/run" >"$T/again" 2>&1
same "$T/again" "$T/plain" "untraced, $forms forms come out the same twice"

# traced OPTION...: a traced run says what an untraced one does, and each form is probed and seen, or skipped.
traced() {
	BB_TIMEOUT=$limit bb user "$T/run" 'f_*' -f "$@" -F json -o "$T/json" -- setarch -R "$T/run"
	exits 0 "a program of all forms is traced with $*"
	same "$T/out" "$T/plain" "every form comes out as untraced, with $*"
	is "$(summary lost)" 0 "nothing of all forms is lost, with $*"
	entered=$(json_lines "$T/json" '$e->{event} eq "entry" && exists $e->{ts} && $e->{symbol}' | sort -u | wc -l)
	is "$((entered + $(summary skipped)))" "$forms" 'each form is seen entered by its own probe, or counted as skipped'
	((entered > forms / 2))
	ok $? "$entered forms carry a probe"
}

mechanisms
for attach in "${MECHANISMS[@]}"; do
	traced --attach "$attach" --buffer 64M
done
traced --buffer 64M -e entry

# A hit takes one trap or two, and its price follows from that. The first step in a process maps a page: of a form in a
# process of its own that shows whether the kernel stepped it.
page=man/bbtrace-trace.5
if [[ -e $page ]] && command -v python3 >/dev/null; then
	BB_TIMEOUT=$limit bb user "$T/run" 'f_*' -f -e entry --buffer 64M -o "$T/trace" -- setarch -R "$T/run" --stepped
	exits 0 'a program with a process for each form is traced'
	python3 tests/forms/traps.py "$page" "$T/trace" | sort >"$T/traps"
	# a form may end its process (wrfsbase)
	sort "$T/out" | join - "$T/traps" | awk '$2 != "?"' >"$T/both"
	is "$(awk '$3 && ($2 == "stepped") != ($3 == 2)' "$T/both")" '' 'the kernel steps the forms that bbtrace takes for stepped, and no others'
	isnt "$(grep -c ' stepped ' "$T/both")" 0 "it steps $(grep -c ' stepped ' "$T/both") forms"
	isnt "$(grep -c ' not ' "$T/both")" 0 "it emulates $(grep -c ' not ' "$T/both") forms"
	((100 * $(wc -l <"$T/both") > 99 * $(wc -l <"$T/traps")))
	ok $? 'that is so of nearly all of them'
else
	skip 'which forms the kernel steps' "needs $page and python3"
fi
done_testing

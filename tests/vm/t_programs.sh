#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# User mode on other kernels, with each of their mechanisms and with copied functions: tests/progs' programs, compared with the single-stepped
# references from this machine. 5.15 is the oldest supported kernel; an older one is refused with a message.
# Each way has a quarter of the programs, in turn, and one of those that are counted, with one CPU.
# KERNELS="6.12": on these. HOWS="executed_multi.full": only with this mechanism and placement. ALL=1: each by each, with two.

. "$(dirname "$0")/lib.sh"
needs_guest perl setarch readelf nm
[[ -x $BUILD/stepref && -d $BUILD/progs ]] || skip_all "needs $BUILD/stepref and $BUILD/progs: make -C tests/progs"

# Those whose traces are made of what kernels do differently; ALL=1: all but those that are long under emulation, and
# those that jump into the C library's functions, which it chooses by the processor.
names=(fib-staticpie switch longjmp except handler threads execs odd)
[[ -z ${ALL:-} ]] ||
	mapfile -t names < <(awk '!/^#/ && NF && $4 !~ /L/ && $1 !~ /^(million|deep|tailmem(-slots|-nopie|-clang|-all)?)$/ { print $1 }' tests/progs/progs.list)

# Handlers of signals, which leave no count open there: that is seen by a kprobe.
counted=(handler killed)
[[ -z ${ALL:-} ]] || counted+=(sigjmp altstack nestsig)

STAGES=reference tests/check/compare_all.sh "$BUILD" "${names[@]}" "${counted[@]}" >"$T/here" 2>&1
ok $? 'each program is single-stepped on this machine, as the reference' || diag "$(grep -B8 '^not ok' "$T/here")"

files=()
[[ ! -e /lib/ld-musl-x86_64.so.1 ]] || files+=(-f /lib/ld-musl-x86_64.so.1)
# What a guest traced is compared here: its perl would take as long as its bbtrace.
compare() { # FOLDER
	local flags='' names=("${names[@]}")

	[[ $1 != */inline ]] || flags='--engine inline'
	[[ $1 != *.counts ]] || flags=-c
	mkdir "$1/build"
	ln -s "$BUILD/progs" "$BUILD/ref" "$1/build/"
	mv "$1/cmp" "$1/build/"
	mapfile -t names <"$1/names"
	STAGES=compare BBFLAGS=$flags tests/check/compare_all.sh "$1/build" "${names[@]}" >"$T/compared" 2>&1
	ok $? "$KERNEL ${1##*/}: $(grep -c '^ok' "$T/compared") programs were traced as they were stepped" ||
		diag "$(grep -B8 '^not ok' "$T/compared")"
	is "$(grep -c '^ok' "$T/compared")" ${#names[@]} "$KERNEL ${1##*/}: each program was compared"
	[[ $flags != -c ]] || {
		diag "$(sed -n 's/.* up to \([0-9]*\) counts\{0,1\} open.*/\1/p' "$T/compared" | xargs) counts open"
		return
	}
	sed -n 's/^ok [0-9]* - \([^ ]*\)$/\1/p' "$T/compared" >>"$T/alike"
	diag "$(sed -n 's/^# same: .* \([0-9]*\) of [0-9]* events.*/\1/p' "$T/compared" | awk '{ n += $1 } END { print n + 0, "events compared" }')"
}

for KERNEL in ${KERNELS:-newest}; do
	has_kernel "$KERNEL" || continue
	rm -rf "$T/back"
	: >"$T/alike"
	guest -b "$T/back" -t 7200 -c "$(if [[ ${ALL:-}${HOWS:-} ]]; then echo 2; else echo 1; fi)" -f "$BUILD/ref" "${files[@]}" -f "$(command -v setarch)" -f "$(command -v readelf)" -f "$(type -P nm)" \
		-- tests/vm/guest_programs.sh "$(if [[ ${ALL:-}${HOWS:-} ]]; then echo whole; fi)" "$BUILD" "${names[@]}" -- "${counted[@]}" ${HOWS:+-- $HOWS}
	for folder in "$T"/back/*; do
		[[ ! -d $folder ]] || compare "$folder"
	done
	is "$(sort -u "$T/alike" | xargs)" "$(printf '%s\n' "${names[@]}" | sort | xargs)" "$KERNEL: each program was traced in some way as it was stepped"
done

if "$VM/kernel.sh" 5.10 >"$T/kernel" 2>&1; then
	"$VM/run.sh" -k 5.10 -c 1 -- build/bbtrace user build/progs/fib fib -- build/progs/fib >"$T/old" 2>&1
	is $? 1 'Linux 5.10 is refused'
	like "$T/old" '^bbtrace: .*5\.15' 'the refusal of Linux 5.10 names the oldest kernel that will do'
else
	skip 'Linux 5.10 is refused' "$(tail -n 1 "$T/kernel")"
fi
done_testing

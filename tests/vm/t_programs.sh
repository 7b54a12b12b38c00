#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# User mode on other kernels, by each mechanism that they have: tests/progs' programs, compared with the single-stepping
# reference that this machine made. The oldest kernel promised is 5.15; an older one is refused with a message.
# KERNELS="6.1 newest": just those.

. "$(dirname "$0")/lib.sh"
needs_guest perl setarch readelf nm
[[ -x $BUILD/stepref && -d $BUILD/progs ]] || skip_all "needs $BUILD/stepref and $BUILD/progs: make -C tests/progs"

# Those whose traces are made of what kernels do differently; ALL=1: all but those that are long under emulation.
names=(fib-staticpie jcc loopinsn switch fptr-nopie tail longjmp except handler sigjmp context threads pexit forks vforks
	execs killed dlopen-again odd callback ifunc strict musl)
[[ -z ${ALL:-} ]] ||
	mapfile -t names < <(awk '!/^#/ && NF && $4 !~ /L/ && $1 !~ /^(million|deep)$/ { print $1 }' tests/progs/progs.list)

tests/check/compare_all.sh "$BUILD" "${names[@]}" >"$T/here" 2>&1
ok $? 'the references, and here' || diag "$(grep -B8 '^not ok' "$T/here")"

files=()
[[ ! -e /lib/ld-musl-x86_64.so.1 ]] || files+=(-f /lib/ld-musl-x86_64.so.1)
for folder in $(perl -e 'print "@INC"'); do
	[[ -d $folder ]] && files+=(-f "$folder")
done
for KERNEL in ${KERNELS:-6.1 6.12 newest}; do
	has_kernel "$KERNEL" || continue
	guest -t 7200 -f "$BUILD/ref" -f "$(command -v perl)" "${files[@]}" -f "$(command -v setarch)" \
		-f "$(command -v readelf)" -f "$(command -v nm)" -f "$BUILD/stepref" \
		-- tests/vm/guest_programs.sh "$BUILD" "${names[@]}"
done

if "$VM/kernel.sh" 5.10 >"$T/kernel" 2>&1; then
	"$VM/run.sh" -k 5.10 -- build/bbtrace user build/progs/fib fib -- build/progs/fib >"$T/old" 2>&1
	is $? 1 'Linux 5.10 is refused'
	like "$T/old" '^bbtrace: .*5\.15' 'with the oldest that will do'
else
	skip 'Linux 5.10 is refused' "$(tail -n 1 "$T/kernel")"
fi
done_testing

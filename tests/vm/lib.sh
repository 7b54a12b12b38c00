# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# shellcheck disable=SC2154 # relay sets what it reads
# The host's side of a guest test, besides tests/tap.sh: runs a script in a guest, includes its TAP here, and receives
# its files. KERNEL: the guest's kernel, as run.sh's -k takes it.

VM=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ROOT=$(cd "$VM/../.." && pwd)
. "$ROOT/tests/tap.sh"
cd "$ROOT" || exit 1

BUILD=$(realpath -m "${B:-build}")
QEMU=${QEMU:-qemu-system-x86_64}

# Skips the file if guests can't run here. COMMAND...: further requirements.
needs_guest() {
	local command

	for command in "$QEMU" cpio busybox jq strace "$@"; do
		command -v "$command" >/dev/null || skip_all "needs $command"
	done
	[[ -x $BUILD/bbtrace ]] || skip_all "needs $BUILD/bbtrace: make"
	"$VM/kernel.sh" ${KERNEL:+"$KERNEL"} --modules >"$T/kernel" 2>&1 ||
		skip_all "no kernel for the guest: $(tail -n 1 "$T/kernel")"
}

# QEMU 7.2 has defects that 10 doesn't have: tests/vm/README.md.
qemu_10() { (($("$QEMU" --version | sed -n '1s/.*version \([0-9]*\).*/\1/p') >= 10)); }
# Skips if this kernel is missing, or doesn't run well in this QEMU.
has_kernel() { # KERNEL
	if [[ $1 == 6.12 ]] && ! qemu_10; then
		skip "Linux $1" "$("$QEMU" --version | head -n 1) corrupts the flags register in its guests"
	elif ! "$VM/kernel.sh" "$1" >"$T/kernel" 2>&1; then
		skip "Linux $1" "$(tail -n 1 "$T/kernel")"
	else
		return 0
	fi
	return 1
}

# helper NAME: builds tests/vm/NAME.c as $T/NAME; pass it to the guest with -f.
helper() {
	${CC:-cc} -D_GNU_SOURCE -std=gnu11 -O1 -g -Wall -Wextra -Itests/progs -o "$T/$1" "$VM/$1.c" -lpthread || exit 2
}

# guest [OPTION of run.sh...] -- COMMAND...: includes its TAP lines here; the files that it sends back are in $T/back.
guest() {
	local status

	"$VM/run.sh" ${KERNEL:+-k "$KERNEL"} "$@" >"$T/guest" 2>&1
	status=$?
	mkdir -p "$T/back"
	sed -n '/^@@begin$/,/^@@end$/{/^@@/!p}' "$T/guest" | base64 -d 2>/dev/null | tar -C "$T/back" -xzf - 2>/dev/null
	relay < <(sed '/^@@begin$/,/^@@end$/d' "$T/guest")
	[[ $relayed == "$planned" && ($status == 0 || ($status == 1 && $relayed_failed -gt 0)) ]]
	ok $? "the guest ran to its end" || diag "status $status, $relayed of ${planned:-?} tests; last words:"$'\n'"$(tail -n 20 "$T/guest" | cut -c1-200)"
}

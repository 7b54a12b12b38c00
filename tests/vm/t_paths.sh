#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# -F paths of functions of the kernel: whole paths, counted by bbtrace in a guest, are those that QEMU's log of what it executed
# meanwhile shows (tests/vm/logged.c), with objdump's control flow. The kernel starts twice: first to find its functions.
# KERNEL=6.1: of that one.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs_guest objdump python3
qemu_10 || skip_all 'needs plugins as QEMU 10 has them'
nm -D "$(type -P "$QEMU")" | grep -q qemu_plugin_register_vcpu_tb_trans_cb || skip_all "$QEMU was built without plugins"
${CC:-cc} -std=gnu11 -O2 -Wall -Wextra -shared -fPIC -fvisibility=hidden -o "$T/logged.so" tests/vm/logged.c || exit 2
${CC:-cc} -static -O1 -Wall -Wextra -o "$T/kernel_mark" tests/vm/kernel_mark.c || exit 2
helper paths_work
PLACEMENTS=(full witness)

# One processor: the log is of one sequence. No address is random, so both starts have the same.
start() { # PLACEMENT...
	guest -c 1 -M 1024 -a nokaslr -f "$T/kernel_mark" -f "$T/paths_work" -- tests/vm/guest_paths.sh "$T/kernel_mark" "$T/paths_work" "$@"
}
start
cp "$T/back/ranges" "$T/ranges"
from=$(cut -d' ' -f2 "$T/ranges" | sort | head -n 1)
to=$(awk '{ printf "%s %s\n", $2, $3 }' "$T/ranges" | sort | tail -n 1)
printf '#!/bin/bash\nexec %s "$@" -plugin %s\n' "$(type -P "$QEMU")" "$T/logged.so,out=$T/log,from=$from,to=$(printf '0x%x' $((${to% *} + ${to#* })))" >"$T/qemu"
chmod +x "$T/qemu"
export QEMU=$T/qemu
rm -rf "$T/back"
start "${PLACEMENTS[@]}"
same "$T/back/ranges" "$T/ranges" 'the functions are where they were'

window=0
for placement in "${PLACEMENTS[@]}"; do
	tests/check/logged.py "$T/back/ranges" "$T/back/code" "$T/log.$((++window))" >"$T/ref" 2>"$T/said"
	ok $? "$placement: QEMU's log is of whole calls: $(tail -n 1 "$T/said")" || diag "$(head "$T/said")"
	awk '{ print $0, "-" }' "$T/back/ranges" >"$T/parts"
	tests/check/paths.py "$T/back/code" "$T/parts" "$T/ref" "$T/back/$placement.json" >"$T/said" 2>&1
	ok $? "$placement: the paths are those that QEMU ran: $(tail -n 1 "$T/said")" || diag "$(head -n 20 "$T/said" | cut -c1-300)"
	diag "$(grep '^left out' "$T/said")"
	(($(sed -n '$s/.* ran, \([0-9]*\) different.*/\1/p' "$T/said") >= 20))
	ok $? "$placement: there are enough of them"
done

# A count that differs is seen: of a function that is not left out.
sed '0,/"event":"path","function":"do_mkdirat"/s/\("event":"path","function":"do_mkdirat".*"count":\)\([0-9]*\)/\11\2/' "$T/back/full.json" >"$T/wrong"
tests/check/logged.py "$T/back/ranges" "$T/back/code" "$T/log.1" >"$T/ref" 2>/dev/null
tests/check/paths.py "$T/back/code" "$T/parts" "$T/ref" "$T/wrong" >"$T/said" 2>&1
is $? 1 'a wrong count is seen'
done_testing

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Net times in the kernel, in a guest whose clock is the number of instructions that its CPU has executed (QEMU's
# -icount): a nanosecond each. So what a call takes itself, and what tracing takes of it, are counts, however busy this
# machine is. KERNELS="6.1": on these. ALL=1: also by one function's probes, in full.

. "$(dirname "$0")/lib.sh"
needs_guest

cat >"$T/qemu" <<END
#!/bin/bash
[[ \$1 != --version ]] || exec "$QEMU" --version
exec "$QEMU" "\${@/#tcg,thread=*/tcg,thread=single}" -icount shift=0,sleep=off
END
chmod +x "$T/qemu"
for KERNEL in ${KERNELS:-newest}; do
	has_kernel "$KERNEL" || continue
	# with ERMS: a long copy is many instructions, which is what is measured; the kernel's own memcpy and memset needn't be
	QEMU=$T/qemu guest -c 1 -C "max,-fsrm$([[ ! $("$QEMU" -cpu help) =~ [[:space:]]fsrs ]] || echo ,-fsrs)" -- tests/vm/guest_net.sh ${ALL:+all}
done
done_testing

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# bbtrace why, in guests: the branches by which system calls fail, as the kernel's source has them. Here a few of them.
# ALL=1: all; CASES="dup3|lseek": those whose names begin so. KERNELS="6.1": on these.

. "$(dirname "$0")/lib.sh"
needs_guest

[[ ${ALL:-} ]] || : "${CASES:=pipe2|read}"
helper failing
cat >"$T/complain.c" <<'END'
#include <fcntl.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	if (open(argv[1], O_RDONLY) < 0) { /* open */
		perror(argv[1]);
		return 1;
	}
	return 0;
}
END
${CC:-cc} -g -O1 -o "$T/complain" "$T/complain.c" || exit 2
for KERNEL in ${KERNELS:-newest}; do
	has_kernel "$KERNEL" || continue
	guest -c 1 -f "$T/failing" -f "$T/complain" -- tests/vm/guest_explain.sh "$T/failing" "$T/complain" "${CASES:-}"
done
done_testing

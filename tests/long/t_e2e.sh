#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# All of tests/e2e in guests, on each kernel. Linux 6.12 needs QEMU 10: tests/vm/README.md.
cd "$(dirname "$0")/../.." || exit 1
export ALL=1 KERNELS="${KERNELS:-6.1 6.12 newest}"
exec tests/vm/t_e2e.sh

# SPDX-License-Identifier: BSD-2-Clause
# The tests of units.
check() { [ "$(./units "$1")" = "$2" ] || echo "failed: $1"; }
check 10 10
check 4k 4096
check 2M 2097152
check 7x ''
check '' ''

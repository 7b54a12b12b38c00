#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# `make try`: traces malloc in `ls`, shows a screenful with an explanation, and checks the output.
set -u
cd "$(dirname "$0")/.." || exit 1
bbtrace=${B:-build}/bbtrace
lines=40

die() {
	printf '\ntry: %s\n' "$*" >&2
	exit 1
}

if [[ $(id -u) != 0 ]]; then
	die "built: $bbtrace. Tracing needs root (CAP_BPF and CAP_PERFMON): sudo make try"
fi
trace=$(mktemp) || exit 1
trap 'rm -f "$trace"' EXIT
color=never
[[ -t 1 ]] && color=always

cat <<END

Each branch that malloc takes, in an unmodified ls and its unmodified libc, the first $lines events:

    # $bbtrace user libc.so.6 malloc -l $lines -- ls /

END
"$bbtrace" user libc.so.6 malloc -l "$lines" --color "$color" -- ls / | tee "$trace"
status=${PIPESTATUS[0]}
[[ $status == 0 ]] || die "that failed with status $status. What this machine allows: $bbtrace doctor"

# Told by the words that text output uses for each.
for seen in 'entry:malloc\(' 'branch:taken -> ' 'return:malloc returns'; do
	grep -qE "${seen#*:}" "$trace" || die "no ${seen%%:*} line in the output above: please report this"
done
cat <<END

Above: each call with its arguments, each branch with its instruction, whether it was taken and to where, and
the return with its value and how long it took. Nothing was recompiled; no probe is left behind.
More: $bbtrace --help, README.md. The tests: sudo make check
END
scripts/own.sh "${B:-build}"

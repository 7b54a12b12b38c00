#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# again.sh LINES STDOUT STEPREF [OPTION...] -- CMD [ARG...]: runs stepref with its lines to LINES and CMD's output to
# STDOUT. If LINES end with a step that the machine lost, it runs stepref again, at most TRIES (5) times in all; for
# no other reason. Status: the last run's; 124 if every run lost a step.
lines=$1 stdout=$2 stepref=$3
shift 3
left=${TRIES:-5}
while :; do
	"$stepref" --out "$lines" "$@" >"$stdout"
	status=$?
	left=$((left - 1))
	[ $status -eq 124 ] && tail -n 1 "$lines" | grep -q '^# lost a step' || exit $status
	[ $left -gt 0 ] || break
	echo "again.sh: once more, $left left" >&2
done
echo "again.sh: this machine loses single steps: ${TRIES:-5} runs of stepref lost one each" >&2
exit 124

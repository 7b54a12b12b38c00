#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What newcomers from other tools type first, and what they get: the right result, or an error that names the next step.
# The rows are in first/*.tsv: exit status, stream (o, e), what it says (both extended regular expressions), the command.
# ONLY=PATTERN: the rows that match.
# shellcheck disable=SC2154 # lib.sh sets them
ENGINE=${ENGINE:-auto} . "$(dirname "$0")/lib.sh"
needs root uprobes cmd:setpriv

chmod 755 "$T"
mkdir -m 755 "$T/desk" "$T/bin"
cp "$BBTRACE" "$T/bin/bbtrace"
printf '#!/bin/sh\nexec setpriv --reuid 65534 --regid 65534 --clear-groups %q "$@"\n' "$T/bin/bbtrace" >"$T/bin/nobody"
chmod 755 "$T/bin/nobody"
export PATH=$T/bin:$PATH
cp "$E2E/first/prog.c" "$E2E/first/cart.cc" "$T/desk"
cd "$T/desk" || exit 1
"${CC:-cc}" -g -O1 -o prog prog.c && "${CXX:-c++}" -g -O1 -o cart cart.cc && strip -o stripped prog || exit 2
printf 'one=1\ntwo=2\nthree=3\n' >good.conf
printf 'one=1\ntwo=200\n' >bad.conf
printf '#!/bin/sh\necho hello\n' >script.sh
chmod +x script.sh
echo 'PERFILE2 and so on' >perf.data
touch foo.txt
background ./prog sleep
export PID=$background
background ./prog spin
export BUSY=$background
sh -c : &
export DEAD=$!
wait "$DEAD"
bbtrace user ./prog parse_line -o trace.bbt -- ./prog 2>/dev/null
chmod 644 trace.bbt

# as_wanted STATUS STREAMS REGEX: is it so of the last command?
as_wanted() {
	[[ $status =~ ^($1)$ ]] || return 1
	[[ $2 == *o* ]] && grep -qE -e "$3" "$T/out" && return 0
	[[ $2 == *e* ]] && grep -qE -e "$3" "$T/err"
}

while IFS=$'\t' read -r statuses streams regex command; do
	[[ $statuses == '#'* || $command != *${ONLY:-}* ]] && continue
	regex=${regex//\$PID/$PID} regex=${regex//\$BUSY/$BUSY}
	started=${EPOCHREALTIME/./}
	timeout -k 5 100 bash -c "$command" >"$T/out" 2>"$T/err" </dev/null
	status=$?
	took=$(((${EPOCHREALTIME/./} - started) / 1000))
	[[ ! ${TIMES:-} ]] || echo "# $took ms: $command"
	as_wanted "$statuses" "$streams" "$regex"
	right=$?
	if ((right)) && grep -q 'this machine has no hardware breakpoints' "$T/err"; then
		skip "$command" 'this machine has no hardware breakpoints' # tests/vm/t_watch.sh has them
		continue
	fi
	ok $right "$command" || diag "status $status ($statuses), wanted on $streams: $regex"$'\n'"$(head -5 "$T/out")"$'\n'"$(head -5 "$T/err")"
done < <(cat "$E2E"/first/*.tsv)
done_testing

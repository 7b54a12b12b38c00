#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Kernel mode in a guest, by a user with only the capabilities that it needs. ALL=1: with each of them missing, in each
# format, not a third.

. "$(dirname "$0")/lib.sh"
needs_guest setpriv
guest -b "$T/back" -c 1 -- tests/vm/guest_privileges.sh ${ALL:+all}

# The trace of the guest is reported on this machine: only root sees its addresses.
cp "$BUILD/bbtrace" "$T/bbtrace" && chmod 755 "$T" "$T/back" && chmod 644 "$T/back/trace"
if [[ $(id -u) != 0 ]]; then
	skip "report of root's kernel trace by a user" 'needs root to be somebody else'
	done_testing
fi
nobody() { setpriv --reuid nobody --regid nogroup --clear-groups "$T/bbtrace" report -q "$T/back/trace" -F "$@"; }
# at_risk FILE: how many numbers could be addresses, and are no small negative ones: in text; in protobuf's varints
at_risk() { LC_ALL=C grep -aoP '0x[fF]{2}[0-9a-fA-F]{14}(?![0-9a-fA-F])(?<!0xffffffffff[89a-f].{5})|(?![\xfc-\xff]\xff)[\x80-\xff]{2}\xff\xff\xff\xff\x01' "$1" | grep -vc '^0xffffffffff[89a-f]'; }
[[ ! ${ALL:-} ]] || export MATRIX=whole
for format in $(part_of 0 3 text annotate json folded html dot chrome summary callgrind pprof svg perfetto); do
	"$BUILD/bbtrace" report -q "$T/back/trace" -F $format >"$T/root"
	nobody $format >"$T/nobody"
	ok $? "report -F $format works for a user"
	nobody $format --addresses >"$T/asked"
	[[ $format != pprof && $format != perfetto ]] || for who in root nobody asked; do gzip -dc "$T/$who" >"$T/plain" && mv "$T/plain" "$T/$who"; done
	same "$T/asked" "$T/root" "report -F $format --addresses shows a user what root sees"
	is "$(at_risk "$T/nobody")" 0 "report -F $format shows a user no address"
	case $format in
	dot | summary | folded | svg) ;; # have none, whoever reads
	*) is "$(($(at_risk "$T/root") > 0))" 1 "report -F $format shows root addresses" ;;
	esac
done
done_testing

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest_net.sh [all], in the guest of t_net.sh: read(2) of 16 bytes, which takes less than tracing does, and of a megabyte, by
# few and by many probes. The net times must be the same.

# shellcheck disable=SC2154 # guest_lib.sh sets them
. "$(dirname "$0")/guest_lib.sh"

choose reading traceable 'what read(2) runs through' vfs_read
mapfile -t more < <(listed traceable ksys_read rw_verify_area shmem_file_read_iter generic_file_read_iter)
diag "and also: ${more[*]}"
truncate -s 5M "$T/file"
cp "$T/file" "$T/copy" # with pages of its own
reads='dd if="$0" of=/dev/null bs=16 count=60; dd if="$0" of=/dev/null bs=1M count=5'

# traced NAME ARG...: sets how, small and large: the medians of the calls' durations and net times, "noise" if most are
# below it, "-" if they are not known.
traced() {
	how=$1
	shift
	bb "$@" -f -F json -o "$T/json" -- bash -c "$reads" "$T/copy"
	exits 0 "$how: reads are traced"
	is "$(summary lost)" 0 "$how: nothing is lost"
	small=$(medians 0x10) large=$(medians 0x100000)
	diag "$how: $small for 16 bytes, $large for a megabyte: duration and net time, instructions"
}
returns() { grep -F '"return"' "$T/json"; } # jq takes seconds for all
medians() { # RETURN-VALUE
	returns | jq -rs --arg name "$reading" --arg value "$1" 'map(select(.event == "return" and .symbol == $name and .value == $value)) |
		sort_by(.duration_ns)[length / 2 | floor].duration_ns as $duration |
		"\($duration) \(map(.net_ns // if .below_noise then "noise" else "-" end) | sort[length / 2 | floor])"'
}
# between LOW NUMBER HIGH NAME
between() { [[ $2 =~ ^[0-9]+$ ]] && (($1 <= $2 && $2 <= $3)); ok $? "$4" || diag "$2 is not from $1 to $3"; }

traced 'entries and returns' kernel "$reading" -e entry,return
is "${small#* } ${large#* }" '- -' 'a call has no net time where what its entry costs is not known'
like "$T/err" '^bbtrace: times include tracing: [0-9]+ hits, whose cost is not known$' 'and a line says so'
least=${small% *} most=${large% *} # with one hit in each

check() {
	between $((most * 95 / 100)) "${large#* }" $((most * 102 / 100)) "$how: the net time of a long call is what it takes without the probes in it"
	between $((least * 4)) "${small% *}" $((least * 1000)) "$how: a short call takes some times longer with them"
	[[ $how != *full && $small == *noise ]] ||
		between $((least / 10)) "${small#* }" "$least" "$how: and its net time is no longer than without"
	is "$(returns | jq -s 'map(select(.event == "return" and .net_ns > .duration_ns)) | length')" 0 "$how: no net time is longer than the call"
}
[[ ! ${1:-} ]] || {
	traced 'one function, full' kernel "$reading" --placement full
	check
}
traced 'one function, witness' kernel "$reading" --placement witness
check
traced 'several functions' kernel "$reading" "${more[@]}" --placement full
check
is "$(tail -n 1 "$T/json" | jq '.hits_unpriced // 0')" 0 'several functions: the cost of return probes is known, too'
like "$T/err" '^bbtrace: times include about [0-9]+ hits x [0-9.]+us = [0-9.]+[mu]s of tracing$' 'a line says how much is tracing'
traced 'program and kernel' trace user:libc.so.6:read "kernel:$reading" --placement full
check
is "$(returns | jq -rs 'map(select(.event == "return" and .net_ns)) | . as $all | [range(1; length)] |
	map(select($all[.].symbol == "read" and $all[. - 1].depth == $all[.].depth + 1 and $all[. - 1].net_ns > $all[.].net_ns)) | length')" 0 \
	"a call's net time is no shorter than that of the kernel's call in it"
done_testing

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Runs in the guest of t_watch.sh: what is counted is what the program, or this script, does.

. "$(dirname "$0")/guest_lib.sh"

P=$1
whole=${2:-}
watch() { bb watch -F json -o "$T/json" "$@"; }
hits() { jq -r "select(.event == \"watch\") | select(${1:-true}) | .args.new // \"none\"" "$T/json"; }

# ---- programs ----
watch counter -- "$P" once 1000
exits 0 'a program'
is "$(hits '.args.from == "instruction"' | tail -n +2 | xargs)" "$(for ((i = 1; i <= 1000; i++)); do printf '0x%x\n' $i; done | xargs)" \
	'1000 stores, once each, with their values'
watch counter -- "$P" threads 125
is "$(hits '.args.insn | startswith("lock add")' | wc -l)" 1000 'eight threads'
[[ ! $whole ]] || { # tests/e2e/t_watch.sh has these where the machine has hardware breakpoints
	watch counter -f -- "$P" fork 4
	is "$(hits '.symbol == "main"' | wc -l)" 40 'children'
	watch counter -- "$P" fork 4
	is "$(hits | wc -l)" 1 'without -f: none of them'
	watch buffer+24:8 -- "$P" rep 50
	is "$(hits '.args.insn | test("^rep movs")' | sort | uniq -c | xargs)" '50 0x4' 'rep movs'
}
watch buffer:8 -- "$P" read 10
ok $(($(hits '.args.access == "kernel write"' | wc -l) < 10)) 'what the kernel writes for it'

# ---- the kernel ----
set_it() { for i in 11 22 33; do echo $i >/proc/sys/kernel/panic; done; }
was=$(</proc/sys/kernel/panic)
watch kernel:panic_timeout:4 -- bash -c "$(declare -f set_it); set_it"
exits 0 'the kernel'
is "$(hits | xargs)" '0xb 0x16 0x21' 'a variable: each store'
is "$(jq -r 'select(.event == "watch") | .args.old' "$T/json" | tail -2 | xargs)" '0xb 0x16' 'and what was there'
is "$(hits '.object == "kernel" and .symbol != null' | wc -l)" 3 'by a function of the kernel'
diag "$(jq -r 'select(.event == "watch") | "\(.symbol)+\(.offset) \(.args.insn) \(.args.from)"' "$T/json" | sort | uniq -c)"
echo "$was" >/proc/sys/kernel/panic
watch kernel:__x64_sys_sethostname:x -f -- bash -c 'for i in 1 2 3 4; do hostname guest; done'
is "$(hits '.symbol == "__x64_sys_sethostname" and .args.access == "execute"' | wc -l)" 4 'a function of the kernel'
online=/sys/devices/system/cpu/cpu1/online
if { echo 0 >$online; } 2>/dev/null; then
	watch kernel:panic_timeout:4 -- bash -c "$(declare -f set_it); set_it"
	exits 0 'with a CPU that is offline'
	is "$(hits | xargs)" '0xb 0x16 0x21' 'each store of the others'
	bb profile --freq 100 -F json -o "$T/json" -- "$P" once 1000
	exits 0 'profile, too'
	echo 1 >$online
	echo "$was" >/proc/sys/kernel/panic
else
	skip 'with a CPU that is offline' 'none can be taken offline here'
fi
watch kernel:jiffies -t 1
ok $(($(hits | wc -l) < 1)) "jiffies: $(hits | wc -l) stores in a second"
done_testing

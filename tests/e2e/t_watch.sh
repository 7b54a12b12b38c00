#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Watchpoints: each access once, by the right instruction (objdump, gdb), with the values that were stored.
# shellcheck disable=SC2154,SC2016 # lib.sh sets them; Perl's variables
. "$(dirname "$0")/lib.sh"
needs root uprobes

program watched -pthread
P=$T/watched
watch() { bb watch -F json -o "$T/json" "$@"; }
hits() { json "$T/json" '$e->{event} eq "watch"'" && (${1:-1})"; }
values() { json_lines "$T/json" '$e->{event} eq "watch" && '"(${2:-1})"' && hex $e->{args}{'"$1"'}'; }
missed() { grep -c 'hits of watchpoints are not shown' "$T/err"; }

watch counter -- "$P" once 1
if grep -q 'has no hardware breakpoints' "$T/err"; then
	skip_all 'this machine has no hardware breakpoints'
fi

# ---- one thread ----
watch counter -- "$P" once 1000
exits 0 'once: traced'
is "$(hits)" 1001 '1000 stores, and that of the constructor, once each'
is "$(values new | head -1)" $((0x51)) 'the constructor is not too early'
is "$(values new | tail -n +2 | cksum)" "$(seq 1000 | cksum)" 'the values that were stored'
is "$(values old | tail -n +3 | cksum)" "$(seq 999 | cksum)" 'the values that were there'
is "$(hits '$e->{args}{from} eq "instruction"')" 1001 'all of them follow from the instruction'
objdump -d --no-show-raw-insn "$P" | awk '/,0x[0-9a-f]+\(%rip\).*<counter>/ && /mov/ { sub(":", "", $1); print "0x" $1 }' |
	sort -u >"$T/stores"
json_lines "$T/json" '$e->{event} eq "watch" && $e->{vaddr}' | sort -u >"$T/told"
is "$(comm -13 "$T/stores" "$T/told" | xargs)" '' 'each at a store that objdump knows'
is "$(missed)" 0 'no hit was missed'
[[ $(summary 'named events') == 1001 ]]
ok $? 'the summary counts them'

# ---- threads, children ----
watch counter -- "$P" threads 125
is "$(hits '$e->{args}{insn} =~ /^lock add/')" 1000 'eight threads: 1000 additions, once each'
is "$(json_lines "$T/json" '$e->{args}{insn} =~ /^lock/ && $e->{tid}' | sort | uniq -c | awk '$1 == 125' | wc -l)" 8 'of each thread'
is "$(hits '$e->{args}{insn} =~ /^lock/ && $e->{args}{from} ne "memory"')" 0 'their results are read back, which is marked'
is "$(values new '$e->{args}{insn} =~ /^lock/' | sort -n | tail -1)" $((0x51 + 1000)) 'the last one is there'

watch counter -f -- "$P" fork 4
is "$(hits '$e->{symbol} eq "main"')" 40 '-f: each store of four children'
is "$(values old '$e->{symbol} eq "main"' | sort -n | uniq -c | awk '$2 == 81 { print $1 }')" 4 'children begin with the value of their parent'
watch counter -- "$P" fork 4
is "$(hits)" 1 'without -f: none of them'

# ---- kinds of accesses ----
watch buffer:8 -- "$P" read 100
at_least=$(hits '$e->{args}{access} eq "kernel write"')
((at_least >= 100 && at_least == $(hits) && at_least % 100 == 0))
ok $? 'what the kernel writes for the process' || diag "$at_least"
watch buffer:8 --user-only -- "$P" read 100
is "$(hits)" 0 '--user-only: none of that'
watch buffer+24:8 -- "$P" rep 50
is "$(hits '$e->{args}{insn} =~ /rep movs/ && $e->{symbol} eq "main"')" 50 'rep movs, between two iterations'
is "$(values new | sort -u)" 4 'what was copied'
watch other+4:4 -- "$P" same 30
is "$(hits)" 30 'stores of the same value'
is "$(values old | sort -n | uniq -c | xargs)" '1 0 29 7' 'which change it once'
watch 'other:rw' -- "$P" same 2
is "$(hits '$e->{name} =~ /^other$|^other.4/')" 2 'a variable of 8 bytes is one watchpoint'
watch calls -- "$P"
is "$(values new | xargs)" 3 'a static variable of a function'
watch store_it:x -- "$P" called 5
is "$(hits '$e->{args}{access} eq "execute" && $e->{symbol} eq "store_it" && $e->{offset} == 0')" 5 'what is executed'
watch libc.so.6:environ -- "$P"
is "$(hits '$e->{args}{old} eq "0x0"')" 1 'a variable of a library, from its start'

# ---- with functions, in files ----
bb user "$P" store_it --watch counter -o "$T/file" -- "$P" called 3
bb report "$T/file" -F json -o "$T/json"
is "$(json_lines "$T/json" '$e->{event} =~ /entry|watch|return/ && $e->{event}' | xargs)" \
	"watch $(printf 'entry watch return %.0s' 1 2 3 | sed 's/ $//')" 'in order with the branches of the function, from a file'
bb user "$P" main store_it --watch counter --last 2 -F json -o "$T/json" -- "$P" called 3
is "$(hits '$e->{args}{insn} =~ /^mov/')" 4 'also where the store itself carries a probe, and is stepped elsewhere'
is "$(json_lines "$T/json" '$e->{event} =~ /branch|watch/ && $e->{event}' | xargs)" \
	"watch branch branch watch branch branch watch branch branch watch" '--last: two branches before each of the others'
is "$(json_lines "$T/json" '$e->{event} eq "branch" && $e->{kind}' | awk 'NR % 2 == 0' | sort -u)" call 'the last one is the call of the function that stores'
bb watch counter -T none -- "$P" once 1
like "$T/out" 'counter old=0x51 new=0x1 from="instruction" access="write" insn="mov .*at main\+0x' 'as text'

# ---- processes that run ----
has_slots() { (($(find "/proc/$1/fd" -lname '*perf_event*' 2>/dev/null | wc -l) >= 4)); }
background "$P" wait 1
bb watch counter:8:w -p "$background" -t 1 -F json -o "$T/json"
exits 0 '-p: traced'
is "$(($(hits) > 5)) $(hits 'hex $e->{args}{new} != hex($e->{args}{old}) + 1')" '1 0' '-p: each store follows the one before'
bb watch "mem:0x$(printf %x $(($(symbol "$P" counter) + 0x$(sed -n '1s/-.*//p' "/proc/$background/maps"))))/8:w" -p "$background" -t 1 -F json -o "$T/json"
is "$(($(hits) > 5))" 1 'an address, as perf writes it'
"$BBTRACE" watch counter other buffer:8 buffer+8:8 -p "$background" -t 60 >/dev/null 2>"$T/first" &
first=$!
at_end "kill -INT $first 2>/dev/null"
wait_for "$PATIENCE" has_slots "$first"
bb watch buffer+16:8 -p "$background" -t 1
exits 1 'a fifth is refused'
like "$T/err" 'all debug registers are in use' 'and why'
kill -INT $first
wait $first 2>/dev/null

# ---- what is refused ----
refused() { # STATUS TEXT ARG...
	local want=$1 text=$2
	shift 2
	bb watch "$@"
	exits "$want" "refused: $*"
	like "$T/err" "$text" 'and why'
}
refused 2 'would need debug register 5' counter other buffer:8 buffer+8:8 buffer+16:8 -- "$P"
refused 1 "is thread-local" own -- "$P"
refused 1 'no variable nosuch' nosuch -- "$P"
refused 2 'need more than the 4 debug registers' buffer -- "$P"
refused 2 "can't watch reads alone" counter:r -- "$P"
refused 2 'in which process' "$P:counter"
refused 2 'nothing to watch' -- "$P"
refused 1 'has not mapped' libm.so.6:signgam -- "$P"

# ---- gdb ----
if command -v gdb >/dev/null; then
	mapfile -t on < <(printf -- '-ex\ncontinue\n%.0s' {1..12})
	timeout 120 gdb -batch -nx -ex 'break main' -ex run -ex 'watch counter' "${on[@]}" --args "$P" once 12 2>&1 |
		sed -n 's/^New value = //p' >"$T/gdb"
	watch counter -- "$P" once 12
	is "$(values new '$e->{symbol} eq "main"' | xargs)" "$(xargs <"$T/gdb")" 'the values that gdb sees'
else
	skip gdb 'needs gdb'
fi
done_testing

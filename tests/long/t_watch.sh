#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Watchpoints: many accesses by many threads and children, each once.
# shellcheck disable=SC2154,SC2016 # lib.sh sets them; Perl's variables
. "$(dirname "$0")/../e2e/lib.sh"
needs root uprobes

program watched -pthread
P=$T/watched
watch() { bb watch -F json -o "$T/json" "$@"; }
hits() { json "$T/json" '$e->{event} eq "watch"'" && (${1:-1})"; }

watch counter -- "$P" once 1
grep -q 'has no hardware breakpoints' "$T/err" && skip_all 'this machine has no hardware breakpoints'
watch counter -- "$P" threads 12500
is "$(hits '$e->{args}{insn} =~ /^lock add/') $(summary lost)" '100000 0' 'eight threads: 100,000 additions'
is "$(json_lines "$T/json" '$e->{args}{insn} =~ /^lock/ && hex $e->{args}{new}' | sort -n | tail -1)" $((0x51 + 100000)) 'the last value'
watch counter -- "$P" once 100000
is "$(hits '$e->{args}{from} eq "instruction"') $(summary lost)" '100001 0' 'one thread: 100,000 stores'
is "$(hits 'hex($e->{args}{old}) + 1 != hex($e->{args}{new}) && hex($e->{args}{new}) > 1')" 1 'each behind the one before, but for the constructor'
watch counter -f -- "$P" fork 1000
is "$(hits '$e->{symbol} eq "main"')" 10000 '1,000 children, ten stores each'
is "$(hits '$e->{symbol} eq "main" && $e->{args}{old} eq "0x51"')" 1000 'each begins with the value of its parent'
# the slots are free again
watch counter other buffer:8 buffer+8:8 -- "$P" once 10
is "$(hits '$e->{name} eq "counter"')" 11 'all four debug registers'
done_testing

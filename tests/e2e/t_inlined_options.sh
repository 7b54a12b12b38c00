#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Each option of the tracing verbs with --engine inline: the same output as with probes, or a refusal that names the next step.
# shellcheck disable=SC2154,SC2034 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes
[[ $(uname -m) == x86_64 ]] || skip_all 'functions are copied on x86-64 only'

program ladder -O1 -g
program forks -O1

settle() { steps "$1" | sed -E 's/^ladder-[0-9]+ */ladder /'; }
# same OPTION...: of a command, as JSON.
same() {
	local engine all

	for engine in probe inline; do
		setarch -R timeout -k 10 "$BB_TIMEOUT" "$BBTRACE" user "$T/ladder" classify -F json -o "$T/json" --engine $engine "$@" \
			-- "$T/ladder" >"$T/out" 2>"$T/err" </dev/null
		all+="$? "
		settle "$T/json" >"$T/$engine"
	done
	is "$all" '0 0 ' "$*: both trace" || diag "$(cat "$T/err")"
	ok "$(diff "$T/probe" "$T/inline" >"$T/diff"; echo $?)" "$*: the same" || diag "$(head -n 6 "$T/diff")"
	ok $(($(wc -l <"$T/inline") < 2)) "$*: not nothing"
}
for options in '' '-f' '-e entry' '-e entry,return' '-e branch' '-r none' '-r all' '-r rdi,rsp' '-k --stack-size 0' '--depth 1' '-l 20' '-T abs' \
	'-c' '-q' '-v' '--last 30' '--returns ret' '--returns probe' '--returns none' '--placement full' '--placement implied' \
	'--placement witness' '--attach uprobe_event' '--min-duration 0' '--buffer 1M' '--uid 0' '--comm ladder' \
	'--exclude main'; do
	# shellcheck disable=SC2086
	same $options
done

# ---- a trace file, and other formats, have the same in them ----
for format in 'text -T none -e branch' 'dot' 'json -T none'; do
	for engine in probe inline; do
		# shellcheck disable=SC2086
		bb user "$T/ladder" classify main -F $format --engine $engine -o "$T/$engine.raw" -- "$T/ladder"
		settle "$T/$engine.raw" >"$T/$engine"
	done
	ok "$(diff "$T/probe" "$T/inline" >"$T/diff"; echo $?)" "-F $format: the same" || diag "$(head -n 6 "$T/diff")"
done

# ---- the registers that a trace file has ----
bb user "$T/ladder" classify --engine inline -o "$T/arguments" -- "$T/ladder"
bb report -q "$T/arguments" -r rbx
exits 1 'a file with the arguments has no other registers'
like "$T/err" '^bbtrace: .*--regs rbx: .*arguments.*record with --regs all$' 'which says how to have them'
bb report -q "$T/arguments" -r rsi,rsp -F json
exits 0 'it has these, and the stack pointer'
like "$T/out" '"regs":\{"rsp":"0x7f[0-9a-f]+","rsi":"0x[0-9a-f]+"\}' 'as they were'
bb user "$T/ladder" classify --engine inline -r all -o "$T/all" -- "$T/ladder"
bb report -q "$T/all" -r rbx,rbp -F json
exits 0 'one that was recorded with all registers has others'
like "$T/out" '"regs":\{"rbx":"0x[0-9a-f]+","rbp":"0x[0-9a-f]+"\}' 'as they were, too'

# ---- what is refused says what to do instead ----
refused() { # WHAT ARG...
	bb "${@:2}" --engine inline
	exits 2 "$1 is refused"
	like "$T/err" '^bbtrace: --engine inline.*(use --engine probe|name a command)' "$1: with the next step"
}
refused 'the kernel' kernel vfs_read -t 1
refused 'all processes' user "$T/ladder" classify -t 1
done_testing

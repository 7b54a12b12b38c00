#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Exit statuses: CMD's own, and bbtrace's without CMD.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/lib.sh"
. "$E2E/served.sh"
needs root uprobes

program fib -O1
trace() { bb user "$T/fib" fib -F text -o "$T/trace" -- "$@"; }

for n in 0 1 2 3 77 126 127 255; do
	trace sh -c "exit $n"
	is "$status" $n "CMD's own status $n is bbtrace's"
	like "$T/err" '^bbtrace: 1 function, .* 0 lost, ' "CMD's own status $n: the summary comes"
done
for signal in TERM KILL SEGV USR1; do
	trace sh -c "kill -$signal \$\$"
	is "$status" $((128 + $(kill -l $signal))) "the status is 128 + its number if SIG$signal ended CMD"
	like "$T/err" "^bbtrace: sh was killed by signal $(kill -l $signal) \\(" "a note says that SIG$signal killed CMD"
done

trace "$T/no-such-command"
exits 127 'the status is 127 where CMD is not found by its path'
like "$T/err" "^bbtrace: cannot run $T/no-such-command: no such command" 'a CMD that is not found is named'
trace no-such-command-anywhere
exits 127 'the status is 127 where CMD is not found in PATH'
(cd "$T" && bb user ./fib fib -- fib; exit "$status")
is $? 127 'the status is 127 where CMD is in the current folder, which is not in PATH'
like "$T/err" '^bbtrace: cannot run fib: no such command; did you mean ./fib[?]$' 'a CMD in the current folder: the message says how to name it'
trace "$T/fib 5"
exits 127 'the status is 127 where CMD is one word with its arguments'
like "$T/err" "^bbtrace: cannot run $T/fib 5: no such command; without quotes, $T/fib is the command$" 'CMD and its arguments as one word: the message says so'
trace FOO=1 "$T/fib"
exits 127 'the status is 127 where CMD starts with a variable'
like "$T/err" '^bbtrace: cannot run FOO=1: no such command; write env before it$' 'a variable before CMD: the message names env'
echo text >"$T/text"
trace "$T/text"
exits 126 'the status is 126 where CMD is not executable'
like "$T/err" "^bbtrace: cannot run $T/text: Permission denied; chmod [+]x makes it executable$" 'a CMD that is not executable is named, with what helps'
trace "$T"
exits 126 'the status is 126 where CMD is a folder'
like "$T/err" "^bbtrace: cannot run $T: Is a directory$" 'a CMD that is a folder: the message says so'
printf '#!/no/such/interpreter\n' >"$T/script"
chmod +x "$T/script"
trace "$T/script"
exits 126 "the status is 126 where the interpreter of CMD's script is missing"
like "$T/err" "^bbtrace: cannot run $T/script: its interpreter" "the message says that the interpreter of CMD's script is missing"
trace sh -c 'exit 5' sh -o
is "$status" 5 'options behind -- are for CMD'

# ---- without CMD ----
bb --help
exits 0 '--help ends well'
like "$T/out" '^ *bbtrace user ' '--help goes to stdout'
bb help --help
is "$status $(grep -c '^ *bbtrace user ' "$T/out")" '0 1' 'help --help is --help'
bb help help
is "$status $(grep -c '^ *bbtrace user ' "$T/out")" '0 1' 'help help is --help'
bb --version
exits 0 '--version ends well'
for verb in user kernel list doctor; do
	bb $verb --help
	is "$status $(head -c 14 "$T/out") $(cat "$T/err")" '0 usage: bbtrace ' "$verb --help: on stdout"
done
wrong() { # REGEX ARG...: wrong usage
	local regex=$1
	shift
	bb "$@"
	exits 2 "wrong usage has status 2: ${*:-nothing at all}"
	like "$T/err" "$regex" "wrong usage, ${*:-nothing at all}: the message says what is wrong"
	is "$(cat "$T/out")" '' "wrong usage, ${*:-nothing at all}: nothing is on stdout"
}
wrong 'bbtrace VERB --help'
wrong 'bbtrace --help' frobnicate
wrong "^bbtrace: unknown command 'record'; write bbtrace user FUNC... -o FILE -- .*/fib" record "$T/fib"
wrong "^bbtrace: unknown command 'annotate'; write bbtrace user FUNC... -F annotate -- CMD" annotate fib
wrong "^bbtrace: unknown command '$T/fib'; write bbtrace user FUNC... -- $T/fib 5 for each branch" "$T/fib" 5
wrong "^bbtrace: unknown command 'doctr'; did you mean doctor\?" doctr
wrong '^bbtrace: -p: a command comes before its options: bbtrace stack 1 for .*user FUNC... -p 1 for' -p 1
wrong '^bbtrace: help takes one command' help user kernel
wrong '^bbtrace: .*see bbtrace user --help' user
wrong '^bbtrace: .*(--frob|no option)' user "$T/fib" fib --frob
wrong '^bbtrace: unknown option -Z for' user "$T/fib" fib -Z
wrong '^bbtrace: no command follows --: write bbtrace why -- ls /nonexistent$' why ls /nonexistent
wrong "^bbtrace: unknown option --duration for 'bbtrace user'; here: --timeout SEC \(-t\); calls that take long: --min-duration" user "$T/fib" fib --duration 1ms
wrong "^bbtrace: unknown option --pidd for 'bbtrace user'; did you mean --pid[?] See bbtrace user --help$" user "$T/fib" fib --pidd 1
wrong "^bbtrace: unknown option --follow-forks for 'bbtrace user'; did you mean --follow[?]" user "$T/fib" fib --follow-forks
wrong "^bbtrace: unknown option --frobnicate for 'bbtrace user'; see bbtrace user --help$" user "$T/fib" fib --frobnicate
# words of other tools: each names something that there is
while read -r word here; do
	wrong "^bbtrace: unknown command '$word'; write bbtrace $here" "$word" "$T/fib"
	verb=${here%% *}
	"$BBTRACE" help --options "$verb" >"$T/options" 2>&1
	ok $? "$word: $verb is a command"
done <<'END'
attach user FUNC... -p PID
run user FUNC... -- .*/fib
tui report FILE
coverage cover -- .*/fib
flamegraph profile -o FILE[.]svg -- .*/fib
sample profile -p PID
strace event .syscalls:[*]. -- .*/fib
pstack stack PID
END
while read -r word here; do
	wrong "^bbtrace: unknown option --$word for 'bbtrace user'; here: $here" user "$T/fib" fib "--$word"
	"$BBTRACE" help --options user | cut -f2 | grep -qx -- "$(sed -nE 's/^(--([a-z-]+)|-F).*/\2/; s/^$/format/; p' <<<"$here")"
	ok $? "--$word: $here is an option"
done <<'END'
filter --if CONDITION
backtrace --stack
children --follow
no-color --color never
duration --timeout SEC
hist -F summary
call-graph --stack
trace-children --follow
END
# of all the words, and of an option only where it is one
sed -nE 's/^\t\{"([a-z-]+)", "(.*)"\},$/\1\t\2/p' "$ROOT/src/cli/other_words.c" >"$T/words"
"$BBTRACE" help --options | cut -f1 >"$T/verbs"
for verb in user profile why report; do "$BBTRACE" help --options $verb | cut -f1,2 | awk '{ print "-" $1; print "--" $2 }'; done >"$T/known"
awk -F '\t' '$2 ~ /^[a-z]+ / { print $2 }' "$T/words" | cut -d' ' -f1 | grep -vxFf "$T/verbs" | sort -u | xargs >"$T/wrong"
is "$(cat "$T/wrong")" 'a an bbtrace env functions it source text' 'each word of other tools names a verb, or is a sentence'
cut -f2 "$T/words" | grep -oE '(^|[ (])--?[a-zA-Z][a-z-]*' | tr -d ' (' | sort -u | grep -vxF -f "$T/known" >"$T/wrong"
is "$(cat "$T/wrong")" --version 'each option in them is one'
wrong "^bbtrace: unknown option --backtrace for 'bbtrace report'; see bbtrace report --help$" report "$T/none" --backtrace
wrong '^bbtrace: -l needs a value; functions are listed by bbtrace list OBJECT' user "$T/fib" fib -l
wrong "^bbtrace: unknown option --summary for 'bbtrace report'; did you mean -F summary[?]" report "$T/none" --summary
wrong "^bbtrace: .kernel:vfs_[*]. is a form of bbtrace trace: .* bbtrace list kernel FUNC" list 'kernel:vfs_*'
wrong "^bbtrace: .user:libc.so.6:malloc. is a form of bbtrace trace: here write OBJECT:FUNC" user user:libc.so.6:malloc
wrong "^bbtrace: .libc.so.6:malloc.: write user:libc.so.6:malloc, or kernel:FUNC" trace libc.so.6:malloc
wrong "^bbtrace: .uprobe:libc.so.6:malloc.: write user:libc.so.6:malloc$" trace uprobe:libc.so.6:malloc
wrong "^bbtrace: .kretprobe:vfs_read.: write kernel:vfs_read$" trace kretprobe:vfs_read
wrong '^bbtrace: no trace file given: bbtrace report FILE; .*; - reads standard input' report
wrong '^bbtrace: .*-p needs a value' user "$T/fib" fib -p
wrong '^bbtrace: .*--limit' user "$T/fib" fib -l 0
wrong '^bbtrace: .*--limit' user "$T/fib" fib -l many
wrong '^bbtrace: .*--timeout' user "$T/fib" fib -t 0
wrong '^bbtrace: .*--timeout' user "$T/fib" fib -t -1
wrong '^bbtrace: .*--pid' user "$T/fib" fib -p 0
wrong '^bbtrace: .*--pid' user "$T/fib" fib -p ''
wrong '^bbtrace: .*--pid' user "$T/fib" fib -p 12x
wrong '^bbtrace: --pid: there is no process no-such: give its PID, or its name as ps has it' user "$T/fib" fib -p no-such
wrong '^bbtrace: --depth: must be at least 1$' user "$T/fib" fib --depth 0
wrong "^bbtrace: --buffer: '64MB' is not a whole number, such as 100 or 64K$" user "$T/fib" fib --buffer 64MB
wrong "^bbtrace: --output: '-F' looks like an option; write ./-F for a file of that name$" user "$T/fib" fib -o -F json
wrong '^bbtrace: .*--events' user "$T/fib" fib -e ''
wrong '^bbtrace: .*no command after --' user "$T/fib" fib --
wrong '^bbtrace: .*-p and -- CMD' user "$T/fib" fib -p 1 -- "$T/fib"
wrong '^bbtrace: .*does not take a command' list "$T/fib" -- ls
wrong '^bbtrace: .*no object to list' list
wrong '^bbtrace: --sites lists branches as text or json; -F annotate shows the code' list "$T/fib" --sites -F annotate
wrong '^bbtrace: --sites lists branches as text or json; -F dot shows the code' list "$T/fib" --sites -F dot
wrong '^bbtrace: --points writes a points file: no -F and no --sites' list "$T/fib" --points -F json
wrong '^bbtrace: --points writes a points file: no -F and no --sites' list "$T/fib" --points --sites
wrong '^bbtrace: --format: list has the formats text, json, annotate and dot' list "$T/fib" -F html
wrong '^bbtrace: --format: unknown format .x.; formats: text, json, annotate, dot$' list "$T/fib" -F x
run=(-o "$T/made" -- touch "$T/ran")
wrong "^bbtrace: no function of $T/fib given; .bbtrace list $T/fib. shows them" user "$T/fib" "${run[@]}"
wrong '^bbtrace: .*unknown register .eax.: use none, args, all, or names' user "$T/fib" fib -r eax "${run[@]}"
wrong '^bbtrace: --user: no such user: .nosuch.' user "$T/fib" fib -u nosuch "${run[@]}"
wrong '^bbtrace: .0xzz. is not a file offset' user "$T/fib" 0xzz "${run[@]}"
wrong '^bbtrace: .0x1[+]0. is not a range' user "$T/fib" fib --exclude 0x1+0 "${run[@]}"
wrong '^bbtrace: an empty function name' user "$T/fib" '' "${run[@]}"
wrong '^bbtrace: .foo. names no function; write OBJECT:FUNC' user @/dev/null foo "${run[@]}"
wrong '^bbtrace: .foo.: write user:OBJECT:FUNC or kernel:FUNC' trace foo "${run[@]}"
wrong '^bbtrace: -c counts in text, json, summary, html and coverage only; svg has' user "$T/fib" fib -c -F svg "${run[@]}"
wrong "^bbtrace: unknown attach mechanism 'magic'; bbtrace doctor" user "$T/fib" fib --attach magic "${run[@]}"
wrong '^bbtrace: --attach kprobe_multi is for kernel functions only' user "$T/fib" fib --attach kprobe_multi -- touch "$T/ran"
wrong '^bbtrace: .0xzz. is not a file offset' list "$T/fib" 0xzz
bb user "$T/fib" fib -o "$T/recorded" -- "$T/fib"
wrong '^bbtrace: .0xzz. is not a file offset' report "$T/recorded" 0xzz
wrong '^bbtrace: .*unknown register' report "$T/recorded" -r eax
is "$(ls "$T/ran" "$T/made" 2>/dev/null)" '' 'wrong usage: CMD does not run, and no file is made'

# ---- a command without -- ----
# forgotten BEFORE WORD...: a command starts at WORD
forgotten() {
	local before=$1
	shift
	# shellcheck disable=SC2086
	wrong "^bbtrace: .*: bbtrace $before -- $*\$" $before "$@"
}
forgotten "user $T/fib fib" "$T/fib" 5
forgotten "user $T/fib" "$T/fib"
forgotten 'user libc.so.6 malloc -l 5' ls -k
forgotten 'user libc.so.6 malloc' ls -la
forgotten 'user libc.so.6 malloc -F json' ls --all
forgotten "user $T/fib:fib" ls
forgotten 'trace user:libc.so.6:malloc' ls
bb user "$T/fib" fib sh -c 'x  y'
like "$T/err" "bbtrace user $T/fib fib -- sh -c 'x  y'\$" 'a command without --: what is suggested is quoted for the shell'
bb user libc.so.6 malloc free mallok
exits 1 'free is a function of libc, although it is also a command'
like "$T/err" '^bbtrace: no function named mallok in ' 'a name that is no command is an unknown function'
bb list "$T/fib" fib ls
exits 1 'list runs no command: the name is an unknown function'
mkdir "$T/empty" && touch "$T/empty/a.out"
(cd "$T/empty" && bb user "$T/fib" * -- "$T/fib")
like "$T/err" "^bbtrace: no function named a.out in .*; it is a file here: quote a pattern, such as '[*]', for the shell" \
	'a pattern that the shell has expanded: the message says to quote it'
bb user "$T/fib" fib ls -- true
exits 1 'where -- is given, the name is an unknown function'

# ---- a reader that goes away ----
program million -O1
"$BBTRACE" user "$T/million" spin -f -- sh -c "'$T/million' >/dev/null; exit 6" 2>"$T/err" | head -1 >"$T/head"
is "${PIPESTATUS[0]}" 6 "a reader that goes away after a line: the status is CMD's own"
is "$(wc -l <"$T/head")" 1 'a reader that goes away after a line has its line'
like "$T/err" '^bbtrace: 1 function, ' 'a reader that goes away after a line: the summary comes'
is "$(grep -cvE '^bbtrace: (1 function|times include)' "$T/err")" 0 'a reader that goes away after a line: nothing else is on stderr'
build_served
serve one "$T/served"
timeout "$BB_TIMEOUT" "$BBTRACE" user "$T/served" tick work -p "$pid_one" 2>"$T/err" | head -1 >"$T/head"
is "${PIPESTATUS[0]}" 0 'a reader that goes away: with -p the status is 0'
"$BBTRACE" list libc.so.6 2>"$T/err" | head -1 >"$T/head"
is "$(wc -l <"$T/head") $(cat "$T/err")" '1 ' 'list | head -1: no complaint'
done_testing

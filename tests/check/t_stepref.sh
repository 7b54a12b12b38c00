#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# t_stepref.sh [BUILD-FOLDER]: is the reference right? Compared with counts that follow from the programs, and with
# gdb's.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/tap.sh"
B=${1:-${B:-build}}
[ -x "$B/stepref" ] && [ -d "$B/progs" ] || { echo "1..0 # SKIP needs $B/stepref and $B/progs: make -C tests/progs" && exit 0; }
B=$(cd "$B" && pwd)
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
cd "$B/progs" || exit 1

step() { # OPTIONS OBJECT FUNCTIONS COMMAND...: leaves $T/out, $T/stdout, status
	options=$1 object=$2
	"$here/../step/ranges.sh" "$2" $3 >"$T/ranges" || return
	shift 3
	"$here/../step/again.sh" "$T/out" "$T/stdout" "$B/stepref" --object "$object" --ranges "$T/ranges" $options -- "$@" \
		2>"$T/err"
	status=$?
}
count() { grep -c "^$1" "$T/out"; }

step --from-entry fib fib ./fib
is "$(count '0 entry')" 177 "fib(10) is called 177 times"
is "$(count '0 ret ')" 177 "fib(10) executes ret 177 times"
is "$(count '0 return')" 177 "fib(10) returns 177 times"
is "$(count '0 call')" 176 "fib(10) calls itself 176 times"
is "$(grep '^0 jcc' "$T/out" | grep -c not-taken)" 89 "fib(10) has 89 leaves: fib(11)"
is "$(grep '^0 return' "$T/out" | tail -n 1 | sed 's/.*rax=//')" 0x37 "fib(10) is 55"
is "$(cat "$T/stdout") $status" "55 3" "a stepped program has its own output and exit status"
grep -v '^#' "$T/out" >"$T/short"
step "" fib fib ./fib
ok "--from-entry leaves nothing out" sh -c "grep -v '^#' $T/out | cmp -s - $T/short"

step --from-entry jcc "conditions conditions_near nowhere" ./jcc
is "$(count '0 jcc')" $((64 * 16 * 2 + 64 * 4)) "64 pairs, all 16 conditions in both lengths, 4 that lead nowhere"
is "$(grep '^0 jcc' "$T/out" | grep -c ' taken')" $((64 * 8 * 2 + 8 + 56 * 2)) "one of each complementary pair of conditions is taken"
is "$(tail -n 1 "$T/out" | sed 's/.*steps, //')" "status 0" "flags and destinations agree on all conditionals"

step --from-entry loopinsn loops ./loopinsn
site=$(grep '^0 loop' "$T/out" | awk '{ print $3 }' | sort -u | sed -n 2p)
is "$(count "0 loop $site")" 36 "loop: 1 + 2 + ... + 8 times"
is "$(count "0 loop $site taken")" 28 "loop is taken once less for each time that it is entered"
is "$(tail -n 1 "$T/out" | sed 's/.*steps, //')" "status 0" "counters and destinations agree on all loop instructions"

step --from-entry deep deep ./deep
is "$(count '0 return')" 10001 "ten thousand levels of a recursion return"
step --from-entry loopentry loop_entry ./loopentry
is "$(count '0 entry') $(count '0 return')" "10 4" "a jump back to the first instruction is an entry, not a call"
step --from-entry tail "direct indirect chain down" ./tail
is "$(count '0 entry')" "$(count '0 return')" "each tail call returns, whoever executes the ret"
step --from-entry longjmp "dive calm attempt" ./longjmp
is "$(($(count '0 entry') - $(count '0 return')))" 15 "longjmp leaves 1 + 2 + 3 + 4 + 5 calls that never return"
step --from-entry except "thrower through cleanup rethrow catcher" ./except
is "$(grep '0 return' "$T/out" | grep -c "$(awk '/^catcher/ { sub(/0x0*/, "0x", $2); print $2 }' "$T/ranges") ")" \
	"$(grep '0 entry' "$T/out" | grep -c "$(awk '/^catcher/ { sub(/0x0*/, "0x", $2); print $2 }' "$T/ranges") ")" \
	"a function that catches an exception returns"
step --from-entry odd "push_ret stack_segment push_flags string_first" ./odd
is "$(cat "$T/stdout")" "$(./odd)" "a stepped pushf hides the trap flag"
is "$(count '0 entry') $(count '0 return')" "13 13" "string instructions, mov to ss, push and ret"
is "$(grep -c '^0 jmp' "$T/out")" 2 "the jump behind mov to ss is seen, though it isn't stepped"

step --from-entry threads "collatz worker" ./threads
is "$(count '# thread')" 4 "a program of four threads has four"
is "$(awk '/ entry/ { n[$1]++ } END { for (i = 0; i < 4; i++) printf "%d ", n[i] }' "$T/out")" "21 21 21 21 " \
	"each of four threads has its 20 calls, and is called"
step "--from-entry -f" forks "sum_to split" ./forks
is "$(count '# thread') $(count '1 .*inherited')" "2 1" "a child returns from what its parent entered"
step --from-entry forks "sum_to split" ./forks
is "$(count '# thread')" 1 "without -f a forked child is left alone"
step "--from-entry -f" vforks "triangle child" ./vforks
is "$(count '# thread')" 3 "with -f the children of vfork, exec and posix_spawn are stepped"
step --from-entry execs again ./execs
is "$(awk '/ entry/ { printf "%s", $1 }' "$T/out") $status" "010 5" "exec in another thread goes on as the first"
step --from-entry killed work ./killed
is "$status $(count '0 return')" "143 0" "a signal's end is passed on"
step --from-entry handler "work handler" ./handler
is "$(count '0 entry') $(count '0 return')" "3 3" "a handler calls what it interrupted"
step --from-entry plug.so plug_work ./dlopen-again again
is "$(count '0 entry') $(count '0 return')" "3 3" "a library, at each place where it is opened"
step "" ifunc resolver ./ifunc
is "$(count '0 entry')" 1 "a resolver runs before the program's entry point"
"$B/stepref" --object fib --ranges "$T/ranges" -- ./nothing >/dev/null 2>&1
is $? 127 "stepref of a command that isn't there ends with 127"

# ---- a step that the machine loses ----

lines() { grep -v '^#' "$1"; }
lost() { [ $status -eq 124 ] && tail -n 1 "$T/out" | grep -q '^# lost a step: '; }
without() { # N OBJECT COMMAND: the Nth step in the ranges is lost
	setarch -R "$B/stepref" --object "$2" --ranges "$T/ranges" --from-entry --drop $1 --out "$T/out" -- "$3" \
		>/dev/null 2>"$T/err"
	status=$?
}
# Every so many steps one is lost: stepref says so, or the lines are unchanged (a round of a string instruction, the last
# before the program's end).
drops() { # EVERY HARMLESS PROGRAM FUNCTIONS
	n=1 said=0 harmless=0 missed=
	"$here/../step/ranges.sh" "$3" $4 >"$T/ranges"
	setarch -R "$here/../step/again.sh" "$T/whole" "$T/stdout" "$B/stepref" --object "$3" --ranges "$T/ranges" --from-entry \
		-- "./$3" 2>/dev/null
	lines "$T/whole" >"$T/want"
	while without $n "$3" "./$3" && ! grep -q '^stepref: --drop: ' "$T/err"; do
		if lost; then
			said=$((said + 1))
		elif lines "$T/out" | cmp -s - "$T/want"; then
			harmless=$((harmless + 1))
		else
			missed="$missed $n"
		fi
		n=$((n + $1))
	done
	is "$missed" "" "$3: $said lost steps are noticed, $harmless change nothing"
	ok "$3: the lost steps that change nothing are few" [ $said -gt 0 -a $harmless -le $2 ]
}
stride=12
[ "${MATRIX:-}" != whole ] || stride=1
if command -v setarch >/dev/null; then
	drops $((5 * stride)) 10 odd "lock_trick ret_imm call_ret_imm rep_ret bnd_jmp first_branch first_jrcxz first_call first_jmp_reg
		first_ret loop_entry string_first stack_segment push_flags push_ret call_next lock_first"
	drops $((3 * stride)) 0 handler "work handler fault reader"
	drops $((3 * stride)) 0 fptr "operands one two"
	drops $((9 * stride)) 0 loopinsn loops
	drops $stride 1 fib-static "write _exit"
	"$here/../step/ranges.sh" loopinsn tight >"$T/ranges"
	without 3 loopinsn ./loopinsn
	ok "the lost round of a loop that is one instruction is noticed" lost
else
	skip "lost steps are noticed" "no setarch"
fi

# A stepref that loses a step in its first BAD runs.
cat >"$T/lossy" <<'END'
#!/bin/sh
echo run >>"$COUNT"
[ $(wc -l <"$COUNT") -gt "$BAD" ] || set -- --drop 50 "$@"
exec "$STEPREF" "$@"
END
chmod +x "$T/lossy"
export BAD COUNT="$T/count" STEPREF="$B/stepref"
again() { # BAD PROGRAM FUNCTIONS COMMAND...
	BAD=$1 object=$2
	: >"$COUNT"
	"$here/../step/ranges.sh" "$2" $3 >"$T/ranges" || return
	shift 3
	"$here/../step/again.sh" "$T/out" "$T/stdout" "$T/lossy" --object "$object" --ranges "$T/ranges" --from-entry -- "$@" \
		2>"$T/err"
	status=$?
}
again 2 fib fib ./fib
is "$status $(wc -l <"$COUNT") $(cat "$T/stdout") $(count '0 entry')" "3 3 55 177" "a program is stepped again where a step was lost, and only then"
again 9 fib fib ./fib
is "$status $(wc -l <"$COUNT")" "124 5" "a program is stepped five times at most where each run loses a step"
again 0 fib fib sh -c 'exit 124'
is "$status $(wc -l <"$COUNT")" "124 1" "a program that ends with the same status is no lost step"

# gdb counts how often each of its breakpoints is hit.
gdb_counts() { # PROGRAM: 0xADDR COUNT
	awk '{ printf "%s %s\n", $2, $3 }' "$T/ranges" | while read -r start size; do
		objdump -d --no-show-raw-insn --start-address="$start" --stop-address=$((start + size)) "$1"
	done | awk '$2 ~ /^(j|call|ret|loop|notrack|bnd|repz)/ { sub(":", "", $1); print "break *0x" $1 }' | sort -u >"$T/sites"
	{
		cat "$T/sites"
		awk '{ printf "ignore %d 100000000\n", NR }' "$T/sites"
		echo run
		echo info breakpoints
	} >"$T/script"
	gdb -nx -batch -x "$T/script" "$1" 2>/dev/null </dev/null |
		awk '$2 == "breakpoint" { sub(/0x0*/, "0x", $5); at = $5; n[at] = 0 }
		     /already hit/ { n[at] = $4 } END { for (at in n) if (n[at]) print at, n[at] }' | sort
}
for program in fib-nopie:'fib main' switch-nopie:'pick main' fptr-nopie:'operands two'; do
	name=${program%%:*}
	if command -v gdb >/dev/null; then
		step --from-entry "$name" "${program#*:}" "./$name"
		awk '/^[0-9]/ && $2 !~ /entry|return/ { n[$3]++ } END { for (at in n) print at, n[at] }' "$T/out" |
			sort >"$T/ours"
		gdb_counts "$name" >"$T/theirs"
		ok "$name: gdb hits each branch as often ($(wc -l <"$T/ours") sites)" \
			sh -c "[ -s $T/ours ] && diff $T/ours $T/theirs"
	else
		skip "$name: gdb hits each branch as often" "no gdb"
	fi
done
tap_done

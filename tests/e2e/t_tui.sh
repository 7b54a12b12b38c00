#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# report --tui in a terminal of its own (tui.py): functions, calls and paths, search, filter, sort, two files side by side,
# narrow and resized terminals, signals; what it shows is what report -F json and text say. Also under AddressSanitizer.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes
for python in python3 /usr/bin/python3; do "$python" -c 'import pyte' 2>/dev/null && break; done
"$python" -c 'import pyte' 2>/dev/null || skip_all 'needs python3-pyte'
grep -q ncurses "$BUILD/ncurses.libs" 2>/dev/null || skip_all 'bbtrace was built without ncurses'
export TERM=linux LC_ALL=C.UTF-8 HOME=$T

program parts -O1
program threads -O1 -pthread
record() { # NAME ARG...
	bb user "$T/parts" main choose even odd --args -o "$T/$1.bbt" -- "$T/parts" "${@:2}"
	exits 0 "$1 is recorded"
}
record a 0 1 2 3 4 5
record b 0 1 1 6
bb user "$T/threads" '*' -o "$T/threads.bbt" -- "$T/threads"

# drive WIDTH HEIGHT FILE... <SCRIPT: each check of the script is a test
drive() {
	local bad name

	export TUI_STDERR=$T/stderr
	"$python" "$E2E/tui.py" "$1" "$2" "${TUI_PATIENCE:-60}" "$BBTRACE" report --tui "${@:3}" >"$T/checks" 2>"$T/driver"
	while IFS=$'\t' read -r bad name; do
		ok "$bad" "$name"
		((!bad)) || diag "$(grep $'^\t' "$T/checks" | head -60)" "$(<"$T/stderr")"
	done < <(grep -v $'^\t' "$T/checks")
	[[ ! -s $T/driver ]] || diag "$(<"$T/driver")"
	is "$(wc -c <"$T/driver")" 0 'the script was run to its end'
}

# ---- from functions to steps, and back ----

drive 100 30 "$T/a.bbt" <<-END
	# functions
	row 0 Functions of
	row 1 <total
	row 2 main
	row -1 1/4
	save $T/functions
	# sorted
	keys ss
	row 0 by max
	keys S
	row 0 by self
	keys r
	row 0 by self, reversed
	keys rSSS
	row 0 by function
	row 2 choose
	row 5 odd
	keys s
	row 0 by calls
	row 2 choose
	# calls
	keys \n
	row 0 Calls of choose, by time
	has choose(n=0) = 0
	has choose(n=4) = -5
	row -1 1/6
	keys s
	row 0 by duration
	keys Sjjjj
	row -1 5/6
	# the path of a call
	keys \n
	row 0 Path of choose, call 5 of 6
	has ja  not taken -> choose+
	has + odd(n=8) = 4
	has return odd(8) - 9;
	has parts.c:
	# into a call and back
	keys /odd.n=8\n
	keys \n
	row 0 Path of odd
	has odd returns 4
	keys u
	row 0 Path of choose
	keys qq
	row 0 Path of choose, call 5 of 6
	keys ]
	row 0 call 6 of 6
	has choose returns 77
	keys ]
	row -1 there is no later call in the list
	keys [[
	row 0 call 4 of 6
	has + even(n=12) = 2
	# folded and unfolded
	keys E
	has - even(n=12)
	has even returns 2
	keys C
	lacks even returns 2
	keys g/[+] even\ne
	has - even(n=12)
	keys j-
	has + even(n=12)
	# the source below
	has -- ${ROOT}
	keys s
	lacks -- ${ROOT}
	keys s
	has -- ${ROOT}
	# search
	keys g/returns\n
	row -1 8/8
	keys n
	row -1 search went on at the first row
	keys /no such thing\n
	row -1 not found
	keys /(\n
	row -1 (:
	# filter
	keys &not taken\n
	has &not taken
	lacks jmp
	keys &\x15\n
	has jmp
	# help
	keys h
	row 0 Keys
	has into the call of this row
	keys q
	# the end
	keys \x1b[D
	row 0 Calls of choose
	keys \x1b[D
	row 0 Functions
	keys \x1b[D
	row -1 this is the first screen
	keys x
	row -1 h shows the keys
	keys q
	exits 0
END

# What report says of each function.
"$BBTRACE" report "$T/a.bbt" -F json >"$T/json" 2>/dev/null
for function in main choose even odd; do
	shown=$(awk -v f=$function '$NF == f { print $1, $5 }' "$T/functions")
	calls=$(json "$T/json" '$e->{event} eq "entry" && $e->{symbol} eq "'$function'"')
	branches=$(json "$T/json" '$e->{event} eq "branch" && $e->{symbol} eq "'$function'"')
	is "$shown" "$calls $branches" "calls and branches of $function are those of report -F json"
done

# ---- all steps of a thread are the lines of the text report ----

drive 160 200 "$T/a.bbt" <<-END
	# threads
	keys T
	row 0 Threads
	has parts-
	# all steps
	keys \nEstt
	row 0 All steps of parts-
	save $T/steps
	keys Q
	exits 0
END
"$BBTRACE" report "$T/a.bbt" -T none --no-fold --no-src 2>/dev/null | sed -E 's/^[^ ]+ +//' | grep . >"$T/want"
sed -E '1d; $d; s/^ *//; s/^- //; s/  +[a-z_]+\.[ch]:[0-9].*//' "$T/steps" | grep . >"$T/got"
cmp -s "$T/want" "$T/got"
ok $? 'all steps of the thread are those of the text report' || diag "$(diff "$T/want" "$T/got" | head -20)"
is "$(($(wc -l <"$T/got") > 80))" 1 'and there are some'

# ---- two files ----

drive 120 24 "$T/a.bbt" "$T/b.bbt" <<-END
	# two files
	row 0 Functions of A
	row 2 -2
	row 2 choose
	save $T/both
	keys \n
	row 0 Paths of choose
	has [only B] choose(n=6) = -1
	has [only A] choose(n=5) = 77
	# calls of a path
	keys /only B\n\n
	row 0 Calls of choose
	row -1 1/1
	row 2 B
	# what only one did
	keys \n
	row 0 Path of choose in B
	has B   choose+0x3  ja  taken
	keys Q
	exits 0
END
"$BBTRACE" report "$T/b.bbt" -F json >"$T/json_b" 2>/dev/null
for function in main choose even odd; do
	is "$(awk -v f=$function '$NF == f { print $1, $2 }' "$T/both")" \
		"$(json "$T/json" '$e->{event} eq "entry" && $e->{symbol} eq "'$function'"') $(json "$T/json_b" '$e->{event} eq "entry" && $e->{symbol} eq "'$function'"')" \
		"calls of $function in both files are those of report -F json"
done

# ---- two builds ----

mkdir "$T/other" && "${CC:-cc}" -g -O1 -DBUILD=2 -o "$T/other/parts" "$ROOT/tests/progs/parts.c"
bb user "$T/other/parts" main choose even odd --args -o "$T/other.bbt" -- "$T/other/parts" 0 1 2
drive 120 24 "$T/a.bbt" "$T/other.bbt" <<-END
	# two builds
	row 0 Functions of A
	row -1 1/4
	row 2 -3
	row 2 choose
	lacks [only
	keys \n
	row 0 Paths of choose
	has [only A] choose(n=5)
	lacks [only B]
	# the function that differs
	keys q/odd\n\n
	row 0 Paths of odd
	has [only A] odd(n=8)
	has [only B] odd(n=1)
	keys Q
	exits 0
END

# ---- sizes ----

drive 40 10 "$T/a.bbt" <<-END
	# 40x10
	row 0 Functions of
	row 1 calls
	has choose
	keys /choose\n\n
	row 0 Calls of choose
	row 1 duration
	keys \n
	row 0 Path of choose
	has choose(n=0)
	keys >>>
	lacks choose(n=0)
	keys <<<
	has choose(n=0)
	# resized
	size 140 40
	has switch (n)
	has -- ${ROOT}
	size 20 3
	has choose(n=
	size 1 1
	size 2 2
	size 80 24
	row 0 Path of choose
	keys Q
	exits 0
END
drive 300 100 "$T/threads.bbt" <<-END
	# 300x100
	row 0 Functions
	keys \nT
	keys q
	keys T
	row 0 Threads
	keys \nE
	row 0 All steps of
	keys Gg:5\n
	row -1 5/
	keys Q
	exits 0
END

# ---- what it may do, and its memory ----

program million -O1
bb user "$T/million" spin --engine inline -o "$T/million.bbt" -- "$T/million"
drive 80 24 "$T/million.bbt" <<-END
	# a million branches
	row 0 Functions
	keys \n\n
	row 0 Path of spin
	keys G
	status $T/status
	keys Q
	exits 0
END
of() { awk -v key="$1:" '$1 == key { print $2 }' "$T/status"; }
is "$(of Seccomp)" 2 'it runs with the filter of report'
is "$(($(of Uid) != 0))" 1 'and not as root'
is "$((0x$(of CapEff) & ~4))" 0 'with no capability but to read files'
is "$(($(of RssAnon) < 200000))" 1 "its memory is not that of the steps ($(of RssAnon) kB)"

# ---- signals ----

drive 80 24 "$T/a.bbt" <<-END
	# ^Z
	row 0 Functions
	keys \x1a
	stops
	signal CONT
	row 0 Functions
	keys j
	row -1 2/4
	# ^C
	keys \x03
	exits 0
END
drive 80 24 "$T/a.bbt" <<-END
	# SIGTERM
	row 0 Functions
	signal TERM
	exits 1
END

# ---- names that are not plain text ----

cat >"$T/odd.c" <<-'END'
	__attribute__((noipa)) int plain(int n) { return n + 1; }
	__attribute__((noipa)) int wide(int n) { return n ? plain(n) : 0; }
	__attribute__((noipa)) int evil(int n) { return n; }
	int main(void) { return wide(1) + evil(2) - 4; }
END
"${CC:-cc}" -O1 -c -o "$T/odd.o" "$T/odd.c" &&
	objcopy --redefine-sym evil=$'e\033[31mvil\007' --redefine-sym wide=grüße "$T/odd.o" &&
	"${CC:-cc}" -o "$T/odd" "$T/odd.o"
bb user "$T/odd" '*' -o "$T/odd.bbt" -- "$T/odd"
drive 80 24 "$T/odd.bbt" <<-END
	# names
	has grüße
	has \\x1b[31mvil
	keys Q
	exits 0
END

# ---- what it can't do ----

# refused WORDS MESSAGE OPERAND...
refused() {
	local words=$1 message=$2
	shift 2
	bb report "$@"
	exits 2 "$words is refused"
	has "$T/err" "$message"
	ok $? "$words: $message" || diag "$(<"$T/err")"
}
has() { grep -qF -- "$2" "$1"; }
refused 'no terminal' 'without --tui, report writes the trace as text' --tui "$T/a.bbt"
refused 'a format' 'without -F' --tui "$T/a.bbt" -F json
refused 'a file to write' 'without -o' --tui "$T/a.bbt" -o "$T/x"
refused 'stdin' 'needs stdin for its keys' --tui -
refused 'three files' 'or two side by side' --tui "$T/a.bbt" "$T/b.bbt" "$T/a.bbt"
TERM=dumb drive 80 24 "$T/a.bbt" <<-END
	# a dumb terminal
	exits 2
END
grep -q 'TERM is dumb' "$T/stderr"
ok $? 'a dumb terminal is named'
TERM=no-such-terminal drive 80 24 "$T/a.bbt" <<-END
	# an unknown terminal
	exits 1
END
grep -q "no description of the terminal 'no-such-terminal'" "$T/stderr"
ok $? 'an unknown terminal is named'

# ---- files that are damaged, or have no steps ----

head -c "$(($(stat -c %s "$T/a.bbt") * 2 / 3))" "$T/a.bbt" >"$T/cut.bbt"
drive 80 24 "$T/cut.bbt" <<-END
	# a file that is cut
	row 0 Functions
	keys \n\nEQ
	exits 1
END
bb user "$T/parts" main odd -c --record "$T/counts.bbt" -o "$T/counts.txt" -- "$T/parts" 1
drive 80 24 "$T/counts.bbt" <<-END
	# counts
	exits 1
END
grep -q 'has only counts' "$T/stderr"
ok $? 'a file of counts has nothing to browse, which is said'

# ---- the sanitizers ----

SANITIZED=$BUILD/san/bbtrace
if [[ -x $SANITIZED ]]; then
	export ASAN_OPTIONS=exitcode=99:disable_coredump=1 UBSAN_OPTIONS=print_stacktrace=1:exitcode=99
	BBTRACE=$SANITIZED drive 90 25 "$T/a.bbt" "$T/b.bbt" <<-END
		# sanitized
		row 0 Functions of A
		keys \n\n\nECe]u[sht
		size 40 10
		keys qqqTGg\nE/ret\nnN&ret\n&\x15\n>>><h
		size 130 50
		row 0 Keys
		keys Q
		exits 0
	END
	BBTRACE=$SANITIZED drive 90 25 "$T/cut.bbt" <<-END
		# sanitized, a file that is cut
		row 0 Functions
		keys \n\nEQ
		exits 1
	END
else
	skip 'the sanitizers' 'needs build/san/bbtrace: make build/san/bbtrace'
fi
done_testing

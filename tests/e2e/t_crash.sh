#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --last N: when a process is killed, or with --dump-on-failure exits badly, its last branches are shown at once, with the
# signal and the stack. They are those that single-stepping shows. Probes keep them in the kernel and send nothing.
# shellcheck disable=SC2154,SC2034 # lib.sh sets them, and reads status
. "$(dirname "$0")/lib.sh"
needs root uprobes "file:$BUILD/stepref"
engines=(probe)
[[ $(uname -m) != x86_64 ]] || engines+=(inline)
ulimit -c 0
ulimit -s 512 # for the one that overflows it; too small for wc(1) of coreutils 9.5 and later
N=40

cc -g -O1 -pthread -o "$T/crash" "$ROOT/tests/crash/crash.c" || exit 2
strip -o "$T/strip" "$T/crash" # a name of the same length, for the same stack
functions=$(sed -n 's/^\(OWN \)\?[a-z].*[ *]\([a-z_]*\)(.*)$/\2/p' "$ROOT/tests/crash/crash.c" | sort -u)
# shellcheck disable=SC2086
sh "$ROOT/tests/step/ranges.sh" "$T/crash" $functions >"$T/ranges"

# The one that waits is killed by SIGTERM when it does.
kills() { # FILE
	wait_for "$PATIENCE" test -s "$1"
	wait_for "$PATIENCE" grep -q '^State:.S' "/proc/$(cat "$1")/status"
	kill -TERM "$(cat "$1")"
}
# reference HOW: the last branches of the thread that ends last, by link-time addresses.
reference() {
	local killer=''

	rm -f "$T/pid"
	[[ $1 != wait ]] || { kills "$T/pid" & killer=$!; }
	setarch -R sh "$ROOT/tests/step/again.sh" "$T/lines" /dev/null "$BUILD/stepref" --object "$T/crash" --ranges "$T/ranges" --from-entry \
		-- "$T/crash" "$1" "$T/pid" 2>/dev/null
	plain=$?
	[[ ! $killer ]] || wait "$killer"
	perl -ane 'next if /^#/ || $F[1] eq "entry" || $F[1] eq "return"; push @{$l{$F[0]}}, "@F[1..4]\n"; $last = $F[0] if !defined $last || $F[0] > $last;
		END { print @{$l{$last}}[-'$N'..-1] }' "$T/lines" | sed 's/.* crash+/&/; s/^icall/call/; s/^ijmp/jmp/' >"$T/reference"
}
# branches: those of the thread that was killed; to where in the same form.
branches() {
	local thread

	thread=$(json_lines "$1" '$e->{event} eq "signal" ? $e->{tid} : ""' | head -1)
	: "${thread:=$(json_lines "$1" '$e->{tid}' | tail -1)}"
	json_lines "$1" '$e->{event} eq "branch" && $e->{tid} == '"$thread"' ? join(" ", $e->{kind}, $e->{vaddr},
		defined $e->{taken} ? $e->{taken} ? "taken" : "not-taken" : "-",
		$e->{to}{object} ? ($e->{to}{object} =~ s,.*/,,r) . "+$e->{to}{vaddr}" : $e->{to}{vaddr}) : ""' |
		sed 's/ strip+/ crash+/; s/^icall/call/; s/^ijmp/jmp/'
}
traced() { # PROGRAM HOW ENGINE OPTION...
	local killer='' program=$1 how=$2 engine=$3
	shift 3

	rm -f "$T/pid"
	[[ $how != wait ]] || { kills "$T/pid" & killer=$!; }
	setarch -R timeout -k 10 "$BB_TIMEOUT" "$BBTRACE" user "$T/$program" '*' --engine "$engine" --last $N --dump-on-failure -F json -o "$T/json" "$@" -- "$T/$program" "$how" "$T/pid" \
		>"$T/out" 2>"$T/err" </dev/null
	status=$?
	[[ ! $killer ]] || wait "$killer"
}

# Where a call is what overflows the stack, it is not among the branches. An instruction stands at each distance from there.
for pad in $(seq 0 16 272); do
	in_part $((pad / 16)) 0 6 || continue
	PAD=$(printf "%*s" "$pad" '')
	export PAD
	reference over
	traced crash over probe
	branches "$T/json" >"$T/branches"
	cmp -s "$T/branches" "$T/reference" || { echo "$pad" && diff "$T/reference" "$T/branches"; } >>"$T/differs"
done
unset PAD
is "$(cat "$T/differs" 2>/dev/null)" '' 'where the stack ends'

# HOW, its signal and what is said of it
n=0
while read -r how signal code; do
	stepped=
	for engine in "${engines[@]}"; do
		for program in crash strip; do
			in_part $((n++)) 0 5 || continue
			[[ $stepped ]] || reference "$how"
			stepped=yes
			name="$how, $program, $engine"
			traced $program "$how" "$engine" -v
			exits $plain "$name: ends as without trace"
			branches "$T/json" >"$T/branches"
			# where the stack ends depends on the environment; in one place of 17 the log of a copy is what overflows it
			if [[ $how.$engine == over.inline ]] && ! cmp -s "$T/branches" "$T/reference"; then
				export PAD=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
				reference $how
				traced $program $how $engine -v
				unset PAD
				branches "$T/json" >"$T/branches"
			fi
			same "$T/branches" "$T/reference" "$name: the last branches are those of single-stepping"
			[[ $engine != probe ]] || like "$T/err" 'the kernel keeps the last branches: ' "$name: which the kernel has kept"
			is "$(json_lines "$T/json" '$e->{event} eq "signal" ? join(" ", @{$e->{args}}{"signal", "code"}) =~ s/ $//r : ""')" \
				"$(xargs <<<"${signal/-/} ${code/-/}")" "$name: the signal"
			[[ $signal == - ]] || like "$T/err" "process [0-9]+ \\(.*\\) was killed by $signal" "$name: which is told"
			is "$(summary lost)" 0 "$name: nothing is lost"
		done
	done
done <<'END'
null SIGSEGV SEGV_MAPERR
overflow SIGSEGV SEGV_MAPERR
abort SIGABRT SI_TKILL
double SIGABRT SI_TKILL
zero SIGFPE FPE_INTDIV
illegal SIGILL ILL_ILLOPN
jump SIGSEGV SEGV_MAPERR
sserts SIGABRT SI_TKILL
exit - -
wait SIGTERM SI_USER
thread SIGSEGV SEGV_MAPERR
handled SIGSEGV SEGV_MAPERR
END

# ---- where, and the trace continues ----
for engine in "${engines[@]}"; do
	traced crash null "$engine"
	is "$(json_lines "$T/json" '$e->{event} eq "signal" ? "$e->{args}{addr} " . join " ", map { $_->{symbol} } @{$e->{stack}}[0..2] : ""')" \
		'0x0 null_pointer choose main' "$engine: the address and the stack"
	traced crash jump "$engine"
	is "$(json_lines "$T/json" '$e->{event} eq "signal" ? "$e->{args}{addr} $e->{args}{rip}" : ""')" '0x10 0x10' \
		"$engine: where nothing is"
done
bb user "$T/crash" '*' -f --engine probe --last 5 -o "$T/text" -- \
	sh -c "'$T/crash' null; '$T/crash' exit; '$T/crash' abort; '$T/crash' zero; true"
exits 0 'processes that crash one after the other'
is "$(grep -c ' was killed by ' "$T/err")" 3 'each is told'
is "$(grep -o 'killed signal="[A-Z]*"' "$T/text" | tr '\n' ' ')" \
	'killed signal="SIGSEGV" killed signal="SIGABRT" killed signal="SIGFPE" ' 'and shown, in order; what ends well is not before the end'
like <(grep -A40 SIGFPE "$T/text") 'status\+.* call ' 'that is at the end'

# ---- another library where the first one was ----
for lib in first second; do
	echo "int $lib(int n) { return n * 3; }" >"$T/$lib.c"
	cc -shared -fPIC -O1 -o "$T/$lib.so" "$T/$lib.c" || exit 2
done
for engine in "${engines[@]}"; do
	bb user "$T/crash" uses --engine "$engine" --last 9 -F json -o "$T/json" -- "$T/crash" uses "$T"
	exits 132 "$engine: one library after the other"
	is "$(sort -u "$T/out" | grep -c '')" 1 "$engine: at the same address"
	# when a copy logged a call is not known: of which library the address was isn't either
	[[ $engine == probe ]] && want='first second ' || want='- - '
	is "$(json_lines "$T/json" '$e->{event} eq "branch" && $e->{kind} eq "icall" ? $e->{to}{symbol} // "-" : ""' | tr '\n' ' ')" "$want" \
		"$engine: each call has the name of its own, or none"
done

# ---- more threads than rings ----
bb user "$T/crash" '*' --engine probe --last 10 --buffer 512K -F json -o "$T/json" -v -- "$T/crash" many
exits 0 'more threads than rings'
like "$T/err" '8 rings of 64 KiB' 'of which there are 8'
like "$T/err" '[0-9]+ hits were of threads that found none of the 8 rings free' 'the hits of the others are told'
[[ $(summary lost) -gt 0 ]]
ok $? 'and are lost'
bb user "$T/crash" '*' --engine probe --last 10 -F json -o "$T/json" -- "$T/crash" many
exits 0 'as many threads as rings'
is "$(json_lines "$T/json" '$e->{event} eq "branch" ? $e->{tid} : ""' | sort | uniq -c | grep -c '^ *10 ')" 21 \
	'each has its last branches'
is "$(summary lost)" 0 'nothing is lost'

# ---- --dump-on ----
for engine in "${engines[@]}"; do
	bb user "$T/crash" '*' --engine "$engine" --last 5 --dump-on choose -F json -o "$T/json" -v -- "$T/crash" null
	exits 139 "$engine: --dump-on FUNC"
	is "$(grep -c ' entered choose: ' "$T/err")" 1 "$engine: it came there once"
	is "$(json_lines "$T/json" '$e->{event} eq "branch" ? "$e->{symbol} $e->{kind}" : ""' | sed -n 5p)" 'main call' \
		"$engine: the last branch is the call"
	is "$(json "$T/json" '$e->{event} eq "branch"')" 10 "$engine: and there are those of the crash"
	bb user "$T/crash" '*' --engine "$engine" --last 3 --dump-on 'odd=<4' -F json -o "$T/json" -- "$T/crash" exit
	exits 3 "$engine: --dump-on FUNC=<VALUE"
	n=$("$BBTRACE" user "$T/crash" odd --engine probe -F json -- "$T/crash" exit 2>/dev/null | tee "$T/all" | grep -c '"event":"return"')
	((n == 40))
	ok $? "$engine: odd() was called 40 times" || diag "$n"
	is "$(json "$T/json" '$e->{event} eq "mark"')" "$(json "$T/all" '$e->{event} eq "return" && unpack("l", pack "L", hex($e->{value}) & 0xffffffff) < 4')" \
		"$engine: as often as it returned less"
done
for engine in "${engines[@]}"; do
	for on in dump stop; do
		bb user "$T/crash" '*' --engine "$engine" --last 3 --$on-on asks -F json -o "$T/json" -- "$T/crash" goes
		is "$(json_lines "$T/json" '$e->{event} eq "branch" ? "$e->{symbol} $e->{kind}" : ""' | head -3 | tr '\n' ' ')" \
			'choose call goes_on jcc goes_on call ' "$engine: --$on-on: those before it, though the program goes on"
	done
done
bb user "$T/crash" odd --last 5 --dump-on nothing -- "$T/crash" exit
exits 1 'no such function'
bb user "$T/crash" odd --last 5 --dump-on work=3 -- "$T/crash" exit
like "$T/err" 'returns are seen of traced functions only' 'the returns of another function'
bb user "$T/crash" odd --dump-on odd -- "$T/crash" exit
exits 2 'without --last'
done_testing

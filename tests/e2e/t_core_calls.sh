#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# bbtrace core, of a program that called what is no code: the callers are gdb's, also in the handler of the signal, on an
# alternate stack.
# shellcheck disable=SC2154,SC2034 # lib.sh sets them, and reads status
. "$(dirname "$0")/lib.sh"
needs root dumps cmd:gdb
[[ $(</proc/sys/kernel/core_pattern) != *[\|/]* ]] || skip_all "core_pattern is $(</proc/sys/kernel/core_pattern)"

# dump HOW: $T/core
dump() {
	rm -f "$T"/core*
	(cd "$T" && ulimit -c unlimited && exec "$T/badcall" "$1") >/dev/null 2>&1
	for file in "$T"/core*; do [[ ! -e $file || $file == "$T/core" ]] || mv "$file" "$T/core"; done
}
by_gdb() { gdb -nx -batch -x "$ROOT/tests/check/gdb_core.py" "$T/badcall" "$T/core" 2>/dev/null | awk '$1 == "FRAME" && $5 == "-" { print $4, $6 }'; }
stacks() { json_lines "$1" '$e->{event} eq "stack" ? join "\n", map { "$_->{addr} @{[($_->{src} ? $_->{src}[-1]{line} // 0 : 0)]}" } @{$e->{stack}} : ""'; }

n=0
for level in 0 1 2; do
	cc -g "-O$level" -o "$T/badcall" "$ROOT/tests/crash/badcall.c" || exit 2
	for how in null low heap unmapped data stack tail tail-heap saved saved-low last handled handled-heap handled-data handled-tail handled-saved; do
		in_part $((n++)) 0 4 || continue
		dump "$how"
		bb core "$T/core" -F json
		exits 0 "-O$level, $how: is shown"
		stacks "$T/out" >"$T/stacks"
		by_gdb >"$T/gdb"
		# where bbtrace has no line, gdb may know the symbol's file
		is "$(awk 'NR == FNR { line[FNR] = $2; next } $2 && $2 != line[FNR]' "$T/gdb" "$T/stacks")" '' "-O$level, $how: the lines are gdb's"
		is "$(cut -d' ' -f1 "$T/stacks")" "$(cut -d' ' -f1 "$T/gdb")" "-O$level, $how: the frames are gdb's"
	done
done

# ---- no call is before what is where a return address would be ----
cat >"$T/ret.c" <<'END'
	int main(void)
	{
		__asm__ volatile("push $0x1234\n\tpush $0\n\tret");
		return 0;
	}
END
cc -g -O0 -o "$T/badcall" "$T/ret.c" || exit 2
if [[ $(uname -m) == x86_64 ]]; then
	dump ret
	bb core "$T/core"
	exits 0 'a return to what is no code'
	is "$(grep -c '^  #' "$T/out")" 1 'has one frame'
	like "$T/out" '^  -- no unwind table leads on --$' 'and a reason'
else
	skip 'a return to what is no code' 'x86-64 only'
fi
done_testing

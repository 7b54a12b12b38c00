#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Without symbols: functions by file offset, ranges, and the symbols that are left in .dynsym.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/lib.sh"
needs root uprobes

program fib -O1
start=$(symbol "$T/fib" fib) start0=$start size=$(symbol_size "$T/fib" fib)
offset=$(file_offset "$T/fib" "$start")
bb user "$T/fib" fib -F json -o "$T/json" -- "$T/fib"
json_lines "$T/json" '$e->{event} eq "branch" && join " ", @$e{qw(vaddr kind taken)}, $e->{to}{vaddr}' >"$T/by_name"
cp "$T/fib" "$T/stripped"
strip "$T/stripped"

branches() { json_lines "$T/json" '$e->{event} eq "branch" && join " ", @$e{qw(vaddr kind taken)}, $e->{to}{vaddr}'; }

bb user "$T/stripped" "$offset" -F json -o "$T/json" -- "$T/stripped"
exits 3 '0xOFF of a stripped program is traced'
is "$(entries "$offset") $(returns "$offset")" '177 177' '0xOFF of a stripped program is shown as it was asked for'
branches >"$T/got"
same "$T/got" "$T/by_name" '0xOFF has the branches that the function has by name'

bb user "$T/stripped" "$offset:fibonacci" -F json -o "$T/json" -- "$T/stripped"
exits 3 '0xOFF:NAME is traced'
is "$(entries fibonacci) $(returns fibonacci)" '177 177' '0xOFF:NAME is shown as NAME'
is "$(json "$T/json" '$e->{event} eq "branch" && $e->{kind} eq "call" && $e->{to}{symbol} eq "fibonacci" && !$e->{to}{offset}')" \
	176 'as a target, too'

bb user "$T/fib" "$offset:dead" -F json -o "$T/json" -- "$T/fib"
is "$status $(entries dead)" '3 177' '0xOFF:NAME renames a function that has a symbol'

# ---- ranges ----
bb user "$T/stripped" "$offset+$(printf 0x%x "$size")" -F json -o "$T/json" -- "$T/stripped"
exits 3 '0xOFF+0xLEN is traced'
branches >"$T/got"
same "$T/got" "$T/by_name" '0xOFF+0xLEN of a whole function has all of its branches'
is "$(json "$T/json" '$e->{event} =~ /^(entry|return)$/')" 0 '0xOFF+0xLEN shows no entry and no return'

# that ends anywhere, within an instruction too
wrong=
for ((length = 1; length < size; length++)); do
	rm -f "$T/json"
	bb user "$T/stripped" "$offset+$(printf 0x%x "$length")" -F json -o "$T/json" -- "$T/stripped"
	branches >"$T/got" 2>/dev/null
	perl -ane "print if hex \$F[0] < $((start + length))" "$T/by_name" >"$T/wanted"
	cmp -s "$T/got" "$T/wanted" || wrong+=" $length"
done
is "$wrong" '' "ranges of 1 to $((size - 1)) bytes: the branches that begin in each"

# only the first conditional
bb list --points "$T/fib" fib
read -r _ first < <(sed -n '2s/^\(0x[0-9a-f]*\)+\(0x[0-9a-f]*\)$/\2 \1/p' "$T/out")
length=$(sed -n '2s/.*+//p' "$T/out")
at=$(printf '0x%x' $((offset + first - start)))
bb user "$T/stripped" "$at+$length" -F json -o "$T/json" -- "$T/stripped"
is "$status $(branches | cut -d' ' -f1,2 | sort | uniq -c | xargs)" "3 177 $(printf '0x%x' $((first))) jcc" '0xOFF+0xLEN of one instruction has that branch alone'

# without a branch: each range between two of fib's branches
perl -e '
	my ($file, $start, $end, $offset) = @ARGV;
	my (@run, @wanted);
	sub place { my $at = $_[0] - $start; $at ? sprintf "fib+0x%x", $at : "fib" }
	for (qx(objdump -d --no-show-raw-insn --start-address=$start --stop-address=$end "$file")) {
		/^ *([0-9a-f]+):\s+(?:repz |bnd |notrack )*(\w+)/ or next;
		my ($at, $insn) = (hex $1, $2);
		if ($insn !~ /^(j|call|ret)/) { push @run, $at; next }
		for my $i (0 .. $#run) {
			my $n = @run - $i;
			printf "0x%x+0x%x nothing to probe: %s; the next one is %s at %s\n",
				$run[$i] - $start + $offset, $at - $run[$i],
				$n == 1 ? "the instruction at " . place($run[$i]) . " is no branch"
					: "the $n instructions from " . place($run[$i]) . " to " . place($run[-1]) . " have no branch",
				$insn =~ /^(call|ret)/ ? $1 : $insn, place($at);
		}
		@run = ();
	}' "$T/fib" "$start" $((start + size)) $((offset)) >"$T/wanted"
while read -r range _; do
	bb list "$T/fib" "$range"
	echo "$status $range $(<"$T/err")"
done <"$T/wanted" | sed 's/bbtrace: //' >"$T/got"
sed -i 's/^/1 /' "$T/wanted"
same "$T/got" "$T/wanted" 'of a range without branches is said how many instructions it has, and which branch is next'
isnt "$(wc -l <"$T/wanted")" 0 'fib has such ranges'
bb user "$T/fib" "$offset+0x1" -- echo ran
is "$status $(cat "$T/out")" '1 ' 'a range without branches is refused before CMD runs'
bb user "$T/fib" "$offset+$(printf 0x%x "$size")" -e entry -- echo ran
is "$status $(cat "$T/out" "$T/err")" '1 bbtrace: nothing to probe: ranges have branches only, and -e leaves these out' \
	'a range with -e entry: the message says that it has branches only'
source_program prefixed c <<'END'
__attribute__((naked, noipa)) void jumper(void)
{
	__asm__("lea 1f(%rip), %rax\n here: notrack jmp *%rax\n 1: ret");
}
int main(void) { jumper(); }
END
here=$(symbol "$T/prefixed" here)
bb user "$T/prefixed" "$(file_offset "$T/prefixed" "$here")+0x3" -- echo ran
is "$status $(cat "$T/out")" '1 ' 'a range whose only branch can carry no probe is refused before CMD runs'
like "$T/err" '^bbtrace: nothing to probe: jumper\+0x7 can.t carry a probe: the kernel accepts no uprobe on this' \
	'a range whose only branch can carry no probe: the message says where it is, and why'

# ---- from the middle of a function on ----
bb list --sites "$T/fib" fib -F json
read -r middle < <(json_lines "$T/out" '$e->{kind} eq "jcc" && $e->{vaddr}')
((middle += 2))
at=$(printf '0x%x' $((offset + middle - start)))
bb user "$T/fib" "$at" -F json -o "$T/json" -- "$T/fib"
exits 3 'an offset in the middle of a function is traced'
in_place "$T/json" "$T/fib" 'an offset in the middle of a function is shown at its place in that'
is "$(json_lines "$T/json" '$e->{event} eq "entry" && "$e->{symbol}+$e->{offset}"' | sort -u)" "fib+$((middle - start))" \
	'an offset in the middle of a function has entries at that place'
bb user "$T/fib" "$at:parse" -F json -o "$T/json" -- "$T/fib"
exits 3 'an offset in the middle of a function, with a name, is traced'
is "$(json_lines "$T/json" '$e->{event} ne "summary" && $e->{symbol}' | sort -u)" parse 'an offset in the middle of a function, with a name, is shown under that name'
is "$(json_lines "$T/json" '$e->{event} eq "entry" && $e->{offset}' | sort -u)" 0 'an offset in the middle of a function, with a name, begins there'

# ---- a program at fixed addresses: functions without symbol by the address that objdump shows ----
program fib -O1 -no-pie
cp "$T/fib" "$T/stripped"
strip "$T/stripped"
start=$(symbol "$T/fib" fib) address=$(printf '0x%x' "$(symbol "$T/fib" fib)")
bb list "$T/stripped" -F json
json_lines "$T/out" '$e->{symbol} =~ /^0x/ && "$e->{symbol} $e->{vaddr}"' | awk '$1 != $2' >"$T/other"
is "$(json "$T/out" '$e->{symbol} eq "'"$address"'"') $(cat "$T/other")" '1 ' 'list names functions without symbols by their address'
for spec in "$address" "$(file_offset "$T/fib" "$start")"; do
	bb user "$T/stripped" "$spec" -F json -o "$T/json" -- "$T/stripped"
	exits 3 "$spec, a function without symbol, is traced"
	is "$(entries "$address") $(returns "$address")" '177 177' "$spec, a function without symbol: each call is shown"
done
bb user "$T/stripped" "$address+$(symbol_size "$T/fib" fib | xargs printf 0x%x)" -F json -o "$T/json" -- "$T/stripped"
is "$status $(json_lines "$T/json" '$e->{event} eq "branch" && $e->{symbol}' | sort -u)" "3 $address" '0xADDR+0xLEN takes a link-time address'
bb user "$T/stripped" '*' -o "$T/trace" -- "$T/stripped"
bb report "$T/trace" "$address" -F json
is "$status $(json "$T/out" '$e->{event} eq "entry"')" '0 177' "report takes a function's address"

# ---- what is no boundary, no code ----
program fib -O1
at=$(printf '0x%x' $((offset + first - start0)))
for wrong in "$(printf '0x%x' $((at + 1)))" "$(printf '0x%x' $((at + 1)))+0x8"; do
	bb user "$T/fib" "$wrong" -- "$T/fib"
	exits 1 'an offset inside an instruction is refused'
	like "$T/err" "^bbtrace: .*(instruction|boundary)" 'an offset inside an instruction: the message says so'
	is "$(cat "$T/out")" '' 'an offset inside an instruction is refused before anything runs'
done
bb user "$T/fib" 0x10 -- "$T/fib"
exits 1 'an offset outside the code is refused'
like "$T/err" 'file offset 0x10 .*in the code of .*bbtrace list' 'the message about an offset outside the code has the next step'
bb user "$T/fib" 0xfffffffff -- "$T/fib"
exits 1 'an offset outside the file is refused'
bb user "$T/fib" 0x -- "$T/fib"
exits 2 '0x alone is wrong usage'
like "$T/err" "write it as 0x and hexadecimal digits" 'the message about 0x alone says how to write an offset'

# ---- a program that only has .dynsym ----
python=/usr/bin/python3
if [[ -x $python ]] && nm -D "$python" 2>/dev/null | grep -q ' T Py_IsInitialized$' && ! nm "$python" 2>/dev/null | grep -q .; then
	for times in 3 10; do
		bb user "$python" Py_IsInitialized -F json -o "$T/json" -- \
			"$python" -c "import ctypes; [ctypes.pythonapi.Py_IsInitialized() for i in range($times)]"
		counted+=("$(entries Py_IsInitialized)")
	done
	exits 0 'functions of a stripped python3 are traced'
	is $((counted[1] - counted[0])) 7 'in a stripped python3 each call more is an entry more'
	bb user "$python" PyList_New -F json -o "$T/json" -- "$python" -c 'print(sum(range(10)))'
	is "$status $(cat "$T/out") $(summary unmatched)" '0 45 0' 'a stripped python3 is traced from start to end'
else
	skip 'functions of a stripped python3' 'no stripped /usr/bin/python3'
fi
done_testing

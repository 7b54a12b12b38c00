#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Plans and copies are kept for the next start: what it shows is what it showed without; a program that has changed is planned
# again; files that are damaged, or that others may write, are not used.
# shellcheck disable=SC2154 # lib.sh sets status
. "$(dirname "$0")/lib.sh"
needs root uprobes
unset BBTRACE_ENGINE
cache=$XDG_CACHE_HOME/bbtrace
cd "$T" || exit 2

# used NAME: both come from the cache; made NAME: neither does
used() { is "$(grep -oE 'the (plan|copies) of an earlier start' "$T/err" | sort -u | xargs)" 'the copies of an earlier start the plan of an earlier start' "$1"; }
made() { is "$(grep -c 'of an earlier start' "$T/err")" 0 "$1"; }
files() { find "$cache" -type f 2>/dev/null | wc -l; }

if [[ $(uname -m) != x86_64 ]]; then
	skip 'copies from the cache' 'functions are copied on x86-64 only'
	done_testing
	exit
fi
cp "$(readlink -f "$(type -P gzip)")" gz
seq 1 3000 >numbers

# ---- the same is shown ----
for how in -c '--last 20 -F json -r none' '-F annotate' '-e entry,return -F json -r none' '--why -e branch -F json --last 50'; do
	# shellcheck disable=SC2086 # words
	trace() { bb user ./gz '*' $how -v "$@" -o shown -- ./gz -c numbers && sed -E 's/"(ts|tid|pid|cpu|value|below_noise|[a-z_]*_ns)":[^,}]*//g; s/"values":\[[^]]*\]//g; /"event":"summary"/d' shown; }
	rm -rf "$cache"
	trace --no-cache >without
	made "$how: --no-cache uses nothing"
	is "$(files)" 0 "$how: and keeps nothing"
	trace >first
	made "$how: the first trace plans"
	is "$(find "$cache" -name '*.plan' | wc -l | sed 's/[1-9]/some/') $(find "$cache" -name '*.copies' | wc -l)" 'some 1' "$how: and keeps the plan and the copies"
	trace >second
	used "$how: the next one has both"
	isnt "$(wc -l <without)" 0 "$how: something is shown"
	same first without "$how: keeping it changes nothing"
	same second without "$how: nor does using it"
done

# Another selection, other options and another engine are other plans.
bb user ./gz '*' -v -c --engine probe -- ./gz -c numbers
unlike "$T/err" 'copies of an earlier start' 'probes need no copies'
before=$(files)
bb user ./gz '*' -c --args -v -o shown -- ./gz -c numbers
bb user ./gz '*' -v -F summary -o shown -- ./gz -c numbers
ok $(($(files) <= before)) 'what is traced in another way is planned by itself'

# ---- why, whose two runs are traces of their own ----
for i in 1 2; do bb why -v -o "why$i" -- ./gz nofile; done
used_by_why=$(grep -c 'of an earlier start' "$T/err")
ok $((used_by_why < 2)) 'why finds what it kept'
same why2 why1 'and says the same'

# ---- files that are not used ----
trace() { bb user ./gz '*' -c -v -o shown -- ./gz -c numbers; }
rm -rf "$cache"
trace && cp shown wanted
XDG_CACHE_HOME=$T/.other bb user ./gz '*' --last 7 -o shown -- ./gz -c numbers
cp "$(find .other -name '*.copies')" other
spoil() { # NAME COMMAND...: with each file as the last argument
	local file name=$1

	shift
	while read -r file; do "$@" "$file"; done < <(find "$cache" -type f)
	trace
	made "$name: is not used"
	same shown wanted "$name: and nothing else changes"
	is "$status" 0 "$name: it is no error"
	rm -rf "$cache"
	trace
}
write_at() { printf '%s' "$1" | dd of="$3" bs=1 seek=$(($(stat -c %s "$3") * $2 / 100)) conv=notrunc status=none; }
link_to() { mv "$1" "$T/elsewhere.${1##*.}" && ln -s "$T/elsewhere.${1##*.}" "$1"; }
fifo() { rm "$1" && mkfifo "$1"; }
spoil 'a file with other bytes' write_at bytes 50
spoil 'a file with another head' write_at bytes 0
spoil 'a file that is cut off' truncate -s -1
spoil 'an empty file' truncate -s 0
spoil 'a file that others may write' chmod 622
spoil "another user's file" chown nobody
spoil 'a link to a file' link_to
spoil 'a FIFO' fifo
spoil "another one's content" cp other
rm -f elsewhere.*

chmod 777 "$cache"
trace
made 'a folder that others may write is not used'
like "$T/err" 'is not used: others may write it' 'a note of -v says so'
chmod 700 "$cache" && chown nobody "$cache"
trace
made "nor is another user's"
rm -rf "$cache" && ln -s "$T" "$cache"
trace
made 'nor is a link'
is "$(find "$T" -maxdepth 1 -name '*.plan' | wc -l)" 0 'and nothing is kept there'
rm -f "$cache"
XDG_CACHE_HOME=/proc/nowhere trace
is "$status" 0 'a folder that cannot be made is no error'
same shown wanted 'and changes nothing'

# ---- a program that has changed, with its size and times as they were ----
cat >changed.c <<'END'
#include <stdio.h>
#define FILL(n) __attribute__((noinline)) int fill##n(int x) { for (int i = 0; i < x; i++) if (i * x > n) x -= n; return x; }
#define TEN(n) FILL(n##0) FILL(n##1) FILL(n##2) FILL(n##3) FILL(n##4) FILL(n##5) FILL(n##6) FILL(n##7) FILL(n##8) FILL(n##9)
#define HUNDRED(n) TEN(n##0) TEN(n##1) TEN(n##2) TEN(n##3) TEN(n##4) TEN(n##5) TEN(n##6) TEN(n##7) TEN(n##8) TEN(n##9)
HUNDRED(1) HUNDRED(2) HUNDRED(3) HUNDRED(4) HUNDRED(5) HUNDRED(6) HUNDRED(7) HUNDRED(8) HUNDRED(9)
HUNDRED(11) HUNDRED(12) HUNDRED(13) HUNDRED(14) HUNDRED(15) HUNDRED(16) HUNDRED(17) HUNDRED(18) HUNDRED(19)
__attribute__((noinline)) int decide(int x) { return x == WHICH ? puts("yes") : puts("no"); }
int main(int argc, char **argv) { (void)argv; return decide(argc + 4) < 0; }
END
gcc -O1 -Wl,--build-id=0x1234 -DWHICH=5 changed.c -o one && gcc -O1 -Wl,--build-id=0x1234 -DWHICH=6 changed.c -o two || exit 2
cp -p one prog
decided() { bb user ./prog '*' -e branch -F json -v -o shown -- ./prog && json_lines shown '$e->{symbol} eq "decide" && $e->{kind} eq "jcc" ? "$e->{insn} $e->{taken}" : ""'; }
is "$(stat -c %s one)" "$(stat -c %s two)" 'two programs of one size and build-id'
decided >of_one
decided >again
used 'the program is planned once'
same again of_one 'and shown as before'
cat two >prog && touch -r one prog
decided >of_two
made 'a changed one is planned again'
bb user ./prog '*' -e branch -F json --no-cache -o shown -- ./prog
json_lines shown '$e->{symbol} eq "decide" && $e->{kind} eq "jcc" ? "$e->{insn} $e->{taken}" : ""' >wanted
same of_two wanted 'and shown as it is'
isnt "$(<of_two)" "$(<of_one)" 'which is another branch'

# ---- no more than the limit ----
rm -rf "$cache"
cp gz prog
mkdir -m 700 "$XDG_CACHE_HOME/bbtrace"
truncate -s 300M "$cache/old.plan" && touch -d '2 days ago' "$cache/old.plan"
truncate -s 300M "$cache/new.plan" && touch -d '1 day ago' "$cache/new.plan"
trace
is "$(find "$cache" -name old.plan | wc -l) $(find "$cache" -name new.plan | wc -l)" '0 1' 'what was not used for the longest time is removed'
trace
used 'what was kept last stays'

# ---- with more rights than the user has ----
if command -v setcap >/dev/null && install -m 755 "$BBTRACE" "$T/capable" &&
	setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search,cap_checkpoint_restore+ep "$T/capable" 2>/dev/null && chmod 755 "$T"; then
	mkdir -m 755 "$T/home" && chown nobody "$T/home" && chmod 755 gz
	as_nobody() { setpriv --reuid nobody --regid nogroup --clear-groups env -u XDG_CACHE_HOME HOME="$T/home" "$@"; }
	if as_nobody "$T/capable" user "$T/gz" '*' -c -v -- "$T/gz" -c numbers >shown 2>said; then
		unlike said 'of an earlier start' 'with file capabilities nothing is used'
		is "$(find "$T/home" -type f | wc -l)" 0 'and nothing kept'
	else
		skip 'file capabilities' "they don't suffice here: $(tail -n 1 said)"
	fi
else
	skip 'file capabilities' 'setcap(8) is missing or without effect here'
fi
done_testing

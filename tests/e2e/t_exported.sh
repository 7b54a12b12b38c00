#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --exported: the functions that a library exports, once each, under names that can be given as FUNC again.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes

cat >"$T/versions" <<'END'
V1 { global: kept; old; moved; };
V2 { global: moved; } V1;
END
source_program library c -shared -fPIC -Wl,--version-script="$T/versions" -Wl,--undefined-version <<'END'
#define KEPT __attribute__((noipa))
KEPT int kept(int n) { return n > 2 ? n * 3 : -n; }
KEPT int old_moved(int n) { return n > 3 ? n : 1; }
KEPT int new_moved(int n) { return n > 4 ? n : 2; }
__asm__(".symver old_moved, moved@V1\n.symver new_moved, moved@@V2");
END
cat >"$T/plain.c" <<'END'
#define KEPT __attribute__((noipa))
KEPT int twin(int n) { return n > 2 ? n + 2 : n; }
KEPT int same(int n) { return n > 4 ? n * 2 : n; }
int __same(int n) __attribute__((alias("same")));
KEPT __attribute__((visibility("hidden"))) int hidden(int n) { return n > 5 ? n : 3; }
KEPT __attribute__((visibility("protected"))) int guarded(int n) { return n > 6 ? hidden(n) : 4; }
KEPT __attribute__((weak)) int weak(int n) { return n > 7 ? guarded(n) : 5; }
KEPT __attribute__((used)) static int rest(int n) __asm__("same.part.0");
KEPT static int rest(int n) { return n > 9 ? n : 8; }
KEPT static int chosen_now(int n) { return n > 8 ? n : 6; }
static int (*choose(void))(int) { return chosen_now; }
int chosen(int n) __attribute__((ifunc("choose")));
int data = 3;
END
gcc -O2 -shared -fPIC -o "$T/plain" "$T/plain.c" -xc - <<<'__attribute__((noipa)) static int twin(int n) { return n > 1 ? n + 1 : n; } int (*twins)(int) = twin;' ||
	plan_skip_all 'no library was built'

names() { "$BBTRACE" list "$@" --exported 2>"$T/err" | sort | xargs; }
is "$(names "$T/library")" 'kept moved@V1 moved@V2' 'versions of a name are told apart'
is "$(names "$T/plain" | sed 's/0x[0-9a-f]*:/OFF:/')" 'OFF:twin chosen guarded same weak' \
	'aliases stand once, hidden functions and data not at all, a name that a static function has, too, with its offset'
bb list "$T/plain" --exported -F json
is "$(json "$T/out" '$e->{symbol} eq "same.part.0"')" 1 'the part of a partly inlined function comes with it'
is "$(names "$T/plain" '*e*')" 'chosen guarded same weak' 'a pattern chooses among exported functions'
is "$(names "$T/plain" __same weak)" '__same weak' 'a function is shown under the exported name that was asked for'
is "$(names "$T/plain:same" "$T/library:kept")" "$T/library:kept $T/plain:same" 'functions of several objects stand with their object'

# what it lists is what it means
for object in "$T/library" "$T/plain" libc.so.6 libstdc++.so.6; do
	mapfile -t funcs < <("$BBTRACE" list "$object" --exported)
	"$BBTRACE" list "$object" "${funcs[@]}" -F json | grep -o '"vaddr":"[^"]*"' | sort -u >"$T/named"
	"$BBTRACE" list "$object" --exported -F json | grep -o '"vaddr":"[^"]*"' | sort -u >"$T/exported"
	same "$T/named" "$T/exported" "the ${#funcs[@]} names of ${object##*/} given back are the same functions"
	# names reach it through the shell without quotes
	# shellcheck disable=SC2046
	is "$(printf '%s\n' $("$BBTRACE" list "$object" --exported) | wc -l)" ${#funcs[@]} "each name of ${object##*/} is one word"
done
bb list "$T/plain" --exported --sites -F json
is "$status $(json "$T/out" '$e->{symbol} eq "hidden"') $(($(json "$T/out" '$e->{symbol} eq "weak"') > 1))" '0 0 1' '--sites has the branches of exported functions'
bb list "$T/plain" --exported -F json
is "$(json "$T/out" '$e->{symbol} eq "chosen_now"') $(json "$T/out" '$e->{symbol} =~ "^choose"')" '1 0' \
	'for an exported function with implementations these stand'

# a trace
source_program prog c "$T/plain" -Wl,-rpath,"$T" <<'END'
int twin(int), same(int), guarded(int), weak(int), chosen(int);
int main(void) { return twin(9) + same(9) + guarded(9) + weak(9) + chosen(9) == 0; }
END
bb user "$T/plain" '*' --exported -F json -o "$T/json" -- "$T/prog"
exits 0 'exported functions are traced'
is "$(symbols)" 'chosen_now guarded same twin weak' 'a trace of exported functions has only these'
# shellcheck disable=SC2046
bb user "$T/plain" $("$BBTRACE" list "$T/plain" --exported) -F json -o "$T/json" -- "$T/prog"
is "$status $(symbols)" '0 chosen_now guarded same twin weak' 'what list --exported prints can be traced'

# the dynamic table alone, as in a file whose section headers were cut off
cp "$T/plain" "$T/cut"
printf '\0\0\0\0\0\0\0\0' | dd of="$T/cut" bs=1 seek=40 conv=notrunc status=none
printf '\0\0\0\0' | dd of="$T/cut" bs=1 seek=60 conv=notrunc status=none
is "$(names "$T/cut")" 'chosen guarded same twin weak' 'exported functions are known without section headers'

# ---- refusals name the next step ----
refused() { # WHAT STATUS MESSAGE ARG...
	bb "${@:4}"
	is "$status" "$2" "$1"
	like "$T/err" "^bbtrace: $3" "$1: the message says what to do"
}
cp "$T/prog" "$T/static" && gcc -O2 -static -o "$T/static" -xc - <<<'int main(void) { return 0; }'
refused 'an object that exports nothing is refused' 1 ".*/static exports no function: without --exported .bbtrace list .*/static. shows" list "$T/static" --exported
refused 'a function that is not exported is refused' 1 "hidden is not exported by .*/plain: leave out --exported" user "$T/plain" hidden --exported -- true
refused 'a pattern of functions that are not exported is refused' 1 "no function that .*/plain exports matches hid\*: " list "$T/plain" 'hid*' --exported
refused 'a place is refused' 2 "'0x1000' is a place: --exported takes names and patterns" list "$T/plain" 0x1000 --exported
refused 'points are refused' 2 "'@points' is a place: " user "$T/plain" @points --exported -- true
refused 'an unknown name is refused' 1 'no function named sane .*did you mean same' list "$T/plain" sane --exported
done_testing

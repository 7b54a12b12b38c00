#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Go: goroutines move between threads, and their stacks move; each has its own calls.
# shellcheck disable=SC2154,SC2034 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes cmd:go

cat >"$T/many.go" <<'END'
package main

import (
	"fmt"
	"runtime"
	"sync"
)

//go:noinline
func deep(n int) int {
	var pad [64]int
	pad[n%64] = n
	if n%10 == 0 {
		runtime.Gosched()
	}
	if n == 0 {
		return pad[0]
	}
	return deep(n-1) + pad[n%64] - n + 1
}

func main() {
	var group sync.WaitGroup
	sums := make([]int, 40)
	for i := range sums {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			sums[i] = deep(60 + i)
		}(i)
	}
	group.Wait()
	fmt.Println(sums)
}
END
cat >"$T/manyc.go" <<END
$(sed '/^import/,$d' "$T/many.go")
/*
static __thread int own[5];
static int own_at(int n) { return own[n % 5]++; }
*/
import "C"

$(sed -n '/^import/,$p' "$T/many.go" | sed 's/pad\[n%64\] = n$/pad[n%64] = n + 0*int(C.own_at(C.int(n)))/')
END
build() { # NAME SOURCE FLAG...
	GOCACHE=$BUILD/go GO111MODULE=off go build -o "$T/$1" "${@:3}" "$T/$2" 2>"$T/build.err"
}
calls=$((40 * 61 + 39 * 40 / 2)) # 60 + i levels and the last

# Of each goroutine: each return is of the innermost open call. A jump back to the entry is no second call.
paired() {
	json_lines "$T/json" '$e->{event} =~ /^(entry|return)$/ && "$e->{goroutine} $e->{event} $e->{depth}"' | awk '
		$2 == "entry" { if ($3 == open[$1] - 1) again++; else { wrong += $3 != open[$1]++; calls++ } }
		$2 == "return" { wrong += $3 != --open[$1]; ended++ }
		END { print calls, ended, wrong + 0 }'
}
wandered() { # goroutines that were seen on more than one thread
	json_lines "$T/json" '$e->{event} ne "summary" && "$e->{goroutine} $e->{tid}"' | sort -u | cut -d' ' -f1 | uniq -d | wc -l
}

check() { # NAME PLACEMENT
	"$T/$1" >"$T/plain"
	bb user "$T/$1" main.deep --placement "$2" -F json -o "$T/json" -- "$T/$1"
	exits 0 "$1, $2: a program of Go is traced"
	same "$T/out" "$T/plain" "$1, $2: a program of Go prints what it always does"
	is "$(paired)" "$calls $calls 0" "$1, $2: each call of a goroutine returns in it, at its depth"
	is "$(summary unmatched) $(json "$T/json" '$e->{event} =~ /^(unknown|lost)$/')" '0 0' "$1, $2: nothing of the goroutines' traces is unmatched, unknown or lost"
	is "$(json "$T/json" '$e->{event} ne "summary" && !$e->{goroutine}')" 0 "$1, $2: each goroutine has its number"
}

build many many.go || { echo "t_go: go build failed: $(<"$T/build.err")" >&2 && exit 2; }
check many full
isnt "$(wandered)" 0 'goroutines went from thread to thread'
check many witness
if CGO_ENABLED=1 build manyc manyc.go; then
	check manyc full
else
	skip 'a program of Go linked with C is traced' 'go cannot build that here'
fi
if build manypie many.go -buildmode=pie; then
	check manypie full
else
	skip 'a position-independent program of Go is traced' 'go cannot build that here'
fi

# A trace file says the same, also one that is begun in the middle.
bb user "$T/many" main.deep -o "$T/trace" -- "$T/many"
exits 0 'a program of Go is recorded'
bb report "$T/trace" -F json -o "$T/json"
is "$status $(paired)" "0 $calls $calls 0" 'report shows each call of a goroutine'
bb user "$T/many" main.deep -o "$T/parts" --max-size 64K -- "$T/many"
exits 0 'a program of Go is recorded in parts'
[[ -e $T/parts.1 ]]
ok $? 'a program of Go is recorded in more than one part'
bb report "$T/parts" -F json -o "$T/json"
is "$status $(json "$T/json" '$e->{event} =~ /^(entry|branch|return)$/ && !$e->{goroutine}')" '0 0' \
	"in the last part of a recording each event is a goroutine's"
is "$(json "$T/json" '$e->{event} eq "return" && exists $e->{duration_ns} && $e->{duration_ns} == 0')" 0 "in the last part of a recording no return is another call's"

# Arguments by Go's own convention, in the order in which the source has them; assembly has its on the stack.
mkdir "$T/nine"
cat >"$T/nine/main.go" <<'END'
package main

import "fmt"

type pair struct{ a, b int }

func onStack(a, b int) int

//go:noinline
func nine(a, b, c int, d pair, e, f, g, h int) int {
	if a > b {
		return c
	}
	return onStack(a, b) + d.a + d.b*e + f*g - h
}

//go:noinline
func (p *pair) many(a int, pad [300]int) int {
	return p.b + nine(a, 2, 3, pair{4, 5}, 6, 7, 8, pad[a])
}

func main() {
	var pad [300]int
	pad[1] = 9
	p := pair{40, 50}
	fmt.Println(nine(11, 12, 13, pair{14, 15}, 16, 17, 18, 19), p.many(1, pad))
}
END
cat >"$T/nine/add_amd64.s" <<'END'
#include "textflag.h"
TEXT ·onStack(SB), NOSPLIT, $0-24
	MOVQ a+0(FP), AX
	ADDQ b+8(FP), AX
	MOVQ AX, ret+16(FP)
	XORL AX, AX
	RET
END
(cd "$T/nine" && GOCACHE=$BUILD/go GO111MODULE=off go build -o "$T/args" . 2>"$T/build.err") ||
	{ echo "t_go: go build failed: $(<"$T/build.err")" >&2 && exit 2; }
cp "$T/args" "$T/bare" && strip "$T/bare"
regs_of() { # SYMBOL: those of each entry, in their order
	grep '"event":"entry"' "$T/json" | grep -F "\"symbol\":\"$1\"" | sed 's/.*"regs":{\([^}]*\)}.*/\1/; s/"//g; s/^{.*/none/'
}
for name in args bare; do
	bb user "$T/$name" main.nine main.onStack 'main.(*pair).many' -F json -o "$T/json" -- "$T/$name"
	exits 0 "$name: functions with many arguments are traced"
	is "$(regs_of main.nine | head -1)" rax:0xb,rbx:0xc,rcx:0xd,rdi:0xe,rsi:0xf,r8:0x10,r9:0x11,r10:0x12,r11:0x13 \
		"$name: an entry shows nine arguments, the members of a struct among them"
	is "$(regs_of main.nine | tail -1)" rax:0x1,rbx:0x2,rcx:0x3,rdi:0x4,rsi:0x5,r8:0x6,r9:0x7,r10:0x8,r11:0x9 "$name: the last entry shows its nine arguments, too"
	is "$(regs_of 'main.(*pair).many' | cut -d, -f2)" rbx:0x1 "$name: a method has its receiver first"
	is "$(json_lines "$T/json" '$e->{event} eq "return" && $e->{symbol} eq "main.nine" && $e->{value}' | xargs)" \
		"$(printf '%#x ' $((23 + 14 + 15 * 16 + 17 * 18 - 19)) $((3 + 4 + 5 * 6 + 7 * 8 - 9)) | xargs)" "$name: each return shows its result"
	is "$(json "$T/json" '$e->{event} eq "entry" && $e->{symbol} eq "main.onStack" && !$e->{regs}')" \
		"$(json "$T/json" '$e->{event} eq "entry" && $e->{symbol} eq "main.onStack"')" "$name: an entry shows no arguments if they are on the stack"
	isnt "$(json "$T/json" '$e->{event} eq "return" && $e->{symbol} eq "main.onStack"')" 0 "$name: a function with arguments on the stack returns"
	is "$(json "$T/json" '$e->{event} eq "return" && $e->{symbol} eq "main.onStack" && $e->{value}')" 0 "$name: a return shows no result if that is on the stack"
done
bb user "$T/args" main.nine -r rdi,rax -F json -o "$T/json" -- "$T/args"
is "$(regs_of main.nine | head -1)" rax:0xb,rdi:0xe 'registers that are asked for by name are shown as they are'

# In text each line says whose it is.
bb user "$T/many" main.deep -e entry -o "$T/text" -F text -- "$T/many"
exits 0 'a program of Go is traced as text'
is "$(grep -c 'main\.deep(rax=0x[0-9a-f]*, rbx=' "$T/text")" "$(grep -cE ' (many-)?[0-9]+ g[0-9]+ .*main\.deep\(' "$T/text")" \
	'text shows the goroutine beside the thread'
is "$(grep -oE ' g[0-9]+ ' "$T/text" | sort -u | wc -l)" 40 'text shows all 40 goroutines'
done_testing

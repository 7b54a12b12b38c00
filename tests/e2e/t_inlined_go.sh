#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Go programs run as copies: each goroutine has the events that probes show of it, wherever it runs and its stack is; and
# they compute what they always do while their stacks move, garbage is collected, goroutines are interrupted anywhere and
# faults become panics.
# shellcheck disable=SC2154,SC2034 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes cmd:go
[[ $(uname -m) == x86_64 ]] || skip_all 'functions are copied on x86-64 only'

cat >"$T/works.go" <<'END'
package main

import (
	"fmt"
	"os"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"
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

//go:noinline
func fault(p *int) (got int) {
	defer func() {
		if recover() != nil {
			got = 7
		}
	}()
	return *p
}

//go:noinline
func words(n int) int {
	seen := map[string][]int{}
	for i := 0; i < 100; i++ {
		key := fmt.Sprint(i * n % 13)
		seen[key] = append(seen[key], i)
	}
	keys := []string{}
	for key := range seen {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return len(keys) + len(seen[keys[0]])
}

var stop, spins uint64

//go:noinline
func spin() {
	for atomic.LoadUint64(&stop) == 0 {
		spins++
	}
}

func main() {
	var group sync.WaitGroup
	sums := make([]int, 12)
	for i := range sums {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			for k := 0; k < 3; k++ {
				sums[i] += deep(60+i) + fault(nil) + words(i+1)
			}
		}(i)
	}
	group.Wait()
	group.Add(1)
	go func() { spin(); group.Done() }()
	for i := 0; i < 3; i++ {
		runtime.GC() // needs the other goroutine to be interrupted in its loop
	}
	atomic.StoreUint64(&stop, 1)
	group.Wait()
	fmt.Println(sums)
	if len(os.Args) > 1 {
		os.Stdin.Read(make([]byte, 1))
	}
}
END
cat >"$T/steady.go" <<'END'
package main

import (
	"fmt"
	"runtime"
	"sync"
)

// So that no call begins anew because its stack has to grow.
//
//go:noinline
func grow() int {
	var room [1 << 15]byte
	return int(room[runtime.NumGoroutine()])
}

//go:noinline
func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

//go:noinline
func each(n int, f func(int) int) (sum int) {
	for i := 0; i < n; i++ {
		switch i % 5 {
		case 0:
			sum += f(i)
		case 3:
			runtime.Gosched()
		default:
			sum--
		}
	}
	return sum
}

func main() {
	var group sync.WaitGroup
	sums := make([]int, 8)
	for i := range sums {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			grow()
			sums[i] = fib(12+i%3) + each(40, func(k int) int { return fib(k % 7) })
		}(i)
	}
	group.Wait()
	for runtime.NumGoroutine() > 1 { // so that the last one returns before the program ends
		runtime.Gosched()
	}
	fmt.Println(sums)
}
END
build() { # NAME SOURCE FLAG...
	GOCACHE=$BUILD/go GO111MODULE=off go build -o "$T/$1" "${@:3}" "$2" 2>"$T/build.err"
}
{ build works "$T/works.go" && build steady "$T/steady.go"; } || { echo "t_inlined_go: go build failed: $(<"$T/build.err")" >&2 && exit 2; }
GOMAXPROCS=2 "$T/works" >"$T/plain"

# What each goroutine did, in order, a line each, as a checksum: their numbers differ from run to run. When a stack grows
# its call begins again; which stacks are small differs, too.
by_goroutine() {
	json_lines "$1" '$e->{event} =~ /^(entry|branch|return)$/ && "$e->{goroutine} $e->{event} $e->{vaddr} " . ($e->{taken} // "") . " $e->{depth}"' |
		awk '{ g = $1; sub(/^[^ ]* /, ""); all[g] = all[g] ";" $0 } END { for (g in all) print all[g] }' |
		perl -MDigest::MD5=md5_hex -pe '
			s/entry (0x\w+)  (\d+);branch \w+ 1 \2;branch \w+  \2;branch \w+  \2;(?=entry \1  \2;)//g;
			$_ = md5_hex($_) . " " . tr/;// . "\n"' | sort
}
for name in works pie; do
	if [[ $name == pie ]] && ! build pie "$T/works.go" -buildmode=pie; then
		skip 'a position-independent program of Go runs as copies' 'go cannot build that here'
		continue
	fi
	for placement in full witness; do
		[[ $name$placement != piewitness ]] || continue
		for engine in probe inline; do
			bb user "$T/$name" main.deep main.fault --engine $engine --placement $placement \
				-F json -o "$T/$engine" -- "$T/$name"
			exits 0 "$name, $engine, $placement: it is traced"
			by_goroutine "$T/$engine" >"$T/$engine.done"
			is "$(json "$T/$engine" '$e->{event} =~ /^(lost)$/')" 0 "$name, $engine, $placement: nothing is lost"
			is "$(json "$T/$engine" '$e->{event} =~ /^(entry|branch|return)$/ && !$e->{goroutine}')" 0 \
				"$name, $engine, $placement: each event is a goroutine's"
		done
		same "$T/inline.done" "$T/probe.done" "$name, $placement: each goroutine has the same events as by probes"
	done
done
bb user "$T/works" main.deep -v --engine inline -o "$T/trace" -- "$T/works"
like "$T/err" '^bbtrace: 1 function is copied' 'the function is copied, indeed'

# What is added up without events (src/trace/runs/run.c), for a summary and into a file, is what events show.
counts() { # FILE
	awk '$1 == "calls" { for (i = 1; i <= NF; i++) at[$i] = i; table = 1; next }
		table && !NF { table = 0 }
		table { print $NF, $at["calls"], $at["branches"], $at["taken"] }' "$T/out" | sort >"$1"
}
export GOGC=off
for placement in '' witness; do
	run=(user "$T/steady" main.fib main.each 'main.main.func*' --engine inline ${placement:+--placement $placement})
	placement=${placement:-every branch}
	bb "${run[@]}" -F summary -l 1000000000 -- "$T/steady"
	counts "$T/events"
	like "$T/events" '^main.fib 6572 ' "$placement: calls are counted"
	bb "${run[@]}" -F summary -v -- "$T/steady"
	counts "$T/runs"
	like "$T/err" '^bbtrace: [0-9]{4,} of [0-9]+ hits were added up' "$placement: hits of goroutines are added up"
	same "$T/runs" "$T/events" "$placement: to the same counts"
	bb "${run[@]}" -F json -o "$T/json" -- "$T/steady"
	by_goroutine "$T/json" >"$T/events"
	bb "${run[@]}" -v -o "$T/trace" -- "$T/steady"
	like "$T/err" '^bbtrace: [0-9]{4,} of [0-9]+ hits were added up' "$placement: so are those that a file takes"
	bb report "$T/trace" -F json -o "$T/json"
	by_goroutine "$T/json" >"$T/runs"
	same "$T/runs" "$T/events" "$placement: the file has the same events"
done
unset GOGC

# Everything, while stacks move and each collection interrupts all.
for use in '2 -o trace' '1 -F summary -o summary' '4 -c -o counts' '2 --last 100 -o last'; do
	# shellcheck disable=SC2086 # several words
	set -- $use
	(cd "$T" && GOMAXPROCS=$1 GOGC=1 "$BBTRACE" user ./works 'main.*' 'sort.*' 'runtime.*' --engine inline "${@:2}" -- \
		./works >"$T/out" 2>"$T/err")
	is $? 0 "$use: it ends as always" || diag "$(tail -n 5 "$T/err")"
	same "$T/out" "$T/plain" "$use: it computes what it always does"
done

# One that runs may have goroutines that were interrupted anywhere: it keeps probes.
mkfifo "$T/hold"
"$T/works" hold <"$T/hold" >/dev/null &
held=$!
exec 3>"$T/hold"
bb user "$T/works" main.deep -v --engine inline -o "$T/trace" -p $held -t 1
like "$T/err" 'goroutines that were interrupted may go on anywhere' 'a program that runs already keeps its probes, and it is said why'
exec 3>&-
wait $held
done_testing

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Go without symbols: the runtime's function table gives the same functions and the same trace.
# shellcheck disable=SC2154,SC2034 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes cmd:go

cat >"$T/kinds.go" <<'END'
package main

import "fmt"

type list[T any] struct{ all []T }

//go:noinline
func (l *list[T]) push(v T) int {
	if len(l.all) > 3 {
		return 0
	}
	l.all = append(l.all, v)
	return len(l.all)
}

type shape interface{ area() int }
type square struct{ a int }

//go:noinline
func (s square) area() int { return s.a * s.a }

//go:noinline
func most(all []shape) (m int) {
	for _, s := range all {
		if a := s.area(); a > m {
			m = a
		}
	}
	return
}

func main() {
	var numbers list[int]
	var words list[string]
	for i := 0; i < 6; i++ {
		numbers.push(i)
		words.push("x")
	}
	fmt.Println(most([]shape{square{2}, &square{3}}), len(numbers.all), len(words.all))
}
END
build() { # NAME FLAG...
	GOCACHE=$BUILD/go GO111MODULE=off go build -o "$T/$1" "${@:2}" "$T/kinds.go" 2>"$T/build.err"
}
# The program goes by one name, so that what is said of it is the same.
stripped() { # NAME
	mkdir -p "$T/full" "$T/bare" "$T/headless"
	cp "$T/$1" "$T/full/it"
	strip -o "$T/bare/it" "$T/$1"
	cp "$T/bare/it" "$T/headless/it"
	# e_shoff, e_shnum and e_shstrndx of the ELF header
	printf '\0\0\0\0\0\0\0\0' | dd of="$T/headless/it" bs=1 seek=40 conv=notrunc status=none
	printf '\0\0\0\0' | dd of="$T/headless/it" bs=1 seek=60 conv=notrunc status=none
}
said() { # FOLDER FUNC...
	(cd "$T/$1" && "$BBTRACE" list ./it "${@:2}" -q 2>&1 | sed "s,$T/$1/,,g")
}
traced() { # FOLDER FUNC...
	# the collector and preemption come when they like, and change what is executed
	(cd "$T/$1" && GOGC=off GODEBUG=asyncpreemptoff=1 "$BBTRACE" user ./it "${@:2}" -q --no-src -F json -o "$T/json" -- ./it >"$T/out" 2>"$T/err")
	# times and numbers of processes differ; goroutines are started by the scheduler
	grep -v '"event":"summary"' "$T/json" | sed -E "s,$T/$1/,,g"'; s/"(ts|pid|tid|cpu|goroutine|since_entry_ns|duration_ns|net_ns|depth)":[0-9]+,?//g; s/"below_noise":true,?//g; s/"(regs|value)":(\{[^}]*\}|"[^"]*"),?//g' | without_more_stack
}
# A request to yield looks like a full stack: the branch to where that is handled, the call, the jump back and the entry again.
without_more_stack() {
	perl -ne 'push @l, $_; END { for ($i = 1; $i < @l; $i++) { splice @l, --$i, 4 if $l[$i] =~ /"call".*"runtime\.morestack/ } print @l }'
}

build plain || { echo "t_go_stripped: go build failed: $(<"$T/build.err")" >&2 && exit 2; }

# What the linker's own tool reads out of .symtab: all functions, but for the bounds of the text and of its FIPS part. One
# that assembly calls has a name with .abi0 there. Until Go 1.20 the table has [...] for type arguments.
stripped plain
grep -qF 'main.(*list[...]).push' "$T/bare/it" && export SHORT=1
listed() { awk 'NR > 1 { sub(/ +\(.*unresolved|resolved\)$/, ""); print $1, $2, $4 }' | sort; }
go tool nm -size "$T/plain" |
	perl -ne '/^ *(\w+) +(\d+) [tT] (.*)/ or next; my ($at, $size, $name) = ($1, $2, $3); next if $name =~ /^runtime\.e?text$|^go:textfips/;
		$name =~ s/\.abi0$//; $ENV{SHORT} and $name =~ s/\[.*\]/[...]/; $name =~ s/ .*//; print "0x$at $size $name\n"' | sort >"$T/nm"
"$BBTRACE" list "$T/bare/it" '*' -q | listed | grep -v ' go:textfips' >"$T/list"
same "$T/list" "$T/nm" "each function has the address, the size and the name that go tool nm tells ($(grep -c . "$T/nm"))"

println=$(grep -n '^func Fprintln(' "$(go env GOROOT)/src/fmt/print.go" | cut -d: -f1)
for kind in plain pie; do
	if [[ $kind == pie ]]; then
		build pie -buildmode=pie || continue
		stripped pie
	fi
	for func in '*' 'main.*' kinds.go:8 kinds.go:13 kinds.go:20 kinds.go:25 "fmt/print.go:$println"; do
		said full "$func" >"$T/full.list"
		(($(grep -c ' 0x' "$T/full.list") > 0))
		ok $? "$kind: $func means $(grep -c ' 0x' "$T/full.list") functions"
		for folder in bare headless; do
			said "$folder" "$func" >"$T/list"
			same "$T/list" "$T/full.list" "$kind, $folder: $func means the same functions as with symbols"
		done
	done
	grep -c 'main.(\*list\[.*\]).push' <(said full 'main.*') >"$T/pushes"
	is "$(<"$T/pushes")" 2 "$kind: a generic method is listed for both types"
	traced full 'main.*' >"$T/full.trace"
	for folder in bare headless; do
		traced "$folder" 'main.*' >"$T/trace"
		same "$T/trace" "$T/full.trace" "$kind, $folder: $(grep -c . "$T/trace") events are as with symbols, their targets by name"
	done
	is "$(said bare nothing | grep -c 'no function named nothing in') $(said bare nothing | grep -c 'stripped')" '1 0' \
		"$kind: a Go program has names for all functions, so it isn't called stripped"
	is "$(grep -c '"symbol":"fmt.Fprintln"' "$T/trace")" 1 "$kind: a target that isn't traced itself has its name"
done

# A library of Go, in which C has a part.
if CGO_ENABLED=1 && sed 's/^import "fmt"/import "C"\nimport "fmt"/' "$T/kinds.go" >"$T/lib.go" &&
	GOCACHE=$BUILD/go GO111MODULE=off go build -o "$T/lib" -buildmode=c-shared "$T/lib.go" 2>"$T/build.err"; then
	stripped lib
	said full 'main.*' 'runtime.*' 'fmt.*' >"$T/full.list"
	said bare 'main.*' 'runtime.*' 'fmt.*' >"$T/list"
	same "$T/list" "$T/full.list" 'a library of Go: all of main, runtime and fmt is listed as with symbols'
else
	skip 'a library of Go: all of main, runtime and fmt is listed as with symbols' 'go cannot build that here'
fi

# One that Debian packages.
if command -v fzf >/dev/null; then
	fzf --version >"$T/plain.out"
	bb user fzf 'main.*' -F json -o "$T/json" -- fzf --version
	exits 0 'fzf, as Debian packages it, is traced'
	same "$T/out" "$T/plain.out" 'fzf, traced, prints what it always does'
	is "$(json "$T/json" '$e->{event} eq "entry" && $e->{symbol} eq "main.main"')" 1 'the main.main of a stripped fzf is entered once'
else
	skip 'fzf, as Debian packages it, is traced' 'it is not installed'
fi
done_testing

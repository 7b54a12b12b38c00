#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs of all kinds whose functions, and their libraries', all run as copies: --engine inline '*', in every use of it, prints
# what they print untraced, and they end with the same status. Among them are collectors that scan stacks and registers,
# runtimes with tables next to code, code that is made while it runs, coroutines and stacks that overflow.
# PROGRAMS: only those whose name matches; USES: of file summary count last.
# shellcheck disable=SC2154,SC2016 # lib.sh sets status; the programs expand what is quoted
. "$(dirname "$0")/../e2e/lib.sh"
needs root uprobes
[[ $(uname -m) == x86_64 ]] || skip_all 'functions are copied on x86-64 only'
WORKS=$ROOT/tests/long/programs
declare -A use=([file]="-o $T/trace" [summary]="-F summary -o $T/shown" [count]="-c -o $T/shown" [last]="--last 100 -o $T/shown")

# specs FILE: sets SPECS to all functions of the program and of its libraries; of those that have code, and whose path
# matches $OBJECTS.
specs() {
	local object

	SPECS=()
	while read -r object; do
		[[ $object =~ ${OBJECTS:-.} ]] && "$BBTRACE" list "$object" >/dev/null 2>&1 && SPECS+=("$object:*")
	done < <(realpath "$1" && ldd "$1" 2>/dev/null | grep -o '/[^ ]*' | grep -v '/ld-linux')
}

# survives NAME FILE COMMAND...: FILE is the traced program, which COMMAND runs.
survives() {
	local name=$1 file how plain
	file=$(command -v "$2")
	shift 2

	[[ $name =~ ${PROGRAMS:-.} ]] || return
	[[ $file ]] || { skip "$name" 'not here' && return; }
	specs "$file"
	"$@" >"$T/plain" 2>/dev/null </dev/null
	plain=$?
	for how in ${USES:-file summary count last}; do
		# shellcheck disable=SC2086 # options
		bb user "${SPECS[@]}" --engine inline -f ${use[$how]} -- "$@"
		is "$status" $plain "$name, $how: the status is the program's own" || diag "$(tail -n 5 "$T/err")"
		same "$T/out" "$T/plain" "$name, $how: the output is the program's own"
		isnt "$(summary events)" 0 "$name, $how: it is traced"
		rm -f "$T/trace"
	done
}

# built NAME COMMAND...: by COMMAND, to $T/NAME; a compiler that isn't here is reported when it is traced.
built() { command -v "$2" >/dev/null && "${@:2}" >"$T/built" 2>&1; }

# ---- contexts, alternate stacks, faults, an overflow ----
for how in '-O2' '-O2 -fcf-protection=full -flto' '-O2 -static' '-O2 -static-pie' '-O3 -mavx2' '-O1 -fno-omit-frame-pointer'; do
	# shellcheck disable=SC2086 # options
	"${CC:-cc}" -w $how -o "$T/contexts" "$WORKS/contexts.c" || exit 2
	survives "contexts $how" "$T/contexts" "$T/contexts"
done

# ---- tools ----
survives bash bash bash -c 'for i in {1..100}; do x=$((x + i)); done; echo $x; ls /usr/bin | sort | head -n 3; (exit 5)'
survives zsh zsh zsh -fc 'for i in {1..300}; do ((x += i * i % 7)); done; print $x; (exit 3); print $?; ls /etc/apt | sort'
survives busybox busybox busybox sh -c 'busybox seq 1 300 | busybox sort -r | busybox tail -n 2; echo a | busybox md5sum'
survives ls ls ls -l "$WORKS"
survives find find find /etc/apt -type f
survives sort sort sort --parallel=4 -n /etc/services
survives sed sed sed -E 's/([a-z]+)([0-9]+)/\2\1/g' /etc/services
survives tar tar tar cf - --mtime=2020-01-01 -C "$WORKS" .
survives gzip gzip gzip -9cn /etc/services
survives xz xz xz -1c "$WORKS/../../progs/inlined.c"
survives zstd zstd zstd -T2 -c /etc/services
survives bzip2 bzip2 bzip2 -c /etc/services
survives openssl openssl openssl enc -aes-256-cbc -pbkdf2 -iter 10 -S 0102030405060708 -pass pass:x -in /etc/services -a
survives digests openssl openssl dgst -sha3-512 /bin/ls
survives gpg gpg gpg --print-md sha512 /bin/ls
survives ssh ssh ssh -Q cipher
survives git git git -C "$ROOT" log --stat -3 --format=%H
survives jq jq jq -cn '[range(200) | {a: ., b: (. * 3 % 7)}] | group_by(.b) | map(length)'
survives sqlite3 sqlite3 sqlite3 :memory: 'create table t(a, b); with recursive c(x) as (select 1 union all select x + 1 from c
	where x < 5000) insert into t select x, x * 7 % 1001 from c; create index i on t(b); select sum(a), count(distinct b)
	from t; pragma integrity_check;'
survives dot dot sh -c 'echo "digraph { a -> b -> c; a -> c; c -> d -> a }" | dot -Tplain'
survives bc bc sh -c 'echo "scale = 200; 4 * a(1)" | bc -l'
survives make make make -n -B -f /dev/null -C "$ROOT"
survives ninja ninja ninja --version
survives objdump objdump objdump -d "$T/contexts"
survives readelf readelf readelf -aW /bin/ls
survives gcc gcc gcc -O2 -S -o - "$WORKS/contexts.c"
survives vim vim.basic vim.basic -u NONE -es -c '%s/tcp/TCP/g' -c '%p' -c 'q!' /etc/services
# with all of its libraries it has more branches than can be traced at once
OBJECTS='x264|lib[cm]\.so' survives x264 x264 sh -c "head -c 300000 /bin/bash >$T/raw.yuv; x264 --quiet --input-res 160x120 --threads 2 --demuxer raw -o - $T/raw.yuv"

# ---- languages ----
built fortran gfortran -O2 -fopenmp -o "$T/fortran" "$WORKS/works.f90"
survives fortran "$T/fortran" "$T/fortran"
cp "$WORKS"/works.{hs,ml,scm} "$T"
built haskell ghc -O -threaded -o "$T/haskell" "$T/works.hs"
survives haskell "$T/haskell" "$T/haskell"
built ocaml ocamlopt -o "$T/ocaml" "$T/works.ml"
survives ocaml "$T/ocaml" "$T/ocaml"
built chicken csc -o "$T/chicken" "$T/works.scm"
survives chicken "$T/chicken" "$T/chicken"
survives guile guile guile --no-auto-compile "$WORKS/works.scm"
survives sbcl sbcl sbcl --script "$WORKS/works.lisp"
survives clisp clisp clisp -q "$WORKS/works.lisp"
survives tcl tclsh tclsh "$WORKS/works.tcl"
survives python3 /usr/bin/python3 /usr/bin/python3 -S "$WORKS/works.py"
survives perl perl perl -e 'print join(",", sort { $a <=> $b } map { $_ * 7 % 1001 } 1 .. 3000), "\n";
	eval { die "x\n" }; print $@; print scalar(() = "aabab" =~ /a+b/g), "\n"; use List::Util "sum"; print sum(1 .. 99), "\n"; exit 4'
survives php php php -r 'for ($i = 0; $i < 1000; $i++) $a[$i % 7] = ($a[$i % 7] ?? 0) + $i; print_r($a);
	try { intdiv(1, 0); } catch (Error $e) { echo $e->getMessage(); } echo preg_match_all("/a+b/", "aabab");'
survives ruby ruby ruby -e 'h = Hash.new(0); 3000.times { |i| h[i % 7] += i }; p h; begin; 1 / 0; rescue => e; p e; end
	f = Fiber.new { 3.times { |i| Fiber.yield i }; nil }; p f.resume, f.resume; def d(n) = d(n + 1)
	begin; d(0); rescue SystemStackError; p :overflow; end; p Thread.new { (1 .. 100).sum }.value'
lua='local t = {} for i = 1, 3000 do t[i] = (i * 7) % 101 end table.sort(t) print(t[1], t[3000], pcall(error, "x"))
	local c = coroutine.wrap(function() for i = 1, 5 do coroutine.yield(i) end end) print(c(), c(), c())'
for name in lua5.1 lua5.4 luajit; do survives $name $name $name -e "$lua"; done
survives gawk gawk gawk 'BEGIN { for (i = 0; i < 3000; i++) s[i % 7] += i; for (k in s) print k, s[k] }'
survives mawk mawk mawk 'BEGIN { for (i = 0; i < 3000; i++) s[i % 7] += i; for (k in s) print k, s[k] }'
survives erlang "$(echo /usr/lib/erlang/erts-*/bin/beam.smp)" erl -noshell -eval 'io:format("~p~n",
	[lists:sum([X * X rem 7 || X <- lists:seq(1, 30000)])]), P = self(), [spawn(fun() -> P ! I end) || I <- lists:seq(1, 50)],
	io:format("~p~n", [lists:sum([receive X -> X end || _ <- lists:seq(1, 50)])]), halt().'
survives prolog swipl swipl -g 'numlist(1, 3000, L), sum_list(L, S), print(S), nl, catch(atom_length(_, _), _, (print(caught), nl)), halt'
done_testing

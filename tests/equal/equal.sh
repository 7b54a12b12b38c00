# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # lib.sh sets T
#
# Programs that must not notice that they are traced; to be sourced after lib.sh. Each row of programs.list runs untraced twice,
# then in each use of bbtrace: output, stderr, status, the files that it wrote, and what it sees of itself when it exits (seen.c)
# are the same. What differs between the untraced runs isn't compared.
#
#   equal_prepare                # makes the input, and small programs of the project
#   equal_build                  # those that need other compilers, too
#   equal_all '^quick ' "count file probe"    # each row that matches, in these uses; TURNS=2: in each second of them, in turn

EQUAL=$ROOT/tests/equal
declare -gA EQUAL_USES=(
	[count]='--engine inline -f -c -o /dev/null'
	[last]='--engine inline -f --last 50 -o /dev/null'
	[summary]='--engine inline -f -F summary -o /dev/null'
	[file]="--engine inline -f -o $T/equal.trace"
	[auto]='-F json -o /dev/null'
	[probe]='--engine probe -f -F json -o /dev/null'
	# to a process that runs: it waits in seen.so until the tracer records
	[attach]='--engine inline --last 50 -o /dev/null'
	[attach-probe]='--engine probe -F json -o /dev/null'
)

equal_source() { # NAME SUFFIX COMPILER...; source on stdin
	cat >"$T/$1.$2"
	command -v "$3" >/dev/null && "${@:3}" -o "$T/$1" "$T/$1.$2" >/dev/null 2>&1
}

equal_prepare() {
	local i
	IN=$T/in OUT=$T/own
	mkdir -p "$IN/folder/sub" "$IN/repo"
	chmod 755 "$T" # a server may be another user's
	export IN OUT
	seq 1 20000 | awk '{ print "line", $1 * 7919 % 20011, $1 }' >"$IN/text"
	head -n 500 "$IN/text" >"$IN/small"
	sed '7d; 9s/line/other/' "$IN/small" >"$IN/other"
	for i in 1 2 11 21; do head -n "$i" "$IN/text" >"$IN/folder/sub/$i"; done
	printf '%s\n' 'int f(int n) { int s = 0; for (int i = 0; i < n; i++) s += i % 3 ? i : 1; return s; }' \
		'int g(int n) { return n > 3 ? f(n - 1) + f(n) : 7; }' >"$IN/source.c"
	gcc -O1 -S -o "$IN/source.s" "$IN/source.c" && gcc -c -o "$IN/source.o" "$IN/source.s"
	printf 'all: a b\n\t@echo $@ $^\na b:\n\t@echo made $@\n' >"$IN/rules"
	echo 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGbhKNAyLbFjMqg0pWkTkqbtPmSxT5DuNbKpJ2bZ1cVb x' >"$IN/key.pub"
	echo 'class Sum { public static void main(String[] a) { long s = 0; for (int i = 0; i < 9999; i++) s += i * i % 7;
		System.out.println(s); System.exit(6); } }' >"$IN/Sum.java"
	! command -v git >/dev/null || (cd "$IN/repo" && git init -q . && cp ../small . && git add small &&
		GIT_COMMITTER_DATE=@0 GIT_AUTHOR_DATE=@0 git -c user.name=x -c user.email=x@y commit -qm first) >/dev/null 2>&1
	export CRASHES=$T/crashes SIGNALS=$T/signals THREADS=$T/threads CHECKED=$T/checked THROWS=$T/throws GOER=$T/goer RUSTER=$T/ruster
	equal_source crashes c gcc -O1 <<-'E'
		#include <stdio.h>
		__attribute__((noipa)) int deref(int *p) { return p ? *p + 1 : *(volatile int *)8; }
		int main(void) { int n = 3; printf("%d\n", deref(&n)); fflush(stdout); return deref(0); }
	E
	equal_source signals c gcc -O1 <<-'E'
		#define _GNU_SOURCE
		#include <signal.h>
		#include <stdio.h>
		#include <string.h>
		#include <sys/wait.h>
		#include <unistd.h>
		static volatile int got[65], value;
		static void on(int sig, siginfo_t *si, void *ctx) { got[sig]++; value += si->si_value.sival_int; }
		__attribute__((noipa)) int busy(int n) { int s = 0; for (int i = 0; i < n; i++) s += i % 5 ? i : 1; return s; }
		int main(void)
		{
			struct sigaction a = {.sa_sigaction = on, .sa_flags = SA_SIGINFO | SA_RESTART};
			sigset_t some; int s = 0, status;
			for (int i = 1; i < 65; i++) sigaction(i, &a, NULL);
			sigemptyset(&some); sigaddset(&some, SIGUSR2); sigaddset(&some, SIGRTMIN + 3); sigaddset(&some, SIGURG);
			sigprocmask(SIG_BLOCK, &some, NULL);
			for (int i = 1; i < 65; i++)
				if (i != SIGKILL && i != SIGSTOP && i != 32 && i != 33)
					for (int k = 0; k < 5; k++) { union sigval v = {.sival_int = i * k}; sigqueue(getpid(), i, v); s += busy(99); }
			pid_t child = fork();
			if (!child) _exit(busy(3) & 7);
			waitpid(child, &status, 0);
			for (int i = 1; i < 65; i++) printf("%d ", got[i]);
			sigpending(&some);
			printf("\n%d %d %d: %d %d %d\n", value, s, status, sigismember(&some, SIGUSR2), sigismember(&some, SIGRTMIN + 3), sigismember(&some, SIGURG));
			return 5;
		}
	E
	equal_source threads c gcc -O2 -pthread <<-'E'
		#include <pthread.h>
		#include <stdio.h>
		static long sum[16];
		__attribute__((noipa)) long step(long n) { return n & 1 ? n * 3 + 1 : n / 2; }
		static void *run(void *p) { long *s = p; for (long i = 1; i < 2000; i++) for (long n = i; n > 1; n = step(n)) ++*s; return NULL; }
		int main(void)
		{
			pthread_t t[16]; long all = 0;
			for (int i = 0; i < 16; i++) pthread_create(&t[i], NULL, run, &sum[i]);
			for (int i = 0; i < 16; i++) pthread_join(t[i], NULL), all += sum[i];
			printf("%ld\n", all);
			return 0;
		}
	E
	"${CC:-cc}" -O1 -shared -fPIC -o "$T/seen.so" "$EQUAL/seen.c"
}

equal_build() {
	equal_source checked c gcc -O1 -fsanitize=address,undefined -fno-sanitize-recover <<-'E'
		#include <stdio.h>
		#include <stdlib.h>
		int main(void) { int *p = calloc(100, sizeof(*p)), s = 0; for (int i = 0; i < 100; i++) p[i] = i * i; for (int i = 0; i < 100; i++) s += p[i];
			free(p); printf("%d\n", s); return s == 328350 ? 3 : 1; }
	E
	equal_source throws cc g++ -O2 <<-'E'
		#include <cstdio>
		#include <map>
		#include <stdexcept>
		#include <string>
		__attribute__((noipa)) int check(int n) { if (n % 7 == 3) throw std::runtime_error("no " + std::to_string(n)); return n; }
		int main() { std::map<std::string, int> m; int s = 0; for (int i = 0; i < 300; i++) try { s += check(i); } catch (std::exception &e) { m[e.what()]++; }
			std::printf("%d %zu\n", s, m.size()); return 8; }
	E
	equal_source ruster rs rustc -O <<-'E'
		fn main() { let v: Vec<u64> = (0..2000).map(|i| i * i % 31).collect(); let r = std::panic::catch_unwind(|| { if v.len() > 3 { panic!("x") } });
			println!("{} {}", v.iter().sum::<u64>(), r.is_err()); std::process::exit(4) }
	E
	HOME=$T equal_source goer go go build <<-'E'
		package main
		import "fmt"
		func step(n, c int, out chan int) { for i := 0; i < n; i++ { c = c*31 + i }; out <- c & 0xffff }
		func main() { out := make(chan int); for i := 0; i < 8; i++ { go step(1000, i, out) }; s := 0; for i := 0; i < 8; i++ { s += <-out }; fmt.Println(s) }
	E
}

# equal_run NAME [BBTRACE...]: runs $command; what there is of it is in $T/equal.NAME.* then. While it runs the names are the
# same each time, for it sees them. GATE=shut: the program waits for equal_attach.
equal_run() {
	local name=$1 at=$T/now what
	shift

	rm -rf "$OUT" "$at".* "$T"/gate*
	mkdir -p "$OUT"
	[[ ${GATE:-} ]] || : >"$T/gate.go"
	{ # which tells of a signal that ends it
		timeout -k 5 "$BB_TIMEOUT" "$@" env LD_PRELOAD="$preload" EQUAL_SEEN="$at.seen" EQUAL_GATE="$T/gate" \
			EQUAL_GATED="$file" sh -c "$command" >"$at.out" \
			2>"$at.err" </dev/null
		echo $? >"$at.status"
	} 2>/dev/null
	(cd "$OUT" && find . -type f -exec md5sum {} + | sort) >"$at.files"
	sort -o "$at.seen" "$at.seen" 2>/dev/null || : >"$at.seen"
	for what in out err status files seen; do mv "$at.$what" "$T/equal.$name.$what"; done
}

# equal_attach OPTION...: traces $command from where it waits to its end.
at_the_gate() { [[ -s $T/gate || -s $T/now.status ]]; }
recording() { grep -q '^bbtrace: recording' "$T/attached" || ! kill -0 "$tracer" 2>/dev/null; }
equal_attach() {
	local tracer running
	rm -f "$T"/gate*
	: >"$T/attached"
	GATE=shut equal_run traced &
	running=$!
	wait_for "$PATIENCE" at_the_gate
	"$BBTRACE" trace "${SPECS[@]/#/user:}" -v "$@" -p "$(cat "$T/gate")" >/dev/null 2>"$T/attached" &
	tracer=$!
	wait_for "$PATIENCE" recording
	: >"$T/gate.go"
	wait $running
	wait $tracer
}

# specs of the copies: functions of the program, and for probes a few of libc
equal_specs() { # USE FILE [FUNCTIONS]
	SPECS=("$2:${3:-*}")
	[[ $1 != *probe ]] || SPECS=('libc.so.6:write' 'libc.so.6:setlocale' 'libc.so.6:sigaction' 'libc.so.6:exit')
}

equal_row() { # NAME FILE USES
	local name=$1 file=${2%%:*} functions='*' use what gated='' preload=$T/seen.so
	[[ $2 != *:* ]] || functions=$(xargs <<<"${2#*:}")
	file=$(command -v "$(eval echo "$file")" 2>/dev/null)
	[[ -x $file ]] || { skip "$name" 'it is not here' && return; }
	file=$(realpath "$file")
	[[ $(head -c 4 "$file" | tail -c 3) == ELF ]] || { skip "$name" "$file is a script" && return; }
	[[ $name != sanitized ]] || preload=''
	equal_run plain
	[[ -s $T/gate ]] && gated=x
	equal_run again
	for use in $3; do
		equal_specs "$use" "$file" "$functions"
		# shellcheck disable=SC2086 # options
		if [[ $use == attach* ]]; then
			[[ $gated ]] || { skip "$name, $use" 'it has no dynamic loader' && continue; }
			equal_attach ${EQUAL_USES[$use]}
			is $? 0 "$name, $use: traced until it ended" || diag "$(tail -n 3 "$T/attached")"
		else
			equal_run traced "$BBTRACE" trace "${SPECS[@]/#/user:}" -q ${EQUAL_USES[$use]} --
		fi
		for what in out err status files seen; do
			cmp -s "$T/equal.plain.$what" "$T/equal.again.$what" || { skip "$name, $use: $what" 'untraced it differs, too' && continue; }
			same "$T/equal.traced.$what" "$T/equal.plain.$what" "$name, $use: $what"
		done
	done
}

equal_all() { # PATTERN USES
	local name package file command row=0 turns=${TURNS:-1}

	while IFS='|' read -r name package file command; do
		[[ $name =~ $1 && $name != '#'* && $command ]] || continue
		name=${name#quick } && name=${name// /}
		[[ $name =~ ${PROGRAMS:-.} ]] || continue
		equal_row "$name" "$(echo "$file" | xargs -0 echo)" \
			"$(IFS=' '; part_of $((row++ % turns)) "$turns" $2 | xargs)"
	done < <(grep -v '^#' "$EQUAL/programs.list")
}

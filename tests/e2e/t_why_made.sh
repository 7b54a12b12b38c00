#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# bbtrace why: a message whose text one function made, which had returned long before another one wrote it.
# shellcheck disable=SC2154 # lib.sh sets status
. "$(dirname "$0")/lib.sh"
needs root uprobes cmd:clang cmd:go cmd:rustc
unset BBTRACE_ENGINE
cd "$T" || exit 2

why() { # [--again] COMMAND...
	local again=()
	[[ $1 == --again ]] && again=("$1") && shift
	bb why "${again[@]}" -o "$T/said" -- "$@"
}
# line FILE NAME: the number of the line with /* NAME */ or // NAME
line() { grep -nE "/[/*] $2( |$)" "$T/$1" | cut -d: -f1; }
because() { grep -E '^  (because|decided by) ' "$T/said"; }

# ---- C: a text that is formatted into memory, by compilers that take its address in other ways ----
cat >kept.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char text[200];
static int seen;
static __attribute__((noipa)) void finish(void) { seen++; }
static __attribute__((noipa)) void keep(const char *format, long n)
{
	snprintf(text, sizeof(text), format, n);
}
static __attribute__((noipa)) int check(long n)
{
	if (n > 900) { /* large */
		keep("the number %ld is too large", n);
		return 0;
	}
	if (n < 5) /* small */
		keep("the number %ld is much too small", n);
	finish();
	return n >= 5;
}
static __attribute__((noipa)) void say(const char *what)
{
	if (seen || *what)
		fprintf(stderr, "kept: %s\n", what);
}
int main(int argc, char **argv)
{
	int bad = 0;

	for (int i = 1; i < argc; i++)
		bad += !check(atol(argv[i]));
	if (bad && *text)
		say(text);
	return bad ? 3 : 0;
}
END
build() { "$@" -w -g -o kept kept.c; }
for how in 'gcc -O0' 'gcc -O2' 'gcc -O2 -no-pie -fno-pie' 'clang -O1' 'clang -O2 -no-pie -fno-pie'; do
	# shellcheck disable=SC2086 # a compiler and its options
	build $how || exit 2
	why ./kept 7 2000 7
	is "$status" 3 "$how: the status is the command's"
	like said 'its text was made by (check|main)\+0x[0-9a-f]+: "the number %ld is too large"' "$how: where the text was made"
	like <(because) "kept\.c:$(line kept.c large)" "$how: because of the branch that chose it"
	why ./kept 2000 7 1
	like <(because) "kept\.c:$(line kept.c small)" "$how: of two texts, the one that was written"
done
cp kept stripped && strip stripped
why ./stripped 2000
like said 'its text was made by 0x[0-9a-f]+\+0x[0-9a-f]+: "the number %ld is too large"' 'stripped: by its address'
bb why -F json -o json -- ./kept 2000
is "$(json_lines json '$e->{event} eq "ending" && join " ", $e->{messages}[0]{made_by}{function}, $e->{messages}[0]{made_by}{text},
	$e->{messages}[0]{because}{makes}, $e->{messages}[0]{because}{decided_by}{src}[0]{line}')" \
	"main the number %ld is too large 1 $(line kept.c large)" 'JSON has the same'

# ---- a text that is still being made when it is written is no other function's ----
cat >direct.c <<'END'
#include <stdio.h>
int main(int argc, char **argv)
{
	if (argc > 1) { /* many */
		fprintf(stderr, "there are too many arguments\n");
		return 1;
	}
	return 0;
}
END
gcc -g -O1 -o direct direct.c || exit 2
why ./direct x
unlike said 'its text was made' 'a function that writes its own text'
like <(because) "direct\.c:$(line direct.c many)" 'is explained as before'

# ---- a text that comes often is no message of an error ----
cat >often.c <<'END'
#include <stdio.h>
#include <stdlib.h>
static char text[80];
static __attribute__((noipa)) void note(int n)
{
	if (n >= 0)
		snprintf(text, sizeof(text), "we are at the number %d now", n);
}
int main(int argc, char **argv)
{
	int n = atoi(argv[1]);

	for (int i = 0; i < n; i++)
		note(i);
	if (argc == 2) { /* end */
		fprintf(stderr, "%s\n", text);
		return 1;
	}
	return 0;
}
END
gcc -g -O1 -o often often.c || exit 2
why ./often 20
like said 'its text was made by note' 'a text that comes 20 times'
why ./often 5000
unlike said 'its text was made' 'one that comes 5,000 times is not kept'
like <(because) "often\.c:$(line often.c end)" 'and what wrote it is explained'

# ---- what a code means is no reason for it ----
cat >means.c <<'END'
#include <stdio.h>
#include <stdlib.h>
static __attribute__((noipa)) const char *text_of(int code)
{
	switch (code) {
	case 1:
		return "the first of all is missing";
	case 2:
		return "the value is out of its range";
	case 3:
		return "nothing is left to be done here";
	case 4:
		return "the end was reached too early";
	case 5:
		return "another thing has happened";
	}
	return "an unknown reason";
}
static __attribute__((noipa)) void say(const char *what)
{
	fprintf(stderr, "means: %s\n", what);
}
int main(int argc, char **argv)
{
	long n = atol(argv[1]);

	if (n > 70) { /* range */
		say(text_of(2));
		return 2;
	}
	return 0;
}
END
gcc -g -O2 -o means means.c || exit 2
why ./means 80
like said 'its text was made by text_of' 'the text of a code'
like <(because) "means\.c:$(line means.c range)" 'who had the code is the reason'

# ---- a condition of two halves, without any message ----
cat >halves.c <<'END'
#include <stdlib.h>
static int late, kept;
static __attribute__((noipa)) void look(int n)
{
	if (n > 4)
		late = 1;
}
int main(int argc, char **argv)
{
	look(atoi(argv[1]));
	if (late /* first */
	    && !kept) { /* second */
		kept = 2;
		return 124;
	}
	return 0;
}
END
gcc -g -O1 -o halves halves.c || exit 2
why ./halves 7
like said "^  (decided|passed on) by .*halves\.c:$(line halves.c second)" 'a condition: its last half'
like said "^  on the way .*halves\.c:$(line halves.c first)" 'a condition: its first half'
bb why -F json -o json -- ./halves 7
is "$(json_lines json '$e->{event} eq "ending" && $e->{on_the_way}[0]{decided_by}{src}[0]{line}')" "$(line halves.c first)" 'a condition: JSON has it'

# ---- a command that says on its standard output why it fails ----
cat >states.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	long days = atol(argv[1]), lines = argc > 2 ? atol(argv[2]) : 1;
	int late = 0;

	for (long i = 0; i < lines; i++) {
		printf("line %ld\n", i);
		if (argc > 2)
			fflush(stdout);
	}
	if (days < 30) { /* days */
		printf("the certificate will expire soon\n");
		late = 1;
	}
	if (argc > 3)
		fprintf(stderr, "late: %d\n", late);
	return late;
}
END
gcc -g -O1 -o states states.c || exit 2
why ./states 7
like said '^  output: "the certificate will expire soon"$' 'stdout: its last line, if nothing was written to stderr'
like said 'its text was made by main' 'stdout: where its text was made, although it was written at the end'
like <(because) "states\.c:$(line states.c days)" 'stdout: because of the branch that chose it'
why ./states 7 90
like said '^  output: ' 'stdout: after 90 other writes'
why ./states 7 200
unlike said '^  output: ' 'stdout: not after 200: these are not examined'
why ./states 7 2 x
unlike said '^  output: ' 'stdout: not if the command says something on stderr'
bb why -F json -o json -- ./states 7
is "$(json_lines json '$e->{event} eq "ending" && join " ", $e->{messages}[0]{stdout}, $e->{messages}[0]{because}{decided_by}{src}[0]{line}')" \
	"1 $(line states.c days)" 'stdout: JSON has it'
why grep -c nothing states.c
unlike said '^  output: ' 'stdout: an output that is no text of the program'"'s"

# ---- texts that are made before main runs ----
source_program before c++ -O1 <<'END'
#include <cstdlib>
#include <iostream>
#include <string>
static const std::string reason("the argument is much too large");
int main(int argc, char **argv)
{
	if (atoi(argv[1]) > 20) { /* size */
		std::cerr << "before: " << reason << "\n";
		return 3;
	}
	return 0;
}
END
why ./before 33
unlike said 'its text was made' 'a text of before main'
like <(because) "before\.cc:$(line before.cc size)" 'the branch in main is the reason'

# ---- a function that gets a text for the case that it is needed ----
cat >checks.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static __attribute__((noipa)) int parse(const char *s, long *out)
{
	char *end;

	*out = strtol(s, &end, 10);
	if (!strchr("kM", *end)) /* suffix */
		return 2;
	return 0;
}
static __attribute__((noipa)) long number(const char *s, const char *error)
{
	long n;

	if (parse(s, &n)) {
		fprintf(stderr, "checks: %s: '%s'\n", error, s);
		exit(4);
	}
	return n;
}
int main(int argc, char **argv)
{
	switch (argv[1][1]) {
	case 'n':
		return number(argv[2], "invalid number of lines") < 0;
	case 'c':
		return number(argv[2], "invalid number of bytes") < 0;
	}
	return 0;
}
END
gcc -g -O1 -o checks checks.c || exit 2
why ./checks -n 5x
like said "(returned by|result of) parse = 2, (decided )?by .*checks\.c:$(line checks.c suffix)" 'what it found is followed'

# ---- a file that is looked for in several folders ----
cat >looks.c <<'END'
#include <stdio.h>
#include <sys/stat.h>
int main(int argc, char **argv)
{
	static const char *const folders[] = {"/usr/share/none", "/opt/none", "."};
	struct stat st;
	char path[200];

	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/parts/first.conf", folders[i]);
		if (!stat(path, &st)) /* found */
			return 0;
	}
	fprintf(stderr, "cannot locate parts/first.conf in 3 folders\n");
	return 1;
}
END
gcc -g -O1 -o looks looks.c || exit 2
why ./looks
like said '^  failed: .*"\./parts/first\.conf".* ENOENT' 'a file whose folders the message does not name'

# ---- Go and Rust, whose strings have no end ----
cat >made.go <<'END'
package main

import (
	"errors"
	"fmt"
	"os"
)

//go:noinline
func check(n int) error {
	if n > 3 { // many
		return errors.New("there are too many of these")
	}
	return nil
}

func main() {
	if err := check(len(os.Args)); err != nil {
		fmt.Fprintln(os.Stderr, "error:", fmt.Errorf("made: %w", err))
		os.Exit(4)
	}
}
END
GO111MODULE=off HOME=$T go build -o madego made.go || exit 2
why ./madego a b c
is "$status" 4 'Go: the status'
like said 'its text was made by main\.check\+0x[0-9a-f]+: "there are too many of these"$' 'Go: where the text was made, without what follows'
like <(because) "made\.go:$(line made.go many)" 'Go: because of the branch that chose it'
cat >made.rs <<'END'
#[inline(never)]
fn named(s: &str) -> Result<usize, String> {
    if s.len() > 12 { // long
        return Err(format!("the name {} is rather long", s));
    }
    if s.starts_with('x') { // first
        return Err("names may not begin with x".to_string());
    }
    Ok(s.len())
}
fn main() {
    match named(&std::env::args().nth(1).unwrap()) {
        Ok(_) => {}
        Err(e) => {
            eprintln!("error: {}", e);
            std::process::exit(5);
        }
    }
}
END
rustc -g -O -o maders made.rs || exit 2
why ./maders xyz
like <(because) "made\.rs:$(line made.rs first)" 'Rust: a text that is copied'
why ./maders abcdefghijklmnop
like <(because) "made\.rs:$(line made.rs long)" 'Rust: a text in which something was filled in'
unlike <(because) ' (core|std|alloc)::' "Rust: its library's functions are no reason"

# ---- C++: a check that was passed on the way to an exception is no reason ----
source_program thrown c++ -O2 <<'END'
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
static std::map<std::string, int> known{{"a", 1}, {"b", 2}};
static __attribute__((noipa)) int get(const std::string &name)
{
	auto at = known.find(name);
	if (at == known.end()) /* unknown */
		throw std::runtime_error("no key " + name);
	return at->second;
}
int main(int argc, char **argv)
{
	try {
		std::cout << get(argv[1]) << "\n";
	} catch (const std::exception &e) {
		std::cerr << "error: " << e.what() << "\n";
		return 4;
	}
}
END
why ./thrown c
is "$status" 4 'C++: the status'
line=$(line thrown.cc unknown)
like <(grep '^  after __cxa_throw' said) "thrown\.cc:($line|$((line - 1)))\b" 'C++: an exception whose text is put together: the comparison'

source_program at c++ -O2 <<'END'
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
static std::map<std::string, int> known{{"a", 1}, {"b", 2}};
static __attribute__((noipa)) int get(const std::string &name)
{
	return known.at(name); /* at */
}
static __attribute__((noipa)) int both(const std::string &name)
{
	try {
		return get("a") + get(name);
	} catch (const std::exception &) {
		std::throw_with_nested(std::runtime_error("one of them is not known"));
	}
}
int main(int argc, char **argv)
{
	try {
		std::cout << both(argv[1]) << "\n";
	} catch (const std::exception &e) {
		std::cerr << "error: " << e.what() << "\n";
		return 4;
	}
}
END
why ./at c
like <(grep '^  after an exception' said) "at\.cc:$(line at.cc at)" "C++: the library's exception, in which another one is nested"

# ---- a module that the program loads by itself ----
cat >module.c <<'END'
int check(int n, const char **error)
{
	if (n & 1) { /* odd */
		*error = "modules want numbers that are even";
		return -1;
	}
	return 0;
}
END
cat >loads.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	const char *error;
	void *module = dlopen(argv[1], RTLD_NOW);
	int (*check)(int n, const char **error) = module ? dlsym(module, "check") : NULL;

	if (!check)
		return 2;
	if (check(atoi(argv[2]), &error)) {
		fprintf(stderr, "loads: %s\n", error);
		return 1;
	}
	return 0;
}
END
gcc -g -O1 -shared -fPIC -o module.so module.c && gcc -g -O1 -o loads loads.c || exit 2
why ./loads ./module.so 7
is "$status" 1 'a module: the status'
like said 'its text is in check\+0x[0-9a-f]+ of module\.so: "modules want numbers that are even", which --again traces' 'a module: its text is found'
why --again ./loads ./module.so 7
like said 'its text was made by check' 'a module: --again traces it'
like <(because) "module\.c:$(line module.c odd)" 'a module: the branch in it'

# ---- an interpreter ----
why /usr/bin/python3 -c 'int("x")'
like said 'its text was made by [^ ]+: "invalid literal for int\(\) with base %d' "python: an exception's text, from its own code"
done_testing

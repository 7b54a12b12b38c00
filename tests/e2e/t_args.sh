#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# --args: arguments of functions of libc, by its debug information, are those that gdb shows; those of a program's own
# functions, with fields and strings, are those that it prints; and the same from a trace file.

. "$(dirname "$0")/lib.sh"

needs root uprobes cmd:gdb cmd:gcc cmd:jq
cd "$T" || exit 2
cp "$ROOT/tests/e2e/args.c" .
gcc -g -O0 -w -o args args.c || exit 2
libc=$(ldd ./args | awk '/libc\.so/ { print $3 }')

# ---- libc ----
FUNCS="alarm srand srandom atoi atol strtol strtoul labs toupper tolower a64l l64a setenv getenv unsetenv umask access mkdir chmod
rmdir fopen setvbuf fputs fputc ungetc fseek ftell fflush fclose link symlink readlink rename unlink truncate open write lseek
read ftruncate fsync fchmod dup2 dup isatty close pipe poll kill usleep raise strtok strdup free strndup basename dirname calloc realloc
malloc qsort bsearch mmap mprotect madvise munmap getrlimit setrlimit getpriority sysconf pathconf fnmatch shutdown listen
regcomp regexec gethostname sigignore hcreate nice sleep putenv remove chdir fcntl ioctl send recv socket getsockopt waitpid
setpgid getpgid sigblock siginterrupt isalnum ffsll abs"
if ! command -v gdb >/dev/null || ! ls /usr/lib/debug/.build-id >/dev/null 2>&1; then
	skip 'no gdb, or no debug information of libc'
else
	# those that have one symbol, and parameters that debug information shows
	# shellcheck disable=SC2086
	bb user "$libc" $FUNCS --args -e entry -F json -o json -- ./args
	exits 0 'functions of libc are traced'
	OUT=$T/gdb FUNCS=$FUNCS timeout -k 5 300 gdb -batch -ex "source $ROOT/tests/check/gdb_args.py" ./args >gdb.log 2>&1 </dev/null
	python3 - json gdb >result <<'PYTHON'
import collections, json, sys

calls = collections.defaultdict(list)
for line in open(sys.argv[1]):
    e = json.loads(line)
    if e["event"] == "entry" and "args" in e:
        calls[e["symbol"]].append(e["args"])
functions, values, bad = set(), 0, []
for line in open(sys.argv[2]):
    name, *words = line.rstrip("\n").split(" ", 1)
    wanted = {}
    rest = words[0] if words else ""
    import re
    for m in re.finditer(r"(\w+)=(b'(?:[^'\\]|\\.)*'|b\"(?:[^\"\\]|\\.)*\"|null|-?\d+)", rest):
        v = m.group(2)
        wanted[m.group(1)] = None if v == "null" else eval(v).decode("latin-1") if v[0] == "b" else int(v)
    if not wanted or not calls[name]:
        continue
    # a call that main made, among those of the library itself
    got = [c for c in calls[name] if all(k in c and (c[k] == w or (isinstance(w, int) and isinstance(c[k], bool) and int(c[k]) == w))
           for k, w in wanted.items())]
    functions.add(name)
    values += len(wanted)
    if not got:
        bad.append("%s: gdb %s, bbtrace %s" % (name, wanted, calls[name][:4]))
print(len(functions), values, len(bad))
print("\n".join(bad))
PYTHON
	read -r functions values bad <result
	diag "$values values of $functions functions"
	ok $((functions < 50)) "fifty functions are compared: $functions"
	is "$bad" 0 'all values are those of gdb' || diag "$(tail -n +2 result)"
fi

# ---- fields ----
cat >own.c <<'C'
#include <stdio.h>
#include <string.h>
enum colour { RED, GREEN = 5, BLUE = -1 };
enum flags { FA = 1, FB = 2, FC = 8 };
struct pair { int a, b; };
struct node { const char *name; struct node *next; struct pair p; unsigned lo : 3, hi : 5; char text[8]; short n[3]; };
#define K __attribute__((noinline, noipa))
K int f1(const char *name, unsigned long n, enum colour c, _Bool yes) { return n + c + yes; }
K struct node *f2(struct node *at, unsigned char u, signed char s) { return at->next; }
K double f3(float x, double y, long long z) { return x + y + z; }
K const char *f4(enum flags f, char c) { return f & 1 ? "one" : "a string that is longer than what is shown of it, which is sixty-four bytes"; }
K void f5(void) { }
K int f6(int a, int b, int c, int d, int e, int f, int g, const char *h) { return a + g; }
int main(void)
{
	struct node b = {"second", NULL, {7, -8}, 5, 17, "12345678", {1, 2, -3}}, a = {"first\n\"", &b, {1, 2}};

	f1("hello", 42, GREEN, 1), f1("", -1, BLUE, 0), f1(NULL, 3, 77, 0), f1((char *)8, 3, RED, 0);
	f2(&a, 200, -5), f3(1.5, 2.5, -9), f4(FA | FC, 'x'), f4(4, '\n'), f5();
	f6(1, 2, 3, 4, 5, 6, -7, "eighth");
	return 0;
}
C
gcc -O2 -g -o own own.c || exit 2
lines() { sed 's/^[^ ]* *//; s/  *$//; s/  .*//' "$1" | grep '^ *f'; }
cat >wanted <<'END'
f1(name="hello", n=42, c=GREEN, yes=true)
f1 returns 48
f1(name="", n=18446744073709551615, c=BLUE, yes=false)
f1 returns -2
f1(name=NULL, n=3, c=77, yes=false)
f1 returns 80
f1(name=0x8 (unreadable), n=3, c=RED, yes=false)
f1 returns 3
f3(x=(not recorded), y=(not recorded), z=-9)
f3 returns (not recorded)
f4(f=FA|FC, c='x')
f4 returns "one"
f4(f=4, c='\n')
f4 returns "a string that is longer than what is shown of it, which is sixty"...
f5()
f5 returns
f6(a=1, b=2, c=3, d=4, e=5, f=6, g=-7, h="eighth")
f6 returns -6
END
bb user ./own f1 f3 f4 f5 f6 --args -e entry,return --no-src -T none -o trace.bbt -- ./own
exits 0 'functions of a program are traced'
for m in report live; do
	if [[ $m == report ]]; then bb report --no-src -T none trace.bbt; else
		bb user ./own f1 f3 f4 f5 f6 --args -e entry,return --no-src -T none -- ./own
	fi
	lines "$T/out" >got
	same got wanted "values by type ($m)"
done
# ---- a page: each call has its values ----
bb user ./own f1 f3 f4 f5 f6 --args -F html -o page.html -- ./own
exits 0 'the html format'
python3 - >got <<'END'
import json, re
page = open("page.html", encoding="utf-8").read()
load = lambda name: json.loads(re.search('id="%s">(.*?)</script>' % name, page, re.S)[1])
names = {f["id"]: f["name"] for f in load("data")["functions"]}
for lane, depth, f, start, ns, *more in sorted(load("timeline-data")["calls"], key=lambda c: c[3]):
    open_, args, *result = more
    print(names[f] + args)
    print(names[f] + " returns" + "".join(" " + r for r in result))
END
same got wanted 'has the same values'
bb user ./own f2 --args='at->name, at->next->p.b, at->next->hi, at->next->text, at->next->n[2], *at->next->n, u, ret->name' \
	-e entry,return -F json -o json -- ./own
is "$(jq -c 'select(.event == "entry").args' json)" \
	'{"at->name":"first\n\"","at->next->p.b":-8,"at->next->hi":17,"at->next->text":"12345678","at->next->n[2]":-3,"*at->next->n":1,"u":200}' 'fields'
is "$(jq -c 'select(.event == "return").args' json)" '{"ret->name":"second"}' 'and of a result'
bb user ./own f1 --args=nothing -- ./own
exits 2 'a parameter that there is not is refused'
bb user ./own f2 --args='at->nothing' -- ./own
exits 2 'a member that there is not is refused'
like "$T/err" 'no member nothing' 'with its name'
# by copies, but what takes or returns values in memory: by probes
bb user ./own f1 f3 f4 f5 f6 --engine inline --args -e entry,return --no-src -T none -v -- ./own
lines "$T/out" >got
same got wanted 'with copies: the same'
if [[ $(uname -m) == x86_64 ]]; then # where functions can be copied
	is "$(sed -n 's/^bbtrace: \(.*\) keeps its probes: some of its values are .*/\1/p' "$T/err" | sort | tr '\n' ' ')" 'f1 f4 f6 ' 'probes load values from memory'
	like "$T/err" '^bbtrace: 2 functions are copied' 'the others are copied'
fi

# ---- without debug information ----
strip -o stripped own
bb user ./stripped 0x"$(nm own | awk '$3 == "f1" { print $1 }' | sed 's/^0*//')":f1 --args -e entry -T none -- ./stripped
like "$T/out" 'f1\((rdi|x0|a0)=0x' 'a function without types shows its registers'
like "$T/err" 'f1: its types are not known' 'and a note says so'
done_testing

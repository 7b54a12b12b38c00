#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# How often each branch of Debian's own programs ran and each conditional was taken, by `-c` and by callgrind, which knows
# nothing of bbtrace: no count may be missing, invented or different, unless a gap is declared. It prints a table by program.
# CALLGRIND="perl jq": only these.
#
# Compared is .text of one object: callgrind attributes no other section to it. No program starts another or forks, since
# callgrind would count the child apart.
# python3's path depends on its addresses in more branches than can be probed: tests/long/t_whole.sh has it. nm has no plugin,
# since LLVM's has code that sets gs. cc1 has more branches than can be traced at once. php's resolvers (IFUNCs) aren't traced: gaps.
# shellcheck disable=SC2154,SC2034,SC2016 # lib.sh sets them; not for the shell
. "$(dirname "$0")/../e2e/lib.sh"
needs root uprobes cmd:python3 cmd:setarch cmd:objdump cmd:readelf cmd:valgrind cmd:perf cmd:gcc "file:$BUILD/stepref"
cd "$T" || exit 1

only=" ${CALLGRIND:-} "
format='%-12s %12s %8s %8s %10s %8s %12s'
# shellcheck disable=SC2059 # the format is ours
table=$(printf "$format" program conditionals equal gaps elsewhere differ executions)
sums=(0 0 0 0 0 0)

# conditionals; branches that are equal, declared gaps, elsewhere in callgrind, different; executions
# shellcheck disable=SC2059
tabulate() { # NAME
	local row=() i

	[[ -e $T/$1/row ]] && read -ra row <"$T/$1/row"
	((${#row[@]})) || row=(0 0 0 0 0 0)
	table+=$'\n'$(printf "$format" "$1" "${row[@]}")
	for i in "${!sums[@]}"; do ((sums[i] += row[i])); done
}

against_callgrind() { # NAME OBJECT COMMAND...
	relay "$1" < <(env -i PATH="$PATH" LC_ALL=C TZ=UTC0 HOME=/nonexistent PERL_HASH_SEED=0 \
		GIT_CONFIG_NOSYSTEM=1 LD_PRELOAD="$T/fixed.so" BBTRACE="${BBTRACE:-$BUILD/bbtrace}" INPUT="${input:-/dev/null}" \
		"$ROOT/tests/check/callgrind.py" "$BUILD" "$T/$1" "$(realpath "$2")" -- "${@:3}" 2>&1)
	is "$relayed" "$planned" "$1: to its end"
	tabulate "$1"
	[[ ${KEEP:-} ]] || rm -rf "${T:?}/$1"
}

chosen() { [[ $only == '  ' || $only == *" $1 "* ]]; }

program() { # NAME COMMAND [ARG...]; input=FILE: what it reads
	local path

	chosen "$1" || return
	if ! path=$(type -P "$2"); then
		skip "$1" "no $2"
		return
	fi
	path=$(realpath "$path")
	against_callgrind "$1" "$path" "$path" "${@:3}"
}

library() { # NAME PATTERN COMMAND [ARG...]: a library of the command's
	local path object

	chosen "$1" || return
	path=$(type -P "$3") && path=$(realpath "$path") && object=$(ldd "$path" | awk -v p="$2" '$1 ~ p { print $3 }')
	if [[ ! ${object:-} ]]; then
		skip "$1" "no $3 with such a library"
		return
	fi
	against_callgrind "$1" "$object" "$path" "${@:4}"
}

# What differs from run to run is fixed.
echo '00010000-7ffffffff000 rw-p 00000000 00:00 0 [stack]' >maps
gcc -O1 -fPIC -shared -DMAPS="\"$T/maps\"" "$ROOT/tests/long/fixed.c" -o fixed.so || skip_all 'no compiler'

# ---- inputs ----

mkdir tree tree/a tree/b
awk 'BEGIN {
	for (i = 0; i < 4000; i++) {
		x = (x * 1103 + 12345) % 65536
		printf "%d word%d %c%c-%x, the %dth line (%d.%d)\n", x, x % 97, 97 + x % 26, 97 + int(x / 7) % 26, x, i, x % 10, i
	}
}' >text
for i in {1..10}; do sed "s/d/$i/3; s/line/row $i/" text; done >large
sort text >sorted
sed 's/7/seven/; 40,50d; s/ the / a /' text >other
diff -u text other >changes
head -c 60000 text | gzip -n >text.gz
gzip -n -c large >large.gz
bzip2 -c large >large.bz2
lz4 -q -c large >large.lz4
xz -T1 -c large >large.xz
zstd -q -c large >large.zst
brotli -c large >large.br 2>/dev/null
seq 1 400 | sed 's/.*/{"id": &, "tags": ["a", "b&"], "in": {"deep": [&, null, true, -1.5e3]}}/' >objects.json
{
	echo '<r>'
	seq 1 300 | sed 's|.*|<item id="&"><name>n\&amp;&</name><!-- & --><v>&.5</v></item>|'
	echo '</r>'
} >doc.xml
seq 1 200 | awk '{ print "int f" $1 "(int a, char *b)\n{\n\tif (a > " $1 ")\n\t\treturn b[" $1 "]; /* " $1 " */\n\treturn a * " $1 ";\n}\n" }' >code.c
seq 1 300 | awk '{ print "f" $1 ":\n\tpush rbp\n\tcmp edi, " $1 "\n\tjg .a\n\tlea rax, [rbx + 4 * rcx + " $1 "]\n.a:\tpop rbp\n\tret" }' >code.asm
seq 1 300 | awk 'BEGIN { print "%%" } { print "word" $1 * 7919 % 10007 }' >words.gperf
seq 1 20 | awk 'BEGIN { print "int lex(char *p) {\n/*!re2c\nre2c:yyfill:enable = 0;\nre2c:define:YYCTYPE = char;\nre2c:define:YYCURSOR = p;" } { print "\"w" $1 * 7 "\" [a-f]* { return " $1 "; }" } END { print "* { return 0; }\n*/\n}" }' >code.re
seq 1 200 | awk 'BEGIN { print "<title>t</title>" } { print "<p class=a" $1 ">one <b>two " $1 "</p><table><tr><td>" $1 "<td>&amp; <i>x</table>" }' >page.html
seq 1 100 | awk 'BEGIN { print "syntax = \"proto3\";" } { print "message M" $1 " {\n  int32 a = 1;\n  repeated string b = 2;\n  map<string, int64> c = 3;\n}" }' >code.proto
printf '\x08\x96\x01\x12\x04abcd\x1a\x02\x08\x07' >message
seq 1 400 | awk '{ print "_ZN2ns" length("class" $1) + 0 "class" $1 "4callIiSt6vectorIS0_SaIS0_EEEEvT_RKT0_" }' >mangled
seq 1 400 | awk '{ print $1 " miles", "km"; print $1 " kg m / s^2" , "N" }' | sed 's/ \(km\|N\)$/\n\1/' >quantities
seq 1 200 | awk '{ print "f" $1 ":\n\tpushq %rbp\n\tcmpl $" $1 ", %edi\n\tjg 1f\n\tmovl $" $1 ", %eax\n1:\tpopq %rbp\n\tret" }' >code.s
seq 1 200 | awk '{ print ".SH part " $1 "\nSome text of \\fBpart\\fR " $1 " that fills\na line.\n.PP\n.TP 4\nitem\nits words" }' >page.roff
seq 1 90 | awk '{ print ".TS\nbox tab(:);\nc s r\nl | n n.\ntitle " $1 ":x\n_\na" $1 ":" $1 ".5:7" "\n.TE" }' >page.tbl
seq 1 200 | awk '{ print ".EQ\nx sub " $1 " = {a sup 2 + sqrt {b over " $1 "}} over {sum from i=1 to n y sub i}\n.EN" }' >page.eqn
seq 1 100 | awk '{ print ".PS\nfor i = 1 to " $1 " do { box wid i/10 \"b\"; arrow right 0.1*i; circle rad sqrt(i)/20 }\n.PE" }' >page.pic
for ((i = 1; i <= 60; i++)); do echo "$i" >"tree/a/file$i.c" && echo "$i" >"tree/b/$i"; done
cat >script.sh <<'END'
i=0
while [ $i -lt 40000 ]; do
	i=$((i + 1))
	case $i in *3) continue ;; 1*) x=${x#????????????????????}${#i} ;; esac
	y=${x#1} z=${y%%2*}
done
f() { [ "$1" -gt 0 ] && f $(($1 - 1)); }
f 50
echo "$z" "${x#1}"
test -f /etc/passwd && printf '%s\n' ok
END
cat >script.bash <<'END'
declare -A seen
for ((i = 0; i < 2000; i++)); do
	w=word$((i * 7 % 101))
	((seen[$w]++))
	[[ $w =~ ^word([0-9]+)$ ]] && n=${BASH_REMATCH[1]} && a+=("${n/1/x}")
done
echo "${#seen[@]} ${a[*]:3:9}"
END
cat >script.zsh <<'END'
typeset -A seen
for ((i = 0; i < 10000; i++)) { w=word$((i * 7 % 101)); ((seen[$w]++)) }
print ${#seen} ${(ok)seen[1,3]}
END
cat >script.bc <<'END'
scale = 30
for (i = 1; i < 600; i++) { x += s(i) / i + sqrt(i) }
x; 2^700
define f(n) { if (n < 2) return 1; return n * f(n - 1) }
f(90)
END
cat >script.pl <<'END'
my %h;
while (<>) { my @w = split; $h{$w[1]} += $w[0]; s/(\d+)th (\w+)/$2 $1/; tr/a-f/A-F/; $n += length }
print "$_ $h{$_}\n" for sort { $h{$b} <=> $h{$a} || $a cmp $b } keys %h;
my @a = sort { $b <=> $a } map { $_ * 7919 % 10007 } 1 .. 20000;
printf "%d %s %x %.3f\n", $n, "@a[0..5]", 255, 3.14159;
eval { die { code => 7 } };
print ref $@, pack("w/a N n", "abc", 7, 9), sprintf("%vd", "1.22.333"), "\n";
END
cat >script.lua <<'END'
local t = {}
for i = 1, 30000 do t[i] = i * 7919 % 10007 end
table.sort(t)
local function f(n) if n < 2 then return n end return f(n - 1) + f(n - 2) end
print(table.concat(t, ',', 1, 40), f(27), ("x=1,y=2"):gsub('(%w)=(%d)', '%2:%1'))
print(pcall(error, 'oops'))
local co = coroutine.wrap(function() for i = 1, 300 do coroutine.yield(i) end end)
for _ = 1, 200 do co() end
END
cat >script.sql <<'END'
create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 30000)
	insert into t(b, c) select 'w' || (i * 7919 % 211), i * 1.5 from n;
create index i on t(b);
select b, sum(c), count(*) from t where a > 100 group by b order by 2 desc limit 9;
update t set c = c * 2 where b like 'w1%';
select count(*), max(c), group_concat(distinct substr(b, 1, 2)) from t;
delete from t where a % 3 = 0;
select x.b, y.c from t x join t y on x.b = y.b and x.a < y.a order by x.a, y.a limit 9;
select count(*) from t;
END
cat >script.tcl <<'END'
for {set i 0} {$i < 60000} {incr i} { lappend l [expr {$i * 7919 % 1009}]; dict incr d w[expr {$i % 97}] }
puts [lrange [lsort -integer $l] 0 9]; puts [dict size $d]; puts [regsub -all {(\d)(\d)} "a12b34" {\2\1}]
exit
END
cat >script.php <<'END'
<?php
for ($i = 0; $i < 100000; $i++) { $a[$i * 7919 % 1009] = "w$i"; $n = ($n ?? 0) + strlen(str_replace('1', 'xx', "w$i")); }
ksort($a); echo count($a), ' ', $n, ' ', implode(',', array_slice($a, 0, 5)), ' ', json_encode(['a' => [1, null, 1.5]]), "\n";
function f($n) { return $n < 2 ? $n : f($n - 1) + f($n - 2); }
echo f(24), preg_replace('/(\w)=(\d)/', '$2:$1', 'x=1,y=2'), "\n";
END
cat >script.awk <<'AWK'
{ n[$2] += $1; gsub(/[0-9]+th/, "N"); s = s substr($0, 1, 1); if (match($3, /-[a-f]/)) m++ }
END { for (i = 0; i < 97; i++) print i, n["word" i]; print length(s), m; printf "%5.2f %s\n", sqrt(m), toupper("x") }
AWK
cat >script.m4 <<'END'
define(`f', `ifelse(eval($1 < 2), 1, 1, `eval($1 * f(decr($1)) % 10007)')')dnl
define(`forloop', `pushdef(`$1', `$2')_forloop($@)popdef(`$1')')dnl
define(`_forloop', `$4`'ifelse($1, `$3', `', `define(`$1', incr($1))$0($@)')')dnl
forloop(`i', 1, 300, `f(i) translit(len(i), 1-9, a-i) ')
END
{
	echo 'all: '
	seq 1 150 | sed 's/.*/all: t&\nt&: s& $(wildcard tree\/a\/file&.c) ; @:\ns&: ;\nv& = $(patsubst %.c,%.o,a&.c b.c) $(words $(v&))/'
} >Makefile
{
	printf 'rule cc\n  command = cc -c $in -o $out\n'
	seq 1 150 | sed 's/.*/build o\/&: cc tree\/a\/file1.c | tree\/b\/1/'
} >build.ninja
printf '%s\n' '1,$s/word/W/g' 'g/W1/m0' '$-5,$p' Q >script.ed
printf 'set nomore\n%%s/word\\(\\d\\+\\)/<\\1>/g\n1000,$d\nsort n\nw! edited\nqa!\n' >script.vim
as code.s -o code.o 2>/dev/null && cp code.o second.o
base64 large >encoded
awk '{ print $1, $1 + 1 + $1 % 7 }' text >pairs
printf '_start: ret\n' | as -o start.o 2>/dev/null
seq 1 150 | sed 's/.*/n& -> n1&; n& [label="l&"];/; 1s/^/digraph {/; $s/$/}/' >graph.dot
echo '[la1+dsa*d20k%li1+dsi5000>x]sx 0si 3x0sa lxx p 2 400^ p 30k 2v p 9 7 | 5 3 100|p' >script.dc
(cd tree && tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf ../tree.tar .)
(cd tree && find . -type f | sort | zip -q -X ../tree.zip -@) 2>/dev/null

# ---- programs ----

program sort sort --parallel=1 -S 1M -k2,2 -k1n large
program sort-n sort --parallel=1 -S 1M -n -r -u text
program wc wc large other
program cut cut -d ' ' -f 2-4 --complement large
input=large program tr tr -s 'a-y' 'B-Z'
program base64 base64 -d encoded
program base32 base32 large
program od od -A x -t x1z text
program fmt fmt -w 40 large
program factor factor 1234567890123 9999999967 99999999977 18446744073709551557 1000000016000000063 18014398777917439000000004007
program join join -1 1 -2 1 sorted sorted
program comm comm text other
program nl nl -b a text
program tac tac text
program pr pr -3 -l 40 -D x text
program ptx ptx page.roff
program numfmt numfmt --field 1 --to=iec --invalid=ignore $(seq 1000 77 90000)
program ls ls -R tree
program find find tree -name '*[37].c' -o -path '*b*' -size -2
program cmp cmp -l text other
program uniq uniq -c -f 1 sorted
program expand expand -t 3 text
program fold fold -s -w 30 text
program paste paste -d ,: text other sorted
program csplit csplit -s -f part text '%the 9th%' '/7th/' '{20}'
program tsort tsort pairs
program shuf shuf --random-source=large text
program seq seq -f %g -s , 1 3 99999
program b2sum b2sum large
program sha256sum sha256sum large
program md5sum md5sum large
program column column -t -N a,b,c,d,e,f text
program diff diff -u text other
program diff-y diff --minimal -y text other
program patch patch -s --dry-run -p0 text changes
program grep grep -E 'word(1|2)[0-9]+ .*-[a-f]{2}' text
program grep-o grep -o -i -w 'the [0-9]*3th' text
program sed sed -n -E 's/([a-z]+)([0-9]+) (.)/\3\2\1/; /9th/{h;d}; G; P' large
program ed ed -s text
program gawk gawk -f script.awk large
program mawk mawk -f script.awk large
program dash dash script.sh
program bash bash --norc script.bash
program zsh zsh -f script.zsh
program bc bc -lq script.bc
program dc dc script.dc
program m4 m4 script.m4
program make make -s -r -j1
program ninja ninja -n
program perl perl script.pl large
program lua lua5.1 script.lua
library libtcl '^libtcl' tclsh script.tcl
program sqlite3 sqlite3 -batch :memory: '.read script.sql'
program php php -n script.php
library libsqlite3 '^libsqlite3' sqlite3 -batch :memory: '.read script.sql'
program jq jq -c . objects.json
library libjq '^libjq' jq -c '[.id, .in.deep[0] * 2, (.tags | join("-") | test("b1"))]' objects.json
program xmlstarlet xmlstarlet sel -t -m '//item[v > 100]' -v '@id' -o : -v name -n doc.xml
library libxslt '^libxslt' xmlstarlet sel -t -m '//item' -s D:N:- v -v 'concat(name, @id)' -n doc.xml
library libtidy '^libtidy' tidy -q -i -asxhtml page.html
library libxml2 '^libxml2' xmllint --format --xpath '//item[v > 100]/name' doc.xml
program gzip gzip -9 -c large
program gunzip gzip -d -c large.gz
program bzip2 bzip2 -c text
library libbz2 '^libbz2' bzip2 -c large
library libbunzip2 '^libbz2' bzip2 -d -c large.bz2
library libz '^libz' git --no-pager hash-object text
program xz xz -l -v large.xz
library liblzma '^liblzma' xz -T1 -6 -c text
library libunlzma '^liblzma' xz -T1 -d -c large.xz
program lz4 lz4 -q -c -1 large
program lz4-9 lz4 -q -c -9 large
program unlz4 lz4 -q -d -c large.lz4
program brotli brotli -c -6 large
program unbrotli brotli -d -c large.br
program zstd zstd -q -c --single-thread --no-asyncio -6 large
program unzstd zstd -q --no-asyncio -d -c large.zst
program tar tar -tvf tree.tar
program cpio cpio -it -F tree.tar
program unzip unzip -l tree.zip
program git git --no-pager diff --no-index --stat -p text other
program file file -b code.c doc.xml text.gz code.o
library libmagic '^libmagic' file -b code.c doc.xml text.gz code.o
program nasm nasm -f elf64 -o code3.o code.asm
program yasm yasm -f elf64 -o code4.o code.asm
program re2c re2c -o lexer.c code.re
program gperf gperf -L ANSI-C words.gperf
library libprotoc '^libprotoc' protoc --cpp_out=. code.proto
input=message library libprotobuf '^libprotobuf' protoc --decode_raw
input=mangled program c++filt c++filt
program units units -t -f /usr/share/units/definitions.units '3 miles' km
program as as code.s -o code2.o
program ld ld -r -o joined.o code.o start.o
program readelf readelf -a -W code.o
program strings strings -a -t x "$(command -v git)"
program objdump objdump -d code.o
program nm nm --plugin /dev/null -n code.o
program troff troff -Tascii -man page.roff
program soelim soelim page.roff
program tbl tbl page.tbl
program eqn eqn page.eqn
program pic pic page.pic
program vim vim -es -u NONE -i NONE -n -S script.vim text
program ctags ctags -f - code.c
program hexdump hexdump -C text
input=text program col col -b
library libcgraph '^libcgraph' dot -Tcanon graph.dot
program openssl openssl asn1parse -inform PEM -in /dev/null

# shellcheck disable=SC2059
table+=$'\n'$(printf "$format" all "${sums[@]}")
diag "$table"
isnt "${sums[5]}" 0 "${sums[5]} executions at ${sums[0]} conditionals"
done_testing

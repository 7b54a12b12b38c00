#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# All functions of real programs compared with what QEMU's user emulation executed, independently of bbtrace's decoder,
# with every placement. QEMU="gzip perl": only these. None of the programs starts another.
#
# Not tested are libraries whose IFUNCs depend on the CPU, since QEMU's differs (libc, libm), and programs whose path
# depends on addresses or the time (lua 5.4 seeds its hashes with both, 5.1 doesn't; OCaml sorts its frame tables by
# address: t_whole.sh steps such a program; m4's handler of stack overflows compares addresses in /proc/self/maps).
# shellcheck disable=SC2154,SC2034,SC2016 # lib.sh sets them; not for the shell
. "$(dirname "$0")/../e2e/lib.sh"
needs root uprobes cmd:python3 cmd:setarch cmd:objdump cmd:readelf cmd:qemu-x86_64 cmd:gcc
cd "$T" || exit 1

against_qemu() { # NAME OBJECT COMMAND...
	local name=$1
	shift

	relay "$name" < <(env -i PATH="$PATH" LC_ALL=C HOME=/nonexistent PERL_HASH_SEED=0 GIT_CONFIG_NOSYSTEM=1 PRELOAD="$T/fixed.so" \
		"$ROOT/tests/check/qemu.py" "${BBTRACE:-$BUILD/bbtrace}" "$T/$name" "$(realpath "$1")" -- "${@:2}" 2>&1)
	is "$relayed" "$planned" "$name: to its end"
	rm -rf "${T:?}/$name"
}

program() { # NAME [ARG...]: the whole of it
	local path

	if ! path=$(command -v "$1"); then
		skip "$1" "no $1"
		return
	fi
	path=$(realpath "$path")
	against_qemu "$1" "$path" "$path" "${@:2}"
}

library() { # PATTERN COMMAND [ARG...]: the library of the command whose name this is
	local path object

	path=$(command -v "$2") && path=$(realpath "$path") && object=$(ldd "$path" | awk -v p="$1" '$1 ~ p { print $3 }')
	if [[ ! ${object:-} ]]; then
		skip "${1#^}" "no $2 with such a library"
		return
	fi
	against_qemu "${1#^}" "$object" "$path" "${@:3}"
}

# What differs from run to run is fixed.
echo '00010000-7ffffffff000 rw-p 00000000 00:00 0 [stack]' >maps
gcc -O1 -fPIC -shared -DMAPS="\"$T/maps\"" "$ROOT/tests/long/fixed.c" -o fixed.so || skip_all 'no compiler'

seq 1 300 >text
sed 's/3/x/' text >other
cat >script.sh <<'END'
i=0
while [ $i -lt 20 ]; do
	i=$((i + 1))
	case $i in *3) continue ;; 1*) x=$x$i ;; esac
done
f() { [ "$1" -gt 0 ] && f $(($1 - 1)); }
f 5
echo "$x" "${x#1}"
test -f /etc/passwd && printf '%s\n' ok
END
cat >script.bc <<'END'
scale = 20
for (i = 1; i < 9; i++) { x += s(i) / i }
x; 2^70
define f(n) { if (n < 2) return 1; return n * f(n - 1) }
f(20)
END
cat >script.pl <<'END'
my %h = map { $_ => length } qw(one two three four five six);
my $s = join ',', map { "$_=$h{$_}" } sort keys %h;
$s =~ s/(\w)=(\d)/$2:$1/g;
print "$s\n";
eval { die { code => 7 } };
print ref $@, "\n";
my @a = sort { $b <=> $a } map { $_ * 7 % 11 } 1 .. 30;
print "@a[0..5]\n";
printf "%s %x %.3f\n", join('|', "a b c" =~ /(\w) (\w)/), 255, 3.14159;
my $nested = { list => [1, { two => 2 }] };
print $nested->{list}[1]{two}, exists $nested->{none} ? 1 : 0, "\n";
local $_ = 'x' x 20;
print tr/x//, "\n";
END
cat >script.lua <<'END'
local t = {}
for i = 1, 40 do t[i] = i * 7 % 13 end
table.sort(t)
local function f(n) if n < 2 then return n end return f(n - 1) + f(n - 2) end
print(table.concat(t, ','), f(12), ("x=1,y=2"):gsub('(%w)=(%d)', '%2:%1'))
print(pcall(error, 'oops'))
local co = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end)
print(co(), co())
END
cat >script.sql <<'END'
create table t(a integer primary key, b text, c real);
insert into t(b, c) values('one', 1.5), ('two', 2.5), ('three', 3.5);
create index i on t(b);
select b, sum(c) from t where a > 1 group by b order by 2 desc;
update t set c = c * 2 where b like 't%';
select count(*), max(c) from t;
delete from t;
select count(*) from t;
END
cat >build.ninja <<'END'
rule cc
  command = cc -c $in -o $out
  description = CC $out
rule ln
  command = cc $in -o $out
build a.o: cc a.c
build b.o: cc b.c | h.h
build prog: ln a.o b.o
default prog
END
touch a.c b.c h.h
cat >script.awk <<'AWK'
{ n[$1 % 7] += $1; gsub(/1[0-9]/, "N"); s = s substr($0, 1, 1); if (match($0, /[2-4]$/)) m++ }
END { for (i = 0; i < 7; i++) print i, n[i]; print length(s), m; printf "%5.2f %s\n", sqrt(m), toupper("x") }
AWK
seq 1 30 | sed 's/.*/{"id": &, "tags": ["a", "b&"], "in": {"deep": [&, null, true, -1.5e3]}}/' >objects.json

for object in ${QEMU:-gzip dash bc perl lua git sqlite3 libsqlite3 ninja sed gawk mawk bzip2 libbz2 libjq \
	sort fmt lz4}; do
	case $object in
	gzip) program gzip -c text ;;
	dash) program dash script.sh ;;
	bc) program bc -lq script.bc ;;
	perl) program perl script.pl ;;
	lua) program lua5.1 script.lua ;;
	git) program git --no-pager diff --no-index --stat -p text other ;;
	sqlite3) program sqlite3 -batch :memory: '.read script.sql' ;;
	libsqlite3) library '^libsqlite3' sqlite3 -batch :memory: '.read script.sql' ;;
	sed) program sed -n -E 's/(.)(.*)/\2\1/; /9$/{h;d}; G; P' text ;;
	gawk | mawk) program "$object" -f script.awk text ;;
	bzip2) program bzip2 -c text ;;
	libbz2) library '^libbz2' bzip2 -c text ;;
	libjq) library '^libjq' jq -c '[.id, .in.deep[0] * 2, (.tags | join("-"))]' objects.json ;;
	sort) program sort --parallel=1 -S 1M -k1,1 other ;;
	fmt) program fmt -w 40 text ;;
	lz4) program lz4 -c -9 text ;;
	ninja) program ninja -n -v -d explain ;;
	esac
done
done_testing

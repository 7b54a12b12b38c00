#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# scripts/rooms.pl finds calls against the order of folders, long cycles of files and crowded folders in a small tree.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
rooms=$PWD/scripts/rooms.pl
cd "$T" || exit 1
mkdir -p src/low/deep src/high

# source_file FILE CALLED...: src/FILE.c has a function of the file's own name, which calls the others.
source_file() {
	local file=$1 name=${1##*/} called

	shift
	{
		for called in "$@"; do echo "void $called(void);"; done
		echo "void $name(void) {"
		for called in "$@"; do echo "$called();"; done
		echo '}'
	} >"src/$file.c"
}
build() {
	local file

	find src -name '*.c' | while read -r file; do
		mkdir -p "build/$(dirname "${file#src/}")"
		${CC:-cc} -w -c -o "build/$(sed 's|^src/||; s|c$|o|' <<<"$file")" "$file" || exit 1
	done
}

table='
low  |
high | low
'
printf 'int main(void) { return 0; }\n' >src/main.c
source_file low/leaf
source_file low/deep/a leaf
source_file high/top leaf a
is "$("$rooms" built build | wc -l)" 3 'what is not built is listed, without main'
build
ok $? 'the small tree is built'
is "$("$rooms" built build)" '' 'everything is built'
is "$("$rooms" order build "$table")" '' 'calls of earlier folders are in order'
is "$("$rooms" cycles build '')" '' 'there is no cycle'
is "$("$rooms" includes "$table" '')" '' 'there are no includes'
touch src/low/{low,leaf,leaf_private}.h src/low/deep/deep.h src/high/high.h
printf '#include "low/low.h"\n#include "low/deep/deep.h"\n#include "high.h"\n#include "../high/high.h"\n' >src/high/ok.c
printf '#include "low/leaf.h"\n' >src/high/side.c
is "$("$rooms" includes "$table" '')" 'src/high/side.c includes src/low/leaf.h' "a header that is not a folder's front is found"
is "$("$rooms" includes "$table" low)" '' 'unless the folder has several'
printf '#include "low/leaf_private.h"\n' >src/high/side.c
is "$("$rooms" includes "$table" low)" 'src/high/side.c includes src/low/leaf_private.h' 'but for private ones'
printf '#include "high/high.h"\n' >src/low/up.c
is "$("$rooms" includes "$table" low | grep up)" 'src/low/up.c includes src/high/high.h' 'an include against the order is found'
rm src/low/*.h src/low/deep/*.h src/high/high.h src/high/{ok,side}.c src/low/up.c
source_file low/deep/a top leaf
build
is "$("$rooms" order build "$table")" 'src/low/deep/a.c calls src/high/top.c: top' 'a call of a later folder is found'
like <("$rooms" show build) '^2 files: high/top low/deep/a$' 'a short cycle can be shown'
is "$("$rooms" cycles build '')" '' 'and is no finding'

source_file low/deep/a leaf
for i in 1 2 3 4 5 6 7; do source_file "low/c$i" "c$((i % 7 + 1))"; done
build
like <("$rooms" cycles build '') '^a cycle of 7 files in low, at most 6: low/c1 .* low/c7 ' 'a long cycle is found'
is "$("$rooms" cycles build 'low | 7')" '' 'a row permits it'
like <("$rooms" cycles build 'low | 9') '^note: .* has 7 files now: lower 9' 'a row that could be lower is named'
like <("$rooms" cycles build 'low | 7 8') '^note: low has fewer long cycles: remove 7' 'a row with too many cycles is named'
like <("$rooms" cycles build 'low | 7
high | 8') '^note: high has no long cycle: remove 8' 'a row without a cycle is named'
source_file low/c2 c3 c8
source_file low/c8 c1
build
like <("$rooms" cycles build 'low | 7') '^a cycle of 8 files in low, at most 7' 'a cycle that grew is found'

rm build/low/c3.o
like <("$rooms" cycles build '' 2>/dev/null) '^nm failed' 'an object that is missing is no success'

touch src/high/h{1..25}.h
is "$("$rooms" sizes '')" 'src/high has 26 files, at most 25' 'a crowded folder is found; its subfolders do not count'
is "$("$rooms" sizes 'src/high | 26')" '' 'a row permits it'
like <("$rooms" sizes 'src/high | 27') '^note: src/high has 26 files now: lower 27' 'a row that could be lower is named'
like <("$rooms" sizes 'src/high | 26
src/gone | 30') '^note: src/gone has 0 files: its row' 'a row that can go is named'
done_testing

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The pages in docs are linked, and name only files and options that exist. Their runner, tests/e2e/examples.pl, fails a
# page that doesn't show what its commands print, and no other.
# shellcheck disable=SC2016 # `$` and backquotes are the pages'
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
B=${B:-build}
[[ -x $B/bbtrace ]] || skip_all "nothing is built in $B"

# ---- the runner ----

cat >"$T/trace" <<'END'
   0.001893535 config-16477  parse(rdi=0x7ffd2c3a1450, rsi=0x2)  first entry
   0.001902972 config-16477    parse+0x12  je  not taken -> parse+0x14
   0.001902999 config-16477    leaf returns 0xfffffff3  1.5us
   0.001911529 config-16477  parse returns 0x0  24.2us
bbtrace: 2 functions, 21 probes (0 skipped), 40 events, 0 lost, 0 unmatched returns
END

# page COMMAND [COMMENT]: a page that says of this command that it prints $T/trace.
page() {
	printf '# Page\n\n%s\n```console\n# %s\n' "${2:-}" "$1"
	cat "$T/trace"
	printf '```\n'
}
shown="cat $T/trace"
# changed SCRIPT: a command that prints the trace as this script of sed changes it.
changed() { echo "sed -E '$1' $T/trace"; }

# run_page: runs the page on stdin; what it printed is in $T/tap, and what became of it in $T/page.md.
run_page() {
	rm -rf "$T/pages"
	mkdir "$T/pages"
	cat >"$T/page.md"
	tests/e2e/examples.pl "$T/pages" "$T/page.md" >"$T/tap" 2>&1
	status=$?
}
passes() { # NAME
	run_page
	[[ $status == 0 ]] && ! grep -q '^not ok' "$T/tap" && [[ $(tail -n 1 "$T/tap") == "1..$(grep -c '^ok' "$T/tap")" ]]
	ok $? "$1" || diag "$(<"$T/tap")"
}
fails() { # RESULT NAME: the page, and by that result
	run_page
	[[ $status != 0 ]] && grep -q "^not ok - page: $1" "$T/tap"
	ok $? "$2" || diag "$(<"$T/tap")"
}

passes 'a page passes that shows what its command prints' < <(page "$shown")
passes 'times, durations, addresses and thread ids may differ' < \
	<(page "$(changed 's/0[.]0019(.....)/3.1419\1/; s/24.2us/1.9ms/; s/7ffd2c3a1450/55d0c0ffee00/; s/config-16477 /config-977   /')")
passes 'a thread id may be wider than its column' < <(page "$(changed 's/config-16477/config-1234567/')")
fails 'output' 'another error code fails' < <(page "$(changed 's/0xfffffff3/0xfffffff2/')")
fails 'output' 'another outcome of a branch fails' < <(page "$(changed 's/je  not taken/je  taken/')")
fails 'output' 'another argument fails' < <(page "$(changed 's/rsi=0x2/rsi=0x3/')")
fails 'output' 'another depth in the tree fails' < <(page "$(changed 's/    leaf/  leaf/')")
fails 'output' 'a line less fails' < <(page "$(changed '/leaf/d')")
fails 'output' 'a line more fails' < <(page "$(changed '/leaf/p')")
fails 'output' 'another count fails' < <(page "$(changed 's/40 events/41 events/')")
passes 'another count passes where the page says so' < <(page "$(changed 's/40 events/41 events/')" '<!-- counts vary -->')
passes 'another order passes where counts vary' < <(page "sort $T/trace" '<!-- counts vary -->')
fails 'output' 'another order fails elsewhere' < <(page "sort -r $T/trace")
fails 'output' 'a line less fails, even where counts vary' < <(page "$(changed '/leaf/d')" '<!-- counts vary -->')
fails 'output' 'a line more fails, even where counts vary' < <(page "$(changed '/leaf/p')" '<!-- counts vary -->')
passes '... stands for lines where counts vary' < <(page "$shown" '<!-- counts vary -->' | sed 's/^.*leaf.*/.../')
fails 'output' 'another name fails, even where counts vary' < <(page "$(changed 's/leaf/twig/')" '<!-- counts vary -->')
fails 'exit status' 'another exit status fails' < <(page "$shown; exit 3")
passes 'the exit status that the page says passes' < <(page "$shown; exit 3" '<!-- status: 3 -->')
fails 'exit status' 'success fails where the page says another exit status' < <(page "$shown" '<!-- status: 3 -->')
passes 'stderr is compared as well' < <(page "$shown >&2")
passes '... stands for a line' < <(page "$shown" | sed 's/^.*leaf.*/.../')
passes '... stands for several lines' < <(page "$shown" | sed '/0.0019/d; s/^bbtrace: 2/...\n&/')
passes '... stands for no line' < <(page "$shown" | sed 's/^.*leaf.*/...\n&/')
fails 'output' '... stands for no other lines' < <(page "$shown" | sed 's/^.*leaf.*/.../; s/not taken/taken/')

# a page whose output is from another compiler
other='<!-- code by: echo 2 = 1 -->' this='<!-- code by: echo 1 = 1 -->'
passes 'with another compiler, branches, registers and counts may differ' < \
	<(page "$(changed 's/je .*/jne  taken -> parse+0x99/; s/rdi=/rsi=/; s/40 events/41 events/')" "$other")
fails 'output' 'with the same compiler they must not' < <(page "$(changed 's/je .*/jne  taken -> parse+0x99/')" "$this")
fails 'output' 'with another compiler, another name fails' < <(page "$(changed 's/leaf/twig/')" "$other")
fails 'output' 'with another compiler, another error code fails' < <(page "$(changed 's/0xfffffff3/0xfffffff2/')" "$other")
passes 'without the compiler, the section is skipped' < <(page "$(changed 's/leaf/twig/')" '<!-- code by: no-such-compiler = 1 -->')
like "$T/tap" '^ok .*# SKIP' 'what is skipped is said'

# what makes no page
passes 'three commands pass' < <(for _ in 1 2 3; do page "$shown"; done)
fails 'at most 3 commands' 'a fourth command fails' < <(for _ in 1 2 3 4; do page "$shown"; done)
fails 'has commands' 'a page without commands fails' < <(echo '# Page')
fails 'what it needs' 'a page fails whose programs cannot be made' < <(printf '```sh\nfalse\n```\n' && page "$shown")
run_page < <(page "$shown" | sed '$d')
isnt "$status" 0 'a page fails that has no end of a block'

passes 'a page may leave a program running' < <(printf '```sh\nsleep 1000 &\necho $! >%s\n```\n' "$T/left" && page "$shown")
ended=
for ((i = 0; i < 6000; i++)); do
	[[ -e /proc/$(<"$T/left")/exe ]] || { ended=1 && break; }
	sleep 0.1
done
is "$ended" 1 'what a page leaves running is ended'

# UPDATE=1
export UPDATE=1
passes 'UPDATE=1 takes what is printed' < <(page "$(changed 's/leaf/twig/')" | sed 's/^.*first entry$/.../')
is "$(grep -c ' twig returns' "$T/page.md") $(grep -c ' leaf returns' "$T/page.md")" '1 0' 'UPDATE=1 writes it into the page'
is "$(grep -cx '[.][.][.]' "$T/page.md") $(grep -c 'first entry' "$T/page.md")" '1 0' 'UPDATE=1 keeps the ... of the page'

passes 'UPDATE=1 takes a line' < <(page "$(changed 's/0[.]0019/0.0042/; s/leaf/twig/')")
is "$(grep -cE '0[.]0019(02972|11529)' "$T/page.md") $(grep -c '^ .*0.0042.*twig' "$T/page.md")" '2 1' 'UPDATE=1 leaves the lines that pass'
page "$(changed 's/0[.]0019/0.0042/')" >"$T/wanted"
run_page <"$T/wanted"
same "$T/page.md" "$T/wanted" 'UPDATE=1 changes nothing where the page passes'
unset UPDATE

# ---- the pages ----

pages=(docs/tasks/*-*.md)
is "${#pages[@]}" 12 'there are twelve tasks'
for page in docs/sql.md "${pages[@]}"; do
	grep -qF "(${page#docs/})" docs/README.md
	ok $? "docs/README.md links to $page"
done
grep -qF '(docs/README.md)' README.md
ok $? 'README.md links to docs/README.md'
sed -n '/^## One answer/,/^## Output/s/^    //p' README.md | grep -vxF ... >"$T/answers"
grep -vxFf <(cat "${pages[@]}") "$T/answers" >"$T/others"
is "$(($(wc -l <"$T/answers") > 10)) $(<"$T/others")" '1 ' 'the answers in README.md are those of the tasks'
grep -qF 'docs/README.md' man/bbtrace.8
ok $? 'bbtrace(8) names docs/README.md'
for page in docs/README.md docs/sql.md "${pages[@]}"; do
	grep -oE '\]\([^)#:]+\)' "$page" | tr -d '()]' | while read -r link; do
		[[ -e ${page%/*}/$link ]] || echo "$page: $link"
	done
done >"$T/dead"
is "$(<"$T/dead")" '' 'each link in them leads to a file'
for file in docs/tasks/src/*; do
	cat docs/sql.md "${pages[@]}" | grep -qF "${file##*/}" || echo "$file"
done >"$T/unused"
is "$(<"$T/unused")" '' 'each file in docs/tasks/src is used by a page'

# The options of bbtrace, not of a CMD, in the commands and the text of the pages.
for verb in user kernel trace event watch profile why cover list report merge diff core stack doctor ctl; do "$B/bbtrace" $verb --help-all; done |
	grep -oE '^ +(-[A-Za-z], |    )--[a-z-]+' | grep -oE -- '--?[A-Za-z][a-z-]*' | sort -u >"$T/have"
{
	sed -n '/^```console$/{n;s/^[#$] bbtrace//p}' "${pages[@]}"
	cat "${pages[@]}" | tr '\n' ' ' | grep -oE '`(bbtrace |-)[^`]*`' | tr -d '`'
} | sed 's/ -- .*//' | grep -oE -- '(^| )--?[A-Za-z][a-z-]*' | tr -d ' ' | sort -u >"$T/told"
is "$(($(wc -l <"$T/told") > 15))" 1 "the pages' options are found: $(xargs <"$T/told")"
is "$(comm -23 "$T/told" "$T/have" | xargs)" '' 'each of them exists'
done_testing

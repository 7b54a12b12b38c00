#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# scripts/documents.pl finds what documents name that doesn't exist, and what is too long, in a small tree.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
documents=$PWD/scripts/documents.pl
cd "$T" || exit 1
mkdir -p src/plan tests/unit docs/internals
printf 'all: bbtrace\ncheck:\n\ttrue\n' >Makefile
cat >src/plan/plan.c <<'END'
/* What plan_ghost was. */
struct plan_site { int kind; };
void plan__build(void) { getenv("PATIENCE"); }
static const struct { const char *name; } rows[] = { {"pid", 'p'}, };
END
printf 'int main(void) { plan__build(); }\n' >tests/unit/test_plan.c
mkdir tests/e2e
# shellcheck disable=SC2016 # of the other script
printf '# as_it_was is a word\njq --strict . "$T/json"\n' >tests/e2e/t_plan.sh

# finds TEXT PATTERN NAME: what is found in a page of this text; an empty pattern: nothing.
finds() {
	printf '%s\n' "$1" >docs/internals/page.md
	"$documents" names >"$T/found"
	if [[ $2 ]]; then
		is "$(<"$T/found")" "docs/internals/page.md: $2" "$3"
	else
		is "$(<"$T/found")" '' "$3"
	fi
}

finds 'src/plan/plan.c, src/plan, src/*/plan.c and tests/unit/{test_plan,test_plan}.c' '' 'paths that are there'
finds 'src/plan/sites.c' "there is no src/plan/sites.c
docs/internals/page.md: nothing ends in src/plan/sites.c" 'a path that is not there'
finds 'src/plan/NAME.c, t_x.sh' '' 'placeholders'
finds 'tests/unit/{test_plan,test_site}.c' 'there is no tests/unit/test_site.c
docs/internals/page.md: there is no test test_site' 'one of several paths'
finds 'plan.c and plan/plan.c' '' 'files by a part of their path'
finds 'sites.c' 'no file is named sites.c' 'a bare name'
finds 'plan/sites.c' 'nothing ends in plan/sites.c' 'a part of a path'
finds 'test_plan' '' 'a test that is there'
finds 'test_sites' 'there is no test test_sites' 'a test that is not'
# shellcheck disable=SC2016 # backquotes of Markdown
{
	finds '`plan__build()`' '' 'a function that is there'
	finds '`plan__make()`' 'no function plan__make()' 'a function that is not'
	finds '`plan__build()` in plan.c, src/plan/plan.c (`plan_site.kind`)' '' 'a name and the file that has it'
	finds '`plan__build()` (Makefile), `main()` in plan.c' 'main is not in plan.c' 'a name that another file has'
	finds '`struct plan_site`, `plan_site.kind`' '' 'a struct and its member'
	finds '`plan_site.no_probe`' 'no identifier no_probe' 'a member that is not there'
	finds '`make check`, `make` and make sure' '' 'a target, and a word that is none'
	finds '`make checks`' 'make has no target checks' 'a target that is not there'
	finds '    make checks    what it does' 'make has no target checks' 'a target in a block'
	finds '`bbtrace user --pid 1`' '' 'an option that is there'
	finds '`--pids`' 'no option --pids' 'an option that is not'
	finds '`jq --strict`' '' 'an option of another program, which a test has'
	finds '`bbtrace user --strict`' 'bbtrace has no option --strict' 'it is none of bbtrace'
	finds '    sudo bbtrace user --pid 1 --strict f -- CMD' 'bbtrace has no option --strict' 'nor in a block'
	finds '`bbtrace user --pid 1 -- jq --strict`, `bbtrace list | jq --strict`' '' 'options of CMD and of what reads the output'
	finds '`plan_ghost`' 'no identifier plan_ghost' 'an identifier that only a comment has'
	finds '`as_it_was`' 'no identifier as_it_was' 'or the comment of a script'
	finds '`PATIENCE=1 make check`' '' 'a setting that is read'
	finds '`PATIENT=1 make check`' 'nothing reads PATIENT' 'a setting that is not'
}
finds '[a](page.md), [b](../../Makefile)' '' 'links'
finds '[a](pages.md)' 'links to pages.md, which isn'"'"'t there' 'a dead link'

finds 'words' '' 'words'
"$documents" lengths >"$T/found"
is "$(<"$T/found")" '' 'a short page'
{
	printf '| %0200d |\n' 1
	seq 300
} >docs/internals/page.md
"$documents" lengths >"$T/found"
is "$(<"$T/found")" 'docs/internals/page.md: 301 lines, at most 300
docs/internals/page.md: line 1: a row of 204 characters, at most 200' 'a page and a row that are too long'
"$documents" nothing >/dev/null 2>&1
is $(($? != 0)) 1 'an unknown mode is refused'
done_testing

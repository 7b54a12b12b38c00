#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Each command of README.md, docs/commands.md and docs/roles is one that bbtrace accepts: run without rights, it is refused for
# these, or for a program that isn't there, never for how it is written.
# shellcheck disable=SC2154 # lib.sh sets it
. "$(dirname "$0")/lib.sh"
needs cmd:setpriv root

mkdir -p "$T/pages/build" "$T/pages/tests" "$T/bin"
cp "$BBTRACE" "$T/bin/bbtrace"
cd "$T/pages" || exit 2
for program in prog a.out server config; do cp /bin/true "./$program"; done
chmod -R go+rwX "$T"

# commands FILE: those of indented lines, without what is said of them
commands() {
	sed -nE 's/^    (# )?(bbtrace (user|kernel|trace|event|watch|profile|why|cover|list|report|merge|diff|core|stack) .*)/\2/p' "$1" |
		sed -E "s/ {2,}[^ ].*//; s/1234/$$/g; s/\\[--[a-z]*\\]//; s/ \\| .*//" | grep -v ' -o - '
}
for verb in $("$BBTRACE" help --options | cut -f1); do
	"$BBTRACE" help "$verb" | sed -n '/^examples:$/,/^$/s/^  bbtrace/    bbtrace/p' >"$T/examples"
	isnt "$(grep -c . "$T/examples")" 0 "help $verb has examples"
	cat "$T/examples" >>"$T/help"
done
n=0
for page in "$T/help" README.md docs/commands.md docs/roles/{developer,operations,kernel,reverse-engineer,performance,ci}.md; do
	while IFS= read -r command; do
		((n++))
		PATH=$T/bin:$PATH timeout 20 setpriv --reuid=65534 --regid=65534 --clear-groups bash -c "$command" >"$T/said" 2>&1 </dev/null
		said=$?
		# what the pages take for granted is not here
	! grep -qE 'cannot open .*: No such file|there is no process (nginx|-t)|no trace file follows|needs a terminal' "$T/said" || said=1
	[[ $said != 2 && $said != 127 && $said != 124 ]]
		ok $? "${page##*/}: $command" || diag "status $said: $(head -n 2 "$T/said")"
	done < <(cd "$ROOT" && commands "$page")
done
ok $((n < 60)) "$n commands"
done_testing

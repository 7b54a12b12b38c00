#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Arguments by their types in what reads several files: each file's are those that it has alone, whatever was asked for
# in the others, in which order, and of which build; diff has those of both sides.
. "$(dirname "$0")/lib.sh"
needs root uprobes cmd:gcc cmd:jq

cat >"$T/p.c" <<'EOF'
#include <stdio.h>
#include <stdlib.h>
enum mode { SLOW, FAST, TURBO };
struct node { int weight; const char *name; };
#ifdef OTHER
#define label tag
#endif
__attribute__((noinline)) int pick(struct node *n, enum mode m, int limit, const char *label)
{
	if (n->weight > limit)
		return -1;
	puts(label);
	return m == FAST ? n->weight : 0;
}
__attribute__((noinline)) enum mode next(enum mode m) { return (m + 1) % 3; }
int main(int argc, char **argv)
{
	struct node n = {atoi(argv[1]), argv[2]};
	enum mode m = SLOW;
	int r = 0;

	for (int i = 0; i < 3; i++, m = next(m))
		r += pick(&n, m, 10, argv[2]);
	return r == 77;
}
EOF
mkdir "$T/second"
cc -g -O1 -o "$T/p" "$T/p.c" && cc -g -O1 -DOTHER -o "$T/second/p" "$T/p.c" || skip_all 'a program cannot be built here'

# run NAME PROGRAM ARG... -- OPTION...: a trace file, and what it says alone
run() {
	local name=$1 program=$2 args=()

	shift 2
	while [[ $1 != -- ]]; do args+=("$1") && shift; done
	bb user "$program" pick next main -q -o "$T/$name" "${@:2}" -- "$program" "${args[@]}"
	bb report "$T/$name" -F json -o "$T/$name.json"
}
run weight "$T/p" 5 good -- --args='n->weight,n->name'
run name "$T/p" 50 bad -- --args='n->name,n->weight'
run all "$T/p" 7 all -- --args
run none "$T/p" 8 none -- -r args
run other "$T/second/p" 9 other -- --args

# Each entry and return of a file's process: what it has alone is in what is said of it among others.
steps_of() { # JSON NAME
	local pid

	pid=$(jq -r 'select(.event == "entry") | .pid' "$T/$2.json" | head -n 1)
	jq -c --argjson pid "$pid" 'select((.event == "entry" or .event == "return") and .pid == $pid)
		| {event, symbol, args: (.args // {}), regs, ret, value}' "$1"
}
has_all() { jq -n --slurpfile own "$1" --slurpfile joined "$2" '($own | length) as $n | $n > 0 and ($joined | length) == $n and
	([range($n) | . as $i | $joined[$i] | contains($own[$i])] | all)'; }

for order in 'weight name' 'name weight' 'weight all' 'all weight' 'name all weight' 'none weight' 'weight none all'; do
	read -ra files <<<"$order"
	bb report "${files[@]/#/$T/}" -F json -o "$T/joined.json"
	for file in "${files[@]}"; do
		steps_of "$T/$file.json" "$file" >"$T/own"
		steps_of "$T/joined.json" "$file" >"$T/joined"
		is "$(has_all "$T/own" "$T/joined")" true "of $order: $file says what it says alone"
	done
done
is "$(steps_of "$T/joined.json" none | jq -c .args | sort -u)" '{}' 'what was recorded without types is shown without them'

bb report "$T/all" "$T/other" --by-symbol -F json -o "$T/joined.json"
steps_of "$T/joined.json" other >"$T/joined"
is "$(jq -r 'select(.event == "entry" and .symbol == "pick") | [.args == {}, .regs.rdx == "0xa"] | @csv' "$T/joined" | sort -u)" \
	true,true 'a function whose parameters have other names in another build is shown by its registers'
is "$(jq -r 'select(.event == "entry" and .symbol == "next") | .args.m' "$T/joined" | xargs)" 'SLOW FAST TURBO' \
	'one that has the same ones by its types'

bb diff "$T/weight" "$T/name"
exits 1 'two runs differ'
like "$T/out" 'pick\(n->weight=5\|50, n->name="good"\|"bad"\)' 'diff has the values of both, by name'
bb diff "$T/weight" "$T/name" -F json -o "$T/diff"
is "$(jq -c 'select(.calls) | .calls[] | select(.symbol == "pick") | [.a.args, .b.args]' "$T/diff" | head -n 1)" \
	'[{"n->weight":5,"n->name":"good"},{"n->weight":50,"n->name":"bad"}]' 'so has its JSON'
bb diff "$T/weight" "$T/name" -F html -o "$T/diff.html"
like "$T/diff.html" '<i>n-&gt;name=</i><b class="a">&quot;good&quot;</b>|<b class="b">&quot;bad&quot;</b>' 'and its page'
bb diff "$T/name" "$T/none"
like "$T/out" 'pick\(rdi=' 'where one has no types both are shown by registers'
done_testing

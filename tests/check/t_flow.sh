#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# t_flow.sh [BUILD-FOLDER]: flow.pl accepts possible traces and refuses impossible ones.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/tap.sh"
B=${1:-${B:-build}}
[ -x "$B/stepref" ] && [ -d "$B/progs" ] || { echo "1..0 # SKIP needs $B/stepref and $B/progs: make -C tests/progs" && exit 0; }
B=$(cd "$B" && pwd)
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
# shellcheck disable=SC2120
flow() { "$here/flow.pl" "$@" "$T/json" "$T/code" >"$T/said" 2>&1; }

# ---- by hand: a kernel function, a return thunk, an indirect thunk, flags ----

cat >"$T/code" <<'END'
ffffffff81000000 <foo>:
ffffffff81000000:	f3 0f 1e fa          	endbr64
ffffffff81000004:	85 ff                	test   %edi,%edi
ffffffff81000006:	74 07                	je     ffffffff8100000f <foo+0xf>
ffffffff81000008:	e8 f3 0f 00 00       	call   ffffffff81001000 <bar>
ffffffff8100000d:	eb 05                	jmp    ffffffff81000014 <foo+0x14>
ffffffff8100000f:	e8 ec 1f 00 00       	call   ffffffff81002000 <__x86_indirect_thunk_rax>
ffffffff81000014:	e9 e7 2f 00 00       	jmp    ffffffff81003000 <__x86_return_thunk>
ffffffff81001000 <bar>:
ffffffff81001000:	48 c7 05 11 22 33 44 	movq   $0x55,0x44332211(%rip)        # ffffffffc5334221
ffffffff81001007:	55 00 00 00 
ffffffff8100100b:	c3                   	ret
END

event() { # TYPE SYMBOL VADDR [MORE]
	printf '{"ts":1,"cpu":0,"pid":7,"tid":%s,"comm":"c","event":"%s","object":"kernel","symbol":"%s","vaddr":"0xffffffff8100%s"%s}\n' \
		"${tid:-7}" "$1" "$2" "$3" "${4:-}"
}
to() { printf '"to":{"object":"kernel","vaddr":"0xffffffff%s"}' "$1"; }

direct() {
	event entry foo 0000
	event branch foo 0006 ",\"kind\":\"jcc\",\"insn\":\"je\",\"taken\":false,\"flags\":\"$1\",$(to 81000008)"
	event branch foo 0008 ",\"kind\":\"call\",\"insn\":\"call\",$(to 81001000)"
	event entry bar 1000
	event branch bar 100b ",\"kind\":\"ret\",\"insn\":\"ret\",$(to 8100000d)"
	event return bar 1000
	event branch foo 000d ",\"kind\":\"jmp\",\"insn\":\"jmp\",$(to 81000014)"
	event branch foo 0014 ",\"kind\":\"ret\",\"insn\":\"jmp\",$(to 81777777)"
	event return foo 0000
}
indirect() {
	event entry foo 0000
	event branch foo 0006 ",\"kind\":\"jcc\",\"insn\":\"je\",\"taken\":true,\"flags\":\"0x246\",$(to 8100000f)"
	event branch foo 000f ",\"kind\":\"icall\",\"insn\":\"call\",$(to 81555555)"
	event branch foo 0014 ",\"kind\":\"ret\",\"insn\":\"jmp\",$(to 81777777)"
	event return foo 0000
}

direct 0x202 >"$T/json"
ok "a call that returns through a return thunk is a path" flow
direct 0x242 >"$T/json"
flow
is $? 1 "a branch taken against the flags is refused"
ok "a branch taken against the flags is refused because of the flags" grep -q flags "$T/said"
indirect >"$T/json"
ok "an indirect call through its thunk is a path" flow
{ direct 0x202; indirect; direct 0x202; } >"$T/json"
ok "several calls in a row are a path" flow
{ direct 0x202 | sed -n 1,3p; direct 0x202; direct 0x202 | sed -n 4,9p; } >"$T/json"
flow
is $? 1 "an entry out of nowhere is refused"
ok "an entry out of nowhere can come from an interrupt" flow --async
{ indirect | sed -n 1,3p; direct 0x202; indirect | sed -n 4,5p; } >"$T/json"
ok "untraced code that is called may call traced functions" flow
{ indirect | sed -n 1,3p; direct 0x202 | sed -n 1,8p; indirect | sed -n 4,5p; } >"$T/json"
flow
is $? 1 "untraced code that is called has to return from the traced functions that it calls"
{ direct 0x202; tid=8; indirect; } | sort -s -t: -k1,1 >"$T/json"
ok "the events of two threads are two paths" flow
{
	direct 0x202 | sed -n 1,2p
	event unknown foo 0000
	indirect
} >"$T/json"
ok "an unknown path is left out" flow
direct 0x202 | sed -n 3,9p >"$T/json"
ok "a thread may be inside when the trace begins" flow
direct 0x202 | sed 's/"to".*}}/"x":1}/' >"$T/json"
ok "the target of a branch may be absent" flow
direct 0x202 | sed 's/1000"}/1001"}/' >"$T/json"
flow
is $? 1 "a direct call that goes elsewhere is refused"
sed '/eb 05/d' "$T/code" >"$T/holes"
direct 0x202 >"$T/json"
"$here/flow.pl" "$T/json" "$T/holes" >"$T/said"
is $? 1 "code that isn't there is refused"

# ---- a program's, as stepped ----

cd "$B/progs" || exit 1
for program in 'ladder:classify' 'tail-all:direct indirect chain down plain hidden' 'midjump:left right outer inner' \
	'switch-cet:pick' 'fptr:operands one two' 'cold-both:parse complain' 'callback:compare' \
	'odd:lock_trick ret_imm call_ret_imm rep_ret bnd_jmp first_branch loop_entry push_ret call_next'; do
	name=${program%%:*}
	"$here/../step/ranges.sh" "$name" ${program#*:} >"$T/ranges"
	"$here/../step/again.sh" "$T/ref" "$T/stdout" "$B/stepref" --object "$name" --ranges "$T/ranges" --from-entry -- \
		"./$name" 2>/dev/null
	"$here/ref2json.pl" "/somewhere/$name" "$T/ranges" "$T/ref" >"$T/json"
	objdump -d "$name" >"$T/code"
	ok "$name: what was stepped is a path" flow --whole --ranges "$T/ranges"
	ok "$name: what was stepped, changed, dropped, doubled or swapped, is no path" env PATHS=1 EVERY=3 "$here/mutate.pl" \
		"$T/json" "$here/flow.pl" --whole --ranges "$T/ranges" @ "$T/code"
done
tap_done

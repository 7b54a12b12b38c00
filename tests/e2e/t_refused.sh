#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Where the kernel refuses a probe, others tell the same steps. It refuses one where another tracer's probe has a
# reference counter, which ours has not.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes
mechanisms

source_program skips c <<'END'
#include <stdio.h>
/* in both, what follows meets again behind some nops */
long skips(long n);
__asm__(".text\n.type skips, @function\nskips: push %rbx\ntest $1, %dil\njne 1f\nnop\nnop\nnop\n"
	"1: mov %rdi, %rax\npop %rbx\nret\n.size skips, .-skips");
int main(void)
{
	long sum = 0;
	for (int i = 0; i < 20; i++)
		sum += skips(i * i % 7);
	printf("%ld\n", sum);
	return 0;
}
END

TRACEFS=$T/tracefs
mkdir "$TRACEFS"
mount -t tracefs nodev "$TRACEFS" || skip_all 'needs tracefs'
at_end "umount -l '$TRACEFS'"
[[ -e $TRACEFS/uprobe_events ]] || skip_all 'needs uprobe_events'
REFUSER=refuser_$$
allow() {
	local event

	for event in "$TRACEFS/events/$REFUSER"/p_*; do
		[[ -e $event ]] || return 0
		echo 0 >"$event/enable"
		echo "-:$REFUSER/${event##*/}" >>"$TRACEFS/uprobe_events"
	done
}
at_end allow
# A file of its own, since probes that are gone may stay with the kernel for a while.
refuse() { # OFFSET... in the function
	local offset

	allow
	cp "$T/skips" "$T/skips.$((++files))"
	for offset; do
		echo "p:$REFUSER/p_$offset $T/skips.$files:$((start + offset))(0x10)" >>"$TRACEFS/uprobe_events"
		echo 1 >"$TRACEFS/events/$REFUSER/p_$offset/enable"
	done
}
files=0
# file offsets and addresses of this code are the same
start=$(nm "$T/skips" | awk '$3 == "skips" { print "0x" $1 }')

# What is shown, without what is measured.
steps() { json_lines "$1" '$e->{event} ne "summary" && join " ", map { $_ // "" } @$e{qw(event vaddr taken value)}, $e->{to} ? $e->{to}{vaddr} : ""'; }
bb user "$T/skips" skips --placement full -F json -o "$T/full.json" -- "$T/skips"
steps "$T/full.json" >"$T/wanted"
is "$(grep -c '^branch' "$T/wanted") $(summary skipped)" '40 0' 'the steps that are compared have all branches'

# traced PROBED WHAT OPTION...: the offset that is PROBED instead
traced() {
	local probed=$1 what=$2
	shift 2

	bb user "$T/skips.$files" skips -v -F json -o "$T/json" "$@" -- "$T/skips.$files"
	exits 0 "$what: traced"
	steps "$T/json" >"$T/steps"
	same "$T/steps" "$T/wanted" "$what: the steps are the same"
	is "$(summary skipped)" 1 "$what: it is skipped"
	like "$T/err" "^bbtrace: probing skips\\+$probed instead of what the kernel refused" "$what: another one is probed instead"
}
for mechanism in "${MECHANISMS[@]}"; do
	for placement in full witness; do
		how=(--attach "$mechanism" --placement "$placement")
		refuse 5
		traced 0x7 "$mechanism, $placement, a conditional" "${how[@]}"
		refuse 5 7
		traced 0x8 "$mechanism, $placement, a conditional and the first witness" "${how[@]}"
	done
done
allow

# ---- while another bbtrace is closing probes, an old copy of what the file had may still be with the kernel ----
cat >"$T/closing.py" <<'END'
import fcntl, os, struct, sys, time

f = os.open(sys.argv[1], os.O_RDWR)
fcntl.fcntl(f, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 1, 0))
open(sys.argv[2], "w").close()
while not os.path.exists(sys.argv[3]):
    time.sleep(0.01)
END
cp "$T/skips" "$T/fresh"
python3 "$T/closing.py" "$TRACEFS/uprobe_events" "$T/held" "$T/release" &
closer=$!
wait_for 60 test -e "$T/held"
"$BBTRACE" user "$T/fresh" skips --attach uprobe_event -F json -o "$T/json" -- "$T/fresh" >"$T/out" 2>"$T/err" </dev/null &
tracer=$!
sleep 2
ok "$(test -s "$T/out"; echo $((!$?)))" 'a file that has just changed: the probes wait until another has closed its own'
touch "$T/release"
wait $closer
ok $? 'the other has ended'
wait $tracer
ok $? 'then it is traced'
steps "$T/json" >"$T/steps"
same "$T/steps" "$T/wanted" 'with all steps'
done_testing

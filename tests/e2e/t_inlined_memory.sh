#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The memory of traced processes, once the right to open it for writing is given up: they open it themselves, if they can, and
# whatever they open in its place isn't taken. By either means their code gets its springboards, and is as in its file then.
# shellcheck disable=SC2154 # lib.sh sets status
. "$(dirname "$0")/lib.sh"
needs root uprobes
[[ $(uname -m) == x86_64 ]] || skip_all 'functions are copied on x86-64 only'

mkdir "$T/root"
chmod 755 "$T" "$T/root"
source_program root/alive c -static <<'END'
/* alive MODE FILE: FILE: this program. It computes until its code was changed, makes a child, and one that executes this again,
 * and goes on until its code is as in the file. Each says so. MODE: nobody: it becomes that. */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static char code[1 << 21];
__attribute__((noipa)) unsigned work(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum = i % 3 ? sum + i : sum * 3 ^ n;
	return sum;
}
__attribute__((noinline)) static int is_changed(const char *file)
{
	const Elf64_Phdr *p = (void *)getauxval(AT_PHDR);
	int fd = open(file, O_RDONLY), changed = 0;

	for (unsigned long i = 0; fd >= 0 && i < getauxval(AT_PHNUM); i++)
		if (p[i].p_type == PT_LOAD && p[i].p_flags & PF_X && p[i].p_filesz < sizeof(code) &&
		    pread(fd, code, p[i].p_filesz, p[i].p_offset) == (ssize_t)p[i].p_filesz)
			changed |= !!memcmp(code, (void *)p[i].p_vaddr, p[i].p_filesz);
	close(fd);
	return fd < 0 ? -1 : changed;
}
static void say(const char *what, const char *name)
{
	char line[64];

	write(1, line, snprintf(line, sizeof(line), "%s %s\n", name, what));
}
static void await(int changed, const char *file, const char *name)
{
	time_t end = time(NULL) + 120;
	unsigned wrong = 0;

	while (is_changed(file) != changed && time(NULL) < end) {
		for (unsigned i = 0; i < 100; i++)
			wrong |= work(i) != work(i) || work(7) != 97;
		usleep(2000);
	}
	say(is_changed(file) != changed ? "waits in vain" : wrong ? "wrong" : changed ? "changed" : "restored", name);
}
int main(int argc, char **argv)
{
	int leaf = !strcmp(argv[1], "leaf");

	alarm(300);
	if (leaf) {
		await(1, argv[2], "program");
		await(0, argv[2], "program");
		return 0;
	}
	await(1, argv[2], "first");
	if (!strcmp(argv[1], "nobody") && (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534)))
		return 1;
	if (!fork()) {
		await(1, argv[2], "child");
		await(0, argv[2], "child");
		return 0;
	}
	if (!fork())
		execl(argv[2], argv[2], "leaf", argv[2], NULL);
	await(0, argv[2], "first");
	wait(NULL);
	wait(NULL);
	say("done", "all");
	return 0;
}
END

# Which process's memory bbtrace may write to: of those of alive, in the order of their PIDs.
opened() {
	local inline pid link all=
	inline=$(pgrep -P "$1" -x bbtrace-inline)
	for pid in $(pgrep -x alive | sort -n); do
		link=$(find "/proc/$inline/fd" -lname "/proc/$pid/mem" -perm -u+w | head -1)
		all+=${link:+w}$([[ $link ]] || echo r)
	done
	echo "$all"
}
# Has the trace's process CAP_DAC_OVERRIDE, 2, and that of copies?
gave_up() {
	local pid all=0

	for pid in "$1" $(pgrep -P "$1" -x bbtrace-inline); do
		all=$((all | 0x$(sed -n 's/^CapPrm:\t//p' "/proc/$pid/status") & 2))
	done
	((!all))
}
changed() { (($(grep -cE " (changed|wrong|waits in vain)$" "$T/said") >= 3)); }
first_waits() { pgrep -x alive >"$T/pids"; }

# run MODE FILE OPENED PREFIX...: alive, started by that, attached to, and detached.
run() {
	local mode=$1 file=$2 want=$3 bb started
	shift 3

	: >"$T/said"
	"$@" "$file" "$mode" "$file" >"$T/said" 2>"$T/err" </dev/null &
	started=$!
	wait_for $PATIENCE first_waits
	"$BBTRACE" user "$T/root/alive" work await is_changed -f --engine inline -p "$(head -1 "$T/pids")" -o "$T/trace" >"$T/out" 2>"$T/err" </dev/null &
	bb=$!
	wait_for $PATIENCE changed
	is "$(opened $bb)" "$want" "$mode: how the memory of each is open"
	wait_for $PATIENCE gave_up $bb
	ok $? "$mode: by processes that may not open others' for writing"
	kill -INT $bb
	wait $bb
	is "$?" 0 "$mode: the trace ends" || diag "$(<"$T/err")"
	wait $started
	is "$? $(sort "$T/said" | xargs -d, | paste -sd,)" \
		'0 all done,child changed,child restored,first changed,first restored,program changed,program restored,' \
		"$mode: each is right, was changed and is restored"
}
run plain "$T/root/alive" www env
run chroot /alive wrr chroot "$T/root"
# Another file is in its place, or another process's memory.
if unshare --mount true 2>/dev/null; then
	# shellcheck disable=SC2016
	run pipe "$T/root/alive" wrr unshare --mount bash -c 'mount -t tmpfs none /proc && mkdir /proc/self && mkfifo /proc/self/mem && exec "$@"' -
	sleep 600 &
	other=$!
	# shellcheck disable=SC2016
	run other "$T/root/alive" wrr unshare --mount bash -c 'mount --rbind /proc /mnt && mount -t tmpfs none /proc && mkdir /proc/self &&
		: >/proc/self/mem && mount --bind /mnt/'$other'/mem /proc/self/mem && exec "$@"' -
	kill $other
else
	skip 'other files in place of its memory' 'unshare --mount does not work here'
fi
# A process that has become another user is not its own any more: one that executes a program is.
run nobody "$T/root/alive" wrw env

# CMD, which nobody has looked at before.
for row in "$T/root/alive env" "/alive chroot $T/root"; do
	read -r file prefix <<<"$row"
	: >"$T/said"
	# shellcheck disable=SC2086
	"$BBTRACE" user "$T/root/alive" work await is_changed -f --engine inline -o "$T/trace" -- $prefix "$file" cmd "$file" >"$T/said" 2>"$T/err" </dev/null &
	bb=$!
	wait_for $PATIENCE changed
	"$BBTRACE" ctl $bb quit >"$T/out" 2>&1
	ok $? "${prefix%% *}: the trace ends, and CMD goes on" || diag "$(<"$T/out")"
	wait_for $PATIENCE grep -q '^all done$' "$T/said"
	wait $bb
	is "$(sort "$T/said" | paste -sd,)" \
		'all done,child changed,child restored,first changed,first restored,program changed,program restored' \
		"${prefix%% *}: so is what it executes" || diag "$(<"$T/err")"
done
done_testing

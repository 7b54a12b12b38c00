#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Runs in the guest of t_explain.sh: system calls that fail at lines which the kernel's source shows.

. "$(dirname "$0")/guest_lib.sh"

P=$1
complain=$2
only=${3:-}

# What the source says: CASE, system call, error, where the branch is, what it compares. A function that may have been
# inlined has several names, and a test of bits several forms.
cases() {
	cat <<'END'
setsockopt	setsockopt	EINVAL	(__sys_setsockopt|do_sock_setsockopt|__x64_sys_setsockopt)	optlen < 0	test (e..|r[0-9]+d), \g{-1} .*0xffffffff
pipe2	pipe2	EINVAL	(do_pipe2|__do_pipe_flags|__x64_sys_pipe2)	flags & ~(O_CLOEXEC | O_NONBLOCK | O_DIRECT | O_NOTIFICATION_PIPE)	0xfff7b77f
socket	socket	EINVAL	(__sys_socket_create|__sys_socket|__x64_sys_socket)	type & ~SOCK_TYPE_MASK & ~(SOCK_CLOEXEC | SOCK_NONBLOCK)	0xfff7f7f0
read	read	EBADF	(vfs_read|ksys_read)	f_mode & FMODE_READ	, 0x01
mount	mount	EPERM	(path_mount|do_mount|__x64_sys_mount|may_mount)	!may_mount()	test (al|eax), \g{-1} 0x0\b
ftruncate	ftruncate	EINVAL	(do_sys_ftruncate|ksys_ftruncate|do_ftruncate|__x64_sys_ftruncate)	length < 0	test (r..), \g{-1} .*0xffffffffffffffff
kill	kill	EINVAL	(check_kill_permission|__x64_sys_kill|kill_something_info|group_send_sig_info)	valid_signal(sig)	, 0x40 .*0x63
rt_sigprocmask	rt_sigprocmask	EINVAL	__x64_sys_rt_sigprocmask	sigsetsize != sizeof(sigset_t)	, 0x08( 0x4|$)
openat	openat	EEXIST	(do_open|path_openat)	(open_flag & O_EXCL) && !(f_mode & FMODE_CREATED)	(\+0x[04][6e]\], 0x10\b|0x100000)
epoll_create1	epoll_create1	EINVAL	(do_epoll_create|__x64_sys_epoll_create1)	flags & ~EPOLL_CLOEXEC	0xfff7ffff
dup3-same	dup3	EINVAL	(ksys_dup3|__x64_sys_dup3)	oldfd == newfd	cmp e.., e.. 0x3 0x3
dup3-flags	dup3	EINVAL	(ksys_dup3|__x64_sys_dup3)	flags & ~O_CLOEXEC	0xfff7ffff
lseek-pipe	lseek	ESPIPE	(vfs_llseek|ksys_lseek|__x64_sys_lseek|no_llseek)	f_mode & FMODE_LSEEK	(0x04|0x4\b)
lseek-whence	lseek	EINVAL	(ksys_lseek|__x64_sys_lseek)	whence <= SEEK_MAX	, 0x04 .*0x63
eventfd2	eventfd2	EINVAL	(do_eventfd|__x64_sys_eventfd2)	flags & ~EFD_FLAGS_SET	0xfff7f7fe
getrandom	getrandom	EINVAL	__x64_sys_getrandom	flags & ~(GRND_NONBLOCK | GRND_RANDOM | GRND_INSECURE)	(0xfffffff8|, 0x07)
mprotect	mprotect	EINVAL	do_mprotect_pkey	start & ~PAGE_MASK	0xfff\b
mmap-length	mmap	EINVAL	(do_mmap|vm_mmap_pgoff|ksys_mmap_pgoff)	!len	test (r..), \g{-1} 0x0\b
clock_nanosleep	clock_nanosleep	EINVAL	(__x64_sys_clock_nanosleep|timespec64_valid)	tv_nsec >= NSEC_PER_SEC	0x3b9ac9ff
unlink	unlink	EISDIR	(may_delete.*|vfs_unlink)	d_is_dir(victim)	0x(0*200000|380000|180000|100000|0*e00000|0*700000)\b
fallocate	fallocate	EINVAL	(vfs_fallocate|ksys_fallocate)	len <= 0	test (r..), \g{-1} 0x0\b
END
}

# The branches that were named: SYSTEM-CALL ERROR FUNCTION COMPARE VALUES.
named() {
	jq -r 'select(.event == "failure") | [.syscall, .error, .decided_by.function // "none",
		.decided_by.compare // .decided_by.chooses // "none"] + (.decided_by.why.values // []) | join(" ")' "$T/json"
}

# judge: traces the cases of $group in one run, and checks each.
judge() {
	local names calls name call error function source compares

	names=$(cut -f1 <<<"$group" | xargs)
	calls=$(cut -f2 <<<"$group" | sort -u | paste -sd,)
	# shellcheck disable=SC2086
	bb why -s "$calls" --again -F json -o "$T/json" -- "$P" $names
	exits 0 "$names"
	named >"$T/named"
	while IFS=$'\t' read -r name call error function source compares; do
		grep -qP "^$call $error (?:$function)(?:\.[.a-z0-9]+)? .*$compares" "$T/named"
		ok $? "$name: $source" || {
			diag "$(cat "$T/named")"
			diag "$(cat "$T/json" "$T/err" | tr '\r' '\n' | grep "$call" | cut -c1-1000)"
		}
	done <<<"$group"
	diag "$(cat "$T/named")"
}

mkdir -p /tmp
group='' n=0
while IFS= read -r row; do
	[[ ${row%%$'\t'*} =~ ^($only) ]] || continue
	group+=${group:+$'\n'}$row
	n=$((n + 1))
	((n % 5 == 0)) || continue
	judge
	group=''
done < <(cases)
[[ ! $group ]] || judge

# One screen: the message, the call that it names, what the kernel decided, and the program's branch.
touch /tmp/file
bb why --again -o "$T/said" -- "$complain" /tmp/file/below
exits 1 'a program that says why it fails'
sed -E 's/^  (.*) [a-z_.0-9]+\+0x[0-9a-f]+  .*/  \1/; s/^(  failed: [a-z0-9]+\().*(\) = .*)/\1\2/; /^    /d; /^  (in [^ ]* >|assumed|not known)/d; /^[0-9]+ more failures/d' "$T/said" >"$T/lines"
is "$(sed 's/^  message.*/  message/; s/kernel passed on by/kernel decided by/' "$T/lines")" "$complain exited with 1
  message
  failed: openat() = -20 ENOTDIR (Not a directory)
  in the kernel decided by
  decided by" 'the kernel part is beside the call that the message names' || diag "$(cat "$T/said" "$T/err")"
done_testing

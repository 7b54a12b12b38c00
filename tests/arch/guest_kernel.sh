#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest_kernel.sh MARK PLACEMENT...: traces functions of the kernel, whoever calls them, while a program makes system calls, once
# with each placement. Sends back the traces, the functions' ranges and their code from memory; tests/check/executed.py compares them
# with what QEMU executed meanwhile. MARK: kernel_mark. None of the functions is one that bbtrace itself or this script
# calls meanwhile: QEMU would count the one, the trace has the other outside of the window.

# shellcheck disable=SC2154 # guest_lib.sh sets them
. tests/vm/guest_lib.sh
MARK=$1
shift
mkdir -p "$OUT/code"

# Of each a|b the name that this kernel has and accepts probes on.
known() {
	local names name

	for names; do
		for name in ${names//|/ }; do
			[[ $(traceable "$name") ]] && echo "$name" && break
		done
	done
}

work() {
	perl -e '
		use Fcntl ":flock";
		use Socket;
		use IPC::SysV qw(IPC_PRIVATE IPC_RMID IPC_CREAT);
		for my $turn (1 .. 6) {
			mkdir "/tmp/w"; mkdir "/tmp/w/d", 0700;
			open my $f, ">", "/tmp/w/a"; print $f "x" x 5000; truncate $f, 100; flock $f, LOCK_EX; flock $f, LOCK_UN; close $f;
			link "/tmp/w/a", "/tmp/w/b"; symlink "a", "/tmp/w/s"; rename "/tmp/w/b", "/tmp/w/c";
			readlink "/tmp/w/s"; chmod 0600, "/tmp/w/c"; utime 1, 2, "/tmp/w/c"; rmdir "/tmp/w/none";
			unlink "/tmp/w/$_" for qw(a c s none); rmdir "/tmp/w/d"; rmdir "/tmp/w";
			pipe my $r, my $w; syswrite $w, "some" x 300; sysread $r, my $b, 2000;
			socketpair my $one, my $two, AF_UNIX, SOCK_STREAM, 0; syswrite $one, "a" x 9000; sysread $two, $b, 9000;
			socket my $u, PF_INET, SOCK_DGRAM, 17; send $u, "hello", 0, sockaddr_in(9, inet_aton("127.0.0.1"));
			my $q = msgget IPC_PRIVATE, IPC_CREAT | 0600; msgsnd $q, pack("l! a*", 1, "text"), 0; msgrcv $q, $b, 50, 0, 0; msgctl $q, IPC_RMID, 0;
			my $s = semget IPC_PRIVATE, 2, IPC_CREAT | 0600; semctl $s, 0, IPC_RMID, 0;
			setpriority 0, 0, $turn; select undef, undef, undef, 0.001;
			my $pid = fork // die; exit 3 unless $pid; waitpid $pid, 0;
		}'
	mount -t tmpfs none /mnt && mount -o remount,ro /mnt && umount /mnt
	mount -t none none /mnt 2>/dev/null
}

# traced PLACEMENT WINDOW: the work, while bbtrace runs on another CPU: what interrupts it there would not be traced, as
# bbtrace itself is not.
traced() {
	taskset -c 1 $BBTRACE kernel "${functions[@]}" -v --placement "$1" --buffer 64M -o "$OUT/$1.bbt" >"$T/out.txt" 2>"$OUT/$1.err" </dev/null &
	wait_for 3000 grep -q 'capabilities kept' "$OUT/$1.err"
	"$MARK" "$2"
	work
	sleep 2
	"$MARK" 0
	kill -INT $!
	wait $!
	is $? 0 "$(uname -m), $1: the trace ends well"
	diag "$(grep ' probes attached' "$OUT/$1.err")"$'\n'"$(tail -n 1 "$OUT/$1.err")"
}

taskset -pc 0 $$ >/dev/null
mapfile -t functions < <(known do_mkdirat do_rmdir do_symlinkat do_linkat do_renameat2 do_unlinkat vfs_mkdir vfs_rename vfs_unlink vfs_symlink \
	vfs_link notify_change chmod_common 'shmem_mknod|shmem_create' shmem_unlink 'anon_pipe_read|pipe_read' 'anon_pipe_write|pipe_write' \
	unix_stream_sendmsg unix_stream_read_generic udp_sendmsg ip_route_output_key_hash_rcu flock_lock_inode flock64_to_posix_lock do_msgsnd do_msgrcv newque \
	newary set_one_prio set_user_nice path_mount do_new_mount path_umount do_remount)
diag "${#functions[@]} functions: ${functions[*]}"
((${#functions[@]} >= 20))
ok $? "$(uname -m): at least twenty functions"
ranges "${functions[@]}" >"$OUT/ranges"
while read -r _ start size; do
	live_text "$OUT/code/$start" "$start" "$size"
done <"$OUT/ranges"
window=0
for placement; do
	traced "$placement" $((++window))
done
bring_back
done_testing

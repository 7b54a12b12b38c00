#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest_args.sh [all]: runs in the guest of t_args.sh: the values that bbtrace shows are those that the kernel's own
# tracer fetches, by registers and by offsets that it finds itself.

. "$(dirname "$0")/guest_lib.sh"

TRACING=/sys/kernel/tracing
mountpoint -q $TRACING || mount -t tracefs none $TRACING

# FUNCTION, then for each parameter NAME=FETCH: what kprobes fetch
table='
vfs_read count=$arg3:u64
vfs_write count=$arg3:u64
do_sys_openat2 dfd=$arg1:s32 filename=+0($arg2):ustring
vfs_statx dfd=$arg1:s32 flags=$arg3:s32
security_file_permission mask=$arg2:s32
security_inode_permission mask=$arg2:s32
rw_verify_area read_write=$arg1:s32 count=$arg4:u64
do_mmap addr=$arg2:u64 len=$arg3:u64 prot=$arg4:u64 flags=$arg5:u64
vm_mmap_pgoff addr=$arg2:u64 len=$arg3:u64 prot=$arg4:u64 flag=$arg5:u64
__vm_munmap start=$arg1:u64 len=$arg2:u64
vma_merge_new_range vmg=$arg1:x64
generic_file_read_iter iocb=$arg1:x64
filemap_read already_read=$arg3:s64
vfs_open path=$arg1:x64
filp_close filp=$arg1:x64
do_sys_poll nfds=$arg2:u32
vfs_getattr_nosec request_mask=$arg3:u32 query_flags=$arg4:u32
getname_flags flags=$arg2:s32
kernel_read count=$arg3:u64
setup_arg_pages stack_top=$arg2:u64 executable_stack=$arg3:s32
anon_pipe_write from=$arg2:x64
sync_regs eregs=$arg1:x64
ksys_read fd=$arg1:u32 count=$arg3:u64
ksys_write fd=$arg1:u32 count=$arg3:u64
do_unlinkat dfd=$arg1:s32
do_dup2 fd=$arg3:u32 flags=$arg4:u32
do_fcntl fd=$arg1:s32 cmd=$arg2:u32 arg=$arg3:u64
do_vfs_ioctl fd=$arg2:u32 cmd=$arg3:u32 arg=$arg4:u64
do_prlimit resource=$arg2:u32
get_user_pages_remote start=$arg2:u64
do_brk_flags addr=$arg3:u64
alloc_fd start=$arg1:u32 end=$arg2:u32 flags=$arg3:u32
close_fd fd=$arg1:u32
fget fd=$arg1:u32
copy_strings_kernel argc=$arg1:s32
security_file_open file=$arg1:x64
security_file_alloc file=$arg1:x64
security_file_mprotect vma=$arg1:x64 reqprot=$arg2:u64 prot=$arg3:u64
security_mmap_file prot=$arg2:u64 flags=$arg3:u64
security_mmap_addr addr=$arg1:u64
security_vm_enough_memory_mm pages=$arg2:s64
security_inode_getattr path=$arg1:x64
security_file_ioctl cmd=$arg2:u32 arg=$arg3:u64
security_file_fcntl cmd=$arg2:u32 arg=$arg3:u64
security_capable cap=$arg3:s32 opts=$arg4:u32
vfs_fstat fd=$arg1:s32
vfs_llseek offset=$arg2:s64 whence=$arg3:s32
vfs_truncate length=$arg2:s64
vfs_readlink buflen=$arg3:s32
vfs_fsync_range start=$arg2:s64 end=$arg3:s64 datasync=$arg4:s32
vfs_utimes path=$arg1:x64
vfs_fallocate mode=$arg2:s32 offset=$arg3:s64 len=$arg4:s64
do_filp_open dfd=$arg1:s32
do_faccessat dfd=$arg1:s32 mode=$arg3:s32 flags=$arg4:s32
do_readlinkat dfd=$arg1:s32 bufsiz=$arg4:s32
do_mkdirat dfd=$arg1:s32
do_rmdir dfd=$arg1:s32
do_symlinkat newdfd=$arg2:s32
do_linkat olddfd=$arg1:s32 newdfd=$arg3:s32 flags=$arg5:s32
do_renameat2 olddfd=$arg1:s32 newdfd=$arg3:s32 flags=$arg5:u32
do_truncate length=$arg3:s64 time_attrs=$arg4:u32
do_ftruncate length=$arg2:s64 small=$arg3:s32
do_utimes dfd=$arg1:s32 flags=$arg4:s32
do_pipe2 flags=$arg2:s32
create_pipe_files flags=$arg2:s32
get_unused_fd_flags flags=$arg1:u32
fd_install fd=$arg1:u32
put_unused_fd fd=$arg1:u32
filename_lookup dfd=$arg1:s32 flags=$arg3:u32
inode_permission mask=$arg3:s32
generic_permission mask=$arg3:s32
generic_fillattr request_mask=$arg2:u32
iterate_dir file=$arg1:x64
touch_atime path=$arg1:x64
ksys_lseek fd=$arg1:u32 offset=$arg2:s64 whence=$arg3:u32
ksys_pread64 fd=$arg1:u32 count=$arg3:u64 pos=$arg4:s64
ksys_pwrite64 fd=$arg1:u32 count=$arg3:u64 pos=$arg4:s64
ksys_dup3 oldfd=$arg1:u32 newfd=$arg2:u32 flags=$arg3:s32
ksys_mmap_pgoff addr=$arg1:u64 len=$arg2:u64 prot=$arg3:u64 flags=$arg4:u64 fd=$arg5:u64
ksys_fchown fd=$arg1:u32 user=$arg2:u32 group=$arg3:u32
ksys_sync_file_range fd=$arg1:s32 offset=$arg2:s64 nbytes=$arg3:s64 flags=$arg4:u32
find_vma addr=$arg2:u64
mmap_region addr=$arg2:u64 len=$arg3:u64
__get_unmapped_area addr=$arg2:u64 len=$arg3:u64 pgoff=$arg4:u64 flags=$arg5:u64
do_vmi_munmap start=$arg3:u64 len=$arg4:u64
do_madvise start=$arg2:u64 len_in=$arg3:u64 behavior=$arg4:s32
do_mlock start=$arg1:u64 len=$arg2:u64 flags=$arg3:u64
apply_vma_lock_flags start=$arg1:u64 len=$arg2:u64 flags=$arg3:u64
do_sigaction sig=$arg1:s32
sigprocmask how=$arg1:s32
kill_pid_info sig=$arg1:s32
do_futex op=$arg2:s32 val=$arg3:u32
futex_wake flags=$arg2:u32
hrtimer_nanosleep rqtp=$arg1:s64
do_setitimer which=$arg1:s32
do_getitimer which=$arg1:s32
set_user_nice nice=$arg2:s64
sched_getaffinity pid=$arg1:s32
sched_setaffinity pid=$arg1:s32
do_arch_prctl_64 option=$arg2:s32 arg2=$arg3:u64
do_exit code=$arg1:s64
do_group_exit exit_code=$arg1:s32
begin_new_exec bprm=$arg1:x64
__sys_socket family=$arg1:s32 type=$arg2:s32 protocol=$arg3:s32
__sys_socketpair family=$arg1:s32 type=$arg2:s32 protocol=$arg3:s32
__sys_bind fd=$arg1:s32 addrlen=$arg3:s32
__sys_listen fd=$arg1:s32 backlog=$arg2:s32
__sys_shutdown fd=$arg1:s32 how=$arg2:s32
__sys_setsockopt fd=$arg1:s32 level=$arg2:s32 optname=$arg3:s32 optlen=$arg5:s32
__sys_sendto fd=$arg1:s32 len=$arg3:u64 flags=$arg4:u32
__sys_recvfrom fd=$arg1:s32 size=$arg3:u64 flags=$arg4:u32
do_sendfile out_fd=$arg1:s32 in_fd=$arg2:s32 count=$arg4:u64 max=$arg5:s64
do_epoll_create flags=$arg1:s32
do_eventfd count=$arg1:u32 flags=$arg2:s32
do_signalfd4 ufd=$arg1:s32 flags=$arg3:s32
do_timerfd_settime ufd=$arg1:s32 flags=$arg2:s32
do_inotify_init flags=$arg1:s32
'

least=50
conditioned=(vfs_read rw_verify_area)
conditions=('count > 4096' 'count <= 370' 'count == 999' 'count != 37 && count < 80')
[[ ${1:-} == all ]] || {
	table=$(awk 'NR % 3 == 2' <<<"$table")
	least=15
	conditions=("${conditions[@]:3}")
	conditioned=(vfs_read) # of two functions the verifier takes longer
}

# ---- which of them can be probed here, with such parameters ----
mapfile -t names < <(awk '{ print $1 }' <<<"$table")
functions "${names[@]}" >"$T/available"
functions=()
while read -r f fetches; do
	[[ $f ]] || continue
	grep -qx "$f" "$T/available" || continue
	{ echo "p:args/$f $f $fetches" >>$TRACING/kprobe_events; } 2>/dev/null || continue
	functions+=("$f")
done <<<"$table"
printf '# %s\n' "${functions[*]}"
ok $((${#functions[@]} < 10)) "at least ten functions: ${#functions[@]}"

# ---- both trace a process that waits until both are there ----
mkfifo "$T/go"
# what calls them: system calls by their numbers, since Perl's modules are not here
cat >"$T/calls.pl" <<'EOF'
chdir shift or die; my $b = "\0" x 4096; my $sa = pack "S a108", 1, "socket";
open my $f, "+>", "file"; syswrite $f, "x" x 5000; sysseek $f, 10, 0; sysread $f, my $r, 100; truncate $f, 4000; truncate "file", 3000;
my $fd = fileno $f;
syscall 17, $fd, $b, 64, 5; syscall 18, $fd, $b, 32, 7; syscall 77, $fd, 2000; syscall 75, $fd; syscall 285, $fd, 0, 0, 9000;
syscall 93, $fd, 0, 0; syscall 138, $fd, $b; syscall 277, $fd, 0, 4096, 2; syscall 5, $fd, $b; syscall 72, $fd, 3, 0; syscall 16, $fd, 0x5401, $b;
mkdir "dir"; opendir my $d, "."; readdir $d; closedir $d; rmdir "dir"; symlink "file", "soft"; readlink "soft"; link "file", "hard";
rename "hard", "other"; unlink "soft", "other"; chmod 0600, "file"; utime 1, 2, "file"; stat "file"; lstat "file"; syscall 21, "file", 4;
pipe my $in, my $out; syswrite $out, "abc"; sysread $in, $r, 3; syscall 292, $fd, 40, 0; syscall 33, $fd, 41; syscall 3, 40; syscall 40, 41, $fd, 0, 10;
syscall 7, pack("iss", $fd, 1, 0), 1, 0; select undef, undef, undef, 0.01; syscall 37, 0; syscall 36, 0, $b; syscall 38, 0, $b, 0;
syscall 141, 0, 0, 1; syscall 204, 0, 128, $b; syscall 203, 0, 128, $b; syscall 13, 10, 0, $b, 8; syscall 14, 0, 0, $b, 8; kill 0, $$;
syscall 202, $b, 1, 1, 0, 0, 0; syscall 158, 0x1003, $b; syscall 302, 0, 3, 0, $b;
my $m = syscall 9, 0, 16384, 3, 34, -1, 0; syscall 28, $m, 8192, 4; syscall 10, $m, 4096, 1; syscall 149, $m, 4096; syscall 150, $m, 4096; syscall 11, $m, 16384;
my $s = syscall 41, 1, 1, 0; syscall 49, $s, $sa, 110; syscall 50, $s, 4; syscall 54, $s, 1, 2, pack("i", 1), 4; syscall 48, $s, 2;
my $pair = "\0" x 8; syscall 53, 1, 1, 0, $pair; my ($p, $q) = unpack "ii", $pair; syscall 44, $p, "hello", 5, 0, 0, 0; syscall 45, $q, $b, 5, 0, 0, 0;
syscall 291, 0; syscall 290, 3, 0; syscall 289, -1, $b, 8, 0; my $t = syscall 283, 1, 0; syscall 286, $t, 0, "\0" x 32, 0; syscall 294, 0;
exit 3;
EOF
mkdir "$T/calls"
bash -c 'read -r _ <"$1"; exec perl "$2" "$3"' bash "$T/go" "$T/calls.pl" "$T/calls" >/dev/null 2>&1 &
waiting=$!
echo $waiting >$TRACING/set_event_pid
echo 65536 >$TRACING/buffer_size_kb
timeout -k 10 600 $BBTRACE kernel "${functions[@]}" -p $waiting --args -e entry -v -F json -o "$T/json" \
	>/dev/null 2>"$T/err" </dev/null &
tracer=$!
wait_for 600 grep -q '^bbtrace: recording' "$T/err"
echo 1 >$TRACING/events/args/enable
echo go >"$T/go"
wait $waiting
wait $tracer
ok $? 'arguments by type'
grep -m1 'events, ' "$T/err" | sed 's/^/# /'
echo 0 >$TRACING/events/args/enable

# a parameter that has another name on this kernel: that function is left out
# jq would round large numbers
TABLE=$table perl -ne 'next unless /"event":"entry"/ && /"symbol":"(\w+)".*"args":(\{(?:[^{}]|\{[^}]*\})*\})/;
	my ($f, $args, @a) = ($1, $2);
	while ($args =~ /"(\w+)":("[^"]*"|\{[^}]*\}|[^,}]+)/g) {
		my ($name, $value) = ($1, $2);
		next unless $ENV{TABLE} =~ /^$f (.* )?$name=/m;
		$value = "null" if $value =~ /^\{"unreadable"/;
		$value =~ s/"//g if $value =~ /^"0x/;
		push @a, "$name=$value";
	}
	print join(" ", $f, sort @a), "\n"' "$T/json" | LC_ALL=C sort -u >"$T/all"
perl -ne 'my ($f, @a) = split; print join(" ", $f, sort map { s/=.*//r } @a), "\n" if $f' <<<"$table" | sort -u >"$T/names"
grep '[^ ]' "$T/all" | sed 's/=[^ ]*//g' | sort -u | comm -12 - "$T/names" | cut -d' ' -f1 >"$T/usual"
grep -wFf "$T/usual" "$T/all" >"$T/got"
sed -n 's/.*[0-9]: \([a-z_0-9]*\): ([^)]*) \(.*\)$/\1 \2/p' $TRACING/trace | perl -ne '
	my ($f, @a) = split " ", $_; print join(" ", $f, sort @a), "\n"' | LC_ALL=C sort -u | grep -wFf "$T/usual" >"$T/wanted"
printf '# %s different entries of %s functions\n' "$(wc -l <"$T/wanted")" "$(cut -d' ' -f1 "$T/wanted" | sort -u | wc -l)"
ran=$(cut -d' ' -f1 "$T/wanted" | sort -u | wc -l)
if [[ $(uname -m) == x86_64 ]]; then # the numbers are its
	ok $((ran < least)) "at least $least functions have run: $ran"
else
	ok $((ran < 10)) "ten functions have run: $ran"
fi
# where a kprobe could not read a string it says so
grep -v '(fault)' "$T/wanted" | LC_ALL=C comm -13 "$T/got" - >"$T/missing"
same "$T/missing" /dev/null 'each value that the tracer has fetched is there'
# it may have been read all the same
sed -n 's/[][\.*^$]/\\&/g; s/(fault)/"[^"]*"/p' "$T/wanted" >"$T/faults"
LC_ALL=C comm -23 "$T/got" "$T/wanted" | grep -v null | grep -vxf "$T/faults" >"$T/more"
same "$T/more" /dev/null 'and no other one'

# ---- conditions: the kernel's tracer has filters, too ----
# reads of all sizes
cat >"$T/reads.pl" <<'EOF'
open my $f, "<", $ARGV[0]; for my $n (map { $_ * 37 } 1 .. 200) { sysseek $f, 0, 0; sysread $f, my $r, $n }
EOF
head -c 8000 /dev/zero >"$T/zeros"
for condition in "${conditions[@]}"; do
	echo >$TRACING/trace
	echo "$condition" >$TRACING/events/args/vfs_read/filter
	bash -c 'read -r _ <"$1"; exec perl "$2" "$3"' bash "$T/go" "$T/reads.pl" "$T/zeros" >/dev/null 2>&1 &
	waiting=$!
	echo $waiting >$TRACING/set_event_pid
	rm -f "$T/err"
	timeout -k 10 1500 $BBTRACE kernel "${conditioned[@]}" -p $waiting --if "$condition" -e entry,return -v -F json -o "$T/json" \
		>/dev/null 2>"$T/err" </dev/null &
	tracer=$!
	wait_for 600 grep -q '^bbtrace: recording' "$T/err"
	echo 1 >$TRACING/events/args/vfs_read/enable
	echo go >"$T/go"
	wait $waiting
	wait $tracer
	echo 0 >$TRACING/events/args/vfs_read/enable
	sed -n 's/.* vfs_read: .* count=\([0-9]*\)$/\1/p' $TRACING/trace >"$T/wanted"
	sed -n 's/.*"event":"entry".*"symbol":"vfs_read".*"count":\([0-9]*\).*/\1/p' "$T/json" >"$T/got"
	printf '# %s: %s entries, %s\n' "$condition" "$(wc -l <"$T/wanted")" "$(grep -m1 -o '[0-9]* invocations left out' "$T/err")"
	ok $(($(wc -l <"$T/wanted") < 1)) "$condition: some reads pass the tracer's filter"
	same "$T/got" "$T/wanted" "$condition: the same ones are shown"
	is "$(jq -r 'select(.event == "summary") | "\(.lost) \(.unknown) \(.unmatched_returns)"' "$T/json")" '0 0 0' "$condition: nothing is missing"
done

# ---- results: errors by name ----
bb kernel do_sys_openat2 __x64_sys_openat --args -F json -e entry,return -o "$T/json" -- cat /nonexistent
exits 1 'a system call that fails'
is "$(jq -r 'select(.event == "return" and .ret < 0) | "\(.symbol) \(.ret) \(.errno)"' "$T/json" | tail -2 | paste -sd,)" \
	'do_sys_openat2 -2 ENOENT,__x64_sys_openat -2 ENOENT' 'its error has a name'
like <(jq -r 'select(.event == "entry") | .args.filename' "$T/json") '^/nonexistent$' 'and its file'
bb kernel vfs_open --args='path->dentry->d_name.name, path->dentry->d_inode->i_mode' -F json -e entry -o "$T/json" -- cat /etc/passwd
is "$(jq -r 'select(.event == "entry") | .args | .["path->dentry->d_name.name"]' "$T/json" | tail -1)" passwd 'a field of a field'
is "$(jq -r 'select(.event == "entry") | .args | .["path->dentry->d_inode->i_mode"]' "$T/json" | tail -1)" \
	"$((0x$(stat -c %f /etc/passwd)))" 'a number behind three pointers'
done_testing

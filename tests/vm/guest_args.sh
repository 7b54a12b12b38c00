#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Runs in the guest of t_args.sh: the values that bbtrace shows are those that the kernel's own tracer fetches, by
# registers and by offsets that it finds itself.

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
mprotect_fixup start=$arg5:u64 end=$arg6:u64
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
'

# ---- which of them can be probed here, with such parameters ----
functions=() expressions=()
while read -r f fetches; do
	[[ $f ]] || continue
	grep -qx "$f" $TRACING/available_filter_functions 2>/dev/null || continue
	{ echo "p:args/$f $f $fetches" >>$TRACING/kprobe_events; } 2>/dev/null || continue
	functions+=("$f")
	echo "r:args/ret_$f $f ret=\$retval:s64" >>$TRACING/kprobe_events
	for n in $(sed 's/=[^ ]*//g' <<<"$fetches"); do expressions+=("$n"); done
done <<<"$table"
printf '# %s\n' "${functions[*]}"
ok $((${#functions[@]} < 10)) "at least ten functions: ${#functions[@]}"

# ---- both trace a process that waits until both are there ----
list=$(printf '%s\n' "${expressions[@]}" | sort -u | paste -sd,)
mkfifo "$T/go"
bash -c 'read -r _ <"$1"; exec ls -l /etc/passwd /nonexistent' bash "$T/go" >/dev/null 2>&1 &
waiting=$!
echo $waiting >$TRACING/set_event_pid
echo 65536 >$TRACING/buffer_size_kb
timeout -k 10 600 $BBTRACE kernel "${functions[@]}" -p $waiting --args="$list" -e entry -v -F json -o "$T/json" \
	>/dev/null 2>"$T/err" </dev/null &
tracer=$!
wait_for 120 grep -q '^bbtrace: recording' "$T/err"
echo 1 >$TRACING/events/args/enable
echo go >"$T/go"
wait $waiting
wait $tracer
ok $? 'arguments by type'
grep -m1 'events, ' "$T/err" | sed 's/^/# /'
echo 0 >$TRACING/events/args/enable

# a parameter that has another name on this kernel: that function is left out
# jq would round large numbers
perl -ne 'next unless /"event":"entry"/ && /"symbol":"(\w+)".*"args":(\{[^}]*\})/;
	my ($f, $args, @a) = ($1, $2);
	while ($args =~ /"(\w+)":("[^"]*"|[^,}]+)/g) {
		my ($name, $value) = ($1, $2);
		$value =~ s/"//g if $value =~ /^"0x/;
		push @a, "$name=$value";
	}
	print join(" ", $f, sort @a), "\n"' "$T/json" | LC_ALL=C sort -u >"$T/all"
perl -ne 'my ($f, @a) = split; print join(" ", $f, sort map { s/=.*//r } @a), "\n" if $f' <<<"$table" | sort -u >"$T/names"
grep '[^ ]' "$T/all" | sed 's/=[^ ]*//g' | sort -u | comm -12 - "$T/names" | cut -d' ' -f1 >"$T/usual"
grep -wFf "$T/usual" "$T/all" >"$T/got"
sed -n 's/.*[0-9]: \([a-z_0-9]*\): ([^)]*) \(.*\)$/\1 \2/p' $TRACING/trace | grep -v '^ret_' | perl -ne '
	my ($f, @a) = split " ", $_; print join(" ", $f, sort @a), "\n"' | LC_ALL=C sort -u | grep -wFf "$T/usual" >"$T/wanted"
printf '# %s different entries of %s functions\n' "$(wc -l <"$T/wanted")" "$(cut -d' ' -f1 "$T/wanted" | sort -u | wc -l)"
ok $(($(cut -d' ' -f1 "$T/wanted" | sort -u | wc -l) < 10)) 'ten functions have run'
# where a kprobe could not read a string it says so
grep -v '(fault)' "$T/wanted" | LC_ALL=C comm -13 "$T/got" - >"$T/missing"
same "$T/missing" /dev/null 'each value that the tracer has fetched is there'
# it may have been read all the same
sed -n 's/[][\.*^$]/\\&/g; s/(fault)/"[^"]*"/p' "$T/wanted" >"$T/faults"
LC_ALL=C comm -23 "$T/got" "$T/wanted" | grep -v null | grep -vxf "$T/faults" >"$T/more"
same "$T/more" /dev/null 'and no other one'

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

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest_accounts.sh WORK [all]: kernel mode's refusals and messages, the traced processes, and the arguments of system
# calls.

# shellcheck disable=SC2154,SC2034 # guest_lib.sh sets and uses them
. "$(dirname "$0")/guest_lib.sh"
WORK=$1
whole=${2:-}

# refuses FUNC REGEX NAME: status 1, and stderr says so.
refuses() {
	bb kernel "$1" -- true
	[[ $status == 1 ]] && like "$T/err" "$2" "$3" || exits 1 "$3"
}

address_of() { awk -v n="$1" '$3 == n { print "0x" $1 }' /proc/kallsyms; }

# ---- names ----

choose entry_code refused 'on the blacklist, of the entry code' do_syscall_64 exc_page_fault asm_exc_page_fault __switch_to
choose library refused 'on the blacklist, a routine' memcpy __memcpy memset __memset
choose reading traceable 'what read(2) runs through' vfs_read ksys_read
choose writing traceable 'what write(2) runs through' vfs_write ksys_write
choose twofold ambiguous 'a name that several functions have' m_show m_start m_next m_stop s_show name_show
for name in "$entry_code" ${whole:+"$library"}; do
	refuses "$name" "cannot trace $name: .*blacklist" "$name is refused by name, with the reason"
done
swapped=${reading%??}${reading: -1}${reading: -2:1}
refuses "$swapped" "did you mean $reading" 'an unknown name is refused, with what was meant'
refuses nomodule:foo "no module 'nomodule'" 'an unknown module is refused'
refuses 0x1234 'not in a function of the running kernel' "an address outside of the kernel's functions is refused"
refuses "$twofold" "'$twofold' names [0-9]+ functions: 0xffff" 'a name that several functions have is refused'
read -r first _ < <(address_of "$twofold")
entry=$(address_of "$reading")
bb kernel "$first" "$entry:mine" -F json -o "$T/json" -- cat /proc/self/mounts
exits 0 'a function whose name is ambiguous is traced by its address'
is "$(jq -r 'select(.event == "entry") | "\(.symbol)+\(.offset)"' "$T/json" | sort -u | grep -vx "$twofold+0")" 'mine+0' \
	"an address with a name of one's own is shown under that name"
inside=$(printf '0x%x' $((entry + 1)))
refuses "$inside" 'not at an instruction boundary; the nearest are' 'an address inside of an instruction is refused, with the nearest ones'
[[ ! $whole ]] || refuses "$inside+0x20" 'not at an instruction boundary' 'a range that starts inside of an instruction is refused'
like "$T/err" '^bbtrace: ' "a kernel function that cannot be probed is refused in bbtrace's words"
unlike "$T/err" 'EILSEQ|Invalid or incomplete' 'a refusal has nothing of EILSEQ'

both=$(awk '$2 ~ /[tT]/ { if (NF == 3) kernel[$3]++; else module[$3 " " $4]++ }
	END { for (m in module) { split(m, p, " "); if (kernel[p[1]] == 1 && module[m] == 1) print m } }' /proc/kallsyms |
	sort | grep -v '\.\|__pfx_\|_init\|_exit\|cleanup' | head -1)
if [[ $both ]]; then
	read -r name module <<<"$both"
	module=${module//[][]/}
	refuses "$name" 'MODULE:FUNC' "$name, of the kernel and of $module, is refused"
	bb list kernel "$module:$name" -F json
	is "$(jq -r .object "$T/out.txt" | sort -u)" "$module" "$module:$name is the module's"
	bb list kernel "kernel:$name" -F json
	is "$(jq -r .object "$T/out.txt" | sort -u)" kernel "kernel:$name is the kernel's"
fi

# ---- ranges, globs, --exclude, modules ----

end=$((entry + 0x60))
bb kernel "$entry+0x60" -F json -o "$T/json" -- cat /etc/passwd
exits 0 'a range of a kernel function is traced'
jq -r 'select(.event == "branch" or .event == "entry" or .event == "return") | "\(.event) \(.symbol) \(.offset) \(.vaddr)"' "$T/json" >"$T/in_range"
sed -n 's/^branch //p' "$T/in_range" >"$T/branches"
while read -r name offset vaddr; do
	[[ "$name $((entry + offset))" == "$reading $((vaddr))" ]] || echo "$name+$offset is at $vaddr"
done <"$T/branches" >"$T/wrong"
is "$(sort -u "$T/wrong")" '' 'a range is shown at its place in the function'
is "$(while read -r _ _ at; do ((at >= entry && at < end)) || echo "$at"; done <"$T/branches")" '' 'a range shows only its own branches'
isnt "$(wc -l <"$T/branches")" 0 'a range shows branches'
is "$(grep -cv '^branch ' "$T/in_range")" 0 'a range shows no entry and no return'

bb kernel "${reading%?}*" "${writing%?}*" --exclude "${writing}v" --exclude "$reading" -F json -o "$T/json" -- \
	bash -c 'echo text | cat >/dev/null; echo >/dev/null'
exits 0 'kernel globs with --exclude are traced'
is "$(jq -r 'select(.event == "entry") | .symbol' "$T/json" | sort -u | tr '\n' ' ')" "$writing " 'what --exclude leaves of kernel globs is traced'

mount -t tmpfs none /mnt
truncate -s 8M /mnt/disk
/bb/mke2fs -F /mnt/disk >/dev/null
mkdir /mnt/on
loop_functions() { symbols | grep -F '[loop]' | awk '$4 == "[loop]" && $2 ~ /[tT]/ { print $3 }'; }
choose configures loop_functions 'what the ioctl of a loop device runs through' lo_ioctl loop_configure
bb kernel "loop:$configures" -f -F json -o "$T/json" -- mount -o loop /mnt/disk /mnt/on
exits 0 'MODULE:FUNC is traced'
is "$(jq -r 'select(.event == "entry") | .object + " " + .symbol' "$T/json" | sort -u)" "loop $configures" 'the object of MODULE:FUNC is the module'
umount /mnt/on

# ---- sites refused ----

# Probes on static calls (__cond_resched) and on enabled jump labels are refused: what sleeps, faults and copies has them.
mapfile -t patched < <(listed traceable pipe_write anon_pipe_write pipe_read anon_pipe_read dup_mmap copy_process copy_page_range \
	kernel_clone | head -n "$([[ $whole ]] && echo 99 || echo 3)")
diag "with static calls and jump labels: ${patched[*]}"
bb kernel "${patched[@]}" -v -f -F json -o "$T/json" -- "$WORK" pipe
exits 0 'functions with static calls and jump labels are traced'
is "$(grep -c 'the kernel refuses [^ ]*+0x\|no probe on [^ ]*+0x' "$T/err")" "$(summary skipped)" \
	"-v names each of the $(summary skipped) sites that are skipped, with the reason"
isnt "$(summary skipped)" 0 'functions with static calls have sites that the kernel refuses'
is "$(tail -n 1 "$T/json" | jq -r '"\(.probes) \(.skipped)"')" "$(summary probes) $(summary skipped)" 'the JSON summary has the probes and skipped sites of the line on stderr'

# ---- who ----

# In the background, system-wide or as its options say, until finish.
begin() { # bbtrace's arguments
	: >"$T/err" # what the one before said is no sign of this one
	$BBTRACE "$@" -v -F json -o "$T/json" >"$T/out.txt" 2>"$T/err" </dev/null &
	tracer=$!
	wait_for 1200 grep -q '^bbtrace: recording$' "$T/err"
}
finish() { # NAME
	kill -INT "$tracer"
	wait "$tracer"
	status=$?
	exits 0 "$1"
}
pids() { jq -r 'select(.pid) | .pid' "$T/json" | sort -un | tr '\n' ' '; }
# run COMMAND...: sets $ran to its pid.
run() {
	"$@" &
	ran=$!
	wait "$ran"
}

begin kernel __x64_sys_close --comm other
cp "$WORK" "$T/other"
run "$WORK" close
run "$T/other" close
finish '--comm: the trace ends well'
is "$(pids)" "$ran " '--comm shows the process of that name alone'

[[ ! $whole ]] || {
	begin kernel __x64_sys_close --uid 1000
	run "$WORK" close
	run setpriv --reuid 1000 --clear-groups "$WORK" close
	finish '--uid: the trace ends well'
	is "$(pids)" "$ran " "--uid shows that user's process alone"

	mkdir -p /sys/fs/cgroup/a/b /sys/fs/cgroup/c
	begin kernel __x64_sys_close --cgroup /sys/fs/cgroup/a
	run bash -c 'echo $$ >/sys/fs/cgroup/c/cgroup.procs; exec "$0" close' "$WORK"
	run bash -c 'echo $$ >/sys/fs/cgroup/a/b/cgroup.procs; exec "$0" close' "$WORK"
	finish '--cgroup: the trace ends well'
	is "$(pids)" "$ran " '--cgroup shows the process below the cgroup alone'
}

mkfifo "$T/go"
bash -c 'read -r _ <"$1"; exec "$0" close' "$WORK" "$T/go" &
waiting=$!
begin kernel "${reading%?}*" __x64_sys_close -p "$waiting"
run "$WORK" close
echo >"$T/go"
wait "$waiting"
wait "$tracer"
is $? 0 '-p: the trace ends with the process'
is "$(pids)" "$waiting " '-p shows that process alone'
is "$(count "$T/json" '.event == "entry" and .symbol == "__x64_sys_close" and .syscall_args[0] == "0x3039"')" 1 \
	"-p shows the process's call"

two='"$0" close; "$0" close; true'
[[ ! $whole ]] || {
	bb kernel __x64_sys_close -F json -o "$T/json" -- bash -c "$two" "$WORK"
	is "$(count "$T/json" '.event == "entry" and .syscall_args[0] == "0x3039"')" 0 "without -f CMD's children are not traced in the kernel"
}
bb kernel __x64_sys_close -f -F json -o "$T/json" -- bash -c "$two" "$WORK"
is "$(count "$T/json" '.event == "entry" and .syscall_args[0] == "0x3039"')" 2 "with -f CMD's children are traced in the kernel"

kinds=(-e entry) # which show who was traced
[[ ! $whole ]] || kinds=()
begin kernel "$writing" "${kinds[@]}"
dd if=/dev/zero of=/dev/null bs=1 count=200 2>/dev/null
sleep 1
dd if=/dev/zero of=/dev/null bs=1 count=200 2>/dev/null
finish 'system-wide'
read -r own others <<<"$(counts "$T/json" ".pid == $tracer" '.event == "entry" and .comm == "dd"')"
is "$own" 0 'bbtrace does not trace itself while it writes'
is "$((others >= 400))" 1 'a system-wide kernel trace has everyone else'
like "$T/err" 'tracing every process but bbtrace itself' 'a system-wide kernel trace says so'

# ---- hits that the kernel misses: of what the handling of a hit itself runs through ----

choose shared traceable 'what tracing itself uses' _raw_spin_lock_irqsave _raw_spin_unlock_irqrestore _raw_spin_lock_irq
bb kernel "$shared" -F json -o "$T/json" -- cat /etc/passwd
exits 0 'a kernel function that tracing itself uses is traced'
like "$T/err" '[0-9]+ hits, of all processes, were missed, since they came while that CPU was handling another probe' 'hits missed in a function that tracing uses are told'
like "$T/err" ' 0 lost, .*, at most [1-9][0-9]* hits? missed, of all processes$' 'missed hits are what may be missing at most, not lost'
tail -n 1 "$T/json" >"$T/summary"
is "$(jq -r 'select(.event == "summary") | .lost, (.missed_at_most > 0)' "$T/summary" | xargs)" '0 true' 'JSON tells missed hits apart from lost events'
# the kernel shows by kprobe where they were missed
is "$(jq -r 'select(.event == "summary") | .missed_at_most == (.missed | map(.hits) | add)' "$T/summary")" true \
	'JSON tells of all missed hits where they were'
is "$(jq -r 'select(.event == "summary") | .missed[] | select(.offset) | "\(.object) \(.symbol)"' "$T/summary" | sort -u)" \
	"kernel $shared" 'that is at probes of the function that tracing uses'
# counting in the kernel takes no lock
bb kernel "$shared" "$reading" -c --placement witness -v -- cat /etc/passwd
like "$T/out.txt" 'Missing: at most [0-9]+ hits missed, of all processes; .*every count may be too low' '-c says on stdout, too, that hits were missed'
like "$T/err" "^bbtrace: $shared\+0x[0-9a-f]+: [1-9][0-9]* hits missed, of all processes" '-v says at which probes'
unlike "$T/err" "^bbtrace: $reading\+0x.* hits missed" 'and names no probe that missed none'
is "$(sed -nE 's/^bbtrace: .*: ([0-9]+) hits missed, of all processes$/\1/p' "$T/err" | awk '{ n += $1 } END { print n }')" \
	"$(sed -nE 's/.*, at most ([0-9]+) hits missed, of all processes.*/\1/p' "$T/err")" 'and they add up to the number in the summary'
# while the trace runs; the first call of each target adds to a table, under a lock
"$BBTRACE" kernel "$shared" "$reading" -c -F json --interval 1 -t 300 >"$T/json" 2>"$T/err" &
counting=$!
reads_and_misses() {
	cat /etc/passwd /proc/self/stat >/dev/null
	grep -q '"interval".*"missed"' "$T/json" || ! kill -0 $counting 2>/dev/null
}
wait_for 60 reads_and_misses
"$BBTRACE" ctl $counting status >"$T/status"
"$BBTRACE" ctl $counting status -F json >"$T/status.json"
"$BBTRACE" ctl $counting quit
wait $counting
like "$T/status" '^missed: at most [1-9][0-9]*$' 'ctl status: how many hits were missed so far'
like "$T/status" "^missed \($shared\+0x[0-9a-f]+\): [1-9][0-9]*$" 'ctl status: at which probes'
is "$(jq -r '.missed_at_most == (.missed | map(.hits) | add)' "$T/status.json")" true 'ctl status as JSON has the same'
is "$(jq -s '[.[] | select(.event == "interval" or .event == "summary") | .missed_at_most // 0] | . == sort and length > 1' "$T/json")" true \
	'--interval: each time at least as many as before'
is "$(jq -r 'select(.event == "edge") | .at_least' "$T/json" | tail -1)" true '--interval: the counts are marked'
[[ ! $whole ]] || {
	sleep 1000 &
	sleeper=$!
	bb kernel "$shared" -p $sleeper -c -t 2
	like "$T/err" ' 0 events, 0 lost, 0 unmatched returns(, at most [1-9][0-9]* hits? missed, of all processes)?(, .*)?$' \
		'nothing of a process that sleeps is lost, whatever others miss'
	kill $sleeper
}
bb kernel "$reading" -F json -o "$T/json" -- cat /etc/passwd
is "$(summary lost) $(grep -c missed "$T/err")" '0 0' 'of a function that tracing does not use no hit is missed'

# ---- the arguments of system calls ----

bb kernel __x64_sys_close -F json -o "$T/json" -- "$WORK" close
is "$(jq -r 'select(.event == "entry") | .syscall_args[0]' "$T/json" | grep -c '^0x3039$\|^0x12345678$')" 2 \
	'arguments of close(2) are shown as they were passed'
is "$(jq -r 'select(.event == "return") | .value' "$T/json" | tail -n 3 | tr '\n' ' ')" \
	'0xfffffffffffffff7 0x0 0xfffffffffffffff7 ' 'close(2) returns -EBADF, 0, -EBADF'
bb kernel __x64_sys_close __x64_sys_getpid -- sh -c 'echo $$; exec "$0" close' "$WORK"
like "$T/out.txt" '__x64_sys_close\(fd=12345\)' 'text shows the arguments of close(2)'
like "$T/out.txt" '__x64_sys_getpid\(\) ' 'a system call without arguments shows none'

# As strace sees it: PID NAME ARGS... = RESULT
bb kernel __x64_sys_mount __x64_sys_umount __x64_sys_close -e entry,return -f -F json -o "$T/json" -- \
	strace -f -o "$T/strace" -e trace=mount,umount2,close -e raw=mount,umount2,close "$WORK" mount close
exits 0 'system calls are traced under strace'
errno=([1]=EPERM [2]=ENOENT [9]=EBADF [14]=EFAULT [19]=ENODEV [22]=EINVAL)
traced=$(sed -n '1s/ .*//p' "$T/strace")
sed -n 's/^[0-9]* *\([a-z]*\)2\{0,1\}(\(.*\)) *= \([-0-9]*\) *\([A-Z]*\).*/\1 \2 = \3 \4/p' "$T/strace" |
	sed 's/,//g; s/ $//' >"$T/strace.calls"
jq -r --argjson pid "$traced" 'select(.pid == $pid) |
	if .event == "entry" then .symbol[10:] as $s | ([$s] + .syscall_args | join(" "))
	elif .event == "return" then "= " + .value else empty end' "$T/json" |
	paste -d' ' - - | while read -r call; do
		value=$((${call##* }))
		if ((value < 0)); then echo "${call%= *}= -1 ${errno[-value]}"; else echo "${call%= *}= $value"; fi
	done >"$T/bbtrace.calls"
tail -n "$(wc -l <"$T/strace.calls")" "$T/bbtrace.calls" | sed 's/\b0x0\b/0/g' >"$T/last.calls"
same "$T/last.calls" "$T/strace.calls" "$(wc -l <"$T/strace.calls") calls have arguments and results as strace shows them"

# System calls of 32-bit programs have their arguments in other registers.
bb kernel __ia32_sys_dup2 -e entry -F json -o "$T/json" -- "$WORK" ia32
is "$(jq -rc 'select(.event == "entry") | .syscall_args' "$T/json")" '["0x3039","0x303a"]' 'dup2 of a 32-bit program has its arguments'
# Compat system calls have no tracepoint: there is one note for all of them.
mapfile -t compat < <(traceable '__ia32_compat_sys_[a-z0-9_]*' | sort | head -3)
is ${#compat[@]} 3 "the kernel has compat system calls: ${compat[*]}"
bb kernel "${compat[@]}" -e entry -- true
is "$(grep -c 'does not say how many' "$T/err")" 1 'system calls without a known number of arguments are told once'
like "$T/err" "^bbtrace: __ia32_compat_sys_[a-z0-9_]* and 2 more: .*all six registers are shown" 'the note counts the system calls without a known number of arguments'

# ---- tail calls ----

# Where dput ends in a jump to a function of locks or RCU, a probe on that function's ret would slow everybody.
begin kernel dput --comm other
mkdir -p "$T/debugfs"
mount -t debugfs none "$T/debugfs"
# 0xADDRESS k FUNCTION+0xOFF, and r for a return probe
awk '$2 ~ /^[kr]$/ { print $3 }' "$T/debugfs/kprobes/list" | sed 's/+0x.*//; s/\.\(part\|cold\|isra\|constprop\).*//' |
	sort -u >"$T/probed"
umount "$T/debugfs"
run "$T/other" file
finish 'a function that ends in a jump to others is traced'
is "$(cat "$T/probed")" dput 'the kernel has probes in dput alone'
like "$T/err" 'dput.*: may end in a jump to another function: a return probe reports' '-v says how the returns of dput are told'
read -r jumps returns entries trampolines <<<"$(counts "$T/json" \
	'.event == "branch" and .kind == "jmp" and .to.symbol != null and (.to.symbol | startswith("dput") | not)' \
	'.event == "return"' '.event == "entry"' '.to.symbol == "arch_rethook_trampoline"')"
isnt "$jumps" 0 'dput ends in jumps to other functions'
is "$returns $(summary unmatched) $(summary 'unseen returns')" "$entries 0 " 'each call of dput has one return, its tail calls included'
is "$trampolines" 0 'a ret of dput goes to where its caller goes on, not to a trampoline'

# A module's function may end in a jump into the kernel proper as well.
[[ ! $whole ]] || {
	bb list kernel 'loop:*' --sites -F json
	mapfile -t enders < <(jq -r 'select(.kind == "jmp" and .to.symbol == null) | "loop:" + .symbol' "$T/out.txt" | sort -u)
	diag "end in the kernel: ${enders[*]}"
	begin kernel "${enders[@]}"
	mount -o loop /mnt/disk /mnt/on
	umount /mnt/on
	finish 'functions of a module that end in a jump into the kernel are traced'
	read -r jumps returns entries <<<"$(counts "$T/json" '.event == "branch" and .kind == "jmp" and .to.object == "kernel"' \
		'.event == "return"' '.event == "entry"')"
	isnt "$jumps" 0 'functions of the module loop end in jumps to the kernel'
	is "$returns $(summary unmatched) $(summary 'unseen returns')" "$entries 0 " \
		"each call of the module's functions has one return, tail calls included"
}

# ---- other tracers' probes in the same function ----

# sites NAME: what the code of $reading is made of. steps NAME: what cat does in it, and what couldn't be probed.
sites() {
	bb list kernel "$reading" --sites -F json
	cp "$T/out.txt" "$T/sites.$1"
}
steps() {
	bb kernel "$reading" -v -F json -o "$T/json" -- cat /etc/passwd
	jq -c '(select(.event == "entry" or .event == "branch" or .event == "return") | [.event, .symbol, .offset, .kind, .taken, .to.symbol, .to.offset]),
		(select(.event == "summary") | [.probes, .skipped, .lost, .unmatched])' "$T/json" >"$T/steps.$1"
}
unharmed() { # NAME WHAT
	sites "$1"
	same "$T/sites.$1" "$T/sites.alone" "$2: $(wc -l <"$T/sites.alone") sites are as without"
	steps "$1"
	same "$T/steps.$1" "$T/steps.alone" "$2: $(wc -l <"$T/steps.alone") events are as without, and none is skipped"
	code
	isnt "$(cmp -l "$T/code" "$T/code.alone" | wc -l)" 0 "$2: the code is changed"
}
code() { live_text "$T/code" "$entry" 0x200; }
kprobes() { cat "$T/debugfs/kprobes/list"; }
# Probes on each instruction of the first ones, then farther apart: a jump needs room. The kernel refuses what is none.
put() {
	local at=5
	while ((at < 0x1f0)); do
		echo "p:other/at$at $reading+$at" >>"$definitions" && ((at >= 0x40)) && ((at += 11))
		((++at))
	done 2>/dev/null
}
arm() { echo "$1" >"$T/tracefs/events/other/enable"; }
# How many of the listed places begin with a byte.
begin_with() {
	local -a bytes

	code
	mapfile -t bytes < <(od -An -v -t x1 -w1 "$T/code")
	while read -r address _; do
		echo "${bytes[16#$address - entry]}"
	done < <(kprobes) | grep -c "$1"
}
made_jumps() { (($(begin_with e9) > 5)); }

mkdir -p "$T/debugfs" "$T/tracefs"
mount -t debugfs none "$T/debugfs"
mount -t tracefs none "$T/tracefs"
definitions=$T/tracefs/kprobe_events
is "$(kprobes | wc -l)" 0 'nobody else probes the kernel at first'
cat /etc/passwd >/dev/null
live_text "$T/code.alone" "$entry" 0x200
sites alone
steps alone
isnt "$(count "$T/json" '.event == "branch"')" 0 "$reading is traced alone"

put
arm 1
wait_for 600 made_jumps
ok $? "another tracer has $(begin_with cc) breakpoints and $(begin_with e9) jumps in $reading"
isnt "$(begin_with cc)" 0 'another tracer has breakpoints in the function'
unharmed kprobes 'kprobes'
wait_for 600 made_jumps
mount --bind /dev/null /proc/kcore
sites bpf
umount /proc/kcore
same "$T/sites.bpf" "$T/sites.alone" "with another tracer's kprobes the sites are the same if BPF reads the code"
mount --bind /dev/null /sys/kernel/btf/vmlinux
bb list kernel "$reading" -v
umount /sys/kernel/btf/vmlinux
is "$status" 1 "without kernel types a function with another tracer's probes is refused"
like "$T/err" "cannot trace $reading: it is being probed by another tracer" "the refusal of a function with another tracer's probes says that nothing is guessed"
like "$T/err" "can't be removed from the code: no /sys/kernel/btf/vmlinux" "-v says why another tracer's probes can't be removed from the code"
arm 0
echo >"$definitions"

[[ ! $whole ]] || {
	$BBTRACE kernel "$reading" --placement full --comm nobody -v >"$T/other.txt" 2>"$T/other.err" </dev/null &
	other=$!
	wait_for 1200 grep -q '^bbtrace: recording$' "$T/other.err"
	unharmed bbtrace 'another bbtrace'
	kill -INT $other
	wait $other
	is $? 0 'the other tracer ends well'
}
umount "$T/debugfs" "$T/tracefs"

# ---- doctor, --btf ----

bb doctor
exits 0 'doctor ends well'
for row in kernel capabilities btf bpf ringbuf kprobe_event kallsyms; do
	like "$T/out.txt" "^$row +yes" "doctor says that $row is available"
done
unlike "$T/out.txt" 'remedy: *$' 'doctor shows no empty remedy'
bb doctor -F json
is "$(jq -r 'select(.available == false and (.reason == "" or .remedy == "")) | .mechanism' "$T/out.txt")" '' \
	'doctor -F json has a reason and a remedy for what is missing'
cp /sys/kernel/btf/vmlinux "$T/btf"
bb kernel __x64_sys_close -b "$T/btf" -v -F json -o "$T/json" -- "$WORK" close
exits 0 'kernel types are taken from a file'
is "$(count "$T/json" '.event == "entry" and .syscall_args[0] == "0x3039"')" 1 "with kernel types from a file system calls' arguments are right"
diag "$(grep -o 'the BPF program is.*' "$T/err")"
bb kernel __x64_sys_close -b "$T/none" -- true
exits 1 '-b with a file that is not there is refused'
like "$T/err" "$T/none" '-b with a file that is not there: the message names it'
is "$(awk '$3 ~ /tracefs|debugfs/ { print $2 }' /proc/mounts)" /sys/kernel/tracing 'tracefs stays mounted in its place, debugfs does not'
done_testing

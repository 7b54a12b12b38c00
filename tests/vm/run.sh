#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# run.sh [options] [--] COMMAND [ARG...]: runs COMMAND as root in a QEMU guest with another kernel.
#
#   -A ARCH     arm64 or riscv64, see foreign.sh (default: amd64)
#   -C CPU      the processor that QEMU emulates
#   -k KERNEL   a version for kernel.sh (default: that of the machine's own suite), or a vmlinuz file
#   -m MODULE   load this kernel module and its dependencies first (repeatable)
#   -f PATH     include this file or folder under the same path, with the libraries it needs (repeatable)
#   -p PACKAGE  include the installed files of this Debian package and its dependencies (repeatable); the root is then
#               an ext4 disk with 1 GiB free, not an initramfs
#   --full      for -A: with gcc, gdb and so on: what scripts/sysroot.sh makes of `full`
#   --small     for -A: with little more than a shell: what it makes of `small`
#   -b FOLDER   bring the files that the guest puts into /back, or without a disk (-A, -p) writes as a tar file to the
#               device that /vm/back names
#   -c CPUS     number of CPUs, default 2
#   -M MIB      memory, default 768
#   -a TEXT     more of the kernel's command line
#   -t SECONDS  stop the guest after this long, default 3600: only for hangs, not to time a test
#   --turns     the CPUs take turns, instead of running at once: see threads()
#   -v          show the kernel's messages, on stderr
#   --shell     no command: an interactive shell (Ctrl-A x ends it)
#
# The guest has the project's build/bbtrace, build/relocated, build/batches, build/progs, tests, docs and include in /src, which
# is also the current folder (for -A those of build/ARCH, there in /src/build); bash and the usual tools; and only /proc, /sys, /dev, /run and cgroup2 mounted (no tracefs,
# no debugfs). B names the build folder, as for make. The command's stdin is empty; its stdout and stderr are written to
# our stdout.
#
# Exit status: the command's own; 125 if there is none (no kernel, a panic, a hang).
#
# The kernel is from apt, see kernel.sh. The CPU is always emulated (TCG), so that a run is the same everywhere.
# shellcheck disable=SC2034,SC2154 # foreign.sh sets or uses them
set -Eeuo pipefail
trap 'echo "run.sh: line $LINENO failed" >&2; exit 125' ERR

# The root is an ext4 on a disk, not an initramfs.
on_disk() { ((${#packages[@]})) || foreign; }

fail()
{
	echo "run.sh: $*" >&2
	exit 125
}

usage()
{
	sed -n '/^# run.sh/,/^#   --shell/s/^# \{0,1\}//p' "$0" >&2
	exit 125
}

boot_seconds=240 # it takes 20, and thrice that on a busy machine
arch=amd64 cpu='' kind=guest back=''
kernel='' modules=() files=() packages=() cpus=2 memory=768 append='' seconds=3600 verbose=false shell=false turns=false
while (($#)); do
	case $1 in
	-A | -C | -b | -k | -m | -f | -p | -c | -M | -a | -t)
		(($# > 1)) || usage
		case $1 in
		-A) arch=$2 ;;
		-C) cpu=$2 ;;
		-b) back=$(realpath -s -- "$2") ;;
		-k) kernel=$2 ;;
		-m) modules+=("$2") ;;
		-f) files+=("$(realpath -s -- "$2")") ;;
		-p) packages+=("$2") ;;
		-c) cpus=$2 ;;
		-M) memory=$2 ;;
		-a) append=$2 ;;
		-t) seconds=$2 ;;
		esac
		shift
		;;
	-v) verbose=true ;;
	--shell) shell=true ;;
	--turns) turns=true ;;
	--full | --small) kind=${1#--} ;;
	--)
		shift
		break
		;;
	-*) usage ;;
	*) break ;;
	esac
	shift
done
(($#)) || $shell || usage

cd "$(dirname "$0")/../.."
. tests/vm/foreign.sh
. tests/vm/root.sh
of_arch
for need in "$qemu" cpio busybox ldd; do
	command -v "$need" >/dev/null || fail "needs $need: apt-get install $qemu_package cpio busybox-static"
done
! on_disk || PATH=$PATH:/sbin:/usr/sbin type -P mke2fs >/dev/null || fail "needs mke2fs: apt-get install e2fsprogs"

work=$(mktemp -d)
root=$work/root
trap 'rm -rf "$work"' EXIT
trap 'exit 125' INT TERM

# ---- the guest ----

find_kernel()
{
	if [[ -f $kernel ]]; then
		vmlinuz=$kernel folder='' release=''
		((${#modules[@]} == 0)) || fail "-m needs a kernel of kernel.sh, which brings its modules"
		return
	fi
	local options=()
	[[ -z $kernel ]] || options+=("$kernel")
	((${#modules[@]} == 0)) && ! needs_drivers || options+=(--modules)
	folder=$(tests/vm/kernel.sh -A "$arch" ${options[@]+"${options[@]}"}) || fail "no kernel $kernel"
	vmlinuz=$folder/vmlinuz
	release=$(<"$folder/release")
}

# QEMU before 8.1 may run code that another CPU is patching, its own tracepoints and static keys among it, halfway:
# the kernel panics ("accel/tcg: Always lock pages before translation" is what mended it). QEMU 10 may keep what it
# translated of a page in the moment in which another CPU writes to it, if it had run nothing else there: a CPU that calls
# a function again and again while kprobes come and go at its start meets a breakpoint that is long gone, and the kernel
# takes it for one of a kprobe that ftrace calls: it jumps to 0. Where the CPUs take turns, neither happens.
threads()
{
	if $turns || [[ $("$qemu" --version) =~ version\ ([0-7]|8\.0)\. ]]; then
		echo single
	else
		echo multi
	fi
}

boot() # QEMU OPTION...
{
	# expedited RCU: detaching many probes takes seconds, not minutes; an oops ends the guest, which else may hang;
	# on a busy machine the timer seems not to work when the guest looks
	timeout --foreground -k 10 "$seconds" "$qemu" "${machine[@]}" -accel "tcg,thread=$(threads)" -cpu "$cpu" -smp "$cpus" \
		-m "$memory" -nographic -no-reboot -nodefaults -kernel "$vmlinuz" "${rooted[@]}" ${backing[@]+"${backing[@]}"} \
		-append "console=$console quiet loglevel=$(if $verbose; then echo 7; else echo 1; fi) panic=-1 oops=panic \
rcupdate.rcu_expedited=1 $append" "$@"
}

# Passes on what stands between the marker lines and leaves the status in a file. An empty line right before the end
# is the one that init.sh puts there. The first marker is read by the shell: mawk reads 4 KiB before it sees a line.
read_serial()
{
	local line

	while IFS= read -r line; do
		if [[ $line == "$marker begin"* ]]; then
			: >"$work/begun"
			break
		fi
		printf '%s\n' "$line" >>"$work/log"
	done
	awk -v marker="$marker" -v status="$work/status" -v log_file="$work/log" '
		ended { print >>log_file; fflush(log_file); next }
		index($0, marker " end ") == 1 {
			print $3 >status
			ended = 1
			next
		}
		$0 == "" { empty++; next }
		{
			for (; empty; empty--)
				print ""
			print
			fflush()
		}'
}

# Rarely, with all CPUs busy, a guest's kernel never gets as far as init, under QEMU 10.0 with 7.x. What it would have run
# has not begun, so it can be booted again.
watch_boot()
{
	local i

	for ((i = 0; i < boot_seconds; i++)); do
		[[ ! -e $work/begun ]] || return 0
		sleep 1
	done
	: >"$work/hung"
	kill "$(<"$work/pid")" 2>/dev/null || true
}

start()
{
	local watcher

	rm -f "$work"/{hung,begun,pid}
	watch_boot </dev/null >/dev/null 2>&1 &
	watcher=$!
	boot -serial stdio -pidfile "$work/pid" </dev/null 2>"$work/qemu" | read_serial || true
	: >"$work/begun" # ends the watcher, and with it what it runs
	wait "$watcher" || true
}

marker="@@vm-$$-$RANDOM@@"
find_kernel
make_root "$@"
if $shell; then
	append+=' vm.shell'
	boot -serial mon:stdio
	exit
fi
: >"$work/log"
for attempt in 1 2 3; do
	start
	[[ -e $work/hung ]] || break
	echo "# run.sh: the guest's kernel has not started init in $boot_seconds s, attempt $attempt" >&2
done
! $verbose || tr -d '\r' <"$work/log" >&2
if [[ ! -s $work/status ]]; then
	echo "run.sh: the guest ended without reporting a status; its last words:" >&2
	cat "$work/qemu" "$work/log" | tr -d '\r' | tail -n 20 >&2
	exit 125
fi
# Init has synchronised it.
if [[ $back ]]; then
	mkdir -p "$back"
	take_back
fi
exit "$(<"$work/status")"

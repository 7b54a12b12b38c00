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

# what of the host goes into the guest as it is; busybox stands in for the rest
tools=(bash cat ls cp mv rm ln mkdir chmod chown touch stat sort uniq head tail wc cut tr tee dd od env id true false
	sleep timeout seq expr mktemp readlink realpath basename dirname date nproc stdbuf grep sed awk gawk mawk find xargs
	diff cmp ps pgrep pkill mount umount mountpoint nsenter unshare setpriv setsid taskset prlimit su hostname ip jq
	strace)
etc=(passwd group nsswitch.conf)

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
arch=amd64 cpu='' full=false back=''
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
	--full) full=true ;;
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
of_arch
for need in "$qemu" cpio busybox ldd; do
	command -v "$need" >/dev/null || fail "needs $need: apt-get install $qemu_package cpio busybox-static"
done
! on_disk || PATH=$PATH:/sbin:/usr/sbin type -P mke2fs >/dev/null || fail "needs mke2fs: apt-get install e2fsprogs"

work=$(mktemp -d)
root=$work/root
trap 'rm -rf "$work"' EXIT
trap 'exit 125' INT TERM

# ---- the root ----
# The libraries, and the loader, that these files need and the guest hasn't got, with the links that lead to them.
put_libraries() # FILE...
{
	local lib

	! foreign || return 0
	{ ldd "$@" 2>/dev/null || true; } | sed -n 's|^[^/]*\(/[^ ]*\) (0x.*|\1|p' | sort -u |
		while read -r lib; do
			[[ -e $root$lib ]] || cp -L --parents "$lib" "$root"
		done
}

put_tools()
{
	local name path found=()

	for name in "${tools[@]}"; do
		path=$(type -P "$name") || continue
		path=/usr/bin/$name
		[[ -x $path ]] || path=$(type -P "$name")
		found+=("$(realpath -s "$path")")
	done
	cp -L --parents "${found[@]}" "$root"
	put_libraries "${found[@]}"
	ln -sf bash "$root/usr/bin/sh"
}

put_busybox() # FILE
{
	local name

	cp "$1" "$root/bb/.busybox"
	for name in $(busybox --list); do
		ln -s .busybox "$root/bb/$name"
	done
}

put_etc()
{
	local name

	for name in "${etc[@]}"; do
		[[ ! -e /etc/$name ]] || cp "/etc/$name" "$root/etc/"
	done
	! foreign || return 0
	[[ ! -d /usr/lib/locale/C.utf8 ]] || cp -RP --parents /usr/lib/locale/C.utf8 "$root"
	# the guest's bbtrace looks libraries up there, as the loader does
	PATH=$PATH:/sbin:/usr/sbin ldconfig -r "$root" -f /dev/null 2>/dev/null || true
}

# Folders and files of the project under /src, executables with their libraries.
put_project()
{
	local program programs

	mkdir -p "$root/src/build"
	cp -a tests docs include "$root/src/"
	for program in bbtrace relocated batches; do
		[[ ! -e $build/$program ]] || cp "$build/$program" "$root/src/build/"
	done
	[[ ! -d $build/progs ]] || cp -a "$build/progs" "$root/src/build/"
	mapfile -d '' programs < <(find "$root/src" -type f -executable ! -name '*.sh' -print0)
	((${#programs[@]} == 0)) || put_libraries "${programs[@]}"
}

# With its times: what is made of it is not made again there.
put_path() # PATH
{
	(cd / && find ".$1" -print0 | cpio --null --quiet --pass-through --make-directories --preserve-modification-time \
		--unconditional "$root")
}

put_files()
{
	local file programs

	for file in ${files[@]+"${files[@]}"}; do
		[[ -e $file ]] || fail "no such file: $file"
		put_path "$file"
		[[ ! -L $file ]] || put_path "$(realpath "$file")"
		mapfile -d '' programs < <(find "$(realpath "$file")" -type f -print0)
		put_libraries "${programs[@]}"
	done
}

# These and what they need, of what is installed: each of several that would do.
with_needs() # PACKAGE...
{
	dpkg-query -W -f '${db:Status-Abbrev}|${Package}|${Provides}|${Pre-Depends}, ${Depends}\n' | awk -F'|' -v names="$*" '
		function names_of(text, list) {
			gsub(/\([^)]*\)|:[a-z0-9]+/, "", text)
			gsub(/[,|]/, " ", text)
			return split(text, list, " ")
		}
		$1 ~ /^.i/ {
			rest = $4
			for (i = 5; i <= NF; i++)
				rest = rest " " $i
			needs[$2] = rest
			gives[$2] = gives[$2] " " $2
			for (i = names_of($3, list); i; i--)
				gives[list[i]] = gives[list[i]] " " $2
		}
		END {
			for (n = split(names, todo, " "); n; ) {
				for (i = split(gives[todo[n--]], list, " "); i; i--)
					if (!(list[i] in taken)) {
						taken[list[i]]
						print list[i]
						for (k = names_of(needs[list[i]], more); k; k--)
							todo[++n] = more[k]
					}
			}
		}'
}

# As they are installed, but for what nobody reads there. /bin, /lib and so on are links to /usr; what stands there by
# update-alternatives is in no package.
put_packages()
{
	local missing

	((${#packages[@]})) || return 0
	missing=$({ dpkg -s "${packages[@]}" 2>&1 >/dev/null || true; } | sed -n "s/^dpkg-query: package '\([^']*\)'.*/\1/p" | xargs)
	[[ -z $missing ]] || fail "needs packages: apt-get install $missing"
	{
		with_needs "${packages[@]}" | xargs dpkg -L 2>/dev/null |
			sed -E 's#^/(bin|sbin|lib|lib64)/#/usr/\1/#' |
			grep -E '^/(usr|etc)/' | grep -vE '^/usr/share/(doc|man|info|locale|lintian|bug)/' || true
		find /usr/bin /usr/sbin -lname '/etc/alternatives/*'
		find /etc/alternatives -type l
	} | sort -u | while read -r path; do
		[[ -L $path || (-e $path && ! -d $path) ]] && printf '%s\0' "$path"
	done >"$work/packages" || true
	# tar replaces what is there, and goes through no link to get there
	tar -C / --null --no-recursion --ignore-failed-read -cf - -T "$work/packages" 2>/dev/null | tar -C "$root" -xf -
}

# A module and what it needs, deepest first, as modules.dep lists them. The index goes along for modprobe.
put_module() # NAME
{
	local index=$folder/lib/modules/$release line path
	local pattern="/${1//[-_]/[-_]}\.ko"

	! grep -q "$pattern\$" "$index/modules.builtin" || return 0
	line=$(grep -m 1 "$pattern:" "$index/modules.dep") || fail "no module $1 in $release"
	for path in ${line/:/}; do
		(cd "$folder" && cp --parents "lib/modules/$release/$path" "$root")
	done
	cp "$index/modules.dep" "$index/modules.builtin" "$root/lib/modules/$release/"
	echo "$1" >>"$root/vm/modules"
}

make_root()
{
	local module

	mkdir -p "$root"
	if foreign; then
		put_foreign
	else
		mkdir -p "$root"/usr/{bin,sbin,lib,lib64} "$root/bb"
		ln -s usr/bin usr/sbin usr/lib usr/lib64 "$root"
		put_tools
		put_busybox "$(type -P busybox)"
	fi
	mkdir -p "$root"/{dev,proc,sys,run,tmp,root,etc,var,mnt,vm}
	[[ ! $back ]] || put_back
	put_project
	put_files
	put_packages
	: >"$root/vm/modules"
	for module in ${modules[@]+"${modules[@]}"}; do
		put_module "$module"
	done
	put_etc
	install -m 755 tests/vm/init.sh "$root/init"
	echo "$marker" >"$root/vm/marker"
	echo "$console" >"$root/vm/console"
	printf '%q ' "$@" >"$root/vm/command"
	if on_disk; then
		make_disk
		! needs_drivers || put_drivers
	else
		(cd "$root" && find . -print0 | cpio --null --quiet --create --format=newc --owner=0:0) >"$work/initramfs"
		rooted=(-initrd "$work/initramfs")
	fi
	rm -rf "$root"
}

# What the guest brings is a file in /back, or on a disk that is only for that: the console takes much longer.
put_back()
{
	if on_disk; then
		mkdir "$root/back"
		return
	fi
	truncate -s 1G "$work/back.disk"
	backing=(-drive "file=$work/back.disk,format=raw,if=none,id=back,cache=unsafe" -device "nvme,serial=back,drive=back")
	echo /dev/nvme0n1 >"$root/vm/back"
}

take_back()
{
	if ! on_disk; then
		tar -C "$back" -xf "$work/back.disk" || fail "cannot read what the guest brings"
		return
	fi
	PATH=$PATH:/sbin:/usr/sbin debugfs -R "rdump /back $work" "$work/disk" >/dev/null 2>"$work/debugfs" ||
		fail "cannot read the disk: $(<"$work/debugfs")"
	cp -R "$work/back/." "$back"
}

# NVMe and ext4 are in every kernel of kernel.sh, not in modules, but riscv64's: put_drivers().
make_disk()
{
	PATH=$PATH:/sbin:/usr/sbin mke2fs -q -t ext4 -O ^has_journal -E root_owner=0:0 -d "$root" "$work/disk" \
		$(($(du -sm "$root" | cut -f1) * 5 / 4 + 1024))M >/dev/null
	rooted=(-drive "file=$work/disk,format=raw,if=none,id=root,cache=unsafe" -device "nvme,serial=root,drive=root")
	append+=' root=/dev/nvme0n1 rw init=/init'
}

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

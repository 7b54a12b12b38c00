# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # its variables are run.sh's
#
# Sourced by run.sh: guests of another architecture than the host's. Their root is a folder of scripts/sysroot.sh, and
# always on a disk.

foreign() { [[ $arch != amd64 ]]; }
# Its kernel has no driver for the disk in it.
needs_drivers() { [[ $arch == riscv64 ]]; }

# QEMU for $arch, with its machine and its console.
of_arch()
{
	case $arch in
	amd64)
		qemu=qemu-system-x86_64 qemu_package=qemu-system-x86 machine=() console=ttyS0
		append+=' no_timer_check'
		# with these the kernel clears and copies by instructions that QEMU executes byte by byte; QEMU 7.2 has no FSRS
		build=${B:-build}
		cpu=${cpu:-max,-erms,-fsrm$([[ ! $("${QEMU:-$qemu}" -cpu help) =~ [[:space:]]fsrs ]] || echo ,-fsrs)}
		;;
	arm64)
		# its own pointer authentication takes most of the time
		qemu=qemu-system-aarch64 qemu_package=qemu-system-arm console=ttyAMA0
		cpu=${cpu:-max,pauth-impdef=on}
		;;
	riscv64)
		qemu=qemu-system-riscv64 qemu_package='qemu-system-riscv opensbi' console=ttyS0
		cpu=${cpu:-rv64}
		;;
	*) fail "no guests of $arch" ;;
	esac
	if foreign; then
		((${#packages[@]} == 0)) || fail "-p takes what is installed here: for $arch there is --full"
		machine=(-machine virt)
		build=${B:-build}/$arch
	fi
	qemu=${QEMU:-$qemu}
}

put_foreign()
{
	local base

	base=$(scripts/sysroot.sh "$arch" "$kind") || fail "no packages of $arch"
	cp -a --reflink=auto "$base/." "$root"
	mkdir -p "$root/bb"
	put_busybox "$root/usr/bin/busybox"
}

# The drivers that aren't built in, and what ext4 asks for without naming it, in an initramfs that continues with the disk.
put_drivers()
{
	local index=$folder/lib/modules/$release driver path before=$work/before

	mkdir -p "$before"/{bb,new,dev,drivers}
	for driver in nvme crc32c_generic ext4; do
		! grep -q "/$driver\.ko\$" "$index/modules.builtin" || continue
		for path in $(sed -n "s|^\([^:]*/$driver\.ko\): *\(.*\)|\1 \2|p" "$index/modules.dep"); do
			echo "$path"
		done | tac
	done | awk '!seen[$0]++' >"$work/drivers"
	while read -r path; do
		cp "$index/$path" "$before/drivers/"
		echo "${path##*/}"
	done <"$work/drivers" >"$before/drivers/list"
	cp "$root/bb/.busybox" "$before/bb/busybox"
	ln -s busybox "$before/bb/sh"
	install -m 755 tests/vm/before.sh "$before/init"
	(cd "$before" && find . -print0 | cpio --null --quiet --create --format=newc --owner=0:0) >"$work/initramfs"
	rooted+=(-initrd "$work/initramfs")
}
